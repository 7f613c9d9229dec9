"""What a function computes with complex numbers is read as real steps, as the tape has it."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.render.terminal import render_text
from gradcheck.explainer.traced.complex_rules import COMPLEX_RULES, PART_BY_PART
from gradcheck.explainer.traced.traced_graph import TooLarge
from tests.explainer.traced.test_op_rules import chain_and_tape, traced

Z = "tf.complex(x, tf.sin(x))"
W = "tf.complex(tf.cos(x), x)"


def both(text: str) -> str:
    """A real number of both parts, so that each of them has a gradient."""
    return f"tf.reduce_sum(tf.math.real({text}) ** 2) + tf.reduce_sum(tf.math.imag({text}) ** 3)"


READ = {
    "AddV2": both(f"{Z} + tf.complex(0.0 * x[0, 0], x[0, 0])"),
    "Angle": f"tf.math.angle({Z})",
    "BatchMatMulV2": both(f"tf.matmul({Z}[tf.newaxis], {W}[tf.newaxis], adjoint_b=True)"),
    "Cast": both(f"tf.cast(x, tf.complex128) * {Z}"),
    "Complex": both(Z),
    "ComplexAbs": f"tf.abs({Z})",
    "Conj": both(f"tf.math.conj({Z})"),
    "ConjugateTranspose": both(f"tf.transpose({Z}, conjugate=True)"),
    "Einsum": both(f"tf.einsum('ij,kj->ik', {Z}, {W})"),
    "Exp": both(f"tf.exp({Z})"),
    "Imag": f"tf.math.imag({Z})",
    "MatMul": both(f"tf.matmul({Z}, {W}, transpose_b=True)"),
    "Mul": both(f"{Z} * {W}"),
    "Neg": both(f"-{Z}"),
    "Real": f"tf.math.real({Z} * {W})",
    "RealDiv": both(f"{Z} / ({W} + 3.0) / (2.0 + 1.0j)"),
    "Reciprocal": both(f"tf.math.reciprocal({Z} + 2.0)"),
    "Square": both(f"tf.square({Z})"),
    "Sub": both(f"{Z} - {W}"),
    "FFT": both(f"tf.signal.fft({Z})"),
    "FFT2D": both(f"tf.signal.fft2d({Z})"),
    "FFT3D": both(f"tf.signal.fft3d({Z}[tf.newaxis] * tf.ones([2, 1, 1], tf.complex128))"),
    "IFFT": both(f"tf.signal.ifft({Z})"),
    "IFFT2D": both(f"tf.signal.ifft2d({Z})"),
    "IFFT3D": both(f"tf.signal.ifft3d({Z}[tf.newaxis] * tf.ones([2, 1, 1], tf.complex128))"),
    "IRFFT": f"tf.signal.irfft({Z}) + tf.signal.irfft({W}, [5])[:, :4]",
    "IRFFT2D": f"tf.signal.irfft2d({Z})",
    "RFFT": both("tf.signal.rfft(x, [5])"),
    "RFFT2D": both("tf.signal.rfft2d(x)"),
}
PARTS = {
    "AddN": both(f"tf.add_n([{Z}, {W}, tf.cast(x, tf.complex128)])"),
    "BroadcastTo": both(f"tf.broadcast_to({Z}, [2, 2, 3])"),
    "ConcatV2": both(f"tf.concat([{Z}, tf.cast(x, tf.complex128)], 1)"),
    "Cumsum": both(f"tf.cumsum({Z}, axis=1)"),
    "ExpandDims": both(f"tf.expand_dims({Z}, 1)"),
    "GatherNd": both(f"tf.gather_nd({Z}, [[1, 2], [0, 0]])"),
    "GatherV2": both(f"tf.gather({Z}, [2, 0], axis=1)"),
    "MatrixBandPart": both(f"tf.linalg.band_part({Z}, 0, 1)"),
    "MatrixDiagPartV3": both(f"tf.linalg.diag_part({Z})"),
    "MatrixDiagV3": both(f"tf.linalg.diag({Z})"),
    "Mean": both(f"tf.reduce_mean({Z}, 0)"),
    "Pack": both(f"tf.stack([{Z}, {W}])"),
    "Pad": both(f"tf.pad({Z}, [[0, 1], [1, 0]])"),
    "Reshape": both(f"tf.reshape({Z}, [6])"),
    "ReverseV2": both(f"tf.reverse({Z}, [1])"),
    "Roll": both(f"tf.roll({Z}, [1], [1])"),
    "ScatterNd": both(f"tf.scatter_nd([[2], [0]], {Z}, [4, 3])"),
    "SegmentSum": both(f"tf.math.segment_sum({Z}, [0, 0])"),
    "SelectV2": both(f"tf.where(x > 0.1, {Z}, {W})"),
    "Slice": both(f"tf.slice({Z}, [0, 1], [-1, 2])"),
    "Split": both(f"tf.split({Z}, 3, axis=1)[1]"),
    "SplitV": both(f"tf.split({Z}, [1, 2], axis=1)[1]"),
    "Squeeze": both(f"tf.squeeze({Z}[tf.newaxis], [0])"),
    "StridedSlice": both(f"{Z}[:, ::-2]"),
    "Sum": both(f"tf.reduce_sum({Z}, [-1], keepdims=True)"),
    "Tile": both(f"tf.tile({Z}, [1, 2])"),
    "Transpose": both(f"tf.transpose({Z})"),
    "Unpack": both(f"tf.unstack({Z}, axis=0)[1]"),
    "UnsortedSegmentSum": both(f"tf.math.unsorted_segment_sum({Z}, [2, 0], 3)"),
}


@pytest.mark.parametrize("kind", [*READ, *PARTS])
def test_complex_steps_are_what_the_tape_gives(kind: str) -> None:
    text = (READ | PARTS)[kind]
    watched, found = traced(text)
    assert kind in {ran.kind for ran in watched.ran}
    assert not found.jacobians
    assert not found.held
    mine, tape, _ = chain_and_tape(watched, found, text)
    np.testing.assert_allclose(mine, tape, rtol=1e-9, atol=1e-11)


def test_every_rule_of_complex_numbers_is_tried() -> None:
    old = {"Add", "BatchMatMul", "BatchMatMulV3", "Inv", "IRFFT3D", "RFFT3D"}
    assert set(COMPLEX_RULES) - set(READ) == old
    assert set(PART_BY_PART) - set(PARTS) == {"MatrixDiag", "MatrixDiagPart"}


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("tf.reduce_sum(tf.square(tf.abs(tf.signal.rfft(x))))", {"closed"}),
        ("tf.signal.irfft(tf.signal.rfft(x, [4]) * tf.signal.rfft(tf.sin(x), [4]))", {"closed"}),
        ("tf.abs(tf.signal.fft(tf.cast(x, tf.complex128)))", {"closed"}),
        ("tf.abs(tf.signal.stft(tf.reshape(x, [6]), 4, 2))", set()),
    ],
)
def test_an_expression_with_a_transform_has_formulas_and_code_that_are_proved(
    text: str, printed: set[str]
) -> None:
    document, proofs = answer(Question(expr=text, shapes={"x": (2, 3)}, verify=True))
    wanted = {"chain rule", "code, float64", "code, float32", *printed}
    assert wanted <= {proof.formula for proof in proofs}
    assert all(proof.holds for proof in proofs), [(p.formula, p.holds) for p in proofs]
    page = render_text(document)
    assert "cos(2π·j·k/" in page
    assert "sin(2π·j·k/" in page


def test_a_sine_of_the_wrong_sign_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradcheck.explainer.traced import fourier_rules

    turns = fourier_rules._turns
    monkeypatch.setattr(fourier_rules, "_turns", lambda *a: (turns(*a)[0], -turns(*a)[1]))
    text = both("tf.signal.rfft(x)")
    watched, found = traced(text)
    with pytest.raises(AssertionError):
        chain_and_tape(watched, found, text)


def test_what_no_rule_of_complex_numbers_describes_is_listed() -> None:
    with pytest.raises(TooLarge, match="Tanh of complex numbers"):
        traced(f"tf.abs(tf.tanh({Z}))")
