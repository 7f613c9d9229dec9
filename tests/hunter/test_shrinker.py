"""Shrinking, with checks that are answered here: what fails is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.hunter.drafts import Draft, array_of, canonical, tensors
from gradcheck.hunter.shrinker import MOST_STEPS, shrunk, weight
from gradcheck.hunter.single_case import failing_again
from gradcheck.model import Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


def shrink(draft: Draft, fails: Callable[[Draft], bool]) -> tuple[Draft, int]:
    """The smallest draft for which `fails` says so, and the steps it took."""
    steps = 0

    def check(candidate: Draft) -> Generator[Any, Result, Result]:
        nonlocal steps
        steps += 1
        verdict = Verdict.MISMATCH if fails(candidate) else Verdict.PASS
        return (yield Result("x", verdict))

    errand: Any = shrunk(draft, check, lambda _, result: result.verdict is Verdict.MISMATCH)
    try:
        asked = next(errand)
        while True:
            asked = errand.send(asked)
    except StopIteration as end:
        return end.value, steps


def values(draft: Draft) -> Any:
    return array_of(draft["inputs"]["x"])


def test_everything_that_does_not_matter_goes() -> None:
    draft: Draft = {
        "op": "tf.raw_ops.Roll",
        "inputs": {"x": {"values": np.arange(24.0).reshape(2, 3, 4).tolist()}},
        "args": {"a": 1, "b": 2},
        "dtype": "float32",
        "mode": "xla",
        "check": "second",
    }
    small, steps = shrink(draft, lambda _: True)
    assert small == {"op": "tf.raw_ops.Roll", "inputs": {"x": {"values": 1.0}}}
    assert steps <= 25


def test_what_matters_stays() -> None:
    draft: Draft = {
        "op": "tf.raw_ops.Roll",
        "inputs": {"x": {"values": [[0.123, 4.56], [7.89, 3.21]]}, "y": {"values": [1.5, 2.5]}},
        "args": {"needed": True, "other": 2},
        "mode": "graph",
    }

    def fails(candidate: Draft) -> bool:
        x = values(candidate)
        return (
            candidate.get("mode") == "graph"
            and "needed" in candidate.get("args", {})
            and x.ndim == 2
            and bool((x > 3).any())
        )

    small, _ = shrink(draft, fails)
    assert small["mode"] == "graph"
    assert small["args"] == {"needed": True}
    assert values(small).shape == (1, 1)
    assert values(small)[0, 0] > 3
    assert small["inputs"]["y"]["values"] == 1.0
    assert sum(entry.get("grad", True) for _, entry in tensors(small)) == 1


def test_complex_numbers_become_real_where_that_fails_too() -> None:
    draft: Draft = {
        "op": "tf.raw_ops.Exp",
        "inputs": {"x": {"values": ["0.3+0.7j", "1.1-2j"]}},
        "dtype": "complex64",
    }
    small, _ = shrink(draft, lambda _: True)
    assert small == {"op": "tf.raw_ops.Exp", "inputs": {"x": {"values": 1.0}}}
    kept, _ = shrink(draft, lambda d: d.get("dtype", "").startswith("complex"))
    assert kept["dtype"] == "complex128"


def test_every_step_makes_it_lighter_and_there_is_an_end() -> None:
    rng = np.random.default_rng(0)
    draft: Draft = {
        "op": "tf.raw_ops.Exp",
        "inputs": {"x": {"values": rng.normal(size=(5, 5)).tolist()}},
    }
    seen: list[Draft] = []

    def fails(candidate: Draft) -> bool:
        seen.append(candidate)
        return bool(values(candidate).size >= 20)

    small, steps = shrink(draft, fails)
    assert steps <= MOST_STEPS
    assert len({canonical(each) for each in seen}) == len(seen)
    assert weight(small) < weight(draft)
    assert 20 <= values(small).size < 25


def test_tensors_inside_of_lists_are_found() -> None:
    draft: Draft = {"op": "tf.concat", "inputs": {"values": {"list": [{"values": [1.0, 2.0]}] * 2}}}
    assert [path for path, _ in tensors(draft)] == [("values", 0), ("values", 1)]
    small, _ = shrink(draft, lambda _: True)
    assert len(small["inputs"]["values"]["list"]) == 1


def shapes_of(draft: Draft) -> list[tuple[int, ...]]:
    arrays = (array_of(entry) for _, entry in tensors(draft))
    return [array.shape for array in arrays if array is not None]


def test_a_batch_goes_before_axes_that_must_stay() -> None:
    """As in a solver of tridiagonal systems, with as many rows as there are members of a batch."""
    rng = np.random.default_rng(0)
    draft: Draft = {
        "op": "tf.raw_ops.TridiagonalSolve",
        "inputs": {
            "diagonals": {"values": rng.normal(size=(3, 3, 3, 3)).tolist()},
            "rhs": {"values": rng.normal(size=(3, 3, 3, 2)).tolist()},
        },
    }

    def fails(candidate: Draft) -> bool:
        diagonals, rhs = shapes_of(candidate)
        return (
            len(diagonals) >= 2
            and diagonals[:-2] == rhs[:-2]
            and diagonals[-2] == 3
            and diagonals[-1:] == rhs[-2:-1] == (3,)
        )

    small, steps = shrink(draft, fails)
    assert shapes_of(small) == [(3, 3), (3, 1)]
    assert steps < 0.6 * MOST_STEPS


@pytest.mark.parametrize("fails_again", [True, False])
def test_what_fails_only_once(fails_again: bool) -> None:
    """What is small is not told if it does not fail once more: then what it was made of is."""
    small: Draft = {"op": "tf.exp", "inputs": {"x": {"values": 1.0}}}
    whole: Draft = {"op": "tf.exp", "inputs": {"x": {"values": [1.0, 2.0]}}}
    ends = {canonical(small): fails_again, canonical(whole): True}

    def check(draft: Draft) -> Generator[Any, Result, Result]:
        verdict = Verdict.MISMATCH if ends[canonical(draft)] else Verdict.PASS
        yield from ()
        return Result("a", verdict)

    def found_of(*drafts: Draft) -> Draft | None:
        errand = failing_again(drafts, check, ("mismatch", "", ""))
        with pytest.raises(StopIteration) as ended:
            next(errand)
        found: tuple[Draft, Result] | None = ended.value.value
        return found[0] if found else None

    assert found_of(small, whole) == (small if fails_again else whole)
    assert found_of(small) == (small if fails_again else None)
