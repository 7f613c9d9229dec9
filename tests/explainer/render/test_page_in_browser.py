"""The page of an explanation in a real browser: nothing is loaded, nothing overlaps.

The numbers that belong together light up by pointer, tap and keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.explainer.explanation import explain
from tests.report.formats.html.browser import PROGRAM, Browser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium here")

MLP = "tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2) + b2"
ATTENTION = "tf.nn.softmax(tf.matmul(q, k, transpose_b=True)) @ v * tf.stop_gradient(q) + q"
PAGES: dict[str, dict[str, Any]] = {
    "matmul": {"name": "matmul"},
    "softmax": {"name": "softmax"},
    "reduce_max": {"name": "reduce_max"},
    "conv2d": {"name": "conv2d"},
    "tanh": {"name": "tanh"},
    "qr": {"name": "qr"},
    "mlp": {
        "expr": MLP,
        "shapes": {"x": (2, 3), "w1": (3, 4), "b1": (4,), "w2": (4, 2), "b2": (2,)},
    },
    "second": {
        "expr": "tf.reduce_sum(x * tf.linalg.matvec(a, x))",
        "shapes": {"x": (2,), "a": (2, 2)},
        "second": True,
    },
    "attention": {"expr": ATTENTION, "shapes": {"q": (2, 3), "k": (4, 3), "v": (4, 3)}},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("pages")
    for name, asked in PAGES.items():
        explanation = explain(**asked)
        (found / f"{name}.html").write_text(explanation.page, encoding="utf-8")
        (found / f"{name}.svg").write_text(explanation.svg, encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_it_loads_alone_and_fits_the_screen(
    browser: Browser, folder: Path, name: str, width: int, dark: bool
) -> None:
    browser.look(width, dark=dark)
    path = folder / f"{name}.html"
    browser.open(path)
    assert browser.complaints == []
    assert browser.requested == [path.resolve().as_uri()]
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    ground, ink = browser.run(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    assert ground == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")
    assert ink != ground
    # No text of a picture is too small to read.
    small = """[...document.querySelectorAll('svg text')].filter(text => {
        const svg = text.ownerSVGElement;
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        const size = parseFloat(getComputedStyle(text).fontSize);
        return text.getClientRects().length && size * scale < 8.5;
    }).map(text => text.textContent)"""
    assert browser.run(small) == []


OVERLAPS = """(() => {
  const found = [], texts = [...document.querySelectorAll('.gcx-chain text')];
  const boxes = texts.map(text => text.getBoundingClientRect());
  const frame = document.querySelector('.gcx-chain').getBoundingClientRect();
  boxes.forEach((a, i) => {
    const name = texts[i].textContent;
    if (a.left < frame.left - 1 || a.right > frame.right + 1) found.push([name, 'outside']);
    boxes.forEach((b, j) => {
      const across = a.left < b.right - 1 && b.left < a.right - 1;
      const down = a.top < b.bottom - 2 && b.top < a.bottom - 2;
      if (i < j && across && down) found.push([name, texts[j].textContent]);
    });
  });
  return found;
})()"""


@pytest.mark.parametrize("kind", ["html", "svg"])
@pytest.mark.parametrize("name", PAGES)
def test_no_texts_of_the_chain_overlap(
    browser: Browser, folder: Path, name: str, kind: str
) -> None:
    browser.look(1280)
    browser.open(folder / f"{name}.{kind}")
    assert browser.run(OVERLAPS) == []


LIT = """(() => {
  const part = document.querySelector('.gcx-from');
  const lit = [...part.querySelectorAll('.gcx-grid span')].filter(
    span => getComputedStyle(span).boxShadow !== 'none').map(span => span.title);
  const said = [...part.querySelectorAll('.gcx-terms')].filter(
    one => one.offsetHeight).map(one => one.querySelector('b').textContent);
  const columns = [...part.querySelectorAll('.gcx-column')].filter(
    one => getComputedStyle(one).display !== 'none').length;
  return [lit, said, columns];
})()"""


def centre(browser: Browser, place: str) -> tuple[float, float]:
    x, y = browser.run(
        f"(() => {{ const one = document.querySelector('{place}'); "
        "one.scrollIntoView({block: 'center'}); const box = one.getBoundingClientRect(); "
        "return [box.left + box.width / 2, box.top + box.height / 2]; })()"
    )
    return x, y


def test_what_a_number_is_made_of_lights_up(browser: Browser, folder: Path) -> None:
    browser.look(1280)
    browser.open(folder / "matmul.html")
    lit, said, columns = browser.run(LIT)
    assert (said, columns) == (["∂L/∂A[0,0]"], 1)
    assert set(lit) == {f"G[0,{i}]" for i in range(5)} | {f"B[0,{i}]" for i in range(5)}
    # The pointer
    x, y = centre(browser, ".gcx-from .e6")  # A[1,2]
    browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    lit, said, columns = browser.run(LIT)
    assert (said, columns) == (["∂L/∂A[1,2]"], 1)
    assert set(lit) == {f"G[1,{i}]" for i in range(5)} | {f"B[2,{i}]" for i in range(5)}
    # Away again: what was chosen is shown.
    browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    assert browser.run(LIT)[1] == ["∂L/∂A[0,0]"]


def press(browser: Browser, key: str) -> None:
    codes = {"ArrowRight": 39, "ArrowLeft": 37, "Enter": 13, "Tab": 9}
    for kind in ("rawKeyDown", "keyUp"):
        browser.send(
            "Input.dispatchKeyEvent",
            type=kind,
            key=key,
            code=key,
            windowsVirtualKeyCode=codes[key],
        )


def test_keys_go_from_number_to_number(browser: Browser, folder: Path) -> None:
    browser.look(1280)
    path = folder / "softmax.html"
    browser.open(path)
    browser.run("document.querySelector('.gcx-who input:checked').focus()")
    before = browser.run(LIT)[1]
    press(browser, "ArrowRight")
    after = browser.run(LIT)[1]
    assert before == ["∂L/∂x[0,0]"]
    assert after == ["∂L/∂x[0,1]"]
    press(browser, "Enter")
    assert browser.run("location.href") == path.resolve().as_uri()
    label: Any = browser.run("document.activeElement.getAttribute('aria-label')")
    assert label.startswith("∂L/∂x[0,1] = ")
    described: Any = browser.run(
        "document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent"
    )
    assert "a sum of 3 terms" in described


def test_a_tap_chooses(browser: Browser, folder: Path) -> None:
    browser.look(390)
    browser.open(folder / "tanh.html")
    x, y = centre(browser, ".gcx-from .e2")
    browser.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    browser.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    browser.run("new Promise((done) => setTimeout(done, 300))")
    lit, said, _ = browser.run(LIT)
    assert said == ["∂L/∂x[2]"]
    assert set(lit) == {"G[2]", "x[2]"}


def test_the_same_page_twice_is_two_choices(browser: Browser, tmp_path: Path) -> None:
    """As in a notebook that shows an explanation in two cells."""
    html = explain("tanh").html
    page = tmp_path / "twice.html"
    page.write_text(f"<!doctype html><meta charset=utf-8>{html}{html}", encoding="utf-8")
    browser.look(1280)
    browser.open(page)
    browser.run("document.querySelectorAll('.gcx-from')[1].querySelector('.e2 input').click()")
    chosen = "[...document.querySelectorAll(':checked')].map(one => one.ariaLabel.split(' ')[0])"
    assert browser.run(chosen) == ["∂L/∂x[0]", "∂L/∂x[2]"]


def test_every_cell_of_the_map_has_its_number(browser: Browser, folder: Path) -> None:
    browser.look(1280)
    browser.open(folder / "softmax.html")
    titles: Any = browser.run(
        "[...document.querySelectorAll('.gcx-map g > title')].map(one => one.textContent)"
    )
    assert len(titles) == 18
    assert titles[0].startswith("∂y[0,0]/∂x[0,0] = 0.")
    assert titles[1].startswith("∂y[0,0]/∂x[0,1] = −0.")
    label: Any = browser.run("document.querySelector('.gcx-map svg').getAttribute('aria-label')")
    assert "18 of 36 not zero" in label
