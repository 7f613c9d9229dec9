from __future__ import annotations

import string
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.model import CheckKind, Mode, TargetKind
from gradcheck.spec.format.keys import CASE_KEYS, INPUT_KEYS
from gradcheck.spec.load import read_spec
from gradcheck.spec.yaml.source import Source
from tests.spec.examples import GOOD

if TYPE_CHECKING:
    from tests.spec.conftest import Good, Load, Problem


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


def test_a_case_overrides_and_merges(load_text: Load) -> None:
    text = """
        op: matmul
        inputs: {a: [2, 3], b: [3, 4]}
        args: {transpose_a: false}
        tolerance: {rtol: 1e-3}
        tags: [one]
        cases:
          - inputs: {a: [5, 3]}
            args: {transpose_b: false}
            tolerance: {atol: 1e-3}
            tags: [two]
          - expr: a @ b
            args: {}
        """
    first, second = load_text(text.replace("args: {transpose_a: false}\n", "\n")).cases
    assert [i.shape for i in first.inputs] == [(5, 3), (3, 4)]
    assert first.tolerance is not None
    assert (first.tolerance.rtol, first.tolerance.atol) == (1e-3, 1e-3)
    assert first.tags == ("two",)
    assert second.target.kind is TargetKind.EXPR
    assert dict(load_text(text).cases[0].args) == {"transpose_a": False, "transpose_b": False}


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


@pytest.mark.parametrize("entry", ["mypkg", "mypkg.layers"])
def test_a_function_of_an_allowed_package(good: Good, entry: str) -> None:
    case = good("function: mypkg.layers:swish\ninputs: {x: [2]}\n", allow=(entry,))
    assert case.target.text == "mypkg.layers:swish"


