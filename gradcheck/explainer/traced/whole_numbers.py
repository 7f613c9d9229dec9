"""Inputs that are whole numbers: indices, labels, lengths, which have no gradient.

On the command line an input has a shape alone. What is cast to whole numbers before anything else
is done with it, or is refused as anything else, is drawn as such.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.model import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gradcheck.explainer.traced.ran_ops import Ran, Watched
    from gradcheck.model import Case, Input

__all__ = ["as_it_casts", "handed_on", "one_by_one", "without_handed_on"]

DTYPE = "int32"
BELOW = 3
"""They are drawn from 0, 1 and 2: places that most tables have."""


def as_it_casts(case: Case, watched: Watched) -> Case | None:
    """With those inputs as whole numbers that the function casts to them at once; None for none.

    Without it `test_an_embedding_is_what_a_textbook_prints` fails.
    """
    casts = {
        operand.name
        for operand, given in zip(watched.operands, watched.given, strict=True)
        if operand.captured is None and _is_cast(watched, id(given))
    }
    found = {i.name for i in case.inputs if i.dtype is None and _may_be_whole(i)} & casts
    return _with(case, found) if found else None


def _is_cast(watched: Watched, given: int) -> bool:
    takers = [ran for ran in watched.ran if any(id(each) == given for each in ran.inputs)]
    return bool(takers) and all(
        ran.kind == "Cast" and ran.outputs[0].dtype.is_integer for ran in takers
    )


def handed_on(ran: Ran, out: Any, moves: Callable[[Any], bool]) -> int:
    """Of whole numbers that an op gives as it was given them: the id of those; else 0.

    So it is with indices that a function has made sure of: that none is below zero, or too large.
    """
    if not out.dtype.is_integer:
        return 0
    given = (each for each in ran.inputs if moves(each) and each.dtype.is_integer)
    return next((id(each) for each in given if np.array_equal(each.numpy(), out.numpy())), 0)


def without_handed_on(watched: Watched) -> Watched:
    """The call, where nothing is needed that only made sure of whole numbers."""
    moving = {id(given) for given in watched.given} | watched.outside.keys()
    for ran in watched.ran:
        if any(id(given) in moving for given in ran.inputs):
            moving |= {id(out) for out in ran.outputs}
    needed = {id(out) for out in watched.outputs}
    for ran in reversed(watched.ran):
        for out in ran.outputs:
            if id(out) in needed:
                same = handed_on(ran, out, lambda tensor: id(tensor) in moving)
                needed |= {same} if same else {id(given) for given in ran.inputs}
    return replace(watched, needed=frozenset(needed))


def one_by_one(case: Case) -> Iterator[Case]:
    """The case with whole numbers for those inputs that have such values, or for one of them."""
    free = [i for i in case.inputs if i.dtype is None]
    given = {i.name for i in free if i.values is not None and i.values.dtype.kind in "iu"}
    if given:
        yield _with(case, given)
    for each in reversed(free):
        if _may_be_whole(each) and len(case.inputs) > 1:
            yield _with(case, {each.name})


def _may_be_whole(given: Input) -> bool:
    values = given.values
    return values is None or bool(np.isrealobj(values) and np.all(values == np.floor(values)))


def _with(case: Case, names: set[str]) -> Case:
    return replace(case, inputs=tuple(_whole(i) if i.name in names else i for i in case.inputs))


def _whole(given: Input) -> Input:
    if given.values is not None:
        return replace(given, values=given.values.astype(DTYPE), dtype=DTYPE, grad=False)
    return replace(given, sample=Sample("integers", (0, BELOW)), dtype=DTYPE, grad=False)
