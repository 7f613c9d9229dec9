"""Arguments in combinations that nobody wrote down: every equation of such a page is executed."""

from __future__ import annotations

import itertools
import zlib
from typing import Any

import numpy as np
import pytest

from gradcheck.errors import ShapeError
from gradcheck.explainer import trees
from gradcheck.explainer.derive.gradient_steps import gradient_steps
from gradcheck.ops import Op, all_ops
from tests.explainer.claims import failing_claims
from tests.explainer.derive.test_gradient_steps import worst_line
from tests.explainer.explained import CALLS, Explained, apart
from tests.ops.calls import USES, Use

DRAWS = 4
"""How many combinations of each op are tried."""

WITH_ARGS = [op for op in all_ops() if op.args or op.required]


def _values(op: Op) -> dict[str, list[Any]]:
    """By argument: the values that it has in the calls of this op, and its default."""
    found = {name: [default] for name, default in op.args.items()}
    for use in USES:
        if use.op.name == op.name:
            for name, value in use.args.items():
                known = found.setdefault(name, [])
                known += [value] if value not in known else []
    return found


def _combinations(op: Op) -> list[Use]:
    """Calls with a mixture of arguments, those that fit the shapes of some call of the op."""
    values = _values(op)
    written = {str(call.use) for call in CALLS[op.name]}
    drawn: list[Use] = []
    for call in CALLS[op.name]:
        if any(0 in shape for shape in call.use.shapes.values()):
            continue
        for picked in itertools.product(*values.values()):
            use = Use(op, call.use.shapes, dict(zip(values, picked, strict=True)))
            try:
                op.shape(op.call(use.shapes, use.args))
            except (ShapeError, ValueError, TypeError, IndexError):
                continue
            if str(use) not in written:
                drawn.append(use)
    rng = np.random.default_rng(zlib.crc32(op.name.encode()))
    order = rng.permutation(len(drawn))[:DRAWS]
    return [drawn[i] for i in order]


@pytest.mark.parametrize("op", WITH_ARGS, ids=lambda op: op.name)
def test_every_argument_is_tried_beside_its_default(op: Op) -> None:
    for name, values in _values(op).items():
        assert len(values) > (name in op.args), (name, values)


@pytest.mark.parametrize("op", WITH_ARGS, ids=lambda op: op.name)
def test_every_equation_holds_for_mixed_arguments(op: Op) -> None:
    for use in _combinations(op):
        call = Explained(use)
        if any(np.isnan(one).any() for one in call.point.tape.values()):
            continue
        _holds(call)


def _holds(call: Explained) -> None:
    subject = call.subject
    assert subject.forward is not None
    found, out = trees.run(subject.forward, call.known), call.point.out
    pairs = zip(found, out, strict=True) if call.op.outputs else [(found, out)]
    for one, other in pairs:
        assert apart(one, other) < call.tolerance, str(call)
    for name, tree in subject.printed.items():
        assert call.off_the_tape(name, trees.run(tree, call.known)) < call.tolerance, (
            str(call),
            name,
        )
        steps = gradient_steps(subject, name)
        if steps is not None:
            assert worst_line(call, steps) < call.tolerance, (str(call), name)
    if subject.derivation or call.op.slope:
        assert not failing_claims(subject.single), str(call)
    assert any(section.heading.startswith("Derivation") for section in call.page.sections)
