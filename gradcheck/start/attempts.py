"""Specs that may work for a thing that was found: one after the other, by how the last one went."""

from __future__ import annotations

import re
from collections.abc import Generator
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from gradcheck import ops
from gradcheck.errors import GradcheckError
from gradcheck.explainer.derive.complete_call import make_call
from gradcheck.model import Result, Stage, Verdict
from gradcheck.start.guesses import (
    UNKNOWN,
    data_for,
    is_image,
    is_several,
    is_tensor,
    special_input,
)
from gradcheck.start.shape_ladder import shape_sets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.model.findings import Found, Taken

Draft = dict[str, Any]
"""The keys of a case, in the order in which they are written."""

Attempts = Generator[Draft, Result, None]

MOST_ATTEMPTS = 60
"""Specs that are tried for one thing: one that does not fit takes some milliseconds."""
_MORE_AFTER_A_POOR_ONE = 12
"""Specs that are still tried once one was found that runs, but shows little: a few shapes, or two
with other numbers each."""

_SAMPLES = ("positive", "uniform(0.1, 0.9)", "above_one", "spd")
"""For what is not finite at normal numbers: logarithms, roots, probabilities, factorisations."""

_STATES = (1, 2)
"""How many states a cell has: a GRU's one, an LSTM's two."""

_OF_DTYPES = re.compile(r"float32|float64|double|half|dtype|\btype\b", re.IGNORECASE)
"""How messages about dtypes sound."""


class Grade(IntEnum):
    """What an attempt is worth."""

    USELESS = 0
    """It raises, crashes or hangs."""
    POOR = 1
    """It runs, but its gradient cannot be judged there, or not finite, or there is none."""
    GOOD = 2


class UnusableError(GradcheckError):
    """Nothing can be tried: the text says what is not known of the call."""


def grade(result: Result) -> Grade:
    """What a result says of the shapes: a mismatch is a verdict as good as a pass."""
    if result.verdict in (Verdict.PASS, Verdict.KINK, Verdict.MISMATCH):
        return Grade.GOOD if result.anything_judged else Grade.POOR
    ran = result.verdict in (Verdict.DISCONNECTED, Verdict.NONFINITE, Verdict.INCONCLUSIVE)
    return Grade.POOR if ran else Grade.USELESS


def attempts(found: Found, key: str) -> Attempts:
    """Drafts to try; each is to be answered with its result. UnusableError if there is none.

    Args:
        found: what is called.
        key: what names it in a spec: `function`, `layer` or `op`.
    """
    way = _drafts(found, key)
    left, result = MOST_ATTEMPTS, None
    while left > 0:
        try:
            draft = next(way) if result is None else way.send(result)
        except StopIteration:
            return
        result = yield draft
        left -= 1
        if grade(result) is Grade.POOR:
            left = min(left, _MORE_AFTER_A_POOR_ONE)


def _drafts(found: Found, key: str) -> Attempts:
    """All that may be tried, however many there are."""
    if key == "op":
        yield from _declared(found.target)
    for fixed in _fixed(found, key):
        for inputs in _inputs(found):
            draft = {**fixed, "inputs": inputs}
            result = yield draft
            if grade(result) is Grade.USELESS and _OF_DTYPES.search(result.message):
                # A function whose constants are float32 takes no float64.
                draft = {**draft, "dtype": "float32"}
                result = yield draft
            if _wants_other_numbers(result):
                yield from _sampled(draft)


def _wants_other_numbers(result: Result) -> bool:
    """Whether the function runs, and is not defined where it was called, or its gradient is not.

    (Where every output is NaN there is no derivative to judge by. One that the budget left open is
    dear, and not at a bad point.)
    """
    undefined = result.verdict in (Verdict.NONFINITE, Verdict.INCONCLUSIVE)
    return undefined and result.decided_by is not Stage.BUDGET


def _declared(name: str) -> Attempts:
    """The example of an op of ours."""
    op = ops.find(name)
    if op is None:
        return
    call = make_call(op, {}, {})
    draft: Draft = {"op": name, "inputs": {n: list(s) for n, s in call.shapes.items()}}
    args = {n: v for n, v in call.args.items() if n not in op.args or op.args[n] != v}
    yield {**draft, "args": args} if args else draft


def _sampled(draft: Draft) -> Attempts:
    """The same with other numbers."""
    inputs = draft["inputs"]
    for sample in _SAMPLES:
        if isinstance(inputs, dict):
            drawn: Any = {name: _drawn(value, sample) for name, value in inputs.items()}
        else:
            # (Of what is given by position alone.)
            drawn = [_drawn(value, sample) for value in inputs]
        yield {**draft, "inputs": drawn}


