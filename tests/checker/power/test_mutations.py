"""Each fault is what its name says, and those that need a certain shape ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker import tolerances
from gradcheck.checker.power.mutations import SIZES, Mutation, Scene, mutations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Array

SQUARE = np.arange(1.0, 10.0).reshape(3, 3)
VECTOR = np.array([1.0, 2.0, 4.0])


def scene(gradient: Array, value: Array | None = None, **changes: Any) -> Scene:
    fields: dict[str, Any] = {
        "position": 0,
        "element": gradient.size - 1,
        "inputs": [np.full(gradient.shape, 2.0) if value is None else value],
        "outputs": [np.float64(7.0)],
        "gradients": [gradient],
        "for_ones": lambda: [np.ones_like(gradient)],
    }
    return Scene(**{**fields, **changes})


def faults(of: Scene, names: Sequence[str] = ("a", "b")) -> dict[str, Mutation]:
    found = list(mutations(of, names))
    by_name = {mutation.name: mutation for mutation in found}
    assert len(by_name) == len(found), "names are unique"
    return by_name


def planted(of: Scene, name: str) -> Any:
    changed = faults(of)[name].change(of)
    return None if changed is None else np.asarray(changed).tolist()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sign", [-1, -2, -4]),
        ("zero", [0, 0, 0]),
        ("whole 1e-1", [1.1, 2.2, 4.4]),
        ("element 1e-1", [1, 2, 4.4]),
        ("constant", [1 + 4e-6, 2 + 4e-6, 4 + 4e-6]),
        ("shifted axis 0", [4, 1, 2]),
        ("reversed axis 0", [4, 2, 1]),
        ("upstream ignored", [1, 1, 1]),
        ("factor x", [2, 4, 8]),
        ("corner", [0, 2, 4]),
        ("border", [0, 2, 0]),
        ("none", None),
    ],
)
def test_a_vector(name: str, expected: Any) -> None:
    found = planted(scene(VECTOR), name)
    assert (found is None) if expected is None else (found == pytest.approx(expected, rel=1e-15))


def test_nan_stands_at_one_element() -> None:
    assert np.isnan(planted(scene(VECTOR), "nan")).tolist() == [False, False, True]


def test_a_matrix() -> None:
    of = scene(SQUARE)
    assert planted(of, "transposed") == SQUARE.T.tolist()
    assert planted(of, "shifted axis 1") == [[3, 1, 2], [6, 4, 5], [9, 7, 8]]
    assert planted(of, "slice axis 0") == [[1, 2, 3], [4, 5, 6], [0, 0, 0]]
    assert planted(of, "slice axis 1") == [[1, 2, 0], [4, 5, 0], [7, 8, 0]]
    assert planted(of, "border") == [[0, 0, 0], [0, 5, 0], [0, 0, 0]]


def test_axes_are_permuted_where_the_shape_allows() -> None:
    names = faults(scene(np.zeros((2, 3, 2))))
    assert [n for n in names if n.startswith(("perm", "trans"))] == ["permuted [2, 1, 0]"]
    names = faults(scene(np.zeros((4, 2, 2))))
    assert [n for n in names if n.startswith(("perm", "trans"))] == ["transposed"]
    assert "transposed" not in faults(scene(np.zeros((2, 3))))
    assert "transposed" not in faults(scene(np.zeros((1, 1)))), "nothing would move"


def test_a_broadcast_input_is_averaged_over_the_axes_it_was_repeated_along() -> None:
    of = scene(VECTOR, outputs=[np.zeros((5, 2, 3))])
    assert {n for n in faults(of) if n.startswith("averaged")} == {
        "averaged 2",
        "averaged 5",
        "averaged 10",
    }
    assert planted(of, "averaged 2") == [0.5, 1, 2]
    for output in (np.zeros(3), np.zeros((3, 2)), np.zeros(()), np.zeros((5, 4))):
        assert not any(n.startswith("averaged") for n in faults(scene(VECTOR, outputs=[output])))


def test_another_input_s_gradient_is_taken_where_nothing_tells_them_apart() -> None:
    other = np.array([7.0, 8.0, 9.0])
    inputs = [VECTOR, VECTOR]
    of = scene(VECTOR, inputs=inputs, gradients=[VECTOR, other])
    assert planted(of, "that of b") == other.tolist()
    for unlike in (None, other[:2], other.astype(np.float32)):
        of = scene(VECTOR, inputs=inputs, gradients=[VECTOR, unlike])
        assert "that of b" not in faults(of)


def test_the_factor_of_the_output_needs_its_shape() -> None:
    assert planted(scene(VECTOR, outputs=[2 * VECTOR]), "factor out") == [2, 8, 32]
    assert "factor out" not in faults(scene(VECTOR))
    assert "factor out" not in faults(scene(VECTOR, outputs=[VECTOR, VECTOR]))


def test_only_complex_gradients_can_lack_a_conjugate() -> None:
    assert planted(scene(VECTOR * (1 + 2j)), "conjugate") == (VECTOR * (1 - 2j)).tolist()
    assert "conjugate" not in faults(scene(VECTOR))


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64", "complex128", "bfloat16"])
def test_a_fault_keeps_shape_and_dtype(dtype: str) -> None:
    wanted = np.dtype(dtype) if dtype != "bfloat16" else _bfloat16()
    gradient = SQUARE.astype(wanted)
    of = scene(gradient, value=SQUARE.astype(wanted), outputs=[SQUARE.astype(wanted)])
    for name, mutation in faults(of).items():
        changed = mutation.change(of)
        if changed is not None:
            assert (np.shape(changed), np.asarray(changed).dtype) == ((3, 3), wanted), name


def _bfloat16() -> np.dtype[Any]:
    import tensorflow as tf

    dtype: np.dtype[Any] = np.dtype(tf.bfloat16.as_numpy_dtype)
    return dtype


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (1, 1, 1), (2, 1, 3), (2, 2, 2, 2)])
def test_every_shape_has_its_faults_and_the_gradient_itself_stays(shape: tuple[int, ...]) -> None:
    gradient = np.random.default_rng(1).standard_normal(shape)
    before = gradient.copy()
    of = scene(gradient, element=0, outputs=[gradient])
    for mutation in faults(of).values():
        changed = mutation.change(of)
        assert changed is None or np.shape(changed) == shape
        assert mutation.text
    assert (gradient == before).all()


def test_sizes_from_a_tenth_down_to_1e_12_of_which_those_from_1e_8_on_count() -> None:
    found = faults(scene(VECTOR))
    for family in ("whole", "element"):
        sized = [m for m in found.values() if m.family == family]
        assert [m.size for m in sized] == list(SIZES)
        assert [m.counted for m in sized] == [True] * 8 + [False] * 4
    assert (SIZES[0], SIZES[-1], tolerances.COUNTED) == (1e-1, 1e-12, 1e-8)
    assert all(m.counted for m in found.values() if m.size is None)
