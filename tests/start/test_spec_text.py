from __future__ import annotations

import yaml

from gradcheck.start.spec_text import case_lines, comment, flow, listed


def test_what_is_written_is_read_as_it_was() -> None:
    draft = {
        "layer": "mypkg.layers:Scale",
        "init": {"units": 4, "name": "no", "rate": 0.5, "flag": True},
        "inputs": {"x": {"shape": [2, 3], "sample": "uniform(0.1, 0.9)"}, "y": []},
    }
    assert yaml.safe_load("\n".join(case_lines(draft))) == draft
    assert yaml.safe_load("\n".join(listed(draft))) == [draft]


def test_texts_that_yaml_takes_for_something_else_are_quoted() -> None:
    assert [flow(text) for text in ("same", "yes", "a: b", "1")] == [
        "same",
        '"yes"',
        '"a: b"',
        '"1"',
    ]


def test_what_can_be_printed_stands_as_it_is() -> None:
    for text in ("I₁(x) = x/2 + x³/16", 'a "quoted" \\ one', "😀 wide"):
        assert yaml.safe_load(flow(text)) == text
        assert "\\u" not in flow(text)
    for text in ("a\u2028b", "\x07", "\x85", "\ufeff"):
        assert flow(text).isascii()
        assert yaml.safe_load(flow(text)) == text


def test_a_reason_stays_a_comment() -> None:
    assert all(line.startswith("# ") for line in comment("one\nop: matmul\n" + "long " * 60))
