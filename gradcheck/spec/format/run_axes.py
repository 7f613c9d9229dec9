"""The modes and checks of a run: what the command line says in place of the specs.

A variant that the spec itself names keeps its id, and what it expects. What the run adds has its
mode and its check in its id, and is marked as added: see `Case.added`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.model import CheckKind, Mode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.spec.format.draft import Draft

ALL = "all"
"""On the command line: every mode, or every check."""


@dataclass(frozen=True, slots=True)
class RunAxes:
    """In which modes and by which checks every case is run; as its spec says where there is none.

    Checks that are given here are cases of their own, so that each has a verdict and a place in the
    matrix, and what goes wrong in one does not end another.
    """

    modes: tuple[Mode, ...] = ()
    checks: tuple[CheckKind, ...] = ()


@dataclass(frozen=True, slots=True)
class Variant:
    """One mode of a case, and the checks that are made in it."""

    mode: Mode
    checks: tuple[CheckKind, ...]
    added: bool
    """Whether the spec does not name it."""
    shown: tuple[str, ...]
    """What of it stands in the id."""


NO_AXES = RunAxes()


def count_variants(draft: Draft, axes: RunAxes) -> int:
    """How many there are of a draft."""
    return len(axes.modes or draft.modes) * len(axes.checks or (draft.checks,))


def variants(draft: Draft, axes: RunAxes) -> Iterator[Variant]:
    """The modes and checks in which a case is run, in the order in which they were given."""
    alone: list[tuple[CheckKind, ...]] = [(kind,) for kind in axes.checks]
    for mode in axes.modes or draft.modes:
        for checks in alone or [draft.checks]:
            named = mode in draft.modes and set(checks) <= set(draft.checks)
            shown = []
            if len(draft.modes) > 1 or mode not in draft.modes:
                shown.append(mode.value)
            if set(checks) != set(draft.checks):
                shown += [kind.value for kind in checks]
            yield Variant(mode, checks, not named, tuple(shown))


def shorter_ids(id_: str) -> set[str]:
    """The id without its mode, without its checks and without both.

    So `f[float32]` may be asked for in a run that makes `f[float32,xla,second]` of it.
    """
    name, bracket, rest = id_.rpartition("[")
    if not bracket or not rest.endswith("]"):
        return set()
    parts, found = rest[:-1].split(","), set()
    for left_out in ({*Mode}, {*CheckKind}, {*Mode, *CheckKind}):
        left = [part for part in parts if part not in left_out]
        found.add(f"{name}[{','.join(left)}]" if left else name)
    return found
