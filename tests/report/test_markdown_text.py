from __future__ import annotations

import pytest

from gradcheck.report import markdown_text as md
from gradcheck.report.safe_text import one_line
from tests.report import hostile
from tests.report.rendered import rendered


def test_ordinary_texts_stay_readable() -> None:
    assert md.plain("x: the gradient is -1.5 times what it should be.") == (
        "x: the gradient is -1.5 times what it should be."
    )
    assert md.code("specs/a.yaml::b[float32,xla]") == "`specs/a.yaml::b[float32,xla]`"
    assert md.plain("tf.stop_gradient of x[3,4]") == "tf.stop\\_gradient of x\\[3,4\\]"


@pytest.mark.parametrize("text", hostile.TEXTS)
def test_a_text_in_a_cell_is_that_text(text: str) -> None:
    table = md.table_head(("a", "b", "c"))
    table += md.table_row((md.plain(text), md.code(text), "end"))
    (row,) = rendered(table).one("tbody").all("tr")
    cells = row.all("td")
    assert len(cells) == 3
    told = md.shortened(one_line(text), md.LONGEST_CELL).strip()
    assert cells[0].text.replace("\u200b", "").strip() == told
    assert cells[1].text.strip() == told
    assert cells[2].text == "end"


@pytest.mark.parametrize("text", hostile.TEXTS)
def test_a_text_at_the_start_of_a_line_is_a_paragraph(text: str) -> None:
    tree = rendered(f"{md.plain(text)}\n\n- {md.plain(text)}\n\nend\n")
    assert {node.name for node in tree.walk()} <= {"", "p", "ul", "li"}
    assert len(tree.all("li")) == 1


@pytest.mark.parametrize("text", hostile.TEXTS)
def test_a_block_of_code_ends_where_it_should(text: str) -> None:
    tree = rendered(f"{md.block(text)}\nend\n")
    assert [node.text for node in tree.all("p")] == ["end"]
    assert len(tree.all("pre")) == 1


@pytest.mark.parametrize("text", hostile.TEXTS)
def test_a_fold_has_its_title_and_its_content(text: str) -> None:
    before, after = md.fold(text, ": pass")
    tree = rendered(f"{before}content\n{after}\nend\n")
    assert tree.one("summary").text.endswith(": pass")
    assert tree.one("details").one("p").text == "content"


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("@octocat", "@|octocat"),
        ("o/r#12", "o/r#|12"),
        ("gh-7", "gh|-7"),
        ("https://example.org", "https:|//example.org"),
        ("www.example.org", "www|.example.org"),
        (":tada:", ":|tada:"),
        ("a @ b # c: d", "a @ b # c: d"),
    ],
)
def test_nobody_is_mentioned(text: str, broken: str) -> None:
    assert md.plain(text) == broken.replace("|", "&#8203;")


def test_a_list_ends_where_its_room_does() -> None:
    sheet = md.Sheet(200)
    sheet.add("head\n")
    sheet.add_list([f"- {n}\n" for n in range(100)], "{} more are left out.", before="b\n")
    text = str(sheet)
    assert len(text.encode()) <= 200
    shown = text.count("- ")
    assert 10 < shown < 100
    assert text.endswith(f"*… {100 - shown} more are left out.*\n")


def test_what_does_not_fit_at_all_is_told_in_a_sentence() -> None:
    sheet = md.Sheet(100)
    sheet.add_list(["x" * 1000], "{} left out.", before="before\n")
    assert str(sheet) == "\n*… 1 left out.*\n"
    assert not sheet.add("y" * 1000)
    assert str(md.Sheet(-5)) == ""


def test_bytes_are_counted() -> None:
    sheet = md.Sheet(100)
    assert not sheet.add("雪" * 40)
