"""`--watch`, with real specs and workers that do what the name of a case says."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gradcheck.cli.watch import Specs
from gradcheck.model import Case, Result, Verdict
from tests.cli.started import Started
from tests.run.fakes import perform
from tests.run.processes import gone

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


def act(case: Case, *, allow: Collection[str], root: str) -> Result:
    """For the user's own function what it returns, for other cases what their name says."""
    if case.target.kind != "function":
        return perform(case, allow=allow, root=root)
    sys.path.insert(0, root)
    import mine  # type: ignore[import-not-found]

    return Result(case.id, Verdict(mine.f()))


def play() -> int:
    import gradcheck.run
    from gradcheck.cli import main

    light = ("gradcheck.run.workers.worker",)
    pool = partial(gradcheck.run.Pool, check=act, preload=light)
    setattr(import_module("gradcheck.cli.watch"), "Pool", pool)  # noqa: B010  (imported there)
    gradcheck.run.warm_up = partial(gradcheck.run.warm_up, light)
    return main(["run", "specs", "--format", "plain", "--watch", "-j2", "--allow", "mine"])


def spec(*names: str) -> str:
    return "op: exp\ncases:\n" + "".join(f"  - {{name: {n}, inputs: {{x: 1.0}}}}\n" for n in names)


class Watched:
    """The command as it watches a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("specs/a.yaml", spec("pass-1", "mismatch-2"))
        self.write("specs/b.yaml", "function: mine:f\nname: own\ninputs: {x: 1.0}\n")
        self.write("mine.py", "def f():\n    return 'pass'\n")
        script = "import sys; from tests.cli.test_watch import play; sys.exit(play())"
        self.command = Started(script, folder=folder, stderr=subprocess.STDOUT)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)

    def report(self) -> str:
        return self.command.read_until("watching")

    def ran(self) -> list[str]:
        return ran(self.report())


def ran(report: str) -> list[str]:
    """The results in a report."""
    lines = [line.split() for line in report.splitlines()]
    return sorted(f"{w[1]} {w[0]}" for w in lines if len(w) > 1 and "::" in w[1])


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(tmp_path)
    yield watched
    watched.command.clear_away()


def test_what_changes_is_run_and_nothing_else(watched: Watched) -> None:
    first = watched.report()
    assert "3 cases: 2 pass, 1 mismatch" in first
    assert "watching 3 files: 1 of 3 cases not as expected" in first

    assert "gradcheck 0." in first

    watched.write("specs/a.yaml", "# moved down a line\n" + spec("pass-1", "pass-2"))
    second = watched.report()
    assert second.splitlines()[1] == "specs/a.yaml changed"
    assert ran(second) == ["specs/a.yaml::pass-2 PASS"]
    assert "watching 3 files: 3 cases, all as expected" in second
    assert "gradcheck 0." not in second  # once is enough
    assert "note:" not in second

    watched.write("mine.py", "def f():\n    return 'kink'\n")
    assert watched.ran() == ["specs/b.yaml::own KINK"]
    watched.write("mine.py", "def f():\n    return 'pass'\n")
    assert watched.ran() == ["specs/b.yaml::own PASS"]

    watched.write("specs/c.yaml", spec("pass-3"))
    assert watched.ran() == ["specs/c.yaml::pass-3 PASS"]

    watched.write("specs/c.yaml", "op: exq\ninputs: {x: 1.0}\n")
    told = watched.report()
    assert "did you mean" in told
    assert "watching 4 files: 3 cases, all as expected, 1 spec problem" in told

    (watched.folder / "specs/c.yaml").unlink()
    assert "watching 3 files: 3 cases, all as expected\n" in watched.report()

    (watched.folder / "specs").rename(watched.folder / "away")
    told = watched.report()
    assert "no such file or folder" in told
    assert "watching 1 file: no cases, 1 spec problem" in told
    (watched.folder / "away").rename(watched.folder / "specs")
    told = watched.report()
    assert ran(told) == []  # they are as they were
    assert "watching 3 files: 3 cases, all as expected\n" in told

    pids = watched.command.processes(2)
    watched.command.press_ctrl_c()
    out, _ = watched.command.end()
    assert watched.command.code == 130
    assert "Traceback" not in out
    assert all(gone(pid) for pid in pids)


def test_a_change_ends_what_hangs(watched: Watched) -> None:
    watched.report()
    watched.write("specs/a.yaml", spec("pass-1", "hang-2", "pass-3"))
    watched.command.read_until("pass-3")
    watched.write("specs/a.yaml", spec("pass-1", "pass-2", "pass-3"))
    assert "1 of 2 cases" in watched.report()  # the run that was given up
    assert watched.ran() == ["specs/a.yaml::pass-2 PASS"]


def test_only_files_that_changed_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(spec("a", "b"))
    Path("b.yaml").write_text(spec("c"))
    specs = Specs(["a.yaml::b", "b.yaml"], allow=(), root=tmp_path, seed=None)
    first, _ = specs.load()
    assert [case.name for case in first] == ["b", "c"]
    assert not specs.changed()
    Path("b.yaml").write_text(spec("d", "e"))
    specs.wait()
    second, problems = specs.load()
    assert [case.name for case in second] == ["b", "d", "e"]
    assert second[0] is first[0]
    assert problems == []
