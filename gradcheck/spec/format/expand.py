"""Drafts into Cases: a name and an id for each, and one Case for each dtype, mode and seed."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from gradcheck.model import Case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.spec.format.draft import Draft
    from gradcheck.spec.yaml.source import Source


def expand(source: Source, drafts: Sequence[Draft], seed: int | None) -> tuple[Case, ...]:
    """The cases of one file, in its order; `seed` is for those that give none of their own."""
    return tuple(
        case
        for draft, name in zip(drafts, _names(source, drafts), strict=True)
        if name is not None
        for case in _variants(source.path, draft, name, seed or 0)
    )


def _names(source: Source, drafts: Sequence[Draft]) -> list[str | None]:
    """A name for each draft, all different; None for the second of two that are equal."""
    first: dict[str, Draft] = {}
    for draft in drafts:
        if draft.name is not None:
            first.setdefault(draft.name, draft)
    taken = set(first)
    names: list[str | None] = []
    for draft in drafts:
        if draft.name is None:
            names.append(_free(_default_name(draft), taken))
        elif first[draft.name] is draft:
            names.append(draft.name)
        else:
            where = first[draft.name].location.line
            message = f"another case is named `{draft.name}`: the one on line {where}"
            source.problem(draft.name_node, message, "give each case a name of its own")
            names.append(None)
    return names


def _default_name(draft: Draft) -> str:
    shapes = ("x".join(map(str, i.shape)) or "scalar" for i in draft.inputs)
    return "-".join([draft.chosen.label, *shapes])


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    taken.add(free)
    return free


def _variants(path: str, draft: Draft, name: str, seed: int) -> Iterator[Case]:
    seeds = draft.seeds or (seed,)
    for dtype, mode, one_seed in product(draft.dtypes, draft.modes, seeds):
        shown = [
            text
            for text, axis in (
                (dtype, draft.dtypes),
                (mode.value, draft.modes),
                (f"seed={one_seed}", seeds),
            )
            if len(axis) > 1
        ]
        suffix = f"[{','.join(shown)}]" if shown else ""
        yield Case(
            id=f"{path}::{name}{suffix}",
            path=path,
            name=name,
            location=draft.location,
            target=draft.chosen.target,
            inputs=draft.inputs,
            args=draft.args,
            init=draft.init,
            variables=draft.variables,
            outputs=draft.outputs,
            arguments=draft.arguments,
            by_position=draft.by_position,
            dtype=dtype,
            mode=mode,
            checks=draft.checks,
            upstream=draft.upstream,
            gradient=draft.gradient,
            cdf=draft.cdf,
            expect=draft.expect,
            reason=draft.reason,
            seed=one_seed,
            tolerance=draft.tolerance,
            timeout=draft.timeout,
            budget=draft.budget,
            tags=draft.tags,
        )
