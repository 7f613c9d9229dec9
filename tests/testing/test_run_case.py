"""Cases inside runs of pytest, with TensorFlow: the verdicts and texts of the command."""

from __future__ import annotations

import logging
import random
import re
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.spec import load
from gradcheck.spec.settings import Settings
from gradcheck.testing.run_case import Here

if TYPE_CHECKING:
    from pathlib import Path

    from gradcheck.model import Case

MINE = """\
import os, random, sys, time, warnings
import numpy as np
import tensorflow as tf

def aborts(x):
    os.abort()

def hangs(x):
    time.sleep(600)

def exits(x):
    sys.exit(3)

def warns(x):
    warnings.warn("take care", UserWarning)
    warnings.warn("old", DeprecationWarning)
    return x * x

def skips(x):
    import pytest
    pytest.skip("not today")

class NoText(Exception):
    def __str__(self):
        raise ValueError

def no_text(x):
    raise NoText

def greedy(x):
    global hoard
    hoard = np.ones(2**28)
    time.sleep(600)

def draws(x):
    return x * random.random() * np.random.rand()

@tf.custom_gradient
def swish(x):
    s = tf.sigmoid(x)
    return x * s, lambda upstream: upstream * (s + x * s)
"""

SPEC = """\
inputs: {x: [3]}
cases:
  - {name: right, op: exp}
  - {name: twice, op: exp, dtype: [float32, bfloat16], mode: [graph, xla]}
  - {name: known, expr: "tf.stop_gradient(x)", expect: disconnected, reason: on purpose}
  - {name: missing, expr: "tf.stop_gradient(x) * 2"}
  - {name: swish, function: "mine:swish"}
  - {name: exits, function: "mine:exits"}
  - {name: skips, function: "mine:skips"}
  - {name: no_text, function: "mine:no_text"}
  - {name: warns, function: "mine:warns"}
"""

CRASHES = """\
inputs: {x: [3]}
cases:
  - {name: aborts, function: "mine:aborts"}
  - {name: hangs, function: "mine:hangs", timeout: 1}
  - {name: right, op: exp}
  - {name: swish, function: "mine:swish"}
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Path:
    pytester.makepyprojecttoml("[tool.gradcheck]\nallow = ['mine']\n")
    (pytester.path / "mine.py").write_text(MINE)
    (pytester.path / "specs").mkdir()
    return pytester.path


def failures_of_the_command(project: Path) -> list[str]:
    """The texts of the failures, as `gradcheck run` prints them."""
    command = [sys.executable, "-m", "gradcheck", "run", "specs", "--format", "plain"]
    done = subprocess.run(command, cwd=project, check=False, capture_output=True, text=True)
    told = done.stdout.partition("failures ==\n\n")[2].partition("\n\n==")[0]
    told = told.partition("\n\non 1 CPU")[0]
    return [text.strip("\n") for text in told.split("\n\n\n")]


def failures_of_pytest(result: pytest.RunResult) -> list[str]:
    told = result.stdout.str().partition("= FAILURES =")[2].partition("\n====")[0]
    texts = re.split(r"(?m)^_{5,} .* _{5,}\n", told)[1:]
    return [re.sub(r"(?m)^\[gw\d\].*\n", "", text).strip("\n") for text in texts]


def without_figures(text: str) -> str:
    """(The last digits of a bar depend on how many threads share a sum, and on the machine.)"""
    return re.sub(r"[-+\d.]+e[-+]\d+|pid \d+", "…", text)


def test_the_verdicts_and_the_texts_are_those_of_the_command(
    pytester: pytest.Pytester, project: Path
) -> None:
    (project / "specs" / "all.yaml").write_text(SPEC)
    # Nor does a setting of the project's tests change a verdict.
    result = pytester.runpytest_subprocess("specs", "-W", "error", "--strict-markers", "-rx")
    result.assert_outcomes(passed=6, xfailed=1, failed=5)
    told = failures_of_pytest(result)
    assert [text.partition("\n")[0] for text in told] == [
        f"specs/all.yaml::{name}" for name in ("missing", "swish", "exits", "skips", "no_text")
    ]
    wanted = failures_of_the_command(project)
    assert list(map(without_figures, told)) == list(map(without_figures, wanted))
    assert "likely cause: the gradient of x is off by" in told[1]
    assert "in your code: mine.py:41, in swish.<lambda>" in told[1]
    assert "sys.exit(3)" in told[2]
    assert "Skipped: not today" in told[3]
    assert "NoText" in told[4]


def test_in_workers_a_crash_costs_one_case(pytester: pytest.Pytester, project: Path) -> None:
    (project / "specs" / "all.yaml").write_text(CRASHES)
    result = pytester.runpytest_subprocess("specs", "--gradcheck-isolate")
    result.assert_outcomes(passed=1, failed=3)
    told = failures_of_pytest(result)
    assert "crashed: The process that ran the case died" in told[0]
    assert "SIGABRT" in told[0]
    assert "timeout: stopped after 1 s" in result.stdout.str()
    wanted = failures_of_the_command(project)
    assert without_figures(told[2]) == without_figures(wanted[2])


LIMITS = """\
inputs: {x: [3]}
cases:
  - {name: hangs, function: "mine:hangs"}
  - {name: greedy, function: "mine:greedy", timeout: 60}
