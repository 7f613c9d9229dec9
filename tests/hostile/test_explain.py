"""Whatever is typed behind `explain` ends in an explanation or in a sentence, and soon."""

from __future__ import annotations

import gc
import time
import weakref
from random import Random
from typing import TYPE_CHECKING

import pytest

from gradcheck.cli.app import main
from gradcheck.explainer import trees
from gradcheck.explainer.calculus import scalar
from gradcheck.explainer.calculus.scalar import NotScalar, derivative
from gradcheck.explainer.time_limit import TookTooLong, limited
from tools.fuzz.attacks import explain, specs

if TYPE_CHECKING:
    from pathlib import Path


def nested(function: str, times: int) -> str:
    return f"{function}(" * times + "x" + ")" * times


def products(times: int) -> str:
    text = "x"
    for _ in range(times):
        text = f"tf.sin({text} * x)"
    return text


TYPED = [
    "tf.roll()",
    "tf.multiply(x)",
    "tf.concat()",
    "tf.einsum()",
    "-[1]",
    "x ** []",
    "x + 1 / 0",
    "x + 2 ** [1]",
    "tf.where(x < [1, 2], x, x)",
    "tf.exp((0.1*x)**10000000)",
    "tf.exp(0.1*x)**12.34567891234",
    "x**99999 * (x + 1)**88888 * (x + 2)**77777",
    "(x + 1)**90 * (x + 2) / (x - 1)**5",
    nested("tf.square", 28),
    nested("tf.exp", 60),
    nested("tf.square", 300),
    products(14),
    "tf.tile(x, [1000000000])",
    "tf.reshape(x, [-1, -1])",
    "tf.transpose(x, perm=[5])",
    "tf.reduce_sum(x, axis='a')",
    "tf.gather(x, [99])",
    "x[99]",
    "x['a']",
    "x" * 5000,
    "(" * 500,
    "",
    "\x00",
]


@pytest.mark.parametrize("text", TYPED, ids=range(len(TYPED)))
def test_expressions(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    begun = time.process_time()
    assert main(["explain", "--expr", text, "--shape", "x=3"]) in (0, 2)
    assert time.process_time() - begun < 20
    assert "Traceback" not in capsys.readouterr().err


VALUES = [
    "[" * 5000,
    "[" * 90 + "]" * 90,
    "9" * 5000,
    "1e999",
    "nan",
    "{}",
    "[[1], [2, 3]]",
    "None",
]


@pytest.mark.parametrize("option", ["--at", "--shape", "--arg"])
@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_values(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "matmul", option, f"a={value}"]) == 2
    assert main(["explain", "--expr", "tf.exp(a)", option, f"a={value}"]) in (0, 2)
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert "internal error" not in said


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_a_grammar(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 20):
        explain(Random(seed), tmp_path)  # noqa: S311


def test_spec_texts(tmp_path: Path) -> None:
    for seed in range(500):
        specs(Random(seed), tmp_path)  # noqa: S311


@pytest.mark.parametrize(
    "formula",
    [
        "(0.1 * x)**10000000",
        "square(" * 28 + "x" + ")" * 28,
        "(x + 1)**500 * y",
        f"x * {'9' * 400}",
        "x**(2**30)",
        "x**0.123456789",
        " + ".join(["sin(x)"] * 200),
    ],
)
def test_sizes_are_bounded_before_sympy_sees_them(formula: str) -> None:
    with pytest.raises(NotScalar):
        derivative(trees.read(formula), "x")


def test_sympy_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scalar, "SYMPY_SECONDS", 0.2)
    import sympy

    def forever(_: object) -> None:
        while True:
            try:
                time.sleep(0.01)
            except Exception:  # noqa: S112  (as SymPy does)
                continue

    monkeypatch.setattr(sympy, "cancel", forever)
    begun = time.perf_counter()
    assert trees.text_of(derivative(trees.read("x**3 / 7"), "x"))
    assert time.perf_counter() - begun < 30


def test_limits_stand_inside_of_others() -> None:
    def inside() -> None:
        with pytest.raises(TookTooLong), limited(0.1):
            time.sleep(60)
        with limited(60):
            time.sleep(60)

    begun = time.perf_counter()
    with pytest.raises(TookTooLong), limited(0.3):
        inside()
    assert time.perf_counter() - begun < 30
    time.sleep(0.01)  # (no timer is left)


def test_a_limit_that_ends_while_an_object_goes() -> None:
    class Slow:
        def __del__(self) -> None:
            time.sleep(0.05)

    def work() -> None:
        thing = Slow()
        del thing
        time.sleep(1.0)

    with pytest.raises(TookTooLong), limited(0.01):
        work()


def test_a_limit_that_ends_in_a_weak_dictionary() -> None:
    class Thing:
        """Its dictionary forgets it slowly."""

        def __eq__(self, other: object) -> bool:
            return self is other

        def __hash__(self) -> int:
            return 1

    class Slow(dict[object, object]):
        def __delitem__(self, key: object) -> None:
            time.sleep(0.05)
            super().__delitem__(key)

    known: weakref.WeakKeyDictionary[Thing, int] = weakref.WeakKeyDictionary()
    known.data = Slow()  # type: ignore[attr-defined]

    def work() -> None:
        thing = Thing()
        known[thing] = 1
        del thing
        time.sleep(1.0)

    with pytest.raises(TookTooLong), limited(0.01):
        work()


# (Garbage that this test did not make may be collected here, with callbacks of any kind.)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_limit_that_ends_while_garbage_is_collected() -> None:
    def slow(phase: str, _info: object) -> None:
        if phase == "start":
            time.sleep(0.05)

    def work() -> None:
        gc.collect()
        time.sleep(1.0)

    gc.callbacks.append(slow)
    try:
        with pytest.raises(TookTooLong), limited(0.01):
            work()
    finally:
        gc.callbacks.remove(slow)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_limit_that_a_callback_loses() -> None:
    class Thing:
        pass

    def work() -> None:
        thing = Thing()
        _reference = weakref.ref(thing, lambda _: time.sleep(0.05))
        del thing
        time.sleep(1.0)

    with pytest.raises(TookTooLong), limited(0.01):
        work()
