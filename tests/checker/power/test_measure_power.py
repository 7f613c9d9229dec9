"""What a case would catch is what it does catch, and whatever survives has its reason."""

from __future__ import annotations

import pickle
from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck import ops
from gradcheck.checker.api import check
from gradcheck.checker.case import problem_of
from gradcheck.checker.judge.agreement import MISMATCH, PASS, compare
from gradcheck.checker.power.measure_power import BLAMES, Study, measure_power
from gradcheck.checker.power.mutations import SIZES, Scene, mutations
from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Problem
from gradcheck.model import Case, TargetKind, Tolerance, Verdict
from gradcheck.model.planted import Fate, Planted, Power
from gradcheck.ops.declaration import Kind
from gradcheck.spec import load
from tests.checker.planted import planted as with_fault
from tests.checker.planted import subject
from tests.suite import shipped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def study(function: Callable[..., Any], *inputs: Any, **changes: Any) -> dict[str, Planted]:
    """The faults of the first input, by name."""
    operands = tuple(Operand(f"x{i}", np.asarray(x)) for i, x in enumerate(inputs))
    problem = Problem(function, operands, **changes)
    with np.errstate(all="ignore"), explored(problem) as whole:
        found = list(Study(whole).run(["x0"]))
    return {p.name: p for p in found}


def rough(x: Any) -> Any:
    """A function that computes in float32 whatever it is given."""
    import tensorflow as tf

    return tf.cast(tf.sin(tf.cast(x, tf.float32)), tf.float64)


def case(text: str, tmp_path: Path) -> Case:
    spec = tmp_path / "spec.yaml"
    spec.write_text(text)
    loaded = load([str(spec)])
    assert loaded.problems == ()
    return loaded.cases[0]


# Here the fault is in the function itself, as a user would have written it.
@pytest.mark.parametrize("name", ["tanh", "matmul", "softmax", "broadcast add", "rough"])
def test_what_it_says_is_what_the_check_does(name: str) -> None:
    function, inputs = rough, [np.linspace(0.3, 1.2, 6)]
    if name != "rough":
        function, inputs = subject(name).function, list(subject(name).inputs)
    claimed = study(function, *inputs)
    kinds = ("whole", "sign", "zero", "constant", "shifted", "averaged", "corner", "slice")
    shown = [n for n in claimed if n.startswith(kinds)]
    assert any(claimed[n].fate is Fate.CAUGHT for n in shown)
    if name == "rough":
        assert any(claimed[n].fate is Fate.SURVIVED for n in shown)
    for fault in shown:
        changed = with_fault(function, _changing(inputs, fault))
        verdict = check(changed, *inputs).comparisons[0].verdict
        assert verdict == claimed[fault].verdict, fault
        assert (verdict in BLAMES) == (claimed[fault].fate is Fate.CAUGHT), fault


def _changing(inputs: Sequence[Any], fault: str) -> Callable[..., Any]:
    import tensorflow as tf

    def change(gradients: list[Any]) -> list[Any]:
        arrays = [g.numpy() for g in gradients]
        scene = Scene(0, 0, inputs, [np.zeros((3, 4))], arrays, lambda: arrays)
        mutation = next(m for m in mutations(scene, ["x0", "x1"]) if m.name == fault)
        return [tf.constant(mutation.change(scene)), *gradients[1:]]

    return change


def test_the_result_of_a_case_travels_to_another_process(tmp_path: Path) -> None:
    found = measure_power(case("{op: exp, inputs: {x: [2]}}", tmp_path))
    assert found.verdict is Verdict.PASS
    again = pickle.loads(pickle.dumps(found))  # noqa: S301  (our own)
    assert again.planted == found.planted
    assert again.floor("whole") == found.floor("whole")


