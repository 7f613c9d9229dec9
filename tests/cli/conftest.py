"""A command line whose specs and workers are fakes: what is tested is the command."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from gradcheck.cli import main
from gradcheck.model import Case, Location, Result, SpecProblem, Verdict
from tests.run.fakes import make_case

PROBLEM = SpecProblem(
    "unknown key 'shpae'",
    Location("specs/bad.yaml", 3, 12),
    hint="did you mean 'shape'?",
    source="  inputs: {shpae: [2]}",
    length=5,
)


@dataclass
class Stage:
    """What the fakes play: the cases and problems there are, and how the run goes."""

    cases: list[Case] = field(default_factory=list)
    problems: list[SpecProblem] = field(default_factory=list)
    interrupt: bool = False
    """Whether Ctrl-C comes after the results."""
    loaded: dict[str, Any] = field(default_factory=dict)
    ran: dict[str, Any] = field(default_factory=dict)
    """What the command asked for."""
    began: list[Case] = field(default_factory=list)
    """The cases that the last run was given, in its order."""
    facts: dict[str, str] = field(default_factory=dict)
    """What the workers say about the machine."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long a case takes, by name."""
    stop_after: int | None = None
    """After how many results Ctrl-C comes."""
    warmed_up: bool = False
    connected: dict[str, Any] = field(default_factory=dict)
    """What a cluster was asked for."""

    def add(self, *names: str, **changes: Any) -> None:
        """Cases that end with the verdict that begins their name: `mismatch-1`."""
        self.cases += [make_case(name, **changes) for name in names]

    def load(self, paths: Sequence[str], **options: Any) -> SimpleNamespace:
        self.loaded = {"paths": tuple(paths), **options}
        return SimpleNamespace(cases=tuple(self.cases), problems=tuple(self.problems))

    def run(self, cases: Sequence[Case], **options: Any) -> Generator[Result, None, None]:
        self.ran = options
        options["facts"].update(self.facts)
        self.began = list(cases)
        for case in cases[: self.stop_after]:
            verdict = Verdict(case.name.partition("-")[0])
            seconds = self.seconds.get(case.name, 0.25)
            yield Result(case.id, verdict, seconds=seconds, case=case)
        if self.stop_after is not None:
            raise KeyboardInterrupt
        if self.interrupt:
            raise KeyboardInterrupt

    def warm_up(self) -> None:
        self.warmed_up = True


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Stage:
    stage = Stage()
    monkeypatch.setattr("gradcheck.spec.load", stage.load)
    monkeypatch.setattr("gradcheck.run.run", stage.run)
    monkeypatch.setattr("gradcheck.run.warm_up", stage.warm_up)
    monkeypatch.setattr("gradcheck.run.describe", lambda: {"tensorflow": "2.0"})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    return stage


def result_names(text: str) -> list[str]:
    """The cases in a JSON report, in its order."""
    return [r["id"].partition("::")[2] for r in json.loads(text)["results"]]


def without_seconds(data: Any) -> Any:
    """A JSON report without what differs from run to run."""
    if isinstance(data, dict):
        return {k: without_seconds(v) for k, v in data.items() if k != "seconds"}
    return [without_seconds(item) for item in data] if isinstance(data, list) else data


@dataclass(frozen=True)
class Said:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str


Gradcheck = Callable[..., Said]


@pytest.fixture
def gradcheck(capsys: pytest.CaptureFixture[str]) -> Iterator[Gradcheck]:
    # A command that was asked to end ignores these from then on: it is about to. Here it is not.
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def call(*arguments: str) -> Said:
        capsys.readouterr()
        code = main(arguments)
        out, err = capsys.readouterr()
        return Said(int(code), out, err)

    yield call
    for number, handler in before.items():
        signal.signal(number, handler)
