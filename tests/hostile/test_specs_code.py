"""Specs that try to run code: what is refused when they are read, and what an `allow` lets in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gradcheck.cli.app import main
from gradcheck.spec import load

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = [
    "mypkg:__loader__.set_data",
    "mypkg:__builtins__.exec",
    "mypkg:swish.__globals__.get",
    "mypkg:swish.__class__",
    "mypkg:_private",
    "mypkg.__main__:main",
    "mypkg._hidden:swish",
    "mypkg:a.b._c.d",
    "mypkg:swish()",
    "mypkg:swish;import os",
    "mypkg:ｅxec",
    "mypkg:sw\u0130sh",
    "mypkg: swish",
    "mypkg:.swish",
    "mypkg.:swish",
    "mypkg/../os:system",
    "mypkgs:swish",
    "mypk:swish",
    "os:system",
    "builtins:exec",
    "mypkg::swish",
]


def problems(tmp_path: Path, text: str, allow: Sequence[str] = ("mypkg",)) -> list[str]:
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    loaded = load([str(path)], allow=allow)
    assert not loaded.cases or not loaded.problems
    return [problem.message for problem in loaded.problems]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["function", "layer"])
def test_names_that_lead_elsewhere(tmp_path: Path, key: str, name: str) -> None:
    assert problems(tmp_path, f"{key}: '{name}'\ninputs: {{x: [2]}}\n")


@pytest.mark.parametrize("name", NAMES)
def test_layers_inside_of_layers(tmp_path: Path, name: str) -> None:
    inside = f"{{layer: {{layer: '{name}'}}}}"
    text = f"layer: keras.layers.TimeDistributed\ninit: {inside}\ninputs: {{inputs: [2, 3]}}\n"
    assert problems(tmp_path, text)


@pytest.mark.parametrize(
    "text", ["mypkg:swish(x)", "mypkg.swish(x)", "__import__('os')", "x.__class__"]
)
@pytest.mark.parametrize("key", ["expr", "cdf"])
def test_no_expression_reaches_a_package(tmp_path: Path, key: str, text: str) -> None:
    other = "" if key == "expr" else "op: tf.identity\n"
    assert problems(tmp_path, f'{other}{key}: "{text}"\ninputs: {{x: [2]}}\n')


def test_an_allowed_name_is_allowed(tmp_path: Path) -> None:
    assert not problems(tmp_path, "function: mypkg.layers:Outer.swish\ninputs: {x: [2]}\n")


@pytest.mark.parametrize(
    "entry", ["", ".", "mypkg.", ".mypkg", "my pkg", "mypkg:swish", "*", "ｍypkg"]
)
def test_what_is_no_package_cannot_be_allowed(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text("op: exp\ninputs: {x: [2]}\n", encoding="utf-8")
    assert main(["validate", "spec.yaml", "--allow", entry]) == 2
    assert "--allow names packages" in capsys.readouterr().err
    Path("pyproject.toml").write_text(f"[tool.gradcheck]\nallow = ['{entry}']\n", encoding="utf-8")
    assert main(["validate", "spec.yaml"]) == 2
    assert "`allow` in [tool.gradcheck] must be a list of texts that name packages" in (
        capsys.readouterr().err
    )
