"""Arguments and options that several commands have, each said once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from gradcheck.errors import UsageError
from gradcheck.report import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

paths = click.argument("paths", metavar="[PATH]...", nargs=-1)
"""Spec files, folders of them, cases; `default_paths` where there is none."""

select = click.option(
    "-k",
    "expression",
    metavar="EXPR",
    default="",
    help="Take the cases whose id or tags match: parts of names with and, or, not and parentheses.",
)

allow = click.option(
    "--allow",
    metavar="PACKAGE",
    multiple=True,
    help="Let specs run functions and layers of this Python package; may be repeated. "
    "`allow` under [tool.gradcheck] in pyproject.toml does the same.",
)

jobs = click.option(
    "-j",
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="How many worker processes. Default: one per processor.",
)

outputs = click.option(
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    help="Write a report to a file; may be repeated. The files belong to the last "
    "formats given, in their order; the format left over goes to the screen.",
)

junitxml = click.option(
    "--junitxml", metavar="FILE", help="Short for --format junit --output FILE."
)


def formats(default: str) -> Decorator:
    """`--format`, with what is meant where it is not given."""
    return click.option(
        "--format",
        "formats",
        multiple=True,
        type=click.Choice(list(FORMATS)),
        help=f"How to report; may be repeated. Default: {default}.",
    )


def default_paths() -> tuple[str, ...]:
    """What is meant when no path is given."""
    if os.path.isdir("specs"):  # noqa: PTH112  (the name is shown as it is)
        return ("specs",)
    raise UsageError(
        "no PATH given, and there is no folder specs/ here: "
        "name a spec file or a folder of them, as in `gradcheck run tests/specs`"
    )


def nothing_selected(expression: str, available: int, shard: str | None = None) -> str:
    """Why there is nothing to do."""
    if not available:
        return "nothing to run: there are no cases"
    if shard is not None:
        return f"nothing selected: shard {shard} is empty"
    return f"nothing selected: -k {expression!r} matches none of the {available} cases"
