"""How a result shows itself: printed, in a line, in a notebook."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from gradcheck.model import CodePlace, Diagnosis, Result
from gradcheck.report import display, make_reporter
from gradcheck.report.columns import failure_text
from gradcheck.report.details import failure_details
from tests.report import examples

EVERY = examples.all_results()
IDS = [result.id for result in EVERY]
every_result = pytest.mark.parametrize("result", EVERY, ids=IDS)


def printed_by_the_command(result: Result) -> str:
    stream = io.StringIO()
    examples.tell(make_reporter("plain", stream), [result], environment={})
    return stream.getvalue()


@every_result
def test_print_shows_what_the_command_prints(result: Result) -> None:
    said = printed_by_the_command(result)
    # (A result knows nothing of the command that could run it again.)
    said = re.sub(r"\n\n  replay: .*", "", said)
    for part in str(result).split("\n"):
        assert " ".join(part.split()) in " ".join(said.split())
    assert ("likely cause" in said) == ("likely cause" in str(result))
    assert ("expected" in said.partition("==")[0]) == ("expected" in str(result).partition("\n")[0])


@every_result
def test_repr_is_a_sentence(result: Result) -> None:
    assert "\n" not in repr(result)
    assert repr(result).startswith(f"{result.id}: {result.verdict}")
    for comparison in result.comparisons:
        assert "\n" not in repr(comparison)
        assert repr(comparison).startswith(f"{comparison.name}")


def test_sentences() -> None:
    assert repr(examples.passing()) == (
        f"{examples.MATMUL}::plain: pass. "
        "Gradients of a[3,4], b[4,5]: max rel error 3.0e-13, error bar 4.0e-13."
    )
    assert repr(examples.known_bug()).startswith(
        f"{examples.EDGES}::roll[int8]: mismatch (expected). The gradient of x[2]:"
    )
    assert repr(examples.bug_gone()).endswith(
        "pass (unexpected). expected mismatch, but it passes: the known bug is gone; "
        "remove `expect` from the spec"
    )
    assert repr(examples.skipped()).endswith("skipped. there is no GPU")
    assert "a[3,4]: The gradient is 1.0005 times" in repr(examples.mismatch())


def test_a_comparison_prints_its_worst_elements() -> None:
    text = str(examples.mismatch().comparisons[0])
    assert text.startswith("a[3,4]: mismatch, float32, 3 of 12 elements")
    assert "[0, 1]" in text
    assert "in your code: layers/products.py:31" in text


class Page(HTMLParser):
    """The elements of a page, whether they are closed in order, and what a reader sees."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += f" {data}"


@every_result
def test_html_is_whole_and_needs_nothing_from_elsewhere(result: Result) -> None:
    html = result._repr_html_()
    page = Page(html)
    assert page.names <= {
        *("div", "style", "p", "span", "code", "small", "b", "pre"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
    assert page.attributes <= {"class", "style"}
    assert not re.search(r"url\(|@import|https?:", html)
    assert str(result.verdict) in page.text
    for comparison in result.comparisons:
        Page(comparison._repr_html_())


def test_html_tells_the_failure() -> None:
    text = " ".join(Page(examples.mismatch()._repr_html_()).text.split())
    for said in (
        "max rel error",
        "[0, 1] 0.74613 2.001 2 ± 3.1e-13 1.0e-03",
        "likely cause: The gradient is 1.0005 times",
        "in your code: layers/products.py:31, in Product.call.grad",
        "The gradient differs from the numeric derivative",
    ):
        assert said in text
    assert "the known bug is gone" in Page(examples.bug_gone()._repr_html_()).text
    assert "wrong for | negative shifts" in Page(examples.known_bug()._repr_html_()).text
    assert "Incompatible shapes" in Page(examples.error()._repr_html_()).text
    assert "there is no GPU" in Page(examples.skipped()._repr_html_()).text
    assert "between -1 from the left and 1" in Page(examples.kink()._repr_html_()).text


NASTY = "<script>alert('&')</script>"


def test_whatever_is_said_is_text() -> None:
    wrong = replace(
        examples.mismatch().comparisons[0],
        name=NASTY,
        dtype=NASTY,
        note=NASTY,
        diagnosis=Diagnosis("sign", NASTY),
        places=(CodePlace(NASTY, 1, NASTY),),
    )
    case = examples.case(NASTY, reason=NASTY)
    result = replace(examples.mismatch(), id=NASTY, comparisons=(wrong,), message=NASTY, case=case)
    for html in (result._repr_html_(), wrong._repr_html_()):
        assert "<script" not in html
        assert "&lt;script&gt;" in html
        assert "script" not in Page(html).names


def test_a_badge_is_readable_and_the_rest_has_the_colours_of_the_page() -> None:
    html = examples.mismatch()._repr_html_()
    style = html[html.index("<style>") : html.index("</style>")]
    # No colour of letters but white on a badge, no ground but that of a badge.
    assert set(re.findall(r"[^-]color:([^;}]*)", style)) == {"inherit", "#fff"}
    assert set(re.findall(r"background:([^;}]*)", style)) == {"none"}
    for colour in display._COLOURS.values():
        assert 1.05 / (luminance(colour) + 0.05) >= 4.5


def luminance(colour: str) -> float:
    """The relative luminance of the WCAG."""
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_a_front_end_has_a_choice() -> None:
    result = examples.mismatch()
    bundle = result._repr_mimebundle_(include=None, exclude=None)
    assert bundle == {"text/plain": str(result), "text/html": result._repr_html_()}


def test_what_an_assertion_says_that_fails() -> None:
    result = examples.mismatch()
    first, *rest = display.failure(result).split("\n")
    assert first == f"{result.id}, a[3,4]: mismatch"
    assert rest == failure_text(failure_details(result)).split("\n")[1:]
    assert display.failure(examples.timeout()).startswith(
        f"{examples.EDGES}::hangs: timeout: still running after 30 s\n"
    )
