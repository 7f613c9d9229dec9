"""`gradcheck init` on a package with right and wrong gradients, and with what cannot be called."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from gradcheck.spec import load

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

    from tests.cli.conftest import Gradcheck

ACTIVATIONS = """
import tensorflow as tf

@tf.custom_gradient
def right(x):
    return x * x, lambda dy: 2 * x * dy

@tf.custom_gradient
def wrong(x):
    return x * x, lambda dy: 3 * x * dy

@tf.custom_gradient
def never(x):
    raise ValueError("the moon is wrong")

def save(path):
    raise SystemExit(path)
"""

LAYERS = """
import keras
import tensorflow as tf

class Scale(keras.layers.Layer):
    def __init__(self, units: int, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), name="w")

    def call(self, x):
        return tf.matmul(x, self.w)

class Smooth(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return tf.reduce_mean(tf.sqrt(1 + tf.square(y_true - y_pred)), -1)
"""

SETTINGS = '[project]\nname = "beginner"  # ours\n\n[tool.ruff]\nline-length = 90\n'


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    folder = tmp_path / "beginner"
    folder.mkdir()
    (folder / "__init__.py").write_text("from beginner.activations import right\n")
    (folder / "activations.py").write_text(ACTIVATIONS)
    (folder / "layers.py").write_text(LAYERS)
    (folder / "broken.py").write_text("import tensorflow\nraise RuntimeError('no licence')\n")
    return tmp_path


def shown(text: str) -> str:
    """What is printed before and after the run itself, which other tests hold."""
    return re.sub(r"(\$ gradcheck run [^\n]*\n).*(\nnext:)", r"\1…\n\2", text, flags=re.DOTALL)


def test_a_package_gets_specs_settings_and_a_job(
    package: Path, gradcheck: Gradcheck, snapshot: SnapshotAssertion
) -> None:
    said = gradcheck("init")
    assert said.code == 1
    assert "5 cases" not in said.out
    assert "4 cases: 3 pass, 1 mismatch" in said.out
    assert shown(said.out) == snapshot(name="printed")
    for name in ("activations", "layers"):
        assert (package / f"specs/beginner/{name}.yaml").read_text() == snapshot(name=name)
    assert (package / ".github/workflows/gradients.yml").read_text() == snapshot(name="job")
    settings = (package / "pyproject.toml").read_text()
    assert settings == SETTINGS + '\n[tool.gradcheck]\nallow = ["beginner"]\n'
    loaded = load(["specs"], allow=["beginner"])
    assert (len(loaded.cases), loaded.problems) == (4, ())

    before = {path: path.read_bytes() for path in package.rglob("*.y*ml")}
    again = gradcheck("init")
    assert again.code == 0
    assert "nothing to add" in again.out
    assert {path: path.read_bytes() for path in package.rglob("*.y*ml")} == before


def test_a_folder_without_a_package_says_what_to_do(
    gradcheck: Gradcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = gradcheck("init")
    assert said.code == 2
    assert "gradcheck init mypkg" in said.err


def test_a_package_that_cannot_be_imported_says_so_first(
    package: Path, gradcheck: Gradcheck
) -> None:
    (package / "beginner/__init__.py").write_text("import no_such_thing\n")
    said = gradcheck("init")
    assert said.code == 5
    first = next(line for line in said.out.splitlines()[1:] if line)
    assert re.match(r"beginner\S* cannot be imported, .*no_such_thing", first), first
    assert "python -c 'import beginner" in said.out
    assert "gradcheck new" not in said.out
