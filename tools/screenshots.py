"""The pictures in docs/images: a terminal, pages of runs and ops, and the site, as they are now.

    python -m tools.screenshots          needs Chromium; those of the site also `make docs` before

What is run is the project of docs/getting-started.md, and the lessons of the guide.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import subprocess
import sys
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tests.report.formats.html.browser import PROGRAM, Browser
from tests.test_walk import ROOT, write_files

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGES = ROOT / "docs" / "images"
LARGEST = 150_000
"""Bytes of a picture: they are part of every clone."""

_COLUMNS = 116


def terminal(project: Path) -> None:
    """What `gradcheck run` prints there, in colours, as a drawing."""
    said = _gradcheck(project, "run", "--format", "table", COLUMNS=str(_COLUMNS), FORCE_COLOR="1")
    said = re.sub(r"\x1b\[\??[0-9;]*[A-HJKhlsu]", "", said).replace("\r", "")
    # (Without the lines that say on which machine.)
    lines = said.splitlines()
    lines = lines[next(n for n, line in enumerate(lines) if "max abs" in line) :]
    # (The second failure is the first in another mode.)
    second = next(n for n, line in enumerate(lines) if "::swish-3x4[graph]" in line and n > 15)
    end = next(n for n, line in enumerate(lines) if " cases: " in line or "cases:" in line)
    shown = [*lines[:second], *lines[end:]]
    console = Console(record=True, width=_COLUMNS, file=StringIO(), force_terminal=True)
    console.print(Text.from_ansi("\n".join(["$ gradcheck run", *shown])))
    drawing = console.export_svg(title="gradcheck run", theme=MONOKAI)
    # A drawing loads no font from elsewhere.
    drawing = re.sub(r"@font-face \{.*?\}\s*", "", drawing, flags=re.DOTALL)
    _keep("terminal.svg", drawing.encode())


def pages(project: Path, scratch: Path) -> None:
    """The page of a run with a failure, and that of the lessons on a phone."""
    failing, lessons = scratch / "report.html", scratch / "lessons.html"
    _gradcheck(project, "run", "--format", "html", "--output", str(failing))
    _gradcheck(ROOT, "run", "specs/guide", "--format", "html", "--output", str(lessons))
    with Browser(scratch / "browser") as browser:
        browser.look(1000, 1150)
        browser.open(failing)
        browser.run("document.querySelector('#failures details').open = true")
        browser.run("document.querySelector('#failures details').scrollIntoView()")
        _shoot(browser, "report.png")
        browser.look(390, 844, dark=True)
        browser.open(lessons)
        browser.run("document.querySelector('#known details').open = true")
        browser.run("location.hash = '#known'")
        _shoot(browser, "report-phone.png")


_MLP = "tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2) + b2"


def explanations(scratch: Path) -> None:
    """The chain of a small network as it is drawn, and where the numbers of matmul come from."""
    shapes = {"x": "2,3", "w1": "3,4", "b1": "4", "w2": "4,2", "b2": "2"}
    given = [word for name, sizes in shapes.items() for word in ("--shape", f"{name}={sizes}")]
    drawn = _gradcheck(scratch, "explain", "--expr", _MLP, *given, "--format", "svg")
    _keep("explain-chain.svg", drawn.encode())
    page = scratch / "matmul.html"
    page.write_text(_gradcheck(scratch, "explain", "matmul", "--format", "html"), encoding="utf-8")
    with Browser(scratch / "explained") as browser:
        browser.look(1000, 620)
        browser.open(page)
        browser.run("document.querySelector('.gcx-from .e6 input').click()")
        browser.run("document.querySelector('.gcx-from').scrollIntoView()")
        _shoot(browser, "explain-numbers.png")


def site(scratch: Path) -> None:
    """The site, where it was built."""
    built = ROOT / "build" / "site"
    if not built.is_dir():
        print("there is no build/site: `make docs` makes it")
        return
    with served(built) as address:
        for name, page, width, dark in (
            ("site.png", "ops/matmul.html", 1280, False),
            ("site-phone.png", "findings.html", 390, True),
        ):
            # (A browser of its own: a page keeps the colours that it was first seen in.)
            with Browser(scratch / name) as browser:
                browser.look(width, 800, dark=dark)
                browser.send("Page.navigate", url=f"{address}/{page}")
                browser.wait_for("Page.loadEventFired")
                _shoot(browser, name)


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Within this, the folder is at an address: from a disk there is no search, and no dark."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing is said."""

    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _shoot(browser: Browser, name: str) -> None:
    browser.run("new Promise(done => setTimeout(done, 500))")
    path = IMAGES / name
    browser.screenshot(path, whole=False)
    few_colours = BytesIO()
    Image.open(path).convert("RGB").quantize(128).save(few_colours, "PNG", optimize=True)
    _keep(name, few_colours.getvalue())


def _keep(name: str, data: bytes) -> None:
    if len(data) > LARGEST:
        raise SystemExit(f"{name} has {len(data):,} bytes, and {LARGEST:,} are allowed")
    (IMAGES / name).write_bytes(data)
    print(f"{name}: {len(data):,} bytes")


def _gradcheck(folder: Path, *arguments: str, **variables: str) -> str:
    command = [sys.executable, "-m", "gradcheck", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(
        command, cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return done.stdout


def main() -> None:
    """Take all of them."""
    if PROGRAM is None:
        raise SystemExit("there is no Chromium here: apt-get install chromium")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        project = scratch / "project"
        write_files(ROOT / "docs" / "getting-started.md", project)
        terminal(project)
        pages(project, scratch)
        explanations(scratch)
        site(scratch)


if __name__ == "__main__":
    main()
