"""What a function leaves changed in its worker: it is told, and no later case notices."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from gradcheck.model import LEFT_CHANGED, Case, Input, Location, Result, Target, TargetKind, Verdict
from gradcheck.run import run, shut_down
from tests.hostile.witness import RIGHT, culprit_and_witness

ROOT = Path(__file__).parents[2]

CULPRITS = {
    "alarm": "timers",
    "profiler": "timers",
    "dump_later": "signal handlers",
    "handler": "signal handlers",
    "epsilon": "Keras' epsilon (1e-07 before, 0.1 now)",
    "floatx": "Keras' floatx ('float32' before, 'float64' now)",
    "policy": "Keras' dtype policy",
    "channels": "Keras' image data format",
    "run_eagerly": "functions that run eagerly",
    "check_numerics": "check_numerics",
    "no_eager": "eager execution (True before, False now)",
    "patched_tanh": "tf: tanh is another",
    "patched_tensor": "tf.Tensor: __neg__ is another",
    "patched_tape": "tf.GradientTape: gradient is another",
    "patched_numpy": "numpy: abs is another",
    "patched_builtin": "builtins: sorted is another",
    "no_gradient": "the gradient registry: Tanh is gone",
    "seed": "TensorFlow's context",
    "soft_placement": "TensorFlow's context",
    "tensor_float": "TensorFloat-32",
    "deterministic": "deterministic ops",
    "numpy_behaviour": "numpy's behaviour of tensors",
    "device": "the default device",
    "recording": "a tape that records",
    "folder": "the working directory",
    "environment": "the environment",
    "umask": "the umask",
    "recursion": "the recursion limit",
    "strict_warnings": "warnings that are errors",
    "strict_numpy": "numpy's errstate",
    "path": "the path of modules",
    "importer": "ways to import",
    "files": "resource limits",
    "tracing": "tracing",
    "streams": "standard streams",
    "no_garbage": "garbage collection",
    "rounding": "how the processor rounds",
    "language": "the locale",
}

HARMLESS = ("innocent", "draws", "quiet", "registers")


def case(name: str, kind: TargetKind, text: str) -> Case:
    place = Location("specs/a.yaml", 1, 1)
    x = Input("x", (3,), place)
    return Case(f"a.yaml::{name}", "a.yaml", name, place, Target(kind, text, place), (x,))


def culprit(name: str) -> Case:
    return case(name, TargetKind.FUNCTION, f"tests.hostile.culprits:{name}")


def later(name: str) -> list[Case]:
    """An op that some would change, and a function that asks after each of them."""
    plain = case(f"op-after-{name}", TargetKind.EXPR, "tf.tanh(x) + tf.reduce_sum(-x)")
    asking = "tests.hostile.witness:notices"
    return [plain, case(f"witness-after-{name}", TargetKind.FUNCTION, asking)]


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    cases = []
    for name in [*HARMLESS, *CULPRITS, "thread"]:
        cases += [culprit(name), *later(name)]
    # One worker: whoever comes later comes to where the culprit was.
    found = run(cases, allow=("tests.hostile",), root=str(ROOT), jobs=1)
    told = {r.id.partition("::")[2]: r for r in found}
    shut_down()
    assert len(told) == len(cases)
    return told


def notes(result: Result) -> str:
    return "; ".join([result.message, *(c.note for c in result.comparisons)])


@pytest.mark.parametrize("name", CULPRITS)
def test_the_culprit_is_told_what_it_changed(name: str, results: dict[str, Result]) -> None:
    if name == "rounding" and platform.machine() != "x86_64":
        pytest.skip("the number that means upward is another one there")
    assert LEFT_CHANGED in notes(results[name])
    assert CULPRITS[name] in notes(results[name])


@pytest.mark.parametrize("name", HARMLESS)
def test_what_disturbs_nobody_is_not_told(name: str, results: dict[str, Result]) -> None:
    assert results[name].verdict is Verdict.PASS
    assert LEFT_CHANGED not in notes(results[name])


def test_what_leaves_a_thread_has_its_own_verdict(results: dict[str, Result]) -> None:
    """Nothing can be told of it: the worker ends, and the witness finds none."""
    assert (results["thread"].verdict, notes(results["thread"])) == (Verdict.PASS, "; ")


def test_a_later_case_has_the_verdict_that_it_has_alone(results: dict[str, Result]) -> None:
    found = {n: (r.verdict, r.message) for n, r in results.items() if "-after-" in n}
    assert len(found) == 2 * len([*HARMLESS, *CULPRITS, "thread"])
    assert {n: told for n, told in found.items() if told != (Verdict.PASS, "")} == {}


def test_the_witness_would_notice() -> None:
    """In the same process, without a guard between them."""
    asked = [name for name in RIGHT if name != "rounding" or platform.machine() == "x86_64"]
    assert RIGHT.keys() == {*CULPRITS, "thread"} - {"recording"}
    found = run(
        [culprit(name) for name in asked],
        allow=("tests.hostile",),
        root=str(ROOT),
        jobs=1,
        check=culprit_and_witness,
    )
    told = {r.id.partition("::")[2]: r.message for r in found}
    shut_down()
    assert {name: text for name, text in told.items() if not text.startswith("[] True")} == {}
    assert told.keys() == set(asked)
