from __future__ import annotations

from pathlib import Path

import pytest

from gradcheck.cli.outputs import Destination
from gradcheck.cli.run_context import RunContext
from gradcheck.cli.run_request import RunRequest
from gradcheck.errors import UsageError
from gradcheck.spec.settings import read_settings
from tests.run.fakes import make_case

SCREEN = (Destination("plain"),)


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[tool.gradcheck]\nallow = ["ours"]\n')
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.setattr("gradcheck.run.describe", lambda: {"tensorflow": "2.0"})
    monkeypatch.setattr("gradcheck.run.cores", lambda: 3)
    monkeypatch.setattr("gradcheck.run.default_limit", lambda jobs: 600 // jobs)
    return tmp_path


def find(request: RunRequest) -> RunContext:
    return RunContext.find(request, read_settings(Path.cwd(), allow=request.allow))


def test_project_and_machine_fill_what_the_request_leaves_open(project: Path) -> None:
    context = find(RunRequest(destinations=SCREEN))
    assert (context.root, context.allow) == (project, ("ours",))
    assert (context.jobs, context.memory_limit) == (3, 200)
    assert (context.environment, context.facts) == ({"tensorflow": "2.0"}, {})
    assert context.selected(make_case("a"))


def test_what_is_asked_for_counts() -> None:
    request = RunRequest(
        destinations=SCREEN, jobs=2, fair_share=False, memory_limit=7, expression="not b"
    )
    context = find(request)
    assert (context.jobs, context.memory_limit) == (2, 7)
    assert [context.selected(make_case(name)) for name in ("a", "b")] == [True, False]


def test_the_environment_says_what_a_replay_must_say_again() -> None:
    context = find(RunRequest(destinations=SCREEN, seed=7, allow=("theirs", "mine")))
    assert context.allow == ("ours", "theirs", "mine")
    assert context.environment == {"tensorflow": "2.0", "seed": "7", "allow": "theirs mine"}


def test_a_bad_expression_is_said() -> None:
    with pytest.raises(UsageError, match="-k"):
        find(RunRequest(destinations=SCREEN, expression="a and"))
