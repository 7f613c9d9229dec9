from __future__ import annotations

import io

from gradcheck.report.safe_text import SafeStream, clean, clipped, one_line


def test_clean_text_moves_no_cursor() -> None:
    raw = "\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 a\x00b\x07\x9b c\r\nnext\tend"
    assert clean(raw) == "red link ab c\nnext    end"


def test_one_line_keeps_the_words() -> None:
    assert one_line("  a\n\tb \x1b[1mc\n") == "a b c"


def test_a_long_text_loses_its_middle() -> None:
    lines = clipped("\n".join(f"line {i}" for i in range(100))).split("\n")
    assert len(lines) == 30
    assert lines[0] == "line 0"
    assert lines[-1] == "line 99"
    assert "71 lines left out" in lines[20]


def test_a_short_text_stays_whole() -> None:
    assert clipped("a\nb\n") == "a\nb"


def test_a_stream_without_the_character_gets_the_nearest() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    SafeStream(stream).write("2 ± 1 – … 雪 \ud800")
    stream.flush()
    assert raw.getvalue() == b"2 +- 1 - ... ? ?"


def test_a_stream_with_the_character_gets_it() -> None:
    stream = io.StringIO()
    SafeStream(stream).write("2 ± 1")
    assert stream.getvalue() == "2 ± 1"
