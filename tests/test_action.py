"""The composite action, its steps run by bash as a runner would; and the hook for pre-commit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))

SWISH = """\
import tensorflow as tf


@tf.custom_gradient
def swish(x):
    s = tf.sigmoid(x)

    def grad(upstream):
        return upstream * (s + x * s)

    return x * s, grad
"""


@dataclass
class Runner:
    """What GitHub does with the steps of an action, where there is neither network nor Docker."""

    folder: Path
    inputs: dict[str, str]
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    """The other actions that were asked for, and with what."""
    installed: list[str] = field(default_factory=list)
    said: str = ""
    failed: bool = False

    def __post_init__(self) -> None:
        for name in ("bin", "temp", "project"):
            (self.folder / name).mkdir()
        # `pip install` is written down; everything else is what it is.
        note = f'printf "%s\\n" "${{@:4}}" >> {self.folder}/pip'
        run = f'exec {sys.executable} "$@"'
        self._script("python", f'if [ "$3" = install ]; then {note}; else {run}; fi')
        self._script("gradcheck", f'exec {sys.executable} -m gradcheck "$@"')

    def _script(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def value(self, text: str) -> str:
        """A text with its `${{ … }}` filled in."""

        def of(match: re.Match[str]) -> str:
            parts = match[1].strip().split(".")
            if parts[0] == "inputs":
                return self.inputs[parts[1]]
            if parts[0] == "steps":
                return self.outputs.get(parts[1], {}).get(parts[3], "")
            assert parts[0] == "runner" or match[1].strip().startswith("hashFiles(")
            return parts[-1][:4]

        return re.sub(r"\$\{\{(.*?)\}\}", of, text)

    def wanted(self, condition: str) -> bool:
        if "always()" not in condition and self.failed:
            return False
        name = re.search(r"inputs\.([\w-]+) != ''", condition)
        return self.inputs[name[1]] != "" if name else True

    def run(self) -> None:
        for step in ACTION["runs"]["steps"]:
            if not self.wanted(step.get("if", "")):
                continue
            if "uses" in step:
                assert re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])
                name = step["uses"].partition("@")[0]
                self.used[name] = {key: self.value(str(v)) for key, v in step["with"].items()}
            else:
                self._bash(step)
        pip = self.folder / "pip"
        self.installed = pip.read_text().splitlines() if pip.exists() else []

    def _bash(self, step: dict[str, Any]) -> None:
        assert step["shell"] == "bash"
        # An input inside of a script would be run: inputs come as variables.
        assert "${{" not in step["run"]
        script, told = self.folder / "step.sh", self.folder / "output"
        script.write_text(step["run"])
        told.write_text("")
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(told),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "GITHUB_WORKSPACE": str(self.folder / "project"),
            "RUNNER_TEMP": str(self.folder / "temp"),
            **{key: self.value(value) for key, value in step.get("env", {}).items()},
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.folder / "project", env=environment, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.said += done.stdout
        self.failed |= done.returncode != 0
        pairs = (line.partition("=") for line in told.read_text().splitlines())
        self.outputs[step.get("id", "")] = {key: value for key, _, value in pairs}


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path, {name: told["default"] for name, told in ACTION["inputs"].items()})
    project = tmp_path / "project"
    (project / "specs").mkdir()
    (project / "swish.py").write_text(SWISH)
    (project / "specs" / "swish.yaml").write_text("function: swish:swish\ninputs: {x: [3]}\n")
    (project / "pyproject.toml").write_text('[tool.gradcheck]\nallow = ["swish"]\n')
    return made


def test_a_wrong_gradient_fails_the_job_and_is_marked_where_it_stands(runner: Runner) -> None:
    runner.run()
    assert runner.failed
    assert "::warning file=specs/swish.yaml,line=1," in runner.said
    assert "::error file=swish.py,line=8," in runner.said
    assert "mismatch" in (runner.folder / "summary.md").read_text()
    # The reports are kept although the run failed.
    folder = Path(runner.used["actions/upload-artifact"]["path"])
    assert "<html" in (folder / "report.html").read_text()
    assert json.loads((folder / "report.json").read_text())["results"][0]["verdict"] == "mismatch"
    assert runner.used["actions/upload-artifact"]["name"] == "gradcheck-report"
    assert runner.installed == [str(ROOT)]
    assert runner.used["actions/setup-python"] == {"python-version": "3.12"}
    assert Path(runner.used["actions/cache"]["path"]).is_absolute()


def test_what_is_asked_for_reaches_the_command(runner: Runner) -> None:
    project = runner.folder / "project"
    (project / "more specs").mkdir()
    (project / "more specs" / "exp.yaml").write_text("op: exp\ninputs: {x: [3]}\n")
    runner.inputs |= {
        "paths": "'more specs' specs",
        "args": "-k 'exp and not swish' --format junit --output junit.xml",
        "requirements": "-r requirements.txt '.[extra]'",
        "python-version": "",
        "version": "1.2.3",
        "report": "",
    }
    runner.run()
    assert not runner.failed, runner.said
    assert "1 case: 1 pass" in runner.said
    assert "<testsuites" in (project / "junit.xml").read_text()
    assert runner.installed == ["gradcheck==1.2.3", "-r", "requirements.txt", ".[extra]"]
    assert set(runner.used) == {"actions/cache"}


def test_an_input_is_never_run(runner: Runner) -> None:
    runner.inputs["args"] = "-k '$(touch struck)' `touch struck` ; touch struck"
    runner.run()
    assert runner.failed
    assert not (runner.folder / "project" / "struck").exists()


def test_quotes_that_do_not_close_fail_the_job(runner: Runner) -> None:
    runner.inputs["args"] = "-k it's"
    runner.run()
    assert runner.failed
    assert "quote" in runner.said


def test_the_inputs_are_those_that_the_steps_use() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(ACTION["inputs"])


def test_the_hook_looks_at_the_specs_that_changed(tmp_path: Path) -> None:
    assert re.search(HOOK["files"], "specs/a.yaml")
    assert re.search(HOOK["files"], "mypkg/specs/deep/a.yml")
    assert not re.search(HOOK["files"], "docs/other-specs.yaml")
    command, *arguments = HOOK["entry"].split()
    assert (command, HOOK["language"], HOOK["types"]) == ("gradcheck", "python", ["yaml"])
    (tmp_path / "good.yaml").write_text("op: exp\ninputs: {x: [3]}\n")
    (tmp_path / "bad.yaml").write_text("op: expp\ninputs: {x: [3]}\n")
    for names, code, told in (
        (["good.yaml"], 0, "1 file, 1 case"),
        (["good.yaml", "bad.yaml"], 2, "bad.yaml:1:5"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "gradcheck", *arguments, *names],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        assert (done.returncode, told in done.stdout) == (code, True), done.stdout
