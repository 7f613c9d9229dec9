"""What specs would catch, for people and for programs: as lines, as a table, as one JSON object."""

from __future__ import annotations

import json
import math
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from gradcheck.model.planted import Power
from gradcheck.report import numbers
from gradcheck.report.columns import WIDEST_NAME
from gradcheck.report.power_totals import Tally, floor, percent, power_totals
from gradcheck.report.reporter import MOST_CASES
from gradcheck.report.safe_text import clean, one_line
from gradcheck.report.tally import split_id
from gradcheck.report.totals import by_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from gradcheck.model import Result
    from gradcheck.model.planted import Planted
    from gradcheck.report.power_totals import PowerOutcome

POWER_VERSION = 1
"""Goes up when a program that reads this object would have to change."""


def plain(outcome: PowerOutcome) -> str:
    """Lines to read in a log and to grep."""
    lines = _rows([(power.id, [power]) for power in outcome.measured])
    for title, block in _sections(outcome, by_spec=True):
        lines += ["", f"== {title} ==", "", *block]
    lines += ["", power_totals(outcome)]
    return clean("\n".join(lines).lstrip("\n"))


def print_table(console: Console, outcome: PowerOutcome) -> None:
    """A table, then the survivors."""
    from rich.table import Table

    from gradcheck.report.formats.rows import text
    from gradcheck.report.formats.sections import print_heading

    by_case = len(outcome.measured) <= MOST_CASES
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("case" if by_case else "spec", overflow="fold")
    for title in ("faults", "caught", "score", "floor:\nwhole", "\none element"):
        table.add_column(title, justify="right", no_wrap=True)
    for path, powers in by_file(outcome.measured).items():
        if by_case and path:
            table.add_row(text(path, "bold"))
        rows = [(split_id(p)[1], Tally.of([p])) for p in powers]
        for name, tally in rows if by_case else [(path, Tally.of(powers))]:
            table.add_row(
                text(f"  {one_line(name)}" if by_case and path else one_line(name)),
                str(tally.faults),
                str(tally.caught),
                text(percent(tally.score), "yellow" if tally.survived else "green"),
                floor(tally.whole),
                floor(tally.element),
            )
    if table.row_count:
        console.print()
        console.print(table)
    for title, block in _sections(outcome, by_spec=by_case):
        print_heading(console, title, "red" if "problem" in title else "yellow")
        console.print()
        for line in block:
            console.print(text(line), soft_wrap=True)
    console.print()
    console.print(text(power_totals(outcome), "bold"), soft_wrap=True)


def document(outcome: PowerOutcome, environment: dict[str, str]) -> str:
    """One JSON object; only the members named `seconds` differ from run to run."""
    whole = {
        "version": POWER_VERSION,
        "environment": environment,
        "results": [_result(result) for result in outcome.results],
        "summary": {
            **_tally(Tally.of(outcome.measured)),
            "cases": len(outcome.results),
            "measured": len(outcome.measured),
            "problems": len(outcome.problems),
            "seconds": outcome.seconds,
            "interrupted": outcome.interrupted,
        },
        "problems": [
            {"message": p.message, "location": str(p.location), "hint": p.hint}
            for p in outcome.problems
        ],
    }
    return json.dumps(whole, indent=2, ensure_ascii=True, allow_nan=False)


def _sections(outcome: PowerOutcome, *, by_spec: bool) -> Iterator[tuple[str, list[str]]]:
    """What stands below the rows, with its titles."""
    if outcome.problems:
        title = numbers.count(len(outcome.problems), "spec problem")
        yield title, [line for p in outcome.problems for line in (*str(p).split("\n"), "")][:-1]
    survivors = [line for power in outcome.measured for line in _survivors(power)]
    if survivors:
        count = sum(len(power.survivors) for power in outcome.measured)
        yield numbers.count(count, "survivor"), survivors
    blind = [
        f"{one_line(power.id)}: {name}: {reason}"
        for power in outcome.measured
        for name, reason in power.blind.items()
    ]
    if blind:
        yield f"{numbers.count(len(blind), 'gradient')} in which nothing can be wrong", blind
    if outcome.unmeasured:
        yield (
            "not measured",
            [f"{one_line(r.id)}: {r.verdict}. {one_line(r.message)}" for r in outcome.unmeasured],
        )
    files = by_file(outcome.measured)
    if by_spec and len(files) > 1:
        yield "by spec", _rows(list(files.items()))


def _rows(groups: Sequence[tuple[str, Sequence[Power]]]) -> list[str]:
    """A line for each case, or for each spec."""
    names = [one_line(name) for name, _ in groups]
    width = min(max(map(len, names), default=0), WIDEST_NAME)
    rows = []
    for name, (_, powers) in zip(names, groups, strict=True):
        tally = Tally.of(powers)
        rows.append(
            f"{name:<{width}}  {percent(tally.score):>7}  "
            f"{tally.caught:>5} of {tally.faults:>5} caught  "
            f"floor {floor(tally.whole):>6}, one element {floor(tally.element):>6}"
        )
    return rows


def _survivors(power: Power) -> Iterator[str]:
    """The survivors of a case, those with the same reason together."""
    if power.survivors:
        yield one_line(power.id)
    groups: dict[tuple[str, str], list[Planted]] = {}
    for planted in power.survivors:
        groups.setdefault((planted.input, planted.reason), []).append(planted)
    for (name, reason), group in groups.items():
        yield f"  {name}: {', '.join(_names(group))}"
        yield f"      {reason}"


def _names(group: Sequence[Planted]) -> Iterator[str]:
    """The faults by name; sizes that follow each other as a range."""
    for family, members in groupby(group, lambda planted: planted.family):
        run = [planted.name for planted in members]
        if family and len(run) > 2:
            last = re.sub(rf"^{family} ", "", run[-1])
            yield f"{run[0]} … {last}"
        else:
            yield from run


def _result(result: Result) -> dict[str, Any]:
    planted = result.planted if isinstance(result, Power) else ()
    return {
        "id": result.id,
        "verdict": str(result.verdict),
        "message": result.message,
        "seconds": result.seconds,
        **_tally(Tally.of([result] if isinstance(result, Power) else [])),
        "blind": dict(result.blind) if isinstance(result, Power) else {},
        "planted": [
            {
                "input": p.input,
                "name": p.name,
                "text": p.text,
                "size": p.size,
                "counted": p.counted,
                "fate": str(p.fate),
                "verdict": p.verdict and str(p.verdict),
                "reason": p.reason,
            }
            for p in planted
        ],
    }


def _tally(tally: Tally) -> dict[str, Any]:
    def number(size: float | None) -> float | str | None:
        return str(size) if size is not None and math.isinf(size) else size

    return {
        "score": tally.score,
        "caught": tally.caught,
        "survived": tally.survived,
        "equivalent": tally.equivalent,
        "floor": {"whole": number(tally.whole), "element": number(tally.element)},
    }
