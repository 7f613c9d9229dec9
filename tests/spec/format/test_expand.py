"""The names of cases, and the variants that a case multiplies to."""

from __future__ import annotations

from tests.spec.conftest import Load, ids


def test_variants_multiply_in_a_fixed_order(load_text: Load) -> None:
    text = "op: square\nname: n\ninputs: {x: [2]}\n"
    axes = "seed: [0, 3]\nmode: [graph, eager]\ndtype: [float32, float64]\n"
    assert ids(load_text(text + axes))[:3] == [
        "s.yaml::n[float32,graph,seed=0]",
        "s.yaml::n[float32,graph,seed=3]",
        "s.yaml::n[float32,eager,seed=0]",
    ]
    assert ids(load_text(text + "mode: [xla]\ndtype: float32\n")) == ["s.yaml::n"]


def test_names_are_made_of_the_op_and_the_shapes(load_text: Load) -> None:
    text = """
        cases:
          - {op: matmul, inputs: {a: [3, 4], b: [4, 5]}}
          - {op: tf.linalg.matmul, inputs: {a: [3, 4], b: [4, 5]}}
          - {op: tf.math.cumulative_logsumexp, inputs: {x: [3]}}
          - {expr: x * y, inputs: {x: 2.0, y: [2, 2]}}
          - {op: matmul, name: matmul-3x4-4x5-2, inputs: {a: [3, 4], b: [4, 5]}}
          - {function: "mypkg.layers:Swish.call", inputs: {x: []}}
        """
    assert [i.removeprefix("s.yaml::") for i in ids(load_text(text, allow=("mypkg",)))] == [
        "matmul-3x4-4x5",
        "matmul-3x4-4x5-3",
        "cumulative_logsumexp-3",
        "expr-scalar-2x2",
        "matmul-3x4-4x5-2",
        "call-scalar",
    ]


def test_two_equal_names_are_a_problem(load_text: Load) -> None:
    text = "op: square\ninputs: {x: [2]}\ncases:\n  - name: a\n  - name: b\n  - name: a\n"
    loaded = load_text(text)
    (problem,) = loaded.problems
    assert str(problem.location) == "s.yaml:6:11"
    assert "line 4" in problem.message
    assert [case.name for case in loaded.cases] == ["a", "b"]


def test_the_given_seed_is_for_those_that_have_none(load_text: Load) -> None:
    text = "op: square\ninputs: {x: [2]}\ncases:\n  - name: a\n  - {name: b, seed: 7}\n"
    assert [c.seed for c in load_text(text, seed=5).cases] == [5, 7]
    assert [c.seed for c in load_text(text).cases] == [0, 7]
