"""The whole page: head, sections and what the script needs, in one text that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import os
from contextlib import suppress
from datetime import UTC, datetime
from importlib import resources
from typing import TYPE_CHECKING

from gradcheck.report.formats.html.case_table import cases_section
from gradcheck.report.formats.html.changes import changes_section
from gradcheck.report.formats.html.coverage_table import coverage_section
from gradcheck.report.formats.html.failure_list import failures_section
from gradcheck.report.formats.html.headline import banner, summary_section
from gradcheck.report.formats.html.known_bugs import known_section
from gradcheck.report.formats.html.markup import Html, joined, tag
from gradcheck.report.formats.html.packing import CASES_IN_A_PACK, packs
from gradcheck.report.formats.html.remark_lists import remarks_section
from gradcheck.report.formats.html.run_trend import history_section
from gradcheck.report.formats.html.verdict_grid import grid_section
from gradcheck.report.totals import headline

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.report.formats.html.shown_run import ShownRun


def page(shown: ShownRun) -> str:
    """The page about a run."""
    style, script = _asset("page.css"), _asset("page.js")
    sections = [(name, title, make(shown)) for name, title, make in _SECTIONS]
    links = [
        tag("li", tag("a", title, href=f"#{name}")) for name, title, content in sections if content
    ]
    body = tag(
        "body",
        tag("a", "Skip to the cases", href="#cases", class_="skip"),
        banner(shown, _now()),
        tag("nav", tag("ul", *links), aria_label="Sections"),
        tag("main", joined((c for *_, c in sections if c), "\n"), data_pack=CASES_IN_A_PACK),
        tag("footer", tag("p", _about(shown))),
        packs(shown),
        tag("script", Html(script)),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{headline(shown.outcome)} · gradcheck"),
        tag("style", Html(style)),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


_SECTIONS: tuple[tuple[str, str, Callable[[ShownRun], Html]], ...] = (
    ("summary", "Summary", summary_section),
    ("changes", "Changes", changes_section),
    ("failures", "Failures", failures_section),
    ("known", "Known bugs", known_section),
    ("remarks", "Remarks", remarks_section),
    ("grid", "Matrix", grid_section),
    ("coverage", "Coverage", coverage_section),
    ("history", "History", history_section),
    ("cases", "Cases", cases_section),
)
"""In the order of the page: its place, its name among the links at the top, and what makes it;
what has nothing to say is empty."""


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """What the page may do: run its own script, use its own style, and load nothing at all."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _now() -> datetime:
    """When the page is written; SOURCE_DATE_EPOCH stands for that where pages must be the same."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(int(fixed), UTC)
    return datetime.now(UTC)


def _about(shown: ShownRun) -> str:
    version = shown.environment.get("gradcheck", "")
    return f"Written by gradcheck {version}. The page needs no network.".replace("  ", " ")