"""


def test_in_workers_the_limits_are_those_of_the_settings(
    pytester: pytest.Pytester, project: Path
) -> None:
    settings = "allow = ['mine']\ntimeout = 3\nmemory_limit = '1500M'\n"
    pytester.makepyprojecttoml(f"[tool.gradcheck]\n{settings}")
    (project / "specs" / "all.yaml").write_text(LIMITS)
    result = pytester.runpytest_subprocess("specs", "--gradcheck-isolate", timeout=50)
    result.assert_outcomes(failed=2)
    hangs, greedy = failures_of_pytest(result)
    assert "stopped after 3 s" in hangs
    assert "1.5 GiB" in greedy


def test_a_limit_that_is_none_is_told_with_its_place(
    pytester: pytest.Pytester, project: Path
) -> None:
    pytester.makepyprojecttoml("[tool.gradcheck]\nallow = ['mine']\nmemory_limit = 'much'\n")
    (project / "specs" / "all.yaml").write_text("op: exp\ninputs: {x: [3]}\n")
    result = pytester.runpytest_subprocess("specs", "--gradcheck-isolate")
    result.assert_outcomes(errors=1)
    told = result.stdout.str()
    assert "pyproject.toml:3: `memory_limit` in [tool.gradcheck]: 'much' is not" in told
    assert "Traceback" not in told
    assert "raise UsageError" not in told


def test_processes_of_xdist_share_the_cases(pytester: pytest.Pytester, project: Path) -> None:
    (project / "specs" / "all.yaml").write_text(CRASHES)
    (project / "pytest.ini").write_text("[pytest]\ngradcheck_isolate = true\n")
    result = pytester.runpytest_subprocess("specs", "-n", "2", "-k", "right or swish or aborts")
    result.assert_outcomes(passed=1, failed=2)
    # What crosses the line to the other process keeps its text, and its line in the summary.
    told = "\n".join(failures_of_pytest(result))
    assert "likely cause: the gradient of x is off by" in told
    result.stdout.fnmatch_lines(
        ["FAILED specs/all.yaml::aborts - crashed: the worker process died of SIGABRT*"]
    )


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with functions to be called in this very process.

    (Not that of a Pytester: what is imported beside one is forgotten, and TensorFlow with it.)
    """
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    return tmp_path


def case(folder: Path, name: str) -> Case:
    path = folder / f"{name}.yaml"
    path.write_text(f"function: mine:{name}\ninputs: {{x: [3]}}\n")
    loaded = load([str(path)], allow=["mine"])
    assert loaded.problems == ()
    return loaded.cases[0]


def state() -> tuple[Any, ...]:
    level = logging.getLogger("tensorflow").level
    return random.getstate(), str(np.random.get_state()), level


def test_the_process_is_afterwards_as_it_was(mine: Path) -> None:
    """Random numbers, filters of warnings and TensorFlow's log, whatever the case does."""
    runner = Here(Settings(mine, ("mine",)))
    runner.prepare()
    random.seed(5)
    np.random.seed(5)
    filters = list(warnings.filters)
    before = state()
    assert runner.run(case(mine, "draws")).verdict == "inconclusive"
    assert state() == before
    assert list(warnings.filters) == filters
    runner.close()


def test_a_warning_is_none_of_the_verdict(mine: Path) -> None:
    runner = Here(Settings(mine, ("mine",)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        assert runner.run(case(mine, "warns")).verdict == "pass"
    # It is shown as any other: pytest lists them at the end.
    assert {str(one.message) for one in caught} == {"take care"}
