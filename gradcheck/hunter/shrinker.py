"""The smallest case that still fails in the same way: one thing is made simpler at a time.

Simpler is, in this order: eagerly, by the tape, in double precision; fewer arguments; fewer axes
and elements; fewer inputs that are differentiated; rounder numbers. What fails no longer, or for
another reason, is not taken.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.hunter.drafts import (
    COMPLEX,
    Draft,
    array_of,
    canonical,
    check_of,
    copied,
    is_differentiated,
    mode_of,
    tensors,
    with_array,
)
from gradcheck.model import Case, CheckKind, Mode, Result

if TYPE_CHECKING:
    from gradcheck.model import Array

Checked = Generator[Case, Result, Result]
Shrinking = Generator[Case, Result, Draft]
Pass = Callable[[Draft], Iterator[Draft]]

MOST_STEPS = 80
"""Cases that are tried; most take some milliseconds."""
ONE_BY_ONE = 12
"""Numbers that are rounded one at a time; more of them nobody reads."""
_DTYPES = ("float64", "complex128", "float32", "complex64", "bfloat16", "float16")
_ROUND = (1.0, 2.0, 0.0, 0.5, -1.0)
"""The numbers that elements are tried to be, the roundest first."""


def shrunk(
    draft: Draft,
    check: Callable[[Draft], Checked],
    holds: Callable[[Draft, Result], bool],
    progress: Callable[[int, Draft], None] = lambda _steps, _draft: None,
    most: int = MOST_STEPS,
    *,
    passes: tuple[Pass, ...] | None = None,
) -> Shrinking:
    """The smallest draft that was found.

    Args:
        draft: one that fails.
        check: the errand that checks a draft.
        holds: whether the result is still the same failure.
        progress: told of every step that helped.
        most: how many cases are tried.
        passes: what is tried; all of it where nothing is named.
    """
    best, steps, tried = draft, 0, {canonical(draft)}
    for _ in range(2):
        before = canonical(best)
        for simpler in passes or (*FEWER, *ROUNDER):
            going = True
            while going and steps < most:
                going = False
                for candidate in simpler(best):
                    text = canonical(candidate)
                    if text in tried or weight(candidate) >= weight(best) or steps >= most:
                        continue
                    tried.add(text)
                    steps += 1
                    result = yield from check(candidate)
                    if holds(candidate, result):
                        best, going = candidate, True
                        progress(steps, best)
                        break
        if canonical(best) == before:
            break
    return best


def weight(draft: Draft) -> tuple[float, ...]:
    """How much there is to read and to run; every step must lessen it."""
    arrays = [
        (entry, array) for _, entry in tensors(draft) if (array := array_of(entry)) is not None
    ]
    unknown = sum(int(np.prod(e["shape"])) for _, e in tensors(draft) if "shape" in e)
    return (
        list(Mode).index(mode_of(draft)),
        list(CheckKind).index(check_of(draft)),
        _DTYPES.index(str(draft.get("dtype", "float64"))),
        sum(len(draft.get(key, {})) for key in ("args", "init", "call")),
        sum(is_differentiated(entry) for _, entry in tensors(draft)),
        sum(array.size for _, array in arrays) + unknown,
        sum(array.ndim for _, array in arrays),
        sum(_digits(array) for _, array in arrays),
    )


def _digits(array: Array) -> int:
    """What the numbers take to write, with an extra for each that is no round one."""
    flat = array.ravel()
    parts = [*flat.real, *flat.imag] if array.dtype.kind == "c" else list(flat)
    return sum(_length(part) for part in parts)


def _length(number: Any) -> int:
    if float(number) in _ROUND:
        return _ROUND.index(float(number))
    return 4 + len(f"{float(number):g}")


def _plainer_ways(draft: Draft) -> Iterator[Draft]:
    for mode in Mode:
        for check in CheckKind:
            yield copied(
                draft,
                mode=None if mode is Mode.EAGER else mode.value,
                check=None if check is CheckKind.REVERSE else check.value,
            )


def _plainer_types(draft: Draft) -> Iterator[Draft]:
    own = str(draft.get("dtype", "float64"))
    others = ("complex128",) if own in COMPLEX else ("float64", "float32")
    if own in COMPLEX:
        new = copied(draft, dtype=None)
        for _, entry in tensors(new):
            array = array_of(entry) if "dtype" not in entry else None
            if array is not None and array.dtype.kind == "c":
                entry.update(with_array(entry, array.real))
        yield new
    for dtype in others:
        yield copied(draft, dtype=None if dtype == "float64" else dtype)


def _fewer_arguments(draft: Draft) -> Iterator[Draft]:
    for key in ("args", "init", "call"):
        for name in draft.get(key, {}):
            new = copied(draft)
            del new[key][name]
            if not new[key]:
                del new[key]
            yield new


def _fewer_elements(draft: Draft) -> Iterator[Draft]:
    """One member of a batch; less along the axes of one size, of all that have it or of one.

    The batch comes first: else the steps are used up by axes that must stay as they are, and
    `test_a_batch_goes_before_axes_that_must_stay` fails.
    """
    held = [(path, array) for path, e in tensors(draft) if (array := array_of(e)) is not None]
    yield from _one_of_a_batch(draft, held)
    sizes = sorted({size for _, array in held for size in array.shape if size > 1}, reverse=True)
    for size in sizes:
        for after in dict.fromkeys((1, 2, size // 2, size - 1)):
            if after < size:
                yield _cut(draft, None, None, size, range(after))
                yield _cut(draft, None, None, size, range(size - after, size))
    for path, array in held:
        for axis in range(array.ndim):
            yield _with(draft, path, np.take(array, 0, axis) if array.shape[axis] else array)
            for after in dict.fromkeys((1, array.shape[axis] - 1)):
                if 0 < after < array.shape[axis]:
                    size = array.shape[axis]
                    yield _cut(draft, path, axis, size, range(after))
                    yield _cut(draft, path, axis, size, range(size - after, size))
    yield from _shorter_lists(draft)


def _one_of_a_batch(draft: Draft, held: Sequence[tuple[Any, Array]]) -> Iterator[Draft]:
    shortest = min((array.ndim for _, array in held), default=0)
    if shortest and all(0 not in array.shape for _, array in held):
        for member in (0, -1):
            new = draft
            for path, array in held:
                new = _with(new, path, array[member])
            yield new


def _shorter_lists(draft: Draft) -> Iterator[Draft]:
    for name, entry in draft["inputs"].items() if isinstance(draft["inputs"], dict) else ():
        if isinstance(entry, dict) and len(entry.get("list", ())) > 1:
            new = copied(draft)
            new["inputs"][name]["list"].pop()
            yield new


def _cut(draft: Draft, only: Any, axis: int | None, size: int, kept: range) -> Draft:
    """The first or the last part along axes of a size."""
    new = copied(draft)
    for path, entry in tensors(new):
        array = array_of(entry)
        if array is None or only not in (None, path):
            continue
        for each in range(array.ndim) if axis is None else (axis,):
            if array.shape[each] == size:
                array = np.take(array, list(kept), axis=each)
        entry.update(with_array(entry, array))
    return new


def _with(draft: Draft, place: Any, array: Array) -> Draft:
    new = copied(draft)
    for path, entry in tensors(new):
        if path == place:
            entry.update(with_array(entry, array))
    return new


def _fewer_differentiated(draft: Draft) -> Iterator[Draft]:
    wanted = [path for path, entry in tensors(draft) if is_differentiated(entry)]
    for place in wanted if len(wanted) > 1 else ():
        new = copied(draft)
        for path, entry in tensors(new):
            if path == place:
                entry["grad"] = False
        yield new


def _rounder(draft: Draft) -> Iterator[Draft]:
    """All numbers of a tensor at once, then one at a time."""
    held = [(path, e, a) for path, e in tensors(draft) if (a := array_of(e)) is not None]
    floating = [(path, array) for path, entry, array in held if array.dtype.kind in "fc"]
    for path, array in floating:
        for number in _ROUND:
            yield _with(draft, path, np.full_like(array, number))
        yield _with(draft, path, _fewer_digits(array))
    few = sum(array.size for _, array in floating) <= ONE_BY_ONE
    for path, array in floating if few else ():
        for place in range(array.size):
            for number in (*_ROUND, _fewer_digits(array).ravel()[place]):
                new = array.copy()
                new.ravel()[place] = number
                yield _with(draft, path, new)
            if array.dtype.kind == "c":
                for turned in (1j, array.ravel()[place].real, 1 + 1j, 1 + 2j):
                    new = array.copy()
                    new.ravel()[place] = turned
                    yield _with(draft, path, new)


def _fewer_digits(array: Array) -> Array:
    if array.dtype.kind == "c":
        return np.asarray(_fewer_digits(array.real) + 1j * _fewer_digits(array.imag))
    flat = [float(f"{float(each):.1g}") for each in array.ravel()]
    return np.array(flat).reshape(array.shape)


FEWER: tuple[Pass, ...] = (
    *(_plainer_ways, _plainer_types, _fewer_arguments),
    *(_fewer_elements, _fewer_differentiated),
)
"""What makes a case smaller and leaves its numbers as they are."""
ROUNDER: tuple[Pass, ...] = (_rounder,)
"""What makes numbers rounder: they may come to lie at kinks and ties."""
