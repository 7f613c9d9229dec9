"""Specs that try to run code: what is refused when they are read, and what an `allow` lets in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gradcheck.cli.app import main
from gradcheck.spec import load

if TYPE_CHECKING:
    from collections.abc import Sequence

PRIVATE = "is private: a spec cannot name it"
UNREADABLE = "must be written package.module:name"
FOREIGN = "is not allowed: a `{key}` runs code"

NAMES = {
    "mypkg:__loader__.set_data": PRIVATE,
    "mypkg:__builtins__.exec": PRIVATE,
    "mypkg:swish.__globals__.get": PRIVATE,
    "mypkg:swish.__class__": PRIVATE,
    "mypkg:_private": PRIVATE,
    "mypkg.__main__:main": PRIVATE,
    "mypkg._hidden:swish": PRIVATE,
    "mypkg:a.b._c.d": PRIVATE,
    "mypkg:swish()": UNREADABLE,
    "mypkg:swish;import os": UNREADABLE,
    "mypkg:ｅxec": UNREADABLE,
    "mypkg:sw\u0130sh": UNREADABLE,
    "mypkg: swish": UNREADABLE,
    "mypkg:.swish": UNREADABLE,
    "mypkg.:swish": UNREADABLE,
    "mypkg/../os:system": UNREADABLE,
    "mypkgs:swish": FOREIGN,
    "mypk:swish": FOREIGN,
    "os:system": FOREIGN,
    "builtins:exec": FOREIGN,
    "mypkg::swish": UNREADABLE,
}
"""With the reason for which they are refused."""


def problems(tmp_path: Path, text: str, allow: Sequence[str] = ("mypkg",)) -> list[str]:
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    loaded = load([str(path)], allow=allow)
    assert not loaded.cases or not loaded.problems
    return [problem.message for problem in loaded.problems]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["function", "layer"])
def test_names_that_lead_elsewhere(tmp_path: Path, key: str, name: str) -> None:
    (told,) = problems(tmp_path, f"{key}: '{name}'\ninputs: {{x: [2]}}\n")
    assert NAMES[name].format(key=key) in told


@pytest.mark.parametrize("name", NAMES)
def test_layers_inside_of_layers(tmp_path: Path, name: str) -> None:
    inside = f"{{layer: {{layer: '{name}'}}}}"
    text = f"layer: keras.layers.TimeDistributed\ninit: {inside}\ninputs: {{inputs: [2, 3]}}\n"
    (told,) = problems(tmp_path, text)
    assert NAMES[name].format(key="layer") in told


EXPRESSIONS = {
    "mypkg:swish(x)": "not a valid expression",
    "mypkg.swish(x)": "`mypkg.swish` is not a function known here",
    "__import__('os')": "`__import__` is not a function known here",
    "x.__class__": "`.__class__` of a value is not reached from a spec",
}


def expression(key: str, text: str) -> str:
    """A spec that is right but for the expression."""
    drawn = "" if key == "expr" else "expr: 'tf.random.stateless_gamma([2], [1, 2], x)'\n"
    return f'{drawn}{key}: "{text}"\ninputs: {{x: [2]}}\n'


@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize("key", ["expr", "cdf"])
def test_no_expression_reaches_a_package(tmp_path: Path, key: str, text: str) -> None:
    (told,) = problems(tmp_path, expression(key, text))
    assert EXPRESSIONS[text] in told


@pytest.mark.parametrize(
    ("key", "text"), [("expr", "tf.exp(x)"), ("cdf", "tf.math.igamma(x, out)")]
)
def test_an_expression_of_tensorflows_is_allowed(tmp_path: Path, key: str, text: str) -> None:
    assert problems(tmp_path, expression(key, text)) == []


def test_an_allowed_name_is_allowed(tmp_path: Path) -> None:
    assert not problems(tmp_path, "function: mypkg.layers:Outer.swish\ninputs: {x: [2]}\n")
    inside = "layer: keras.layers.TimeDistributed\ninit: {layer: {layer: 'mypkg:Scale'}}\n"
    assert not problems(tmp_path, f"{inside}inputs: {{inputs: [2, 3]}}\n")


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
