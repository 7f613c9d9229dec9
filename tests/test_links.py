"""Every link of the README and the docs leads somewhere, to an anchor as well; without mkdocs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += sorted((ROOT / "benchmarks").glob("*.md"))


def without_code(text: str) -> str:
    """A page without what stands between fences: that is no Markdown."""
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """What `#…` can name: the headings, as GitHub and mkdocs both spell them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*)$", without_code(text), flags=re.MULTILINE):
        plain = re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower())
        found.add(re.sub(r"[\s-]+", "-", plain).strip("-"))
    return found


def links(text: str) -> list[str]:
    plain = re.sub(r"(`+).+?\1(?!\])", "", without_code(text))
    return re.findall(r"\]\(([^)\s]+)\)", plain)


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    text, found = page.read_text("utf-8"), []
    for link in links(text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        inside = target.is_file() and target.is_relative_to(ROOT.resolve())
        if not inside or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_link_that_leads_nowhere_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.test_links.ROOT", tmp_path)
    (tmp_path / "b.md").write_text("# One two: three\n\n```\n# no heading\n```\n")
    page = tmp_path / "a.md"
    page.write_text(
        "[a](b.md) [b](b.md#one-two-three) [c](https://example.org/nothing)\n"
        "[d](c.md) ![e](picture.png) [f](b.md#four) [g](b.md#no-heading) [h](#five) [i](../up.md)\n"
        "[`j`](k.md)\n```\n[l](m.md)\n```\n"
    )
    wrong = ["c.md", "picture.png", "b.md#four", "b.md#no-heading", "#five", "../up.md", "k.md"]
    assert broken(page) == wrong


def test_every_page_of_the_docs_can_be_found_from_the_readme() -> None:
    seen, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        paths = (link.partition("#")[0] for link in links(page.read_text("utf-8")))
        ahead += [(page.parent / path).resolve() for path in paths if path and ":" not in path]
    assert {page.resolve() for page in (ROOT / "docs").rglob("*.md")} <= {p.resolve() for p in seen}


def test_every_picture_is_small_and_used() -> None:
    texts = "".join(page.read_text("utf-8") for page in PAGES)
    for path in (ROOT / "docs" / "images").iterdir():
        assert f"images/{path.name})" in texts, path
        assert path.stat().st_size <= 150_000, path
        if path.suffix == ".svg":
            assert not re.search(r"url\([^#]|@import|<script", path.read_text("utf-8")), path
