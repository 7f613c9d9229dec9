"""Files into cases: all that is right, and all the problems at once."""

from __future__ import annotations

import string
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.model import CheckKind, Mode, TargetKind
from gradcheck.spec.format.keys import CASE_KEYS, INPUT_KEYS
from gradcheck.spec.load_specs import load, read_spec
from gradcheck.spec.yaml.source import Source
from tests.spec.examples import GOOD

if TYPE_CHECKING:
    from tests.spec.conftest import Load, Problem


def test_a_case_says_all_that_the_spec_says(load_text: Load) -> None:
    first, second = load_text(GOOD["every key"]).cases
    assert first.id == "s.yaml::all-of.it[seed=1]"
    assert (first.seed, second.seed) == (1, 2)
    assert first.target.kind is TargetKind.OP
    assert (first.dtype, first.mode, first.timeout) == ("float32", Mode.GRAPH, 1.5)
    assert first.checks == (CheckKind.REVERSE, CheckKind.SECOND)
    assert first.tags == ("slow", "gpu")
    assert str(first.location) == "s.yaml:2:1"
    assert str(first.target.location) == "s.yaml:2:5"


def test_a_bad_case_does_not_hide_its_neighbours(load_text: Load) -> None:
    text = """
        op: square
        cases:
          - {name: a, inputs: {x: [2]}}
          - {name: b, inputs: {x: [-2]}, dtype: flaot}
          - {name: c, name: d, inputs: {x: [2]}}
          - 3
          - {name: e, inputs: {x: [2]}}
        """
    loaded = load_text(text)
    assert [c.name for c in loaded.cases] == ["a", "e"]
    assert [p.location.line for p in loaded.problems] == [5, 5, 6, 7]


def test_what_the_cases_share_is_said_once(load_text: Load) -> None:
    text = "op: square\ndtype: flaot32\ninputs: {x: [2]}\ncases: [{name: a}, {name: b}]\n"
    loaded = load_text(text)
    assert len(loaded.problems) == 1
    assert not loaded.cases


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("op: square\nexpr: x\ncases: [{op: exp, inputs: {x: [2]}}]\n", (2, 1), "side by side"),
        ("op: square\ninputs: {x: [2]}\nshpae: 3\n", (3, 1), "a spec has no key `shpae`"),
        ("op: square\ninputs: {x: [2]}\ndtpye: x\n", (3, 1), "did you mean `dtype`?"),
        ("op: square\nop: exp\ninputs: {x: [2]}\n", (2, 1), "line 1, column 1"),
        ("op: square\ncases: []\n", (2, 1), "at least one case"),
        ("op: square\ncases: 3\n", (2, 1), "at least one case"),
        ("op: square\nname: a\ncases: [{inputs: {x: [2]}}]\n", (2, 1), "belongs to a case"),
        ("- op: square\n", (1, 1), "a spec is a mapping"),
        ("just text\n", (1, 1), "a spec is a mapping"),
        ("", (1, 1), "empty"),
        (b"op: \xff\n", (1, 5), "not UTF-8"),
        ("op: square\n".encode("utf-16"), (1, 1), "not UTF-8"),
        (b"#" * (4 * 2**20 + 1), (1, 1), "larger than 4 MiB"),
    ],
)
def test_what_is_wrong_with_a_file_is_located(
    problem: Problem, text: str | bytes, at: tuple[int, int], words: str
) -> None:
    problem(text, at, words)


def test_a_problem_shows_its_line_with_a_caret(problem: Problem) -> None:
    text = str(problem("op: matmull\ninputs: {a: [2]}\n", (1, 5)))
    assert text.splitlines()[1:3] == ["    1 | op: matmull", "            ^^^^^^^"]


def test_a_byte_order_mark_is_no_problem(load_text: Load) -> None:
    assert load_text(b"\xef\xbb\xbfop: square\r\ninputs: {x: [2]}\r\n").cases


KEYS = st.sampled_from(
    [*CASE_KEYS, *INPUT_KEYS, "cases", "rtol", "atol", "outputs", "x", "a", "<<"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-2, 5),
    st.floats(),
    st.text(string.printable, max_size=8),
    st.sampled_from(["square", "matmul", "tf.square", "x * x", "float32", "eager", "ones", "1+2j"]),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=25,
)
CASES = st.fixed_dictionaries(
    {"op": st.sampled_from(["square", "matmul", "gather", "concat", "reduce_sum", "einsum"])},
    optional={key: TREES for key in CASE_KEYS if key != "op"},
)


@given(st.one_of(TREES, CASES))
def test_no_yaml_makes_it_raise(tree: object) -> None:
    source = Source("s.yaml", yaml.safe_dump(tree, allow_unicode=True))
    cases = read_spec(source, (), None)
    assert cases or source.problems


@given(st.text(alphabet="{}[]:,-&*!|>'\"%@`#?\n\t ax1<~", max_size=60))
def test_no_text_makes_it_raise(text: str) -> None:
    source = Source("s.yaml", text)
    assert not read_spec(source, (), None)
    assert source.problems


def test_reading_specs_loads_nothing_heavy() -> None:
    unwanted = "{'tensorflow', 'rich', 'keras', 'scipy', 'sympy'} & {*sys.modules}"
    code = f"import sys, gradcheck.spec; print({unwanted})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_case_that_is_not_there_is_answered_with_those_that_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cases = "".join(f"  - {{name: c{i}, inputs: {{x: [2]}}}}\n" for i in range(14))
    Path("a.yaml").write_text(f"op: sin\ncases:\n{cases}")
    (problem,) = load(["a.yaml::nope"]).problems
    assert problem.hint.startswith("there are c0, c1, c2,")
    assert problem.hint.endswith("c11 and 2 more")


@pytest.mark.parametrize("target", ["op: tanh", "expr: tf.tanh(x)"])
def test_a_mistyped_inputs_is_one_problem(load_text: Load, target: str) -> None:
    loaded = load_text(f"cases:\n  - {target}\n    input: {{x: [3]}}\n")
    assert not loaded.cases
    (problem,) = loaded.problems
    assert (problem.location.line, problem.hint) == (3, "did you mean `inputs`?")
    (missing,) = load_text(f"cases:\n  - {target.replace('(x)', '(1.0)')}\n").problems
    assert missing.message == "the case has no `inputs`"
