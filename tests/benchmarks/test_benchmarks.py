"""The benchmarks measure what they say: planted faults are there, and nobody is put at a loss."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import checkers, detection, frameworks, growth, markdown, planting, speed
from benchmarks.checkers import Checker, Judgement
from benchmarks.subjects import DETECTION, SPEED, Subject

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MATMUL = DETECTION[0]
INSTALLED = [f for f in ("tensorflow", "torch", "jax") if frameworks.installed(f)]
AVAILABLE = checkers.available()


def named(items: Sequence[Checker | Subject]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("item", items, ids=lambda item: item.name)


@pytest.fixture
def only_tensorflow(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in frameworks.OPTIONAL:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("only_tensorflow")
def test_all_modules_import_without_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("frameworks", "subjects", "planting", "checkers", "detection", "speed", "growth")
    for name in names:
        monkeypatch.delitem(sys.modules, f"benchmarks.{name}")
        import_module(f"benchmarks.{name}")


@pytest.mark.usefixtures("only_tensorflow")
def test_what_is_missing_is_left_out_and_said_once() -> None:
    assert {checker.framework for checker in checkers.available()} == {"tensorflow"}
    assert frameworks.note_of_missing() == "torch and jax are not installed and left out."
    assert {"torch", "jax"}.isdisjoint(dict(frameworks.environment()))


def test_the_environment_has_versions_and_no_date() -> None:
    told = dict(frameworks.environment())
    assert {"gradcheck", "tensorflow", "numpy", "python", "processors"} <= set(told)
    assert frameworks.environment() == frameworks.environment()


@named(AVAILABLE)
@pytest.mark.parametrize("whole", [True, False])
def test_a_tenth_too_much_is_caught_by_every_checker(item: Checker, whole: bool) -> None:
    assert detection.caught(item, MATMUL, 0.1, whole=whole)


@named(AVAILABLE)
def test_nothing_planted_is_nothing_caught(item: Checker) -> None:
    assert not detection.caught(item, MATMUL, 0.0, whole=True)
    inputs = MATMUL.inputs(item.framework)
    assert item.judge(MATMUL.function(item.framework), inputs) is Judgement.RIGHT


@pytest.mark.parametrize("framework", INSTALLED)
def test_planting_changes_the_gradient_and_not_the_function(framework: str) -> None:
    function, inputs = MATMUL.function(framework), MATMUL.inputs(framework)
    factors = [np.ones(tuple(x.shape)) for x in inputs]
    factors[0][1, 2] = 3.0
    planted = planting.plant(framework, function, factors)
    expected = gradients(framework, function, inputs)
    found = gradients(framework, planted, inputs)
    np.testing.assert_array_equal(outputs(planted, inputs), outputs(function, inputs))
    for right, wrong, factor in zip(expected, found, factors, strict=True):
        np.testing.assert_allclose(wrong, right * factor, rtol=1e-15)


def outputs(function: Any, inputs: Any) -> Any:
    result = function(*inputs)
    return np.asarray(result.detach() if hasattr(result, "detach") else result)


def gradients(framework: str, function: Any, inputs: Any) -> list[Any]:
    """Of the sum of the outputs."""
    module = frameworks.load(framework)
    if framework == "torch":
        return [np.asarray(g) for g in module.autograd.grad(function(*inputs).sum(), inputs)]
    if framework == "jax":
        total = module.grad(lambda xs: function(*xs).sum())
        return [np.asarray(g) for g in total(inputs)]
    tensors = [module.constant(x) for x in inputs]
    with module.GradientTape() as tape:
        tape.watch(tensors)
        result = function(*tensors)
    return [g.numpy() for g in tape.gradient(result, tensors)]


@pytest.mark.parametrize("framework", INSTALLED)
@named(DETECTION)
def test_every_framework_gets_the_same_numbers_in_float64(item: Subject, framework: str) -> None:
    # TensorFlow imports jax by itself where it is installed, before anyone has asked for float64.
    frameworks.load("tensorflow")
    for mine, theirs in zip(item.inputs("tensorflow"), item.inputs(framework), strict=True):
        array = np.asarray(theirs.detach() if framework == "torch" else theirs)
        assert array.dtype == np.float64
        np.testing.assert_array_equal(array, mine)
        computed = item.function(framework)(*item.inputs(framework))
        assert "float64" in str(computed.dtype)


def test_an_input_that_was_rounded_is_refused() -> None:
    rounds = Subject("rounds", lambda _: (np.ones(2, np.float32),), lambda tf: tf.tanh, lambda t: t)
    with pytest.raises(TypeError, match="float32"):
        rounds.inputs("tensorflow")


@pytest.mark.skipif("torch" not in INSTALLED, reason="torch is not installed")
@named(SPEED)
def test_torch_computes_the_same_as_tensorflow(item: Subject) -> None:
    expected = np.asarray(item.function("tensorflow")(*item.inputs("tensorflow")))
    found = item.function("torch")(*item.inputs("torch")).detach().numpy()
    if item.torch_axes is not None:
        found = found.transpose(0, 2, 3, 1)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_the_floor_ends_at_the_first_miss() -> None:
    def judge(function: Any, inputs: Any) -> Judgement:
        tf = frameworks.load("tensorflow")
        tensors = [tf.constant(x) for x in inputs]
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            result = function(*tensors)
        right = gradients("tensorflow", MATMUL.function("tensorflow"), inputs)[0].flat[0]
        error = tape.gradient(result, tensors[0]).numpy().flat[0] / right - 1
        # Misses 1e-3, and catches 1e-4 again.
        return Judgement.RIGHT if 5e-4 < error < 5e-3 else Judgement.WRONG

    assert detection.floor(Checker("gap", "tensorflow", judge), MATMUL, whole=True) == 1e-2


def test_an_unsure_checker_catches_nothing_and_raises_a_false_alarm() -> None:
    unsure = Checker("unsure", "tensorflow", lambda _, __: Judgement.UNSURE)
    assert detection.floor(unsure, MATMUL, whole=True) is None
    assert detection._false_alarms(unsure, 2) == "8 of 8"


@pytest.mark.parametrize(
    ("size", "text"), [(None, "nothing"), (0.5, "0.5"), (0.1, "0.1"), (1e-2, "1e-2")]
)
def test_sizes_read_well(size: float | None, text: str) -> None:
    assert detection._text(size) == text
    assert detection._text(detection.SIZES[-1]) == "≤ 1e-10"


def test_the_errors_are_those_of_the_numeric_gradient() -> None:
    others = ["tf", "torch"] if "torch" in INSTALLED else ["tf"]
    lgamma = next(s for s in SPEED if s.name == "lgamma 20")
    errors = speed.measure(lgamma, others, rounds=1).errors
    assert set(errors) == {"gradcheck", *others}
    # Central differences with a step of 1/1024 cannot be good, and extrapolated ones are.
    assert errors["gradcheck"] < 1e-10
    assert errors["tf"] > 1e-8


def test_everyone_has_a_turn_in_every_round() -> None:
    turns: list[str] = []
    checks = {name: lambda name=name: turns.append(name) for name in "abc"}
    times = speed.best_times(checks, rounds=2)
    assert "".join(turns) == "abc" + "cba" + "abc"
    assert set(times) == set("abc")


def test_the_geometric_mean() -> None:
    assert speed.geometric_mean([2, 8]) == pytest.approx(4)


def test_growth_measures_in_this_process_too() -> None:
    told = growth.measure("matmul", 1000)
    assert told["verdict"] == "pass"
    assert told["judged"] == 1000
    assert told["seconds"] > 0
    assert told["memory"] >= 0


def test_a_table_is_well_formed_and_a_ragged_one_refused() -> None:
    text = markdown.table(["a", "b"], [["1", "2"], ["3", "4"]])
    assert text.splitlines() == ["| a | b |", "| --- | ---: |", "| 1 | 2 |", "| 3 | 4 |"]
    with pytest.raises(ValueError, match="1 cells under a header of 2"):
        markdown.table(["a", "b"], [["1"]])


class Section:
    """Stands in for a module of measurements."""

    def __init__(self) -> None:
        self.quick: list[bool] = []

    def run(self, *, quick: bool = False) -> str:
        self.quick.append(quick)
        return "## Stand-in\n\n" + markdown.table(["x", "y"], [["1", "2"]]) + "\n"


@pytest.fixture
def section(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Section:
    section = Section()
    monkeypatch.setattr(command, "import_module", lambda _: section)
    monkeypatch.setattr(command, "RESULTS", tmp_path / "RESULTS.md")
    return section


def test_a_full_run_writes_a_well_formed_report(section: Section, tmp_path: Path) -> None:
    command.main([])
    text = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert text.startswith("# Benchmarks\n\nMade by `python -m benchmarks`")
    assert text.endswith("|\n")
    assert "\n\n\n" not in text
    assert text.count("## Stand-in") == len(section.quick) >= 3
    assert not any(section.quick)
    check_tables(text)
    assert [path.name for path in tmp_path.iterdir()] == ["RESULTS.md"]


def check_tables(text: str) -> None:
    lines = text.splitlines()
    tables = [i for i, line in enumerate(lines) if line.startswith("| ---")]
    assert tables
    for rule in tables:
        assert not lines[rule - 2].startswith("|")
        width = lines[rule].count("|")
        rows = [lines[rule - 1]]
        for line in lines[rule:]:
            if not line.startswith("|"):
                break
            rows.append(line)
        assert {row.count("|") for row in rows} == {width}
        assert len(rows) >= 3


@pytest.mark.parametrize("flags", [["--quick"], ["--only", "speed"]])
def test_rough_figures_are_printed_and_do_not_replace_good_ones(
    flags: list[str], section: Section, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command.main(flags)
    printed = capsys.readouterr()
    assert "## Stand-in" in printed.out
    assert " ".join(flags) in printed.out
    assert "speed …" in printed.err
    assert not list(tmp_path.iterdir())
    assert all(section.quick) is ("--quick" in flags)


def test_calls_are_chosen_in_the_broad_set_alone(
    section: Section, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command.main(["--only", "broad", "-k", "two words"])
    assert "--only broad -k 'two words'" in capsys.readouterr().out
    assert len(section.quick) == 1
    for flags in (["-k", "x"], ["--json", str(tmp_path / "x.json")]):
        with pytest.raises(SystemExit):
            command.main(["--only", "speed", *flags])
        assert "broad" in capsys.readouterr().err


def test_a_section_without_a_short_form_is_run_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain:
        @staticmethod
        def run() -> str:
            return "## Plain\n"

    monkeypatch.setattr(command, "import_module", lambda _: Plain)
    assert "## Plain" in command.report(["speed"], quick=True)


def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "RESULTS.md"
    command.write(path, "old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(type(path), "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        command.write(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["RESULTS.md"]


def test_an_unknown_section_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--only", "sped"])
    assert "speed" in capsys.readouterr().err