def test_ones_hide_what_a_random_upstream_shows(tmp_path: Path) -> None:
    text = "{op: softmax, inputs: {logits: [2, 3]}, upstream: %s}"
    blind = measure_power(case(text % "ones", tmp_path))
    survivors = {p.name: p for p in blind.survivors}
    assert {"sign", "zero", "whole 1e-1", "shifted axis 1", "upstream ignored"} <= set(survivors)
    assert all("the upstream hides it" in p.reason for p in survivors.values())
    assert blind.floor("whole") == np.inf
    assert {p.name for p in blind.planted if p.fate is Fate.CAUGHT} == {"nan", "none"}
    seeing = measure_power(case(text % "random", tmp_path))
    assert seeing.survivors == ()
    assert seeing.floor("whole") <= 1e-10  # type: ignore[operator]  # not None here


def test_faults_that_change_nothing_do_not_count() -> None:
    import tensorflow as tf

    # x·xᵀ summed with symmetric weights: the gradient is what its transpose is.
    found = study(lambda x: tf.reduce_sum(x + tf.transpose(x)), np.ones((3, 3)))
    for name in ("transposed", "shifted axis 0", "reversed axis 1"):
        assert found[name].fate is Fate.EQUIVALENT, name
        assert found[name].reason == "at this point the gradient is the same"
    assert found["sign"].fate is Fate.CAUGHT


def test_a_gradient_of_zero_is_said_to_be_blind(tmp_path: Path) -> None:
    found = measure_power(case("{expr: x * x, inputs: {x: {values: [0.0, 0.0]}}}", tmp_path))
    assert found.blind == {"x": "at this point the gradient is zero throughout"}
    assert (found.caught, found.survivors) == (2, ())  # NaN and None
    assert found.floor("whole") is None


def test_an_empty_input_is_blind(tmp_path: Path) -> None:
    found = measure_power(case("{op: exp, inputs: {x: [0, 3]}}", tmp_path))
    assert found.blind == {"x": "the input is empty"}


def test_at_a_kink_all_that_lies_between_is_as_right() -> None:
    import tensorflow as tf

    found = study(lambda x: tf.maximum(x, tf.constant(1.0, x.dtype)), np.array([1.0, 2.0]))
    assert found["corner"].fate is Fate.EQUIVALENT
    assert found["corner"].verdict is Verdict.KINK
    assert "kink" in found["corner"].reason
    assert found["sign"].fate is Fate.CAUGHT


