"""What a function computes with complex numbers is read as real steps, as the tape has it."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.derive.chain import bar, run_chain
from gradcheck.explainer.render.terminal import render_text
from gradcheck.explainer.traced.complex_rules import COMPLEX_RULES, PART_BY_PART
from gradcheck.explainer.traced.traced_proof import symbol_values
from tests.explainer.traced.test_op_rules import chain_and_tape, traced

Z = "tf.complex(x, tf.sin(x))"
W = "tf.complex(tf.cos(x), x)"


REAL = "tf.cast(x, tf.complex128)"
IMAGINARY = "tf.complex(0.0 * x, x)"


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
    "Cos": both(f"tf.cos({Z}) + tf.cos({REAL}) * tf.cos({IMAGINARY})"),
    "Cosh": both(f"tf.cosh({Z}) + tf.cosh({REAL}) * tf.cosh({IMAGINARY})"),
    "Expm1": both(f"tf.math.expm1({Z}) + tf.math.expm1({REAL}) * tf.math.expm1({IMAGINARY})"),
    "Log": both(f"tf.math.log({Z}) + tf.math.log({REAL}) * tf.math.log({IMAGINARY})"),
    "Log1p": both(f"tf.math.log1p({Z}) + tf.math.log1p({REAL}) * tf.math.log1p({IMAGINARY})"),
    "Pow": both(f"{Z} ** 3 + {Z} ** {W} + {Z} ** 1.5 + {W} ** -2 + ({REAL} - 1.0) ** 0.5"),
    "Rsqrt": both(f"tf.math.rsqrt({Z}) + tf.math.rsqrt({REAL}) * tf.math.rsqrt({IMAGINARY})"),
    "Sigmoid": both(f"tf.sigmoid({Z}) + tf.sigmoid({REAL}) * tf.sigmoid({IMAGINARY})"),
    "Sin": both(f"tf.sin({Z}) + tf.sin({REAL}) * tf.sin({IMAGINARY})"),
    "Sinh": both(f"tf.sinh({Z}) + tf.sinh({REAL}) * tf.sinh({IMAGINARY})"),
    "Sqrt": both(f"tf.sqrt(-{Z}) + tf.sqrt(-{REAL}) * tf.sqrt({IMAGINARY})"),
    "SquaredDifference": both(f"tf.math.squared_difference({Z}, {W})"),
    "Tan": both(f"tf.tan({Z}) + tf.tan({REAL}) * tf.tan({IMAGINARY})"),
    "Tanh": both(f"tf.tanh({Z}) + tf.tanh({REAL}) * tf.tanh({IMAGINARY})"),
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
    "MatrixSetDiagV3": both(f"tf.linalg.set_diag({Z}, {W}[:, 0])"),
    "MirrorPad": both(f"tf.pad({Z}, [[0, 1], [1, 0]], mode='SYMMETRIC')"),
    "TensorScatterAdd": both(f"tf.tensor_scatter_nd_add({Z}, [[1]], {W}[:1])"),
    "TensorScatterSub": both(f"tf.tensor_scatter_nd_sub({Z}, [[1]], {W}[:1])"),
    "TensorScatterUpdate": both(f"tf.tensor_scatter_nd_update({Z}, [[1]], {W}[:1])"),
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
    old = {"Add", "BatchMatMul", "BatchMatMulV3", "Inv", "IRFFT3D", "RFFT3D", "Sign"}
    assert set(COMPLEX_RULES) - set(READ) == old
    assert set(PART_BY_PART) - set(PARTS) == {"MatrixDiag", "MatrixDiagPart"}


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("tf.reduce_sum(tf.square(tf.abs(tf.signal.rfft(x))))", {"closed"}),
        ("tf.signal.irfft(tf.signal.rfft(x, [4]) * tf.signal.rfft(tf.sin(x), [4]))", set()),
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


LENGTHS = [
    ("rfft3d", shape, lengths)
    for shape, lengths in [
        ((2, 3, 4), None), ((3, 2, 5), None), ((1, 4, 3), None), ((2, 2, 3, 4), None),
        ((2, 3, 4), (2, 3, 4)), ((2, 3, 5), (3, 2, 4)), ((3, 4, 4), (2, 5, 7)),
        ((2, 2, 3), (3, 3, 6)), ((4, 3, 6), (2, 1, 3)),
    ]
] + [
    ("irfft3d", shape, lengths)
    for shape, lengths in [
        ((2, 3, 3), None), ((3, 2, 2), None), ((2, 3, 3), (2, 3, 5)), ((2, 3, 3), (2, 3, 4)),
        ((2, 2, 2, 3), (2, 2, 5)), ((3, 4, 4), (2, 5, 6)), ((3, 2, 4), (2, 2, 4)),
        ((2, 3, 2), (3, 2, 7)),
    ]
]  # fmt: skip


@pytest.mark.parametrize(("name", "shape", "lengths"), LENGTHS)
@pytest.mark.parametrize("part", ["real", "imag"])
def test_transforms_of_three_axes(
    name: str, shape: tuple[int, ...], lengths: tuple[int, ...] | None, part: str
) -> None:
    """TensorFlow registers no gradient for them: they are linear, and numpy has their matrix."""
    given = "" if lengths is None else f", {list(lengths)}"
    if name == "rfft3d":
        text = f"tf.math.{part}(tf.signal.rfft3d(x{given}))"
    else:
        pair = {"real": "x, 0.0 * x", "imag": "0.0 * x, x"}[part]
        text = f"tf.signal.irfft3d(tf.complex({pair}){given})"
    watched, found = traced(text, shape)
    assert name.upper() in {ran.kind for ran in watched.ran}
    assert not found.jacobians
    graph, axes = found.graph, (-3, -2, -1)
    upstream = np.random.default_rng(4).standard_normal(graph.shapes[graph.output])
    known = run_chain(graph, symbol_values(found, watched), upstream)

    def transformed(x: np.ndarray) -> np.ndarray:
        if name == "rfft3d":
            return np.asarray(getattr(np.fft.rfftn(x, lengths, axes), part))
        return np.asarray(np.fft.irfftn(x * (1j if part == "imag" else 1), lengths, axes))

    np.testing.assert_allclose(known[graph.output], transformed(watched.values["x"]), atol=1e-12)
    wanted = np.zeros(shape)
    for place in np.ndindex(shape):
        one = np.zeros(shape)
        one[place] = 1.0
        wanted[place] = np.sum(upstream * transformed(one))
    np.testing.assert_allclose(known[bar(graph, "x")], wanted, atol=1e-12)


def test_a_sine_of_the_wrong_sign_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradcheck.explainer.traced import fourier_rules

    turns = fourier_rules._turns
    monkeypatch.setattr(fourier_rules, "_turns", lambda *a: (turns(*a)[0], -turns(*a)[1]))
    text = both("tf.signal.rfft(x)")
    watched, found = traced(text)
    with pytest.raises(AssertionError):
        chain_and_tape(watched, found, text)


@pytest.mark.parametrize(
    ("text", "kind", "jacobians"),
    [
        (f"tf.reduce_sum(tf.abs(tf.asin({Z})))", "Asin", 4),
        (both(f"tf.linalg.inv(tf.matmul({Z}, {W}, adjoint_b=True))"), "MatrixInverse", 8),
        (both(f"tf.linalg.solve(tf.matmul({Z}, {W}, adjoint_b=True), {Z})"), "MatrixSolve", 16),
        (f"tf.abs(tf.reduce_prod({Z}))", "Prod", 4),
    ],
)
def test_a_complex_op_without_a_rule_is_a_symbol_for_each_part(
    text: str, kind: str, jacobians: int
) -> None:
    watched, found = traced(text)
    assert {k: len(js) for k, js in found.unknown.items()} == {kind: jacobians}
    mine, tape, _ = chain_and_tape(watched, found, text)
    np.testing.assert_allclose(mine, tape, rtol=1e-9, atol=1e-11)


def test_a_sign_that_tensorflow_forgets_is_derived() -> None:
    """z/|z| moves along the circle; TensorFlow gives zero for it."""
    _, proofs = answer(
        Question(expr=f"tf.math.imag(tf.raw_ops.Sign(x={Z}))", shapes={"x": (2, 3)}, verify=True)
    )
    (closed,) = (proof for proof in proofs if proof.formula == "chain rule")
    assert closed.against_numeric < 1e-9
    assert not closed.holds
