"""The call to explain: what was asked for, completed with the op's example."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gradcheck.errors import GradcheckError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Op

__all__ = ["make_call"]

_TRIED_SHAPES: tuple[Shape, ...] = ((3,), (2, 3), (3, 3), (2, 3, 3), ())
"""For an op whose example does not fit, in the order in which a reader would like them."""


def make_call(op: Op, shapes: Mapping[str, Shape], args: Mapping[str, Any]) -> Call:
    """The call that was asked for, completed with the op's example; UsageError says what lacks."""
    known, asked = {*op.args, *op.required}, shapes
    for name in args:
        if name not in known:
            raise UsageError(f"{op.name} has no argument {name!r}: {_those(known)}")
    example = op.example
    if not op.variadic:
        inputs = [parameter.name for parameter in op.inputs]
        for name in shapes:
            if name not in inputs:
                raise UsageError(
                    f"{op.name} has no input {name!r}: its inputs are {', '.join(inputs)}"
                )
        shapes = _completed(op, shapes, args)
    elif not shapes and example is not None:
        shapes = _variadic_shapes(args) or example.shapes
    given = _given(op, asked, args)
    missing = [name for name in op.required if name not in given]
    if missing:
        raise UsageError(f"{op.name} needs --arg {missing[0]}=…")
    try:
        call = op.call(shapes, {name: given[name] for name in given if name in known})
        op.shape(call)
    except GradcheckError:
        raise
    except Exception as error:  # an argument of a kind that the rule did not think of
        raise UsageError(f"{op.name}: {type(error).__name__}: {error}") from error
    return call


def _given(op: Op, shapes: Mapping[str, Shape], args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments: the example's own where nothing was asked for, else what it must have."""
    if op.example is None or set(args) & set(op.required):
        return dict(args)
    lent = op.example.args
    if shapes or args:
        lent = {name: value for name, value in lent.items() if name in op.required}
    return {**lent, **args}


def _those(names: set[str]) -> str:
    return f"there are {', '.join(sorted(names))}" if names else "it takes none"


def _completed(op: Op, shapes: Mapping[str, Shape], args: Mapping[str, Any]) -> Mapping[str, Shape]:
    """A shape for every input: as given, as in the example, or one that fits."""
    names = [p.name for p in op.inputs]
    if all(name in shapes for name in names):
        return {name: shapes[name] for name in names}
    candidates: list[dict[str, Shape]] = []
    if op.example is not None:
        candidates.append({**op.example.shapes, **shapes})
        # An argument such as transpose_b asks for the example turned.
        candidates += _turned({**op.example.shapes, **shapes}, shapes)
    candidates += [{name: shapes.get(name, shape) for name in names} for shape in _TRIED_SHAPES]
    given = _given(op, shapes, args)
    failures: list[Exception] = []
    for candidate in candidates:
        try:
            op.shape(op.call({n: candidate[n] for n in names if n in candidate}, given))
        except Exception as error:  # an argument of a kind that the rule did not think of
            failures.append(error)
            continue
        return {n: candidate[n] for n in names if n in candidate}
    first = f"{op.name}: {failures[0]}"
    if len({str(failure) for failure in failures[:2]}) == 1 and len(failures) > 1:
        # Whatever the shapes, it is the arguments that are wrong.
        raise UsageError(first)
    lacking = [name for name in names if name not in shapes]
    raise UsageError(f"{first}; give --shape {lacking[0]}=… {'too' if shapes else ''}".rstrip())


def _turned(shapes: dict[str, Shape], fixed: Mapping[str, Shape]) -> list[dict[str, Shape]]:
    """Shapes that differ from the given ones by the last two axes of some, swapped."""
    free = [n for n, s in shapes.items() if n not in fixed and len(s) >= 2]
    found = []
    for mask in range(1, 2 ** min(len(free), 3)):
        chosen = {n for i, n in enumerate(free) if mask >> i & 1}
        found.append({n: (*s[:-2], s[-1], s[-2]) if n in chosen else s for n, s in shapes.items()})
    return found


def _variadic_shapes(args: Mapping[str, Any]) -> dict[str, Shape]:
    """For an einsum: an input per term, its sizes by letter."""
    equation = args.get("equation")
    if not isinstance(equation, str):
        return {}
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    sizes = {
        letter: 2 + i for i, letter in enumerate(dict.fromkeys(re.sub(r"[^A-Za-z]", "", equation)))
    }
    # Capitals where the equation has the small letters for its indices.
    names = "abcdefgh"
    names = names.upper() if set(names[: len(terms)]) & set(equation) else names
    if len(terms) > len(names):
        raise UsageError("give the inputs with --shape: the equation has too many to name")
    shapes = {}
    for name, term in zip(names, terms, strict=False):
        # An ellipsis is shown with one batch axis.
        plain = term.replace("...", ".")
        shapes[name] = tuple(sizes.get(letter, 2) for letter in plain)
    return shapes