def test_but_what_ties_has_to_add_up() -> None:
    import tensorflow as tf

    found = study(tf.maximum, np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    assert found["corner"].fate is Fate.CAUGHT  # it leaves nothing to either


def test_the_antisymmetric_part_of_a_symmetric_input_s_gradient_means_nothing(
    tmp_path: Path,
) -> None:
    spd = "{expr: tf.linalg.cholesky(a), inputs: {a: {shape: [3, 3], sample: spd}}}"
    found = {p.name: p for p in measure_power(case(spd, tmp_path)).planted}
    assert found["transposed"].fate is Fate.EQUIVALENT
    assert found["sign"].fate is Fate.CAUGHT
    assert found["element 1e-8"].fate is Fate.CAUGHT


def test_a_function_that_rounds_inside_lets_small_faults_through_and_says_why() -> None:
    found = study(rough, np.linspace(0.3, 1.2, 6))
    assert found["whole 1e-1"].fate is Fate.CAUGHT
    assert found["sign"].fate is Fate.CAUGHT
    assert found["whole 1e-8"].fate is Fate.SURVIVED
    assert "below the error bar" in found["whole 1e-8"].reason


def test_a_tolerance_given_by_hand_is_named() -> None:
    import tensorflow as tf

    found = study(tf.exp, np.array([0.1, 0.7]), tolerance=Tolerance(rtol=1e-3))
    assert found["whole 1e-2"].fate is Fate.CAUGHT
    assert found["whole 1e-4"].fate is Fate.SURVIVED
    assert found["whole 1e-4"].reason == "the tolerance of the case allows it"


def test_one_element_of_many_is_one_that_was_not_moved_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import tensorflow as tf

    monkeypatch.setattr("gradcheck.checker.limits.BUDGET", 64)
    monkeypatch.setattr("gradcheck.checker.limits.SAMPLED", 16)
    x = np.random.default_rng(4).standard_normal(100)
    found = study(lambda x: tf.sin(x) * tf.reduce_sum(x), x)
    assert found["element 1e-1"].fate is Fate.CAUGHT
    assert found["sign"].fate is Fate.CAUGHT
    survivor = found["element 1e-12"]
    assert survivor.fate is Fate.SURVIVED
    assert "was not moved by itself" in survivor.reason


def test_a_case_whose_gradient_is_wrong_is_not_measured(tmp_path: Path) -> None:
    text = "{op: det, inputs: {input: [3, 3]}, dtype: complex128, expect: mismatch, reason: known}"
    found = measure_power(case(text, tmp_path))
    assert (found.verdict, found.planted) == (Verdict.MISMATCH, ())
    assert "no gradient is right" in found.message


def test_a_case_that_does_not_check_the_tape_is_not_measured(tmp_path: Path) -> None:
    found = measure_power(case("{op: exp, inputs: {x: [2]}, check: forward}", tmp_path))
    assert found.planted == ()
    assert "does not check the gradient of the tape" in found.message


def test_a_case_that_raises_is_not_measured(tmp_path: Path) -> None:
    broken = case("{op: exp, inputs: {x: [2]}}", tmp_path)
    target = replace(broken.target, kind=TargetKind.FUNCTION, text="nowhere:at_all")
    found = measure_power(replace(broken, target=target))
    assert found.planted == ()
    assert found.verdict is Verdict.ERROR
    assert found.message


@pytest.mark.parametrize("mode", ["graph", "xla"])
def test_every_mode(tmp_path: Path, mode: str) -> None:
    found = measure_power(case(f"{{op: tanh, inputs: {{x: [3]}}, mode: {mode}}}", tmp_path))
    assert found.survivors == ()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
def test_low_precision_is_judged_by_its_formula(tmp_path: Path, dtype: str) -> None:
    found = measure_power(case(f"{{op: tanh, inputs: {{x: [3]}}, dtype: {dtype}}}", tmp_path))
    assert found.verdict is Verdict.PASS
    assert found.survivors == ()


def fault(size: float, fate: Fate, name: str = "x") -> Planted:
    return Planted(name, f"whole {size}", "", fate, family="whole", size=size)


@pytest.mark.parametrize(
    ("fates", "floor"),
    [
        ("CCC", 1e-3),
        ("CCS", 1e-2),
        ("CSC", 1e-1),  # what is caught below a size that is not caught was luck
        ("SCC", np.inf),
        ("SSS", np.inf),
        ("EEE", None),
        ("CEC", 1e-3),
    ],
)
def test_the_floor_is_the_smallest_size_with_all_above_it_caught(
    fates: str, floor: float | None
) -> None:
    meaning = {"C": Fate.CAUGHT, "S": Fate.SURVIVED, "E": Fate.EQUIVALENT}
    planted = [fault(s, meaning[f]) for s, f in zip(SIZES, fates, strict=False)]
    assert Power("a", Verdict.PASS, planted=tuple(reversed(planted))).floor("whole") == floor


def test_the_floor_of_a_case_is_that_of_its_worst_input() -> None:
    good = [fault(s, Fate.CAUGHT) for s in SIZES]
    poor = [fault(s, Fate.CAUGHT if s > 1e-5 else Fate.SURVIVED, "y") for s in SIZES]
    assert Power("a", Verdict.PASS, planted=(*good, *poor)).floor("whole") == 1e-4


@cache
def cases_of_ops() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = defaultdict(list)
    for one in shipped():
        op = ops.find(one.target.text)
        drawn = all(given.values is None for given in one.inputs)
        kinds = () if op is None else [p.kind for p in op.inputs]
        double = "complex128" if Kind.COMPLEX in kinds else "float64"
        plain = one.expect is None and one.upstream == "random" and one.dtype == double
        if op and plain and drawn and "guide" not in one.path:
            found[op.name].append(one)
    return found


EXPLAINED: dict[tuple[str, str, str], str] = {}
"""By op, input and fault: why nobody would notice it. None is known."""


def by_numbers_alone(one: Case) -> Power:
    """What the numeric derivative catches by itself.

    Beside a declared formula nothing would be learnt about it: the formula alone catches nearly
    every fault, and functions of the user's have none.
    """
    problem = replace(problem_of(one, allow=(), root="."), formulas={}, claims={})
    names = [operand.name for operand in problem.operands if operand.differentiate]
    with np.errstate(all="ignore"), explored(problem) as whole:
        found = tuple(Study(whole).run(names))
    return Power(one.id, Verdict.PASS, planted=found)


def test_without_the_numeric_derivative_faults_survive(monkeypatch: pytest.MonkeyPatch) -> None:
    one = cases_of_ops()["tanh"][0]
    assert by_numbers_alone(one).survivors == ()

    def lenient(*arguments: Any, **options: Any) -> Any:
        agreement = compare(*arguments, **options)
        agreement.grades[agreement.grades == MISMATCH] = PASS
        return agreement

    monkeypatch.setattr("gradcheck.checker.judge.confirm.compare", lenient)
    assert {"sign", "zero", "whole 1e-1"} <= {p.name for p in by_numbers_alone(one).survivors}
    assert measure_power(one).survivors == (), "the declared formula catches them"


IN_DOUBLE = [op.name for op in ops.all_ops() if not op.float32_only]
"""(Where TensorFlow computes in float32 alone, no fault of 1e-8 is to be seen.)"""


PLANTED = (1e-1, 1e-8, 1e-12)
"""In every op: the largest, the smallest that counts, and one that an error bar may hide. (Those in
between are planted elsewhere in this file, and by `gradcheck power specs` in all the ops.)"""


@pytest.mark.parametrize("op", IN_DOUBLE)
def test_every_fault_in_every_op_is_caught_or_explained(
    op: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradcheck.checker.power.mutations.SIZES", PLANTED)
    candidates = [replace(c, seed=seed) for c in cases_of_ops()[op] for seed in range(16)]
    assert candidates, "no case to plant in"
    for candidate in candidates:
        found = by_numbers_alone(candidate)
        if not found.blind:
            break
    assert found.blind == {}, "at no point is there anything to be wrong"
    unexplained = {(op, p.input, p.name): p.reason for p in found.survivors}
    assert unexplained.keys() == {key for key in EXPLAINED if key[0] == op}, unexplained
    for planted in found.planted:
        if planted.fate is Fate.SURVIVED and not planted.counted:
            assert "below the error bar" in planted.reason, planted
    assert found.caught >= 10  # (of one input)
    for family in ("whole", "element"):
        floor = found.floor(family)
        assert floor is not None
        assert floor <= 1e-8


def test_faults_in_weights(tmp_path: Path) -> None:
    text = "layer: keras.layers.Dense\ninit: {units: 2}\ninputs: {inputs: [2, 3]}\n"
    power = measure_power(case(text, tmp_path))
    assert {planted.input for planted in power.planted} == {"inputs", "dense/kernel", "dense/bias"}
    assert all(p.fate is Fate.CAUGHT for p in power.planted if p.name == "sign")


def test_faults_in_a_sample(tmp_path: Path) -> None:
    text = "expr: tf.random.stateless_gamma([4], [1, 2], a, dtype=tf.float64)\n"
    text += "inputs: {a: {values: [1.5, 0.7, 2.5, 3.0]}}\ncdf: tf.math.igamma(a, out)\n"
    power = measure_power(case(text, tmp_path))
    assert power.verdict is Verdict.PASS
    sizes = {p.size: p.fate for p in power.planted if p.family == "whole"}
    assert sizes[1e-6] is Fate.CAUGHT
    # A fault that is far below the error bar is not, or everything would be.
    assert Fate.CAUGHT not in {fate for size, fate in sizes.items() if size and size < 1e-13}
