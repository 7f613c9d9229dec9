"""Every sentence about TensorFlow is executed: what a page says of it is never prose alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker.subject.build_function import build
from gradcheck.explainer.document import Bullets, Equation, Paragraph
from gradcheck.explainer.page.known_findings import findings_of
from gradcheck.model import Case, Input, Location, Target, TargetKind
from gradcheck.ops import Kind, Op, all_ops
from gradcheck.ops.seen import Seen
from gradcheck.spec import load
from gradcheck.spec.resolve import resolve
from tests.explainer.explained import CALLS, example_of, example_page
from tests.ops.calls import COMPLEX
from tests.ops.oracle import evaluate, forward, structure_of, within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.explainer.document import Document

OF_TENSORFLOW = re.compile(
    r"TensorFlow|\btf\.|[Tt]he tape|NaN|overflow|underflow|Keras|framework|by hand is"
)
"""Words that say what a program does; everything else is mathematics."""
ALLOWED = (
    # The heading of the code, which `test_the_code_is_executed` runs.
    re.compile(r"In TensorFlow, with G .*:"),
    # Checked for every op that says it by `test_complex_gradients_are_what_is_said`.
    re.compile(r"That is what TensorFlow gives\."),
    re.compile(r"TensorFlow .*: its gradient is not this one\."),
)

CLAIMS = [
    (op, text)
    for op in all_ops()
    for text in (*op.pitfalls, *op.undefined)
    if isinstance(text, Seen)
]


def _function(op: Op, seen: Seen) -> Any:
    here = Location("test", 1, 1)
    inputs = tuple(Input(name, np.shape(value), here) for name, value in seen.at.items())
    target = (
        Target(TargetKind.EXPR, seen.expr, here)
        if seen.expr
        else Target(TargetKind.OP, op.name, here)
    )
    case = Case("seen", "seen", "seen", here, target, inputs, {} if seen.expr else dict(seen.args))
    return build(resolve(case), allow=(), root=".")


def _cast(value: Any, op: Op) -> Any:
    return value.astype(np.float32) if op.float32_only and value.dtype.kind == "f" else value


def _value(value: Any, *, whole: bool) -> Any:
    array = np.asarray(value)
    if whole:
        return array.astype(np.int32)
    return array if array.dtype.kind == "c" else array.astype(np.float64)


def disagreement(op: Op, seen: Seen) -> str:
    """What the sentence claims and TensorFlow does not do; empty where it holds."""
    import tensorflow as tf

    kinds = {p.name: p.kind for p in op.inputs}
    tensors = {
        name: tf.constant(_cast(_value(value, whole=kinds.get(name) is Kind.INTEGER), op))
        for name, value in seen.at.items()
    }
    function = _function(op, seen)
    with tf.GradientTape() as tape:
        tape.watch([t for t in tensors.values() if not t.dtype.is_integer])
        out = function(*tensors.values())
    digits = 1e-6 if op.float32_only else 1e-13
    if seen.out is not None and not _same(out, seen.out, digits):
        return f"gives {out.numpy()} in place of {seen.out}"
    found = tape.gradient(out, {name: tensors[name] for name in seen.tape})
    for name, expected in seen.tape.items():
        if seen.sparse != isinstance(found[name], tf.IndexedSlices):
            return f"{name}: {type(found[name]).__name__}"
        if not _same(tf.convert_to_tensor(found[name]), expected, digits):
            return f"{name}: {tf.convert_to_tensor(found[name]).numpy()} in place of {expected}"
    return ""


def _same(found: Any, expected: Any, digits: float) -> bool:
    wanted = _value(expected, whole=False)
    return found.shape == wanted.shape and np.allclose(
        found.numpy(), wanted, rtol=digits, atol=digits / 10, equal_nan=True
    )


@pytest.mark.parametrize(("op", "seen"), CLAIMS, ids=lambda v: str(getattr(v, "name", ""))[:40])
def test_what_is_said_of_tensorflow_is_so(op: Op, seen: Seen) -> None:
    assert disagreement(op, seen) == ""


def test_a_sentence_that_is_wrong_is_found_out() -> None:
    (op,) = (op for op in all_ops() if op.name == "cumprod")
    wrong = Seen("NaN", {"x": [1.0, 0.0]}, {"x": [1.0, "nan"]})
    assert "in place of" in disagreement(op, wrong)
    with pytest.raises(ValueError, match="nothing is claimed"):
        Seen("TensorFlow is good.", {})


@pytest.mark.parametrize("op", all_ops(), ids=lambda op: op.name)
def test_no_sentence_about_tensorflow_without_a_claim(op: Op) -> None:
    """Every text of the page, whatever part of the declaration it comes from, in every call."""
    # (What the suite finds wrong is run by `test_findings.py`.)
    found = {finding.text for finding in findings_of(op.name)}
    for page in (example_page(op), *(call.page for call in CALLS.get(op.name, ()))):
        for text in _said(page):
            if OF_TENSORFLOW.search(text) and not isinstance(text, Seen) and text not in found:
                assert any(allowed.fullmatch(text) for allowed in ALLOWED), text


def _said(page: Document) -> Iterator[str]:
    yield page.lead
    for section in page.sections:
        if section.heading != "Known bugs of TensorFlow":
            yield section.heading
        for block in section.blocks:
            if isinstance(block, Paragraph):
                yield block.text
            if isinstance(block, Bullets):
                yield from block.items
            if isinstance(block, Equation):
                yield block.note


def _complex_disagreement(op: Op) -> float:
    call = example_of(op).call
    point = evaluate(op, call.shapes, call.args, complex_=True)
    apart = [
        np.max(np.abs(within(point.tape[n] - point.formula[n], structure_of(op, n))))
        for n in point.formula
        if np.iscomplexobj(point.values[n])
    ]
    return float(max(apart))


SPOKEN = [op for op in all_ops() if example_of(op).complex_gradients]


@pytest.mark.parametrize("op", SPOKEN, ids=lambda op: op.name)
def test_complex_gradients_are_what_is_said(op: Op) -> None:
    import tensorflow as tf

    mended = "before 2.22" in op.complex_finding and tuple(
        int(part) for part in tf.__version__.split(".")[:2]
    ) >= (2, 22)
    wrong = _complex_disagreement(op) > 1e-9
    assert wrong == (bool(op.complex_finding) and not mended)


def test_every_finding_is_a_known_bug() -> None:
    cases = load(sorted(map(str, Path("specs").glob("*/known_bugs.yaml")))).cases
    shown = {case.target.text for case in cases if "complex" in str(case.dtype)}
    findings = {op.name for op in all_ops() if op.complex_finding}
    assert findings <= shown
    assert not findings & COMPLEX


KINKS = [
    (op, parameter.name, kink)
    for op in all_ops()
    for parameter in op.inputs
    for kink in parameter.domain.kinks
    if not op.undefined and len(op.inputs) == 1
]
"""Those of which the page says that there is a kink."""


@pytest.mark.parametrize(("op", "name", "kink"), KINKS, ids=lambda v: str(getattr(v, "name", v)))
def test_a_kink_has_two_slopes(op: Op, name: str, kink: float) -> None:
    step = 2.0**-20
    before, at, after = (_at(op, name, kink + move) for move in (-step, 0.0, step))
    assert abs((after - at) - (at - before)) / step > 0.05


SMOOTH = [
    op
    for op in all_ops()
    if len(op.inputs) == 1
    and op.family in ("elementwise", "special", "nn")
    and not op.outputs
    and "Defined and differentiable everywhere." in str(example_page(op).sections)
    and set(example_of(op).call.shapes.values()) == {example_of(op).shape}
]


@pytest.mark.parametrize("op", SMOOTH, ids=lambda op: op.name)
@pytest.mark.parametrize("place", [0.0, 1.0, -1.0, 6.0, -0.5])
def test_what_is_called_differentiable_everywhere_is(op: Op, place: float) -> None:
    step = 2.0**-17
    name = op.inputs[0].name
    before, at, after = (_at(op, name, place + move) for move in (-step, 0.0, step))
    scale = max(1.0, abs(after - before) / step)
    assert abs((after - at) - (at - before)) / step < 1e-2 * scale


def _at(op: Op, name: str, value: float) -> float:
    import tensorflow as tf

    shape = example_of(op).call.shapes[name]
    values = np.zeros(shape)
    values.flat[0] = value
    call = example_of(op).call
    out = forward(op, {name: tf.constant(values)}, call.args)
    return float(np.asarray(out).flat[0])
