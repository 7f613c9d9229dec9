from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.errors import UsageError
from gradcheck.start.named_target import find_named

if TYPE_CHECKING:
    from pathlib import Path


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
        ("mypkg:größe", "the letters a to z"),
    ],
)
def test_a_name_that_is_none_gets_a_hint(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        find_named(name, allow=(), root=".")


def test_a_module_is_told_from_a_function(tmp_path: Path) -> None:
    package = tmp_path / "mypkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    code = "raise RuntimeError('was run')\ndef swish(x): ...\ndef _own(x): ...\nclass Lin: ...\n"
    (package / "activations.py").write_text(code)
    told = "mypkg.activations is a module: .* mypkg.activations:swish; it defines swish, Lin$"
    with pytest.raises(UsageError, match=told):
        find_named("mypkg.activations", allow=(), root=str(tmp_path))
    with pytest.raises(UsageError, match="mypkg is a module, and defines no function"):
        find_named("mypkg", allow=(), root=str(tmp_path))
