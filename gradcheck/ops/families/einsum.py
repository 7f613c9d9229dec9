"""einsum: its output's shape, and formulas written from its equation.

The formula is an einsum again: G takes the output's subscripts, the other inputs keep theirs, and
the result has those of the input in question. What that cannot express gets a factor of its own:
ones for an index that was summed out, an identity for an index that stands twice.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter
from gradcheck.ops.rules import broadcast

if TYPE_CHECKING:
    from collections.abc import Collection

    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

_DOTS = "."
"""Stands for an ellipsis while an equation is taken apart."""
_LETTERS = "".join(dict.fromkeys("ijklmnpqrstuvw" + string.ascii_letters))
"""Letters for indices, first those that people take."""
_TAKEN = "GLI"
"""Letters of the upstream gradient, the loss and the identity."""


@dataclass(frozen=True, slots=True)
class _Equation:
    """An equation with a letter for each axis, those of the ellipsis included."""

    terms: tuple[str, ...]
    output: str
    extents: dict[str, int]
    spare: tuple[str, ...]
    """Letters that the equation does not use."""


def _output_shape(call: Call) -> Shape:
    """The shape of the result; ShapeError where equation and inputs do not fit."""
    equation = _resolve(call)
    return tuple(equation.extents[letter] for letter in equation.output)


def _formulas(call: Call) -> dict[str, str]:
    """The formula of each input."""
    equation = _resolve(call)
    return {name: _formula(equation, call, i) for i, name in enumerate(call.shapes)}


def _forward(call: Call) -> str:
    """The same einsum with every index named: no ellipsis, and an explicit output."""
    equation = _resolve(call)
    terms = ",".join(equation.terms)
    return f"einsum('{terms}->{equation.output}', {', '.join(call.shapes)})"


def _formula(equation: _Equation, call: Call, position: int) -> str:
    names, shapes = list(call.shapes), list(call.shapes.values())
    spare = iter(equation.spare)
    terms, factors, known = [equation.output], ["G"], set(equation.output)
    for i, name in enumerate(names):
        if i != position:
            terms.append(equation.terms[i])
            factors.append(f"conj({name})")
            known |= {
                letter
                for letter, extent in zip(equation.terms[i], shapes[i], strict=True)
                if extent == equation.extents[letter]
            }
    target = ""
    for letter, extent in zip(equation.terms[position], shapes[position], strict=True):
        if letter in target:
            fresh = next(spare)
            terms.append(letter + fresh)
            factors.append(f"eye({extent})")
        elif extent != equation.extents[letter]:
            # An ellipsis axis of size 1 that was broadcast: summed, and kept with size 1.
            fresh = next(spare)
            terms.append(fresh)
            factors.append("ones(1)")
        else:
            fresh = letter
            if letter not in known:
                terms.append(letter)
                factors.append(f"ones({extent})")
        target += fresh
    return f"einsum('{','.join(terms)}->{target}', {', '.join(factors)})"


def _resolve(call: Call) -> _Equation:
    text = call.args["equation"]
    if not isinstance(text, str):
        raise ShapeError(f"equation is text such as 'ij,jk->ik', not {text!r}")
    terms, output = _parse(text)
    names, shapes = list(call.shapes), list(call.shapes.values())
    if len(terms) != len(shapes):
        raise ShapeError(
            f"equation {text!r} has {len(terms)} operands, but the case has {len(shapes)} inputs"
        )
    batches = [_batch(*pair) for pair in zip(terms, names, shapes, strict=True)]
    batch = broadcast(batches)
    if batch and _DOTS not in output:
        raise ShapeError(
            f"equation {text!r}: the ellipsis stands for {len(batch)} axes of the inputs, so the "
            "output needs one too"
        )
    terms, output = _without_names(terms, output, call.shapes)
    free = [a for a in _LETTERS if a not in (*"".join((*terms, output)), *call.shapes)]
    if len(free) < len(batch) + max(map(len, shapes), default=0):
        raise ShapeError(f"equation {text!r} has too many axes: there are 52 letters to name them")
    dots, spare = "".join(free[: len(batch)]), tuple(free[len(batch) :])
    plain = tuple(
        term.replace(_DOTS, dots[len(dots) - len(own) :])
        for term, own in zip(terms, batches, strict=True)
    )
    extents = dict(zip(dots, batch, strict=True))
    for term, name, shape in zip(plain, names, shapes, strict=True):
        for letter, extent in zip(term, shape, strict=True):
            if extents.setdefault(letter, extent) != extent and letter not in dots:
                raise ShapeError(
                    f"index {letter!r} of {text!r} is {extents[letter]} before, but {extent} in "
                    f"{name} of shape {list(shape)}"
                )
    return _Equation(plain, output.replace(_DOTS, dots), extents, spare)


def relettered(text: str, names: Collection[str]) -> str:
    """The equation with an explicit output and other letters for those that name inputs."""
    terms, output = _without_names(*_parse(text), names)
    return f"{','.join(terms)}->{output}".replace(_DOTS, "...")


def relettering_note(text: str, names: Collection[str]) -> tuple[str, ...]:
    """What to say where the equation is shown with other letters; nothing where it is not."""
    clashing = sorted({letter for letter in text if letter in names or letter in _TAKEN})
    if not clashing:
        return ()
    are = f"{' and '.join(clashing)} {'name' if len(clashing) > 1 else 'names'} something else"
    return (f"The equation {text!r} is written {relettered(text, names)!r} here: {are}.",)


def _without_names(terms: list[str], output: str, names: Collection[str]) -> tuple[list[str], str]:
    """Other letters for the indices that are called like an input: `a[a,b]` cannot be read."""
    used = "".join((*terms, output))
    clashing = [a for a in dict.fromkeys(used) if a in names or a in _TAKEN]
    spare = (a for a in _LETTERS if a not in used and a not in names and a not in _TAKEN)
    table = str.maketrans(dict(zip(clashing, spare, strict=False)))
    return [term.translate(table) for term in terms], output.translate(table)


def _batch(term: str, name: str, shape: Shape) -> Shape:
    """The axes of one input that its ellipsis stands for."""
    before, dots, after = term.partition(_DOTS)
    named = len(before) + len(after)
    if len(shape) < named or (not dots and len(shape) != named):
        shown = term.replace(_DOTS, "...")
        raise ShapeError(
            f"{name} has shape {list(shape)}, but its subscripts {shown!r} name {named} axes"
        )
    return shape[len(before) : len(shape) - len(after)]


def _parse(text: str) -> tuple[list[str], str]:
    """The terms and the output of an equation, an ellipsis written as _DOTS."""
    compact = text.replace(" ", "").replace("...", _DOTS)
    match = re.fullmatch(r"([A-Za-z.,]*)(->([A-Za-z.]*))?", compact)
    terms = match[1].split(",") if match else []
    if match is None or any(term.count(_DOTS) > 1 for term in [*terms, match[3] or ""]):
        raise ShapeError(f"equation {text!r} is not of the form 'ij,jk->ik'")
    if match[2] is None:
        # As in TensorFlow: in alphabetical order, and the ellipsis counts as an index.
        counts = Counter("".join(terms))
        return terms, "".join(sorted(letter for letter in counts if counts[letter] == 1))
    output = match[3]
    for letter in output:
        if output.count(letter) > 1:
            raise ShapeError(f"equation {text!r}: index {letter!r} stands twice in the output")
        if letter not in match[1] and letter != _DOTS:
            raise ShapeError(f"equation {text!r}: index {letter!r} of the output is in no input")
    return terms, output


def _einsum_build(tf: Any, tensors: list[Any], args: Any) -> Any:
    return tf.einsum(args["equation"], *tensors)


OPS = (
    Op(
        name="einsum",
        tf="tf.einsum",
        family="linalg",
        summary="y = Σ of products, the indices named by an equation",
        inputs=(Parameter("inputs"),),
        forward=_forward,
        example=Example({"a": (3, 4), "b": (4, 5)}, {"equation": "ij,jk->ik"}),
        related=("matmul", "tensordot", "trace", "reduce_sum"),
        formula=_formulas,
        shape=_output_shape,
        variadic=True,
        required=("equation",),
        aliases=("tf.linalg.einsum",),
        build=_einsum_build,
        batches="An ellipsis stands for batch axes, which broadcast against each other: an axis "
        "of size 1 that was stretched is summed in the gradient.",
        pitfalls=(
            "The gradient of an input swaps its subscripts with the output's: 'ij,jk->ik' gives "
            "'ik,jk->ij' for the first.",
            "An index that one input alone has, and the output lacks, is summed out: G is "
            "repeated along it.",
            "An index that an input has twice reaches its diagonal alone: the rest gets 0.",
        ),
    ),
)
