"""`gradcheck ops`: which ops are declared, and what one of them says."""

from __future__ import annotations

import contextlib
import math
from itertools import groupby
from typing import TYPE_CHECKING

import click

from gradcheck.cli.say import say_styled
from gradcheck.errors import ShapeError, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.ops.declaration import Call, Op, Parameter


@click.command(name="ops")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """List the declared ops, or show one of them.

    NAME is an op of the list or a TensorFlow name.

    \b
    Examples:
      gradcheck ops
      gradcheck ops matmul
      gradcheck ops tf.linalg.matmul
    """  # noqa: D301  (click reads the \b)
    from gradcheck import ops

    if name is None:
        say_styled("\n".join(_listing(ops.all_ops())))
        return 0
    op = ops.find(name)
    if op is None:
        near = nearest(name, ops.names())
        hint = f"did you mean {near!r}?" if near else "`gradcheck ops` lists them."
        raise UsageError(f"no op {name!r} is declared: {hint}")
    say_styled("\n".join(_description(op)))
    return 0


def _listing(ops: tuple[Op, ...]) -> Iterator[str]:
    width = max((len(op.name) for op in ops), default=0)
    for family, members in groupby(sorted(ops, key=lambda op: op.family), lambda op: op.family):
        yield click.style(family, bold=True)
        for op in sorted(members, key=lambda op: op.name):
            yield f"  {op.name:{width}}  {op.summary}"
        yield ""
    yield f"{len(ops)} ops; `gradcheck ops NAME` shows one, and a spec may name any of them"


def _description(op: Op) -> Iterator[str]:
    yield f"{click.style(op.name, bold=True)}: {op.summary}"
    yield f"  in TensorFlow: {', '.join((op.tf, *op.aliases))}"
    yield ""
    yield "inputs" + (" (any number of them, under any names)" if op.variadic else "")
    for parameter in op.inputs:
        yield f"  {parameter.name}: {_domain(parameter)}"
    if op.args or op.required:
        yield "arguments"
        yield from (f"  {name}: to be given" for name in op.required)
        yield from (f"  {name}: {value!r} by default" for name, value in op.args.items())
    yield "gradient, for an upstream gradient G"
    yield from _formulas(op)
    if op.pitfalls:
        yield "pitfalls"
        yield from (f"  - {pitfall}" for pitfall in op.pitfalls)


def _formulas(op: Op) -> Iterator[str]:
    formulas = op.formula
    if callable(formulas):
        call = _example(op)
        if call is None:
            yield f"  written for each call, from {_sequence((*op.required, 'the shapes'))}"
            return
        shapes = [f"{name} of shape {list(shape)}" for name, shape in call.shapes.items()]
        yield f"  written for each call; for {_sequence(shapes)} it is"
        formulas = op.formulas(call)
    yield from (f"  d{name} = {formula}" for name, formula in formulas.items())


def _example(op: Op) -> Call | None:
    """A call whose shapes fit together; None where a shape alone does not make a call."""
    if op.required:
        return None
    for shape in ((3, 3), (3,), ()):
        call = op.call({parameter.name: shape for parameter in op.inputs}, {})
        with contextlib.suppress(ShapeError):
            op.shape(call)
            return call
    return None


def _sequence(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def _domain(parameter: Parameter) -> str:
    domain = parameter.domain
    words = [str(parameter.kind)]
    if math.isfinite(domain.low) and math.isfinite(domain.high):
        words.append(f"between {domain.low:g} and {domain.high:g}")
    elif math.isfinite(domain.low):
        words.append(f"above {domain.low:g}")
    elif math.isfinite(domain.high):
        words.append(f"below {domain.high:g}")
    words.append(f"drawn as {domain.sample}")
    if domain.kinks:
        words.append(f"kinks at {', '.join(f'{kink:g}' for kink in domain.kinks)}")
    return ", ".join(words)
