"""A hunt through a package with known faults: what is found, what is not, and what is written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gradcheck.hunter import errands, expedition, pursuit, visit
from gradcheck.hunter.drafts import Draft, target_of
from gradcheck.hunter.errands import Errand, Hunt
from gradcheck.hunter.expedition import Expedition
from gradcheck.hunter.failures import RAISED, Failure, failure_of
from gradcheck.hunter.ledger import Finding, Ledger
from gradcheck.hunter.one_cause import cause_of
from gradcheck.hunter.quarry import Quarry, find_quarry
from gradcheck.model import Result, Verdict
from gradcheck.run import run
from gradcheck.spec import load
from tests.report import examples

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = '''
import os
import keras
import numpy as np
import tensorflow as tf

# What it finds, it changes: a worker says so behind what it was asked.
keras.config.set_epsilon(2e-7)


class Scale(keras.layers.Layer):
    """The gradient of its weight is wrong."""

    def build(self, shape):
        self.scale = self.add_weight(shape=shape[-1:], name="scale")

    def call(self, inputs: tf.Tensor):
        return _scaled(inputs, tf.convert_to_tensor(self.scale))


@tf.custom_gradient
def _scaled(x, weight):
    def grad(g):
        axes = list(range(len(x.shape) - len(weight.shape)))
        return g * weight, 1.5 * tf.reduce_sum(g * x, axes)

    return x * weight, grad


@tf.custom_gradient
def wrong(x: tf.Tensor):
    return x * x, lambda upstream: upstream * 3.0 * x


@tf.custom_gradient
def right(x: tf.Tensor):
    return x * x, lambda upstream: upstream * tf.math.conj(2.0 * x)


@tf.custom_gradient
def cornered(x: tf.Tensor):
    """Wrong, with corners at all round numbers."""
    assert not x.dtype.is_complex
    turned, slope = tf.sin(2 * np.pi * x), 2 * np.pi * tf.cos(2 * np.pi * x)
    return tf.abs(turned), lambda upstream: 3.0 * upstream * tf.where(turned < 0, -slope, slope)


@tf.custom_gradient
def plain(x: tf.Tensor):
    """Of several numbers only the second derivative is wrong, of one number the first is."""
    assert not x.dtype.is_complex
    one = x.shape.num_elements() == 1
    return x * x, lambda upstream: upstream * (3.0 * x if one else _twice(x))


@tf.custom_gradient
def _twice(x):
    return 2.0 * x, lambda upstream: 5.0 * upstream


@tf.custom_gradient
def deadly(x: tf.Tensor):
    return x * 2.0, lambda upstream: os.abort()


@tf.custom_gradient
def rounded(x: tf.Tensor):
    """A gradient that goes straight through, on purpose."""
    return tf.round(4.0 * x) / 4.0, lambda upstream: upstream


def stopped(x: tf.Tensor):
    return x + tf.stop_gradient(x * x)


def untold(x):
    raise SystemExit("nothing says that this takes a tensor: it is not to be called")
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hunt")
    (folder / "hunted_package.py").write_text(PACKAGE)
    return folder


LONG = 3000.0
"""Seconds: no machine is so slow."""


def hunted(
    folder: Path,
    visits: int,
    monkeypatch: pytest.MonkeyPatch,
    wanted: Callable[[str], bool] = lambda _: True,
) -> Ledger:
    # (Few calls will do: what is to be found shows in every one of them.)
    monkeypatch.setattr(visit, "CALLS_OF_A_VISIT", 2)
    # (Nor is anything to be left out because the machine is slow.)
    monkeypatch.setattr(visit, "LOOKING_SECONDS", LONG)
    for module in (errands, expedition, pursuit):
        monkeypatch.setattr(module, "CHECK_SECONDS", LONG)
    monkeypatch.setattr(errands, "CHECK_BUDGET", LONG)
    quarries = find_quarry(["hunted_package"], allow=["hunted_package"], root=str(folder))
    ledger = Ledger.open(folder / "found", 0)
    hunt = Hunt(ledger, ("hunted_package",), str(folder))
    some = [quarry for quarry in quarries if wanted(quarry.name)]
    Expedition(hunt, some, 2, visits=visits).run(LONG, lambda _seconds: None)
    return ledger


@pytest.fixture(scope="module")
def ledger(folder: Path) -> Ledger:
    with pytest.MonkeyPatch.context() as monkeypatch:
        return hunted(folder, 1, monkeypatch)


def about(ledger: Ledger, name: str) -> list[Finding]:
    return [finding for finding in ledger.findings if finding.blamed == f"hunted_package:{name}"]


def test_a_planted_fault_is_found_confirmed_and_shrunk(ledger: Ledger) -> None:
    (finding,) = about(ledger, "wrong")
    assert (finding.kind, finding.mode, finding.check) == ("wrong-values", "eager", "reverse")
    text = (ledger.folder / finding.spec).read_text()
    assert "inputs: {x: {values: 1.0}}" in text
    assert "expect: mismatch" in text
    assert "at []: 3 in place of 2" in text
    # Who reads it is told how it was confirmed.
    assert pursuit.CONFIRMED in " ".join(text.split())


def test_what_is_small_and_at_a_kink(ledger: Ledger) -> None:
    (finding,) = about(ledger, "cornered")
    assert (finding.kind, finding.check) == ("wrong-values", "reverse")


def test_what_fails_in_a_plainer_way_once_it_is_small(ledger: Ledger) -> None:
    (finding,) = about(ledger, "plain")
    assert (finding.kind, finding.check) == ("wrong-values", "reverse")


def test_a_layer_whose_weight_is_wrong(ledger: Ledger) -> None:
    (finding,) = about(ledger, "Scale")
    assert (finding.kind, finding.check) == ("wrong-values", "reverse")
    assert "scale = next(" in (ledger.folder / finding.spec).with_suffix(".py").read_text()


def test_a_package_that_changes_what_it_finds(ledger: Ledger) -> None:
    assert ledger.own_errors == {}
    assert ledger.arms["hunted_package:Scale"].paid > 0


def test_an_errand_that_fails_ends_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit, "CALLS_OF_A_VISIT", 2)
    plain = visit.explore

    def failing(hunt: Hunt, quarry: Quarry) -> Errand:
        if quarry.name.endswith(":right"):
            raise ZeroDivisionError("ours")
        return (yield from plain(hunt, quarry))

    monkeypatch.setattr(expedition, "explore", failing)
    allow = ("hunted_package",)
    quarries = [Quarry(f"hunted_package:{name}", "function") for name in ("right", "wrong")]
    ledger = Ledger.open(tmp_path, 0)
    Expedition(Hunt(ledger, allow, str(folder)), quarries, 1, visits=1).run(LONG, lambda _: None)
    assert [finding.blamed for finding in ledger.findings] == ["hunted_package:wrong"]
    (told,) = ledger.own_errors.values()
    assert "ZeroDivisionError: ours" in told


def test_a_crash_is_a_finding_and_not_an_end(ledger: Ledger) -> None:
    (finding,) = about(ledger, "deadly")
    assert finding.kind == "crashes"
    assert "its gradient does it" in finding.told


def test_what_is_right_or_meant_so_is_none(ledger: Ledger) -> None:
    assert {finding.blamed for finding in ledger.findings} == {
        "hunted_package:wrong",
        "hunted_package:cornered",
        "hunted_package:plain",
        "hunted_package:deadly",
        "hunted_package:Scale",
    }
    assert {"hunted_package:right", "hunted_package:stopped"} <= ledger.arms.keys()
    assert ledger.arms["hunted_package:right"].paid > 0
    assert "hunted_package:untold" not in ledger.arms


def test_what_is_written_holds(ledger: Ledger, folder: Path) -> None:
    loaded = load([str(ledger.folder)], allow=["hunted_package"])
    assert loaded.problems == ()
    assert len(loaded.cases) == 5
    results = list(run(loaded.cases, allow=["hunted_package"], root=str(folder)))
    assert [result.id for result in results if not result.expected] == []


def test_the_program_shows_it_by_itself(ledger: Ledger, folder: Path) -> None:
    (finding,) = about(ledger, "wrong")
    program = (ledger.folder / finding.spec).with_suffix(".py")
    assert "gradcheck" not in program.read_text()
    done = subprocess.run(
        [sys.executable, program],
        env={**os.environ, "PYTHONPATH": str(folder), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=True,
    )
    told = done.stdout.splitlines()
    assert told[0].startswith("TensorFlow, at []: tf.Tensor(3.0")
    right = re.match(r"difference: tf\.Tensor\(([\d.]+)", told[1])
    assert right is not None
    assert float(right[1]) == pytest.approx(2.0)


def test_going_on_doubles_nothing(
    ledger: Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other calls may show something that is new; what was found is not found again."""
    before = list(ledger.findings)
    texts = {finding.spec: (ledger.folder / finding.spec).read_bytes() for finding in before}
    blamed = {finding.blamed for finding in before}
    known: set[str] = set()

    def is_known(hunt: Hunt, draft: Draft, failure: Failure) -> bool:
        answer = plain(hunt, draft, failure)
        known.update([target_of(draft)] if answer else [])
        return answer

    plain = pursuit.is_known
    monkeypatch.setattr(pursuit, "is_known", is_known)
    again = hunted(folder, 2, monkeypatch, lambda name: name in blamed)
    assert all(again.arms[name].visits == 2 for name in blamed)
    assert "hunted_package:deadly" in known  # (Whatever it is called with.)
    assert again.findings[: len(before)] == before
    assert {spec: (again.folder / spec).read_bytes() for spec in texts} == texts
    for told_apart_by in (
        [finding.cause for finding in again.findings],
        [(finding.kind, finding.blamed) for finding in again.findings],
    ):
        assert len({*told_apart_by}) == len(told_apart_by)
    files = sorted(path.name for path in again.folder.rglob("*.yaml"))
    assert files == sorted(Path(finding.spec).name for finding in again.findings)


