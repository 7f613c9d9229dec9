from __future__ import annotations

import pytest

from gradcheck.start.guesses import WIDTH
from gradcheck.start.shape_ladder import shape_sets


@pytest.mark.parametrize("layer", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_each_set_has_a_shape_for_each_tensor_and_comes_once(count: int, layer: bool) -> None:
    sets = list(shape_sets(count, layer=layer, image=False))
    assert {len(shapes) for shapes in sets} == {count}
    assert len({str(shapes) for shapes in sets}) == len(sets)


def test_the_likeliest_come_first() -> None:
    assert next(shape_sets(1, layer=True, image=False)) == ([2, WIDTH],)
    assert len(next(shape_sets(1, layer=False, image=True))[0]) == 4
    two = list(shape_sets(2, layer=False, image=False))
    assert two[0] == ([3, 4], [3, 4])
    assert ([3, 4], [4, 5]) in two  # a product
    assert ([3, 4], [4, 5], [5]) in shape_sets(3, layer=False, image=False)  # and its bias


def test_many_tensors_are_one_and_its_weights() -> None:
    sets = list(shape_sets(4, layer=False, image=False))
    assert ([3, 4], [4], [4], [4]) in sets
    assert ([3, 4], [], [], []) in sets
