"""Whatever is typed behind `explain` ends in an explanation or in a sentence, and soon."""

from __future__ import annotations

import contextlib
import functools
import gc
import signal
import sys
import time
import weakref
from random import Random
from typing import TYPE_CHECKING

import pytest

from gradcheck.cli.app import main
from gradcheck.explainer import trees
from gradcheck.explainer.calculus import scalar
from gradcheck.explainer.calculus.scalar import NotScalar, derivative
from gradcheck.explainer.time_limit import TookTooLong, limited, limited_work
from tools.fuzz.attacks import explain, specs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
                sum(range(1000))
            except Exception:  # noqa: S112  (as SymPy does)
                continue

    monkeypatch.setattr(sympy, "cancel", forever)
    begun = time.perf_counter()
    assert trees.text_of(derivative(trees.read("x**3 / 7"), "x"))
    assert time.perf_counter() - begun < 300


def test_a_busy_machine_changes_no_page() -> None:
    with limited(600), limited_work(0.1):
        time.sleep(0.3)  # (somebody else has the processor)
    with pytest.raises(TookTooLong), limited(600), limited_work(0.1):
        all(iter(lambda: sum(range(1000)), None))


def test_limits_stand_inside_of_others() -> None:
    def inside() -> None:
        with pytest.raises(TookTooLong), limited(0.1):
            time.sleep(600)
        with limited(600):
            time.sleep(600)

    begun = time.perf_counter()
    with pytest.raises(TookTooLong), limited(0.3):
        inside()
    assert time.perf_counter() - begun < 300
    time.sleep(0.01)  # (no timer is left)


def _forgets(reference: weakref.ref[Thing]) -> None:
    signal.raise_signal(signal.SIGALRM)
    CAME_TO_AN_END.append(reference() is None)


def _forgets_many(*given: object) -> None:
    signal.raise_signal(signal.SIGALRM)
    CAME_TO_AN_END.append(len(given) == 1)


def _deletes_what_it_is_given(reference: weakref.ref[Thing]) -> None:
    """Nothing of its frame tells what it is."""
    del reference
    signal.raise_signal(signal.SIGALRM)
    CAME_TO_AN_END.append(True)


CAME_TO_AN_END: list[bool] = []


class Thing:
    """Weak dictionaries forget it slowly."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return 1


class Goes:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGALRM)
        CAME_TO_AN_END.append(True)


class Keeper:
    def forget(self, reference: weakref.ref[Thing]) -> None:
        _forgets(reference)


class Slow(dict[object, object]):
    def __delitem__(self, key: object) -> None:
        signal.raise_signal(signal.SIGALRM)
        super().__delitem__(key)
        CAME_TO_AN_END.append(True)


class SlowSet(set[object]):
    def discard(self, element: object) -> None:
        signal.raise_signal(signal.SIGALRM)
        super().discard(element)
        CAME_TO_AN_END.append(True)


def goes_on_behind(works: Callable[[], None]) -> None:
    works()
    time.sleep(600)


def an_object_goes() -> None:
    thing: object = Goes()
    del thing


def a_callback(forgets: Callable[[weakref.ref[Thing]], object]) -> Callable[[], None]:
    def works() -> None:
        thing = Thing()
        _reference = weakref.ref(thing, forgets)
        del thing

    return works


def a_finalizer() -> None:
    thing = Thing()
    weakref.finalize(thing, _forgets_many, 1)
    del thing


def a_weak_dictionary() -> None:
    known: weakref.WeakKeyDictionary[Thing, int] = weakref.WeakKeyDictionary()
    known.data = Slow()  # type: ignore[attr-defined]
    thing = Thing()
    known[thing] = 1
    del thing
    assert len(known.data) == 0  # type: ignore[attr-defined]


def a_weak_set() -> None:
    known: weakref.WeakSet[Thing] = weakref.WeakSet()
    known.data = SlowSet()  # type: ignore[attr-defined]
    thing = Thing()
    known.add(thing)
    del thing
    assert len(known.data) == 0  # type: ignore[attr-defined]


def a_callback_in_a_cycle() -> None:
    thing = Thing()
    thing.itself = thing  # type: ignore[attr-defined]
    _reference = weakref.ref(thing, _forgets)
    del thing
    gc.collect()


def a_collection() -> None:
    def slow(phase: str, _info: object) -> None:
        if phase == "start":
            signal.raise_signal(signal.SIGALRM)
            CAME_TO_AN_END.append(True)

    gc.callbacks.append(slow)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(slow)


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """What Python reports of exceptions that it has swallowed, while nothing else is collected."""
    found: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: found.append(told.exc_type))
    CAME_TO_AN_END.clear()
    gc.collect()
    gc.disable()
    yield found
    gc.enable()


@pytest.mark.parametrize(
    "works",
    [
        an_object_goes,
        a_callback(_forgets),
        a_callback(_forgets_many),
        a_callback(Keeper().forget),
        a_callback(functools.partial(_forgets)),
        a_finalizer,
        a_weak_dictionary,
        a_weak_set,
        a_callback_in_a_cycle,
        a_collection,
    ],
)
def test_a_limit_that_ends_in_what_python_calls(
    works: Callable[[], None], reported: list[object]
) -> None:
    """It comes to its end, and what called it is ended."""
    with pytest.raises(TookTooLong), limited(600):
        goes_on_behind(works)
    assert CAME_TO_AN_END == [True]
    assert reported == []


def test_a_limit_that_a_callback_loses(reported: list[object]) -> None:
    with pytest.raises(TookTooLong), limited(600):
        goes_on_behind(a_callback(_deletes_what_it_is_given))
    assert CAME_TO_AN_END == []  # (It could not be told from any other function.)
    assert reported == []


def test_what_others_lose_is_reported_within_a_limit(reported: list[object]) -> None:
    def fails(_: object) -> None:
        raise ZeroDivisionError

    with limited(600):
        a_callback(fails)()
    a_callback(fails)()
    assert reported == [ZeroDivisionError, ZeroDivisionError]


def test_a_limit_within_a_callback_is_one(reported: list[object]) -> None:
    """What called it is outside: only what stands within the limit is looked at."""

    def looks(_: object) -> None:
        with pytest.raises(TookTooLong), limited(600):
            signal.raise_signal(signal.SIGALRM)
        CAME_TO_AN_END.append(True)

    a_callback(looks)()
    assert CAME_TO_AN_END == [True]


def test_a_limit_leaves_nothing_behind() -> None:
    before = signal.getsignal(signal.SIGALRM), sys.unraisablehook
    for _ in range(3000):
        # (Its end falls wherever it may: into its block, or where it begins or ends.)
        with contextlib.suppress(TookTooLong), limited(1e-6):
            pass
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        assert (signal.getsignal(signal.SIGALRM), sys.unraisablehook) == before
