"""Drafts into Cases: a name and an id for each, one Case for each dtype, mode, check and seed."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING

from gradcheck.model import Case, KnownBug
from gradcheck.model.problems import or_pass
from gradcheck.spec.format.expectations import Expected
from gradcheck.spec.format.keys import LONGEST_NAME
from gradcheck.spec.format.run_axes import NO_AXES, RunAxes, count_variants, variants

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.spec.format.draft import Draft
    from gradcheck.spec.format.run_axes import Variant
    from gradcheck.spec.yaml.source import Source

_MOST_TAGS = 20_000_000
"""Tags of all cases of a file: a report lists them with each."""
_MOST_SHAPES = 12
"""In a name that the spec does not give: more inputs are counted."""


MAX_CASES = 200_000
"""What specs may expand to, unless the user raises it: seconds of reading, and some 100 MB. Lists
of dtypes, modes, checks and seeds multiply: a few lines can stand for millions."""


def expand(
    source: Source,
    drafts: Sequence[Draft],
    seed: int | None,
    room: int = MAX_CASES,
    axes: RunAxes = NO_AXES,
) -> tuple[Case, ...]:
    """The cases of one file, in its order.

    `seed` is for those that give none of their own, `axes` has the modes and checks of the run.

    None, and a problem, where they would be more than there is `room` for: they are counted before
    one of them is made. Without that `test_products_are_counted_before_they_are_made` fails.
    """
    counts = [len(d.dtypes) * count_variants(d, axes) * len(d.seeds or (0,)) for d in drafts]
    if sum(counts) > room:
        _too_many(source, drafts, counts, room)
        return ()
    tags = sum(count * len(draft.tags) for count, draft in zip(counts, drafts, strict=True))
    if tags > _MOST_TAGS:
        where = drafts[0].location
        message = f"the cases have {tags:,} tags together: at most {_MOST_TAGS:,}"
        source.problem_at(where.line, where.column, message, "a tag is for many cases")
        return ()
    return tuple(
        case
        for draft, name in zip(drafts, _names(source, drafts), strict=True)
        if name is not None
        for case in _cases(source.path, draft, name, seed or 0, axes)
    )


def _too_many(source: Source, drafts: Sequence[Draft], counts: Sequence[int], room: int) -> None:
    largest = max(range(len(drafts)), key=lambda number: counts[number])
    where, total = drafts[largest].location, sum(counts)
    left = "" if room == MAX_CASES else ", beside those of other files"
    message = f"the file expands to {total:,} cases, and there is room for {room:,}{left}"
    if counts[largest] > 1:
        message += f": {counts[largest]:,} of them are made here"
    hint = (
        "give fewer dtypes, modes, checks and seeds, or raise the limit: set `max_cases` in "
        f"[tool.gradcheck] of pyproject.toml{or_pass('--max-cases N')}"
    )
    source.problem_at(where.line, where.column, message, hint)


def _names(source: Source, drafts: Sequence[Draft]) -> list[str | None]:
    """A name for each draft, all different; None for the second of two that are equal."""
    first: dict[str, Draft] = {}
    for draft in drafts:
        if draft.name is not None:
            first.setdefault(draft.name, draft)
    taken = set(first)
    numbers: dict[str, int] = {}
    names: list[str | None] = []
    for draft in drafts:
        if draft.name is None:
            names.append(_free(_default_name(draft), taken, numbers))
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
    name = "-".join([draft.chosen.label, *islice(shapes, _MOST_SHAPES)])
    more = len(draft.inputs) - _MOST_SHAPES
    return (f"{name}-and-{more}" if more > 0 else name)[:LONGEST_NAME]


def _free(name: str, taken: set[str], numbers: dict[str, int]) -> str:
    """The name, with a number where it is taken; `numbers` has the last of each name."""
    number, free = numbers.get(name, 1), name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    numbers[name] = number
    taken.add(free)
    return free


def _cases(path: str, draft: Draft, name: str, seed: int, axes: RunAxes) -> Iterator[Case]:
    seeds = draft.seeds or (seed,)
    for dtype, variant, one_seed in product(draft.dtypes, list(variants(draft, axes)), seeds):
        shown = [
            *([dtype] if len(draft.dtypes) > 1 else ()),
            *variant.shown,
            *([f"seed={one_seed}"] if len(seeds) > 1 else ()),
        ]
        suffix = f"[{','.join(shown)}]" if shown else ""
        expected = _expected(draft, dtype, variant)
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
            mode=variant.mode,
            checks=variant.checks,
            upstream=draft.upstream,
            gradient=draft.gradient,
            cdf=draft.cdf,
            expect=expected.verdict,
            # (What a condition names was thought of, whether or not the case is run so as a rule.)
            added=variant.added and not expected.names_variant,
            reason=expected.reason,
            bug=_bug(draft, dtype, variant, expected),
            seed=one_seed,
            tolerance=draft.tolerance,
            timeout=draft.timeout,
            budget=draft.budget,
            tags=draft.tags,
        )


def _bug(draft: Draft, dtype: str, variant: Variant, expected: Expected) -> KnownBug | None:
    """What else is known of a wrong gradient; None where there is no more to say."""
    checks = [kind.value for kind in variant.checks]
    versions, mended = expected.versions, ""
    if expected.verdict is None:
        over = (e for e in draft.expect if e.is_over(dtype, variant.mode.value, checks))
        gone = next(over, Expected())
        versions, mended = gone.versions, gone.reason
        if not versions:
            return None
    others = [
        f"{e.verdict_text} when {e.versions}"
        for e in draft.expect
        if e.versions not in ("", versions) and e.is_of(dtype, variant.mode.value, checks)
    ]
    found = KnownBug(versions, "; ".join(others), mended, draft.instead, draft.issue)
    return None if found == KnownBug() else found


def _expected(draft: Draft, dtype: str, variant: Variant) -> Expected:
    """What this variant expects; nothing in particular where no condition holds."""
    checks = [kind.value for kind in variant.checks]
    holding = (e for e in draft.expect if e.holds(dtype, variant.mode.value, checks))
    return next(holding, Expected())