FAILED = (
    Result("", Verdict.CRASHED, message="the worker died of SIGABRT"),
    Result("", Verdict.TIMEOUT, message="it takes more than 25 s"),
    Result("", Verdict.ERROR, message=f"{RAISED}gradient raised: ValueError: no"),
    Result("", Verdict.MISMATCH, (examples.compared("x", Verdict.MISMATCH),)),
)


@pytest.mark.parametrize("result", FAILED, ids=lambda result: str(result.verdict))
def test_what_was_found_is_not_followed_again(result: Result, tmp_path: Path) -> None:
    """At another point as little, and by a hunt that goes on where this one ended."""
    draft: Draft = {"op": "tf.math.sin", "inputs": {"x": {"values": 1.0}}}
    failure = failure_of(result)
    assert failure is not None
    first = Hunt(Ledger.open(tmp_path, 0), (), str(tmp_path))
    errand = pursuit.pursue(first, draft, result)
    assert next(errand, None) is not None
    errand.close()
    cause = cause_of(target_of(draft), failure, draft)
    name = first.ledger.file_for(failure.kind, "tf.math.sin", "eager", "reverse", "real")
    finding = Finding(cause, failure.kind, "tf.math.sin", "eager", "reverse", "real", "so", name)
    first.ledger.write(finding, "the spec", "the program")
    for hunt in (first, Hunt(Ledger.open(tmp_path, 0), (), str(tmp_path))):
        other = {**draft, "inputs": {"x": {"values": [2.0, 3.0]}}}
        assert [*pursuit.pursue(hunt, draft, result), *pursuit.pursue(hunt, other, result)] == []
        assert hunt.ledger.findings == [finding]


def test_a_kernel_is_traced_from_the_function_that_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.open(tmp_path, 0)
    hunt = Hunt(ledger, (), str(tmp_path))
    monkeypatch.setattr(visit, "CALLS_OF_A_VISIT", 4)
    Expedition(hunt, [Quarry("tf.math.xlogy", "op")], 2, visits=1).run(LONG, lambda _: None)
    assert "tf.raw_ops.Xlogy" in {finding.blamed for finding in ledger.findings}
