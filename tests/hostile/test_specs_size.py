"""Small specs that stand for much: read in bounded time and memory, with a problem in words."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from gradcheck.cli.app import main
from gradcheck.spec import load

if TYPE_CHECKING:
    from pathlib import Path

    from gradcheck.spec import Loaded

LONGEST = 8.0
"""Seconds of processor time, on a slow machine; what is quadratic takes minutes."""


def numbers(count: int) -> str:
    return ", ".join(map(str, range(count)))


EXP = "op: exp\ninputs: {x: [2]}\n"
MANY = 20_000

GOOD = {
    "cases without a name": (EXP + "cases: [" + "{}," * 20_000 + "]", 20_000),
    "seeds": (EXP + f"seed: [{numbers(20_000)}]", 20_000),
    "tags": (EXP + "tags: [" + ", ".join(f"t{i}" for i in range(MANY)) + "]", 1),
    "shared values": (
        "op: exp\ninputs: {x: {values: [" + "1," * 50_000 + "]}}\ncases: [" + "{}," * 2_000 + "]",
        2_000,
    ),
    "shared tags": (
        EXP
        + "tags: ["
        + ", ".join(f"t{i}" for i in range(5_000))
        + "]\ncases: ["
        + "{}," * 2_000
        + "]",
        2_000,
    ),
    "a long reason": (EXP + f"reason: {'x' * 10**6}\ncases: [" + "{}," * 2_000 + "]", 2_000),
    "many inputs": (
        "expr: x0\ninputs: {" + ", ".join(f"x{i}: [1]" for i in range(20_000)) + "}",
        1,
    ),
}

BAD = {
    "unknown keys": EXP + "".join(f"key{i}: 1\n" for i in range(MANY)),
    "unknown keys in one line": "{op: exp, inputs: {x: [2]}, "
    + ", ".join(f"key{i}: 1" for i in range(MANY))
    + "}",
    "unknown inputs": "op: exp\ninputs: {" + ", ".join(f"xx{i}: [1]" for i in range(MANY)) + "}",
    "unknown args": EXP + "args: {" + ", ".join(f"axiss{i}: 1" for i in range(MANY)) + "}",
    "unknown args of TensorFlow": "op: tf.nn.elu\ninputs: {features: [1]}\nargs: {"
    + ", ".join(f"featurs{i}: 1" for i in range(MANY))
    + "}",
    "unknown init": "layer: keras.layers.Dense\ninputs: {inputs: [1, 2]}\ninit: {"
    + ", ".join(f"unit{i}: 1" for i in range(MANY))
    + "}",
    "unknown gradients": EXP + "gradient: {" + ", ".join(f"xx{i}: G" for i in range(MANY)) + "}",
    "unknown dtypes": EXP + "dtype: [" + ", ".join(f"float{i}" for i in range(MANY)) + "]",
    "unknown ops": "cases: [" + ", ".join(f"{{op: expp{i}}}" for i in range(5_000)) + "]",
    "bad expressions": "inputs: {x: [1]}\ncases: ["
    + ", ".join(f"{{expr: tf.expp{i}(x)}}" for i in range(5_000))
    + "]",
    "bad cases": "op: exp\ncases: [" + "{input: {x: [1]}}," * 20_000 + "]",
    "bad values": "op: exp\ncases: [" + "{inputs: {x: {values: [a]}}}," * 20_000 + "]",
    "one name": EXP + "cases: [" + "{name: a}," * 20_000 + "]",
    "one key": EXP + "op: exp\n" * MANY,
    "a long name": EXP + f"name: {'x' * 10**6}\nseed: [{numbers(1_000)}]",
    "aliases": "a: &a [1, 1, 1, 1, 1, 1, 1, 1]\n"
    + "".join(f"b{i}: &b{i} [{', '.join([f'*b{i - 1}' if i else '*a'] * 9)}]\n" for i in range(12)),
    "texts by alias": f"a: &a {'x' * 10**6}\nb: [" + "*a," * 200_000 + "]",
    "deep lists": "op: exp\ninputs: {x: {values: " + "[" * 10**5 + "]" * 10**5 + "}}",
    "a long op": f"op: {'x' * 4 * 10**6}\ninputs: {{x: [2]}}",
    "escapes": 'expr: "' + "\\x20" * 900_000 + ' $"\ninputs: {x: [2]}',
    "huge inputs": "expr: x0\ninputs: {" + ", ".join(f"x{i}: [100000000]" for i in range(9)) + "}",
    "many inputs of many cases": "op: tf.add_n\ninputs: {inputs: {list: ["
    + "[1]," * 5_000
    + "]}}\ncases: ["
    + "{}," * 5_000
    + "]",
    "tags of many cases": EXP
    + f"seed: [{numbers(5_000)}]\ntags: ["
    + ", ".join(f"t{i}" for i in range(MANY))
    + "]",
    "a control character": EXP + "\x01" + "x" * 3 * 10**6,
    "a file of megabytes": EXP + "#" * 5 * 10**6,
}


def read(folder: Path, text: str) -> Loaded:
    path = folder / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    begun = time.process_time()
    loaded = load([str(path)])
    assert time.process_time() - begun < LONGEST
    return loaded


@pytest.mark.parametrize("name", GOOD)
def test_what_cases_share_is_read_once(tmp_path: Path, name: str) -> None:
    text, count = GOOD[name]
    loaded = read(tmp_path, text)
    assert [str(p) for p in loaded.problems] == []
    assert len(loaded.cases) == count


@pytest.mark.parametrize("name", BAD)
def test_problems_of_one_kind_are_counted(tmp_path: Path, name: str) -> None:
    loaded = read(tmp_path, BAD[name])
    assert 1 <= len(loaded.problems) <= 50
    assert sum(len(str(problem)) for problem in loaded.problems) < 30_000


def test_the_first_twenty_are_told(tmp_path: Path) -> None:
    loaded = read(tmp_path, BAD["unknown keys"])
    assert len(loaded.problems) == 21
    assert loaded.problems[-1].message.startswith("19,980 more problems of this kind: ")


PRODUCT = (
    "op: exp\ncases:\n  - &c {inputs: {x: [2]}, dtype: [float64, float32, float16], "
    f"mode: [eager, graph, xla], seed: [{numbers(1_000)}]}}\n" + "  - *c\n" * 900
)


def test_products_are_counted_before_they_are_made(tmp_path: Path) -> None:
    loaded = read(tmp_path, PRODUCT)
    (problem,) = loaded.problems
    assert "expands to 8,109,000 cases, and there is room for 200,000" in problem.message
    assert "--max-cases" in problem.hint
    assert loaded.cases == ()


def test_all_files_share_the_room(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.yaml").write_text(EXP + f"seed: [{numbers(40)}]")
    loaded = load([str(tmp_path)], max_cases=100)
    assert len(loaded.cases) == 80
    assert "room for 20, beside those of other files" in loaded.problems[0].message


def test_the_limit_can_be_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = tmp_path / "spec.yaml"
    spec.write_text(EXP + f"seed: [{numbers(30)}]")
    setting = tmp_path / "pyproject.toml"
    setting.write_text("[tool.gradcheck]\nmax_cases = 20\n")
    assert main(["validate", "spec.yaml"]) == 2
    assert main(["validate", "spec.yaml", "--max-cases", "30"]) == 0
    assert main(["run", "spec.yaml", "--collect-only"]) == 2
    assert main(["run", "spec.yaml", "--collect-only", "--max-cases", "30"]) == 0
    setting.write_text("[tool.gradcheck]\nmax_cases = 'many'\n")
    assert main(["validate", "spec.yaml"]) == 2
    assert "must be a whole number" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "x: " + "9" * 10**5,
        "x: -0." + "9" * 10**5,
        "x: {values: [0x" + "f" * 10**5 + "]}",
        "x: 1e999",
    ],
)
def test_a_number_without_end_is_refused_in_words(tmp_path: Path, text: str) -> None:
    loaded = read(tmp_path, f"op: exp\ninputs: {{{text}}}")
    (problem,) = loaded.problems
    assert "digits: at most 400" in problem.message or "beyond what float64" in problem.message
    assert problem.location.line == 2


def test_a_pipe_among_the_specs_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "spec.yaml")
    (problem,) = load([str(tmp_path)]).problems
    assert "no file" in problem.message


def test_many_ids_are_found_at_once(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(EXP + f"name: a\nseed: [{numbers(5_000)}]")
    begun = time.process_time()
    loaded = load([f"{path}::a[seed={i}]" for i in range(4_000)])
    assert len(loaded.cases) == 4_000
    assert time.process_time() - begun < LONGEST
