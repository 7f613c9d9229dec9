"""What became of the cases: which are lost, doubled or wrong."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tools.soak.cases import FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

SHOWN = 5
"""How many of one kind are named."""

Key = tuple[str, int]
"""The id of a case without what is in brackets, and its seed."""


class Told(NamedTuple):
    """What a report says of a case."""

    key: Key
    verdict: str
    numbers: int
    """A hash of everything that was measured."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Everything that is not as it should be."""

    lost: tuple[Key, ...]
    """Not in the report."""
    doubled: tuple[Key, ...]
    """Twice in the report, or in the journal: it was run and counted again."""
    wrong: tuple[Key, ...]
    """With another verdict than the known one, or other numbers than its twin, or not asked for."""

    @property
    def good(self) -> bool:
        """Whether nothing is."""
        return not (self.lost or self.doubled or self.wrong)

    def __str__(self) -> str:
        lines = []
        for name in ("lost", "doubled", "wrong"):
            keys: tuple[Key, ...] = getattr(self, name)
            shown = "".join(f"\n    {key[0]} seed {key[1]}" for key in keys[:SHOWN])
            lines.append(f"{name:10}{len(keys)}{shown}")
        return "\n".join(lines)


def tally(known: Mapping[Key, str], report: Path, journal: Path) -> Tally:
    """Hold a report and a journal against what is known."""
    told = _told(report)
    counts = Counter(each.key for each in told)
    written = Counter(_written(journal))
    numbers = {each.key: each.numbers for each in told}
    return Tally(
        lost=tuple(key for key in known if key not in counts),
        doubled=tuple(key for key in known if counts[key] > 1 or written[key] > 1),
        wrong=tuple(
            each.key
            for each in told
            if known.get(each.key) != each.verdict
            or numbers.get(_twin(each.key), each.numbers) != each.numbers
        ),
    )


def _twin(key: Key) -> Key:
    first, twins = FOLDERS
    return key[0].replace(f"/{first}/", f"/{twins}/", 1), key[1]


def _told(report: Path) -> list[Told]:
    return json.loads(report.read_text(), object_hook=_shortened)["results"]  # type: ignore[no-any-return]


def _shortened(data: dict[str, Any]) -> Any:
    """A result is made short as soon as it is read: a hundred thousand of them are a gigabyte."""
    if "comparisons" not in data:
        return data
    measured = json.dumps([data["message"], data["diagnosis"], data["comparisons"]])
    return Told(_key(data), data["verdict"], hash(measured))


def _key(result: Mapping[str, Any]) -> Key:
    return result["id"].partition("[")[0], result["seed"]


def _written(journal: Path) -> Iterable[Key]:
    with journal.open("rb") as lines:
        for line in lines:
            result = json.loads(line).get("result")
            if result is not None:
                yield _key(result)