def _drawn(value: Any, sample: str) -> Any:
    """An input with its numbers from there; one that says what it holds stays as it is."""
    if isinstance(value, list):
        return {"shape": value, "sample": sample}
    if "list" in value:
        return {**value, "list": [_drawn(part, sample) for part in value["list"]]}
    return value


def _fixed(found: Found, key: str) -> Iterator[Draft]:
    """What stays the same from one shape to the next: the target, and plain data."""
    data = {p.name: p for p in found.call if p.required and not is_tensor(p)}
    args = {name: _known(parameter) for name, parameter in data.items()}
    init = {p.name: _known(p) for p in found.init if p.required}
    guessed = [p.name for p in found.init if p.required and not p.annotation]
    for replacement in (None, 0.5):
        draft: Draft = {key: found.target}
        if init:
            changed = {} if replacement is None else dict.fromkeys(guessed, replacement)
            draft["init"] = {**init, **changed}
        if args:
            draft["call" if key == "layer" else "args"] = args
        yield draft
        if not guessed:
            return


def _known(parameter: Taken) -> Any:
    value = data_for(parameter)
    if value is UNKNOWN:
        annotation = f": {parameter.annotation}" if parameter.annotation else ""
        raise UnusableError(f"it needs `{parameter.name}{annotation}`, which cannot be guessed")
    return value


def _inputs(found: Found) -> Iterator[Any]:
    """What the call may take, the likeliest first."""
    tensors = [p for p in found.call if p.required and is_tensor(p)]
    if not tensors:
        # (Those of a function that has defaults for all are given where they look like tensors.)
        tensors = [p for p in found.call if is_tensor(p) and p.name not in ("training", "mask")][:1]
    names = {p.name for p in tensors}
    if {"y_true", "y_pred"} <= names:
        yield from _of_a_loss([p for p in tensors if p.name not in ("y_true", "y_pred")])
    elif not found.call:
        # A signature of `*args`, or none at all.
        yield from ([shape] * count for count in (1, 2, 3) for shape in ([3, 4], [4], []))
    elif not tensors:
        raise UnusableError("it takes no tensor")
    else:
        yield from _of_tensors(tensors, layer=found.kind.is_class)


def _of_a_loss(rest: list[Taken]) -> Iterator[dict[str, Any]]:
    """Labels are not differentiated; between 0 and 1 all losses are defined."""
    between = {"sample": "uniform(0.1, 0.9)"}
    for shape in ([3, 4], [2, 5, 5, 3], [4]):
        true = {"shape": shape, **between, "grad": False}
        yield {"y_true": true, "y_pred": {"shape": shape, **between}, **_others(rest, shape)}
    labels = {"shape": [3], "sample": "integers(0, 4)", "dtype": "int32"}
    pred = {"shape": [3, 4], "sample": "probability"}
    yield {"y_true": labels, "y_pred": pred, **_others(rest, [3])}
    yield {"y_true": {"shape": [3, 4], "grad": False}, "y_pred": [3, 4], **_others(rest, [3])}


def _others(rest: list[Taken], shape: list[int]) -> dict[str, Any]:
    return {p.name: shape for p in rest}


def _of_tensors(tensors: list[Taken], *, layer: bool) -> Iterator[Any]:
    image = is_image(tensors[0])
    many = layer and any(is_several(p) for p in tensors)
    for shapes in shape_sets(len(tensors), layer=layer, image=image):
        # (First as lists: one tensor runs as well, and its rows are then taken for the states.)
        yield from (_arranged(tensors, shapes, count) for count in _STATES if many)
        yield _arranged(tensors, shapes)
        shorter = tuple(
            shape[:-1] if special_input(p, shape) else shape
            for p, shape in zip(tensors, shapes, strict=True)
        )
        if shorter != shapes:
            # A label for each row, and not for each number.
            yield _arranged(tensors, shorter)
    if layer and len(tensors) == 1:
        # Layers that merge, and layers that look something up.
        name = tensors[0].name
        for shape in ([2, 4], [2, 3, 4]):
            yield from ({name: {"list": [shape] * count}} for count in (2, 3))
        yield {name: {"shape": [2, 3], "sample": "integers(0, 4)", "dtype": "int32"}}


def _arranged(tensors: list[Taken], shapes: tuple[list[int], ...], count: int = 0) -> Any:
    """One input for each tensor; of what is several, a list of so many."""
    values = {
        p.name: {"list": [shape] * count}
        if count and is_several(p)
        else special_input(p, shape) or shape
        for p, shape in zip(tensors, shapes, strict=True)
    }
    # (What can be given by position alone has no name in a spec.)
    return list(values.values()) if any(p.by_position for p in tensors) else values
