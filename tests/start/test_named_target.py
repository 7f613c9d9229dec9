from __future__ import annotations

import pytest

from gradcheck.errors import UsageError
from gradcheck.start.named_target import find_named


@pytest.mark.parametrize(
    ("name", "key"), [("matmul", "op"), ("tf.math.sin", "op"), ("keras.layers.Dense", "layer")]
)
def test_names_of_tensorflow_keras_and_ours(name: str, key: str) -> None:
    named = find_named(name, allow=(), root=".")
    assert (named.found.target, named.key, named.allow) == (name, key, ())


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("matmull", "matmul"),
        ("keras.layers.Dens", "keras.layers.Dense"),
        ("mypkg.swish", "mypkg:swish"),
        ("mypkg:_private", "package.module:function"),
    ],
)
def test_a_name_that_is_none_gets_a_hint(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        find_named(name, allow=(), root=".")