@pytest.mark.parametrize("entry", ["mypk", "mypkg.layers.deep", "mypkg.layer", "other"])
def test_a_function_of_any_other_package(load_text: Load, entry: str) -> None:
    loaded = load_text("function: mypkg.layers:swish\ninputs: {x: [2]}\n", allow=(entry,))
    (problem,) = loaded.problems
    assert str(problem.location) == "s.yaml:1:11"
    assert "--allow mypkg" in problem.hint
    assert "[tool.gradcheck]" in problem.hint
    assert not loaded.cases


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("op: matmull\ninputs: {a: [2]}\n", (1, 5), "did you mean `matmul`?"),
        ("op: tf.linalg.matmull\ninputs: {a: [2]}\n", (1, 5), "did you mean `tf.linalg.matmul`?"),
        ("op: tf.io.write_file\ninputs: {a: [2]}\n", (1, 5), "not on the list of pure"),
        ("op: tf.py_function\ninputs: {a: [2]}\n", (1, 5), "not on the list of pure"),
        ("op: tf.linalg\ninputs: {a: [2]}\n", (1, 5), "is a module"),
        ("op: square(a)\ninputs: {a: [2]}\n", (1, 5), "under `expr:`"),
        ("op: a.b:c\ninputs: {a: [2]}\n", (1, 5), "under `function:`"),
        ("op: 3\ninputs: {a: [2]}\n", (1, 5), "must be a text"),
        ("op:\ninputs: {a: [2]}\n", (1, 4), "not nothing"),
        ("function: swish\ninputs: {a: [2]}\n", (1, 11), "package.module:name"),
        ("function: 'm:a b'\ninputs: {a: [2]}\n", (1, 11), "package.module:name"),
        ("inputs: {a: [2]}\n", (1, 1), "does not say what to check"),
        ("op: square\nexpr: x\ninputs: {x: [2]}\n", (2, 1), "`op` and `expr` stand side by side"),
        ("op: square\nexpr: x\ncases: [{op: exp, inputs: {x: [2]}}]\n", (2, 1), "side by side"),
        ("expr: tf.squar(x)\ninputs: {x: [2]}\n", (1, 7), "did you mean `tf.square`?"),
        ("expr: 'x + ''a'' + y'\ninputs: {x: [2]}\n", (1, 20), "`y` is not an input"),
        ('expr: "x +\\t y"\ninputs: {x: [2]}\n', (1, 14), "`y` is not an input"),
        ("expr: x +\n  y\ninputs: {x: [2]}\n", (1, 7), "`y` is not an input"),
        ("expr: (x\ninputs: {x: [2]}\n", (1, 7), "never closed"),
        ("expr: x\nargs: {k: 1}\ninputs: {x: [2]}\n", (2, 1), "takes no `args`"),
        ("op: square\nargs: {axis: 1}\ninputs: {x: [2]}\n", (2, 8), "no arg `axis`"),
        ("op: square\nargs: {x: 1}\ninputs: {x: [2]}\n", (2, 8), "put it under `inputs`"),
        (
            "op: matmul\nargs: {transpose_a: on}\ninputs: {a: [2, 2], b: [2, 2]}\n",
            (2, 21),
            "must be true or false, not `on`",
        ),
        ("op: reshape\ninputs: {tensor: [2, 2]}\n", (1, 1), "needs the arg `shape`"),
        (
            "op: reduce_sum\nargs: {axis: foo}\ninputs: {input_tensor: [2]}\n",
            (2, 8),
            "args do not fit `reduce_sum`: axis",
        ),
        ("op: square\ninputs: {x: [2]}\nshpae: 3\n", (3, 1), "a spec has no key `shpae`"),
        ("op: square\ninputs: {x: [2]}\ndtpye: x\n", (3, 1), "did you mean `dtype`?"),
        ("op: square\ninputs: {x: [2]}\ndtype: int32\n", (3, 8), "must be one of float64"),
        ("op: square\ninputs: {x: [2]}\ndtype: []\n", (3, 8), "empty list"),
        ("op: square\ninputs: {x: [2]}\nmode: [eager, eager]\n", (3, 15), "twice"),
        ("op: square\ninputs: {x: [2]}\ncheck: [reverse, revese]\n", (3, 18), "`reverse`?"),
        ("op: square\ninputs: {x: [2]}\nseed: -1\n", (3, 7), "at least 0"),
        ("op: square\ninputs: {x: [2]}\nseed: 9223372036854775808\n", (3, 7), "at most"),
        ("op: square\ninputs: {x: [2]}\nseed: 1.5\n", (3, 7), "whole number"),
        ("op: square\ninputs: {x: [2]}\ntimeout: 0\n", (3, 10), "above 0"),
        ("op: square\ninputs: {x: [2]}\ntimeout: 86401\n", (3, 10), "86,400"),
        ("op: square\ninputs: {x: [2]}\ntimeout: .nan\n", (3, 10), "must be a number"),
        ("op: square\ninputs: {x: [2]}\ntimeout: soon\n", (3, 10), "must be a number"),
        ("op: square\ninputs: {x: [2]}\ntags: [a b]\n", (3, 8), "a tag cannot be `a b`"),
        ("op: square\ninputs: {x: [2]}\nname: a/b\n", (3, 7), "`name` cannot be `a/b`"),
        ("op: square\ninputs: {x: [2]}\nname: 3\n", (3, 7), "put it in quotes"),
        ("op: square\ninputs: {x: [2]}\nreason: ''\n", (3, 9), "is empty"),
        (
            'op: square\ninputs: {x: [2]}\nreason: "\\e[31m"\n',
            (3, 9),
            "control character: `\\x1b[31m`",
        ),
        (f"op: {'x' * 100_000}\ninputs: {{x: [2]}}\n", (1, 5), "there is no op `xxx"),
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
def test_what_is_wrong_is_located(
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


def test_neither_tensorflow_nor_rich_is_imported() -> None:
    unwanted = "{'tensorflow', 'rich', 'keras'} & {*sys.modules}"
    code = f"import sys, gradcheck.spec.settings; print({unwanted})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
