"""The code of a page of a function, pasted: nothing but `tf`, the inputs and G is there before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.document import Code, Document
from tests.explainer.traced.test_complex_steps import PARTS
from tests.explainer.traced.test_complex_steps import READ as COMPLEX
from tests.explainer.traced.test_op_rules import READ

if TYPE_CHECKING:
    from pathlib import Path

MODULE = "functions_with_code"
HELD = {
    "numbers": "x * tf.constant([[0.5] * 3, [1.5, 2.5, 3.5]], x.dtype)",
    "condition": "tf.where(tf.constant([True, False, True]), tf.sin(x), x)",
    "not finite": "tf.where(x > -np.inf, tf.minimum(x, [1.0, np.inf, 0.5]), x)",
    "whole numbers": "tf.gather(tf.exp(x), np.arange(20) % 3, axis=1)",
    "many": "tf.matmul(x, np.outer(np.arange(3.0), np.cos(np.arange(20))))",
    "the same": "x * tf.fill([2, 3], tf.constant(2.5, x.dtype)) + tf.zeros([4, 2, 3], x.dtype)",
    "a window": "tf.abs(tf.signal.stft(tf.reshape(tf.exp(x), [6]), 4, 2))",
    "longer": "tf.abs(tf.signal.rfft(x, [7]))",
    "shorter": "tf.abs(tf.signal.rfft(tf.exp(x)[:, :2], [2]))",
    "back": "tf.signal.irfft(tf.complex(x, tf.sin(x)), [6])[:, :4]",
    "there and back": "tf.math.real(tf.signal.ifft2d(tf.signal.fft2d(tf.complex(x, x)) ** 2))",
    "cosines": "tf.signal.dct(x) * tf.signal.idct(x)",
}
TEXTS = READ | {f"complex {kind}": text for kind, text in (COMPLEX | PARTS).items()} | HELD
WORDLESS = {"Qr", "ExtractImagePatches"}
"""TensorFlow has no words for what comes back: no code is printed, and none that does not run."""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["import numpy as np", "import tensorflow as tf"]
    for number, text in enumerate(TEXTS.values()):
        lines += [f"def f{number}(x):", f"    return {text}"]
    (tmp_path / f"{MODULE}.py").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def lines_of(page: Document) -> list[list[str]]:
    """The code of each block, but for the source of TensorFlow's own gradients."""
    blocks = [block for section in page.sections for block in section.blocks]
    found = [block.broken(80) for block in blocks if isinstance(block, Code)]
    return [lines for lines in found if not any(line.startswith("def ") for line in lines)]


def pasted(lines: list[str], known: dict[str, Any]) -> dict[str, Any]:
    """All names, after the lines have run by themselves."""
    import tensorflow as tf

    names = {"tf": tf, **known}
    exec("\n".join(lines), names)  # noqa: S102  (it is ours)
    return names


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("name", TEXTS)
def test_printed_code_runs(name: str) -> None:
    import importlib

    import tensorflow as tf

    place = f"f{list(TEXTS).index(name)}"
    page, _ = answer(Question(function=f"{MODULE}:{place}", shapes={"x": (2, 3)}))
    function = getattr(importlib.import_module(MODULE), place)
    x = tf.constant(np.random.default_rng(1).uniform(0.3, 1.2, (2, 3)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        out = function(x)
    upstream = tf.constant(np.random.default_rng(2).normal(size=out.shape), out.dtype)
    wanted = tf.convert_to_tensor(tape.gradient(out, x, tf.cast(upstream, out.dtype)))
    blocks = lines_of(page)
    assert bool(blocks) is (name not in WORDLESS)
    for lines in blocks:
        found = pasted(lines, {"x": x, "G": upstream})["dx"]
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "text",
    [
        "tf.where(x > 0.5, x * x, 2.0) * tf.constant([1.5, 2.5, 3.5])",
        "tf.abs(tf.signal.rfft(x))",
        "tf.reduce_sum(tf.exp(x) * [0.5, 1.5, 2.5], 1)",
    ],
)
def test_code_along_a_direction_runs(text: str) -> None:
    import tensorflow as tf

    page, _ = answer(Question(expr=text, shapes={"x": (2, 3)}, forward=True, second=True))
    x, direction = tf.ones([2, 3], tf.float64), tf.fill([2, 3], tf.constant(0.5, tf.float64))
    upstream = tf.ones(tf.shape(eval(text, {"tf": tf, "x": tf.ones([2, 3])})), tf.float64)  # noqa: S307
    names: set[str] = set()
    for lines in lines_of(page):
        forward = any(line.startswith("jvp = ") for line in lines)
        known = {"x": x, "x_dot": direction} | ({} if forward else {"G": upstream})
        names |= pasted(lines, known).keys()
    assert {"jvp", "dx"} <= names


def test_what_is_too_long_to_be_written_is_told() -> None:
    from gradcheck.explainer.formula.held_arrays import code_of_array, with_arrays

    text = code_of_array(np.arange(2000.0))
    lines = with_arrays(["dx = c1 * G"], {"c1": text, "c2": "tf.zeros([3], G.dtype)"})
    assert lines == ["# c1 is an array that the function holds", "dx = c1 * G"]
