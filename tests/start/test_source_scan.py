from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.start.source_scan import scan

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
import tensorflow as tf

@tf.custom_gradient
def top(x): ...

class Layer:
    def call(self, x):
        @tf.custom_gradient
        def inner(y): ...
        return inner(x)

wrapped = tf.custom_gradient(top)
def plain(x): ...
"""


def test_gradients_written_by_hand_are_found_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(SOURCE)
    names = [written.name for written in scan(path).hand_written]
    assert names == ["top", "Layer.call.inner", "wrapped"]


def test_a_module_without_tensors_is_not_worth_importing(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("import os\ndef f(x): return x\n")
    assert not scan(path).worth_importing
    path.write_text("def f(:\n")
    assert "no Python" in scan(path).problem
