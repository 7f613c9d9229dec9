"""The pages of the site: gathered from the README, docs/ and the ops.

    python -m tools.site_pages           write them to build/docs, for mkdocs
    python -m tools.site_pages --build   and build the site from them: what `make docs` does

No case is run: the pages of ops are those of `gradcheck explain`, the tutorial has the outputs that
are kept in it, and what is known of TensorFlow stands in docs/findings.md.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from itertools import groupby
from pathlib import Path

from gradcheck import ops
from gradcheck.cli.app import COMMANDS
from tools.site_parts import escaped, explanation, notebook

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "docs"

_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")

STYLE = """\
.md-typeset table:not([class]) { font-size: .7rem; }
.md-typeset td code { word-break: normal; overflow-wrap: normal; }
.md-typeset img { border: 1px solid var(--md-default-fg-color--lightest); }
/* Letters that are made for mathematics, where there are some: else indices are not lowered. */
math { font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math", "Noto Sans Math", math; }
"""


def pages() -> dict[str, str]:
    """All texts of the site, by the path of their page."""
    found = {"index.md": _moved(ROOT / "README.md", "index.md")}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT / "docs").as_posix()
        found[name] = _moved(path, name)
    for name in ("ARCHITECTURE.md", "CHANGELOG.md", "benchmarks/RESULTS.md", "benchmarks/SWEEP.md"):
        found[name] = _moved(ROOT / name, name)
    found["tutorial.md"] = notebook(ROOT / "docs" / "tutorial.ipynb")
    found["commands.md"] = _commands()
    found |= _ops()
    return found


def new_place(path: str) -> str:
    """Where on the site a file of the repository is; empty where it is not there."""
    if path == "README.md":
        return "index.md"
    if path == "docs/tutorial.ipynb":
        return "tutorial.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path in ("ARCHITECTURE.md", "CHANGELOG.md") or path.startswith("benchmarks/"):
        return path
    return ""


def _moved(source: Path, page: str) -> str:
    """A text of the repository, with its links as they are on the site."""

    def link(match: re.Match[str]) -> str:
        if re.match(r"[a-z]+:", match[2]):
            return match[0]
        target = os.path.normpath(source.parent.relative_to(ROOT) / match[2])
        place = new_place(target)
        if not place:
            raise SystemExit(f"{source.relative_to(ROOT)}: {match[2]} is not on the site")
        return match[1] + os.path.relpath(place, Path(page).parent) + match[3]

    return _LINK.sub(link, source.read_text("utf-8"))


def _ops() -> dict[str, str]:
    """A page for each declared op, and a list of them by family."""
    found, listed = {}, ["# Ops", "", f"{len(ops.all_ops())} ops are declared."]
    listed[-1] += " Each has a page that derives its gradient: what `gradcheck explain` prints."
    by_family = sorted(ops.all_ops(), key=lambda op: (op.family, op.name))
    for family, members in groupby(by_family, lambda op: op.family):
        listed += ["", f"## {family.replace('_', ' ').capitalize()}", ""]
        listed += ["| op | computes |", "| --- | --- |"]
        for op in members:
            listed.append(f"| [`{op.name}`]({op.name}.md) | {escaped(op.summary)} |")
            found[f"ops/{op.name}.md"] = explanation(op)
    return {"ops/index.md": "\n".join(listed) + "\n", **found}


def _commands() -> str:
    text = ["# Commands", ""]
    for name in COMMANDS:
        command = [sys.executable, "-m", "gradcheck", name, "--help"]
        environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
        )
        text += [f"## `gradcheck {name}`", "", "```text", done.stdout.rstrip(), "```", ""]
    return "\n".join(text)


def write() -> None:
    """All of them, in a folder of their own."""
    shutil.rmtree(PAGES, ignore_errors=True)
    for name, text in pages().items():
        path = PAGES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "images", PAGES / "images")
    (PAGES / "site.css").write_text(STYLE)


def main() -> None:
    """Write the pages, and build the site if that is asked for."""
    parser = argparse.ArgumentParser(description="the pages of the site")
    parser.add_argument("--build", action="store_true", help="build the site with mkdocs")
    given = parser.parse_args()
    write()
    if given.build:
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
        quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        sys.exit(subprocess.run(command, cwd=ROOT, env=quiet, check=False).returncode)


if __name__ == "__main__":
    main()
