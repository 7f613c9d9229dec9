"""The pages of the site: what is gathered; and, where mkdocs is installed, what is built."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

from gradcheck import ops
from tests.report.formats.html.browser import PROGRAM, Browser
from tools import site_pages
from tools.screenshots import served
from tools.site_parts import notebook

ROOT = Path(__file__).parents[1]
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))

pages = cache(site_pages.pages)


def test_every_op_has_a_page_with_mathematics() -> None:
    for op in ops.all_ops():
        page = pages()[f"ops/{op.name}.md"]
        assert page.startswith(f"# {op.name}\n")
        assert "<math" in page
        assert f"]({op.name}.md)" in pages()["ops/index.md"]
    # Headings have anchors, and no line is empty inside of the page's markup.
    assert '<h2 id="shapes">Shapes</h2>' in pages()["ops/matmul.md"]
    assert "\n\n" not in pages()["ops/matmul.md"].partition("<div")[2].rstrip("\n")


def test_every_page_is_in_the_menu_and_the_menu_leads_to_pages() -> None:
    listed: list[str] = []
    for entry in CONFIG["nav"]:
        (below,) = entry.values()
        listed += [below] if isinstance(below, str) else below
    assert sorted(listed) == sorted(
        name for name in pages() if not name.startswith("ops/") or name == "ops/index.md"
    )


def test_links_are_those_of_the_site() -> None:
    known = {*pages(), *(f"images/{path.name}" for path in (ROOT / "docs/images").iterdir())}
    for name, text in pages().items():
        plain = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        for link in re.findall(r"\]\((?![a-z]+:|#)([^)\s#]+)", re.sub(r"`[^`]*`(?!\])", "", plain)):
            target = os.path.normpath(Path(name).parent / link)
            assert target in known, (name, link)


def test_a_file_that_is_not_on_the_site_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_pages, "new_place", lambda _: "")
    with pytest.raises(SystemExit, match=r"README.md: docs/getting-started.md is not on the site"):
        site_pages.pages()


def test_the_tutorial_shows_what_it_showed() -> None:
    text = notebook(ROOT / "docs" / "tutorial.ipynb")
    assert text.startswith("# ")
    assert "```python\n" in text
    assert '<div class="output">' in text


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed: `make docs` installs it")
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site_pages, "PAGES", folder / "docs")
        site_pages.write()
    config = yaml.safe_dump({**CONFIG, "docs_dir": "docs", "site_dir": "site"})
    (folder / "mkdocs.yml").write_text(config)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text("utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)[^>]* src=\"?([^\"\s>]+)", text)
        loaded += re.findall(
            r"<link[^>]*rel=\"?(?:stylesheet|preconnect)[^>]*href=\"?([^\"\s>]+)", text
        )
        assert [each for each in loaded if re.match(r"(https?:)?//", each)] == [], path


@pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium here")
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_pages_fit_their_screen(site: Path, tmp_path: Path, width: int, dark: bool) -> None:
    with served(site) as address, Browser(tmp_path / "browser") as browser:
        browser.look(width, dark=dark)
        for page in ("index", "getting-started", "ops/matmul", "findings", "tutorial", "specs"):
            browser.events.clear()
            browser.send("Page.navigate", url=f"{address}/{page}.html")
            browser.wait_for("Page.loadEventFired")
            browser.run("new Promise(done => setTimeout(done, 200))")
            assert browser.run("document.documentElement.scrollWidth") <= width, page
            assert [u for u in browser.requested if not u.startswith((address, "data:"))] == []
            scheme = browser.run("document.body.getAttribute('data-md-color-scheme')")
            assert scheme == ("slate" if dark else "default")
