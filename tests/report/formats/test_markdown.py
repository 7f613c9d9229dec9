from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gradcheck.model import Verdict
from gradcheck.report import make_reporter
from gradcheck.report.background import NO_BACKGROUND, Background
from gradcheck.report.formats.markdown import LONGEST_COMMENT, document
from gradcheck.report.reporter import Outcome
from tests.report import examples, hostile
from tests.report.formats.html.pages import Node, earlier
from tests.report.rendered import rendered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syrupy.assertion import SnapshotAssertion

    from gradcheck.model import Result, SpecProblem


def text_of(
    results: Sequence[Result],
    problems: tuple[SpecProblem, ...] = (),
    background: Background = NO_BACKGROUND,
) -> str:
    stream = io.StringIO()
    examples.tell(make_reporter("markdown", stream, background=background), results, problems)
    return stream.getvalue()


def test_the_whole_text(snapshot: SnapshotAssertion) -> None:
    assert text_of(examples.all_results(), (examples.PROBLEM,)) == snapshot


def test_a_good_run_is_short(snapshot: SnapshotAssertion) -> None:
    assert text_of([examples.passing()]) == snapshot


def test_what_changed_is_told(snapshot: SnapshotAssertion) -> None:
    before = [replace(r, verdict=Verdict.PASS) for r in examples.all_results()[:3]]
    background = Background((earlier(before, tensorflow="2.20.0"),))
    text = text_of(examples.all_results()[1:5], background=background)
    assert text.partition("### Failures")[0] == snapshot


def test_all_results_are_compared_however_many_there_are() -> None:
    results = [replace(examples.passing(f"a.yaml::{n}")) for n in range(100)]
    text = text_of(results, background=Background((earlier(results),)))
    assert "100 cases in both runs: **no change**." in text


def test_failures_are_a_table_and_folds() -> None:
    tree = rendered(text_of(examples.all_results(), (examples.PROBLEM,)))
    problems, failures = tree.all("table")[:2]
    assert len(problems.one("tbody").all("tr")) == 1
    rows = failures.one("tbody").all("tr")
    assert len(rows) == 11
    assert rows[0].all("td")[1].text == "crashed"  # the gravest first
    folds = [node for node in tree.all("details") if node.all("code")]
    assert sum("Run it again" in fold.text for fold in folds) == 11
    (wrong,) = [f for f in folds if "transposed" in f.one("summary").text]
    cells = [cell.text for cell in wrong.one("tbody").all("tr")[0].all("td")]
    assert cells == ["[0, 1]", "0.74613", "2.001", "2 ± 3.1e-13", "1.0e-03", "2"]
    assert "In your code: layers/products.py:31, in Product.call.grad" in wrong.text


def test_lines_of_code_are_links_where_github_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not rendered(text_of([examples.mismatch()])).all("a")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "me/mine")
    monkeypatch.setenv("GITHUB_SHA", "abc")
    link = rendered(text_of([examples.mismatch()])).one("a")
    assert link.text == "layers/products.py:31"
    where = "https://github.com/me/mine/blob/abc/layers/products.py#L31"
    assert link.attributes["href"] == where


OURS = {
    *("", "h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "br"),
    *("details", "summary", "code", "pre", "strong", "em", "ul", "li"),
}


def outside_code(node: Node) -> str:
    """The texts in which GitHub looks for names and links, with a line between them."""
    if node.name in ("code", "pre"):
        return "\n"
    return "".join(c if isinstance(c, str) else f"{outside_code(c)}\n" for c in node.children)


def test_hostile_texts_stay_texts() -> None:
    # (One by one: together they do not fit.)
    for number, result in enumerate(hostile.results()):
        problem = hostile.problems()[number % len(hostile.TEXTS)]
        tree = rendered(text_of([result], (problem,)))
        assert {node.name for node in tree.walk()} <= OURS
        told = outside_code(tree)
        found = re.findall(r"@\w|#\d|\bGH-\d|://|www\.|:\w+:", told, flags=re.IGNORECASE)
        assert found == []
        for table in tree.all("table"):
            width = len(table.one("thead").all("th"))
            assert all(len(row.all("td")) == width for row in table.one("tbody").all("tr"))


@pytest.mark.parametrize("limit", [LONGEST_COMMENT, 2**20, 3000, 500, 10, -1])
@pytest.mark.parametrize("kind", ["many", "hostile"])
def test_it_ends_where_there_is_no_more_room(limit: int, kind: str) -> None:
    results = hostile.many(5000) if kind == "many" else hostile.results()
    plan = examples.plan_of(results, hostile.problems())
    outcome = Outcome(plan, tuple(results), examples.summary_of(results))
    text = document(outcome, Background((earlier(hostile.many(3000)),)), limit)
    assert len(text.encode(errors="replace")) <= max(limit, 0)
    assert ("left out here" in text) == (limit >= 500 and (kind == "many" or limit < 2**20))
    tree = rendered(text)  # what was begun is ended
    assert {node.name for node in tree.walk()} <= OURS


def test_what_was_left_out_is_counted() -> None:
    text = text_of(hostile.many(5000))
    shown = len(rendered(text).all("table")[0].one("tbody").all("tr"))
    assert f"{5000 - shown:,} failures are left out here. `--format json` has all" in text
    assert shown > 50
    assert text.count("Run it again") > 10
    assert len(text) <= 65_536
