"""Results → what people and machines read, and reports read back.

A reporter only listens. A new format is one file in `formats/` with a class that takes a stream and
Options, and one entry in FORMATS: nothing else knows the formats by their names.

The modules of this package hold what the formats share: how numbers and texts are written, what
there is to say about a failure, what is counted. They import nothing but `gradcheck.model` and
`gradcheck.errors`, and each other in this order: safe_text, numbers, spool, background,
error_shades, repository; details, difference; remark_lines, endings, row_names; matrix; tally;
reporter; columns, totals, power_totals, coverage_totals and markdown_text. `formats/` may import
them, and `read/` may import both. display and picture are how a single result shows itself, printed
and in a notebook.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO, cast

from gradcheck.errors import UsageError, nearest
from gradcheck.report.background import NO_BACKGROUND, Background
from gradcheck.report.reporter import Options, Outcome, Reporter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from gradcheck.model import Verdict

__all__ = [
    "FORMATS",
    "Format",
    "Reporter",
    "close_ups_for",
    "comparing_formats",
    "comparison_text",
    "make_reporter",
    "must_be_a_format",
    "tell_gradients",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """What has to be known of a format before its module is imported."""

    reporter: str
    """`module:class`. The module is imported only when the format is asked for."""
    comparison: str = ""
    """`module:function` that writes what changed between two runs; empty where there is none."""
    file: str = ""
    """What a file of it is called, where it is nothing to look at on a terminal."""
    beside: bool = False
    """Whether it may share the screen: its lines are for a machine that reads along."""
    baselines: bool = False
    """Whether it shows earlier runs."""
    coverage: bool = False
    """Whether it shows which of the declared ops have cases."""
    gradients: bool = False
    """Whether it tells which gradient functions were called."""
    pictures_of_failures: bool = False
    pictures_of_all: bool = False
    """Of what a check gathers something for it: see `close_ups_for`."""


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "table": Format(reporter="gradcheck.report.formats.table:TableReporter"),
        "plain": Format(
            reporter="gradcheck.report.formats.plain:PlainReporter",
            comparison="gradcheck.report.formats.comparison_report:plain",
        ),
        "markdown": Format(
            reporter="gradcheck.report.formats.markdown:MarkdownReporter",
            comparison="gradcheck.report.formats.comparison_report:markdown",
            baselines=True,
        ),
        "html": Format(
            reporter="gradcheck.report.formats.html.html_reporter:HtmlReporter",
            comparison="gradcheck.report.formats.html.html_reporter:comparison",
            file="report.html",
            baselines=True,
            coverage=True,
            gradients=True,
            pictures_of_failures=True,
            pictures_of_all=True,
        ),
        "json": Format(
            reporter="gradcheck.report.formats.json:JsonReporter",
            comparison="gradcheck.report.formats.comparison_report:document",
            gradients=True,
            # For the page that may be made of it.
            pictures_of_failures=True,
        ),
        "junit": Format(reporter="gradcheck.report.formats.junit:JUnitReporter"),
        "sarif": Format(reporter="gradcheck.report.formats.sarif:SarifReporter"),
        "github": Format(
            reporter="gradcheck.report.formats.github:GitHubReporter", beside=True, baselines=True
        ),
    }
)
"""By name, in the order in which `--help` lists them."""


def close_ups_for(formats: Collection[str]) -> frozenset[Verdict]:
    """The verdicts of which these formats have pictures, for which a check gathers something."""
    from gradcheck.model import Verdict

    asked = [FORMATS[name] for name in formats]
    if any(one.pictures_of_all for one in asked):
        return frozenset(Verdict)
    some = any(one.pictures_of_failures for one in asked)
    return frozenset(Verdict) - {Verdict.PASS} if some else frozenset()


def tell_gradients(formats: Collection[str]) -> bool:
    """Whether any of these formats tells which gradient functions were called."""
    return any(FORMATS[name].gradients for name in formats)


def comparing_formats() -> list[str]:
    """The formats in which two runs can be compared."""
    return [name for name, one in FORMATS.items() if one.comparison]


def comparison_text(
    name: str, outcome: Outcome, background: Background, *, color: bool = False
) -> str:
    """What changed since the last run of the background, in that format.

    Args:
        name: one of `comparing_formats`.
        outcome: the run that is compared.
        background: the run with which it is compared comes last in it.
        color: whether what is for a terminal may hold escape codes.
    """
    write = cast("Callable[[Outcome, Background, Options], str]", _named(FORMATS[name].comparison))
    return write(outcome, background, Options(color=color))


def _named(place: str) -> Any:
    """What stands at `module:name`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def must_be_a_format(name: str, where: str = "") -> None:
    """UsageError, with what may be meant, if there is no format of that name."""
    if name not in FORMATS:
        near = nearest(name, FORMATS)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(FORMATS)}"
        raise UsageError(f"{where and f'{where}: '}no report format {name!r}: {hint}")


def make_reporter(
    name: str,
    stream: TextIO,
    *,
    verbose: bool = False,
    durations: int | None = None,
    color: bool | None = None,
    header: bool = True,
    background: Background = NO_BACKGROUND,
) -> Reporter:
    """The reporter of that format, writing to the stream.

    `durations` lists that many of the slowest cases, all of them for 0. `color` None leaves it to
    the terminal and to NO_COLOR. `header` False leaves out what it ran on, for who knows that.
    `background` is what a page shows beside the run.
    """
    must_be_a_format(name)
    factory = cast("Callable[[TextIO, Options], Reporter]", _named(FORMATS[name].reporter))
    options = Options(
        verbose=verbose, durations=durations, color=color, header=header, background=background
    )
    return factory(stream, options)
