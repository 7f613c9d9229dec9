"""The page in a real browser: what the script does, and what works without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.report import examples
from tests.report.formats.html.browser import PROGRAM, Browser
from tests.report.formats.html.pages import earlier, page_text
from tests.report.formats.html.test_page import HOSTILE, everything, hostile_results, many

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gradcheck.model import Result

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium here")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def opened(browser: Browser, folder: Path, results: list[Result], place: str = "") -> Browser:
    path = folder / "report.html"
    path.write_text(page_text(results, earlier([examples.passing()])), encoding="utf-8")
    browser.look(1280)
    browser.open(path, place)
    return browser


def settle(browser: Browser) -> None:
    """Wait until what a click or a key began is over."""
    browser.run("new Promise((done) => setTimeout(done, 300))")


def visible(browser: Browser) -> list[str]:
    rows = "[...document.querySelectorAll('#cases tr[id]')]"
    found: Any = browser.run(
        f"{rows}.filter((row) => row.offsetHeight > 0).map((row) => row.cells[0].textContent)"
    )
    return list(found)


def type_in(browser: Browser, place: str, value: str) -> None:
    browser.run(
        f"(() => {{ const field = document.getElementById('{place}'); field.value = '{value}'; "
        "field.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    settle(browser)


def test_it_loads_without_a_complaint_and_asks_for_nothing(
    browser: Browser, tmp_path: Path
) -> None:
    opened(browser, tmp_path, everything())
    settle(browser)
    assert browser.complaints == []
    assert browser.requested == [(tmp_path / "report.html").as_uri()]
    assert browser.run("document.getElementById('filters').hidden") is False


def test_a_case_unfolds_and_folds(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, everything())
    click = "document.querySelector('#c0 a').click()"
    browser.run(click)
    settle(browser)
    more: Any = browser.run("document.querySelector('#c0 + tr.more').textContent")
    assert "gradcheck run specs/linalg/matmul.yaml::plain" in more
    expanded = "document.querySelector('#c0 a').getAttribute('aria-expanded')"
    assert browser.run(expanded) == "true"
    browser.run(click)
    settle(browser)
    assert browser.run(expanded) == "false"
    assert browser.run("document.querySelector('tr.more')") is None
    assert browser.complaints == []


def test_a_link_opens_the_case(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, many(120), "#c99")
    settle(browser)
    assert "-99[" in str(browser.run("document.querySelector('tr.more').textContent"))
    assert browser.run("document.querySelector('#c99').closest('details').open") is True
    # And from inside of the page, one whose file is folded.
    browser.run("location.hash = '#c3'")
    settle(browser)
    assert browser.run("document.querySelector('#c3').offsetHeight > 0") is True
    assert "-3[" in str(browser.run("document.querySelector('#c3 + tr.more').textContent"))


def test_filters(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, everything())
    total = len(everything())
    assert len(visible(browser)) == total
    type_in(browser, "search", "FACTOR matmul")
    assert visible(browser) == ["transposed[float32,xla]"]
    assert browser.run("document.getElementById('count').textContent") == f"1 of {total} cases"
    type_in(browser, "search", "")
    type_in(browser, "mode", "xla")
    assert visible(browser) == ["transposed[float32,xla]"]
    type_in(browser, "mode", "")
    for status in ("failed", "known", "kink"):
        browser.run(f"document.querySelector('[value={status}]').click()")
    settle(browser)
    assert visible(browser) == ["plain", "on a gpu"]
    browser.run("document.getElementById('changed').click()")
    settle(browser)
    assert visible(browser) == ["on a gpu"]
    assert browser.complaints == []


def test_the_essentials_need_no_script(browser: Browser, tmp_path: Path) -> None:
    browser.scripts(allowed=False)
    try:
        opened(browser, tmp_path, everything())
        # (What runs here is the test's, which the browser allows.)
        shown = str(browser.run("document.body.innerText"))
    finally:
        browser.scripts(allowed=True)
    assert "cases failed" in shown
    assert "1.0005 times what it should be" in shown
    assert "does not run; those of failures stand above" in shown
    assert "Search" not in shown
    assert browser.requested == [(tmp_path / "report.html").as_uri()]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_runs(browser: Browser, tmp_path: Path, hostile: str) -> None:
    opened(browser, tmp_path, hostile_results(hostile))
    browser.run(
        "for (const link of document.querySelectorAll('#cases a[aria-expanded]')) link.click()"
    )
    settle(browser)
    # (An alert would stop the page, and a refused one would be a complaint.)
    assert browser.run("document.querySelectorAll('tr.more').length") > 0
    assert browser.run("document.querySelectorAll('img, tr.more script').length") == 0
    assert browser.complaints == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_sticks_out(browser: Browser, tmp_path: Path, width: int, dark: bool) -> None:
    opened(browser, tmp_path, everything())
    browser.look(width, dark=dark)
    browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
    browser.run("document.querySelector('#c0 a').click()")
    settle(browser)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth") is True
    ground = browser.run("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")


def test_on_paper_failures_are_unfolded_and_light(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, everything())
    browser.look(1000, dark=True, media="print")
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    browser.run("dispatchEvent(new Event('beforeprint'))")
    shown = "[...document.querySelectorAll('.failure')].every((one) => one.open)"
    assert browser.run(shown) is True
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(shown) is False
    browser.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_five_thousand_cases(browser: Browser, tmp_path: Path) -> None:
    results = many(5000)
    (tmp_path / "large.html").write_text(page_text(results), encoding="utf-8")
    browser.open(tmp_path / "large.html")
    assert browser.run("document.querySelectorAll('#cases tr[id]').length") == 5000
    type_in(browser, "search", "b-4999")
    type_in(browser, "search", "4x5-4999")
    assert len(visible(browser)) == 1
    browser.run("document.querySelector('#c4999 a').click()")
    settle(browser)
    assert "-4999[" in str(browser.run("document.querySelector('tr.more').textContent"))
