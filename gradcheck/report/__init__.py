"""Results → what people and machines read, and reports read back.

A reporter only listens. A new format is one file in `formats/` with a class that takes a stream and
Options, and one line in FORMATS.

The modules of this package hold what the formats share: how numbers and texts are written, what
there is to say about a failure, what is counted. They import nothing but `gradcheck.model` and
`gradcheck.errors`, and each other in this order: safe_text, numbers, reporter; details; columns,
totals and power_totals. `formats/` may import them, and `read/` may import both.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, TextIO, cast

from gradcheck.errors import UsageError
from gradcheck.report.reporter import Options, Reporter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["FORMATS", "Reporter", "make_reporter"]

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "table": "gradcheck.report.formats.table:TableReporter",
        "plain": "gradcheck.report.formats.plain:PlainReporter",
        "json": "gradcheck.report.formats.json:JsonReporter",
        "junit": "gradcheck.report.formats.junit:JUnitReporter",
        "github": "gradcheck.report.formats.github:GitHubReporter",
    }
)
"""By name: `module:class`. A module is imported only when its format is asked for."""


def make_reporter(
    name: str,
    stream: TextIO,
    *,
    verbose: bool = False,
    durations: int | None = None,
    color: bool | None = None,
    header: bool = True,
) -> Reporter:
    """The reporter of that format, writing to the stream.

    `durations` lists that many of the slowest cases, all of them for 0. `color` None leaves it to
    the terminal and to NO_COLOR. `header` False leaves out what it ran on, for who knows that.
    """
    if name not in FORMATS:
        nearest = difflib.get_close_matches(name, FORMATS, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"there are {', '.join(FORMATS)}"
        raise UsageError(f"no report format {name!r}: {hint}")
    module, _, class_name = FORMATS[name].partition(":")
    factory = cast(
        "Callable[[TextIO, Options], Reporter]", getattr(import_module(module), class_name)
    )
    options = Options(verbose=verbose, durations=durations, color=color, header=header)
    return factory(stream, options)
