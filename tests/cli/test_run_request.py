from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradcheck.cli.outputs import Destination
from gradcheck.cli.run import command
from gradcheck.cli.run_request import RunRequest
from gradcheck.errors import UsageError
from gradcheck.spec.settings import Settings


@pytest.fixture(autouse=True)
def _folder_with_specs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("specs").mkdir()


def read(*arguments: str, settings: Settings | None = None) -> RunRequest:
    """The request in the arguments of a command, in a project with these settings."""
    request = RunRequest.read(command.make_context("run", list(arguments)).params)
    return request.completed(settings or Settings(Path.cwd()))


def test_what_is_not_said_is_as_the_request_itself_has_it() -> None:
    assert read() == RunRequest(destinations=(Destination("plain"),), paths=("specs",))


def test_every_option_has_its_place() -> None:
    request = read(
        "a.yaml", "-k", "b and c", "--maxfail", "2", "--seed", "7", "--durations", "3",
        "--format", "json", "--output", "r.json", "--junitxml", "r.xml", "--allow", "p", "-j4",
        "--timeout", "1.5", "--budget", "2.5", "--memory-limit", "800M", "--ff", "--lf", "--resume",
        "--shard", "2/5", "--dask", "tcp://there:1", "--collect-only", "-v",
    )  # fmt: skip
    assert request == RunRequest(
        destinations=(
            Destination("plain"),
            Destination("json", Path("r.json")),
            Destination("junit", Path("r.xml")),
        ),
        paths=("a.yaml",),
        expression="b and c",
        maxfail=2,
        seed=7,
        durations=3,
        allow=("p",),
        jobs=4,
        timeout=1.5,
        budget=2.5,
        chose_reports=True,
        memory_limit=800 * 2**20,
        fair_share=False,
        failed_first=True,
        last_failed=True,
        resume=True,
        shard=(2, 5),
        scheduler="tcp://there:1",
        collect_only=True,
        verbose=True,
    )


def test_exitfirst_is_one_failure_whatever_else_is_said() -> None:
    assert read("-x").maxfail == read("-x", "--maxfail", "3").maxfail == 1


def test_no_memory_limit_is_not_the_default_one() -> None:
    request = read("--memory-limit", "none")
    assert (request.memory_limit, request.fair_share) == (None, False)


@pytest.mark.parametrize(
    ("arguments", "here"),
    [((), True), (("--watch",), True), (("--collect-only",), False), (("--dask", "x"), False)],
)
def test_where_cases_run(arguments: tuple[str, ...], here: bool) -> None:
    assert read(*arguments).runs_here is here


@pytest.mark.parametrize(
    "option",
    ["--junitxml=r.xml", "--shard=1/2", "--dask=x", "--resume", "--lf", "--collect-only"],
)
def test_what_cannot_be_watched_is_said(option: str) -> None:
    with pytest.raises(UsageError, match=f"--watch and {option.partition('=')[0]} do not go"):
        read("--watch", option)


@pytest.mark.parametrize("bad", [("--shard", "3/2"), ("--memory-limit", "much")])
def test_what_makes_no_sense_is_said(bad: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        read(*bad)


def test_a_request_stays_as_it_is() -> None:
    request: Any = read()
    with pytest.raises(AttributeError):
        request.seed = 1


PROJECT: dict[str, Any] = {
    "specs": ("theirs",),
    "jobs": 7,
    "timeout": 3.0,
    "budget": 4.0,
    "memory_limit": "1G",
    "seed": 5,
    "format": "table",
    "reports": {"html": "r.html"},
}


def test_the_settings_fill_what_the_command_line_leaves_open() -> None:
    assert read(settings=Settings(Path.cwd(), **PROJECT)) == RunRequest(
        destinations=(Destination("table"), Destination("html", Path("r.html"))),
        paths=("theirs",),
        jobs=7,
        timeout=3.0,
        budget=4.0,
        memory_limit=2**30,
        fair_share=False,
        seed=5,
    )


def test_the_command_line_wins() -> None:
    arguments = (
        "mine", "-j2", "--timeout", "1", "--budget", "2", "--memory-limit", "none",
        "--seed", "0", "--junitxml", "r.xml",
    )  # fmt: skip
    request = read(*arguments, settings=Settings(Path.cwd(), **PROJECT))
    assert request == read(*arguments)


def test_no_reports_of_the_settings_where_nothing_is_to_be_reported() -> None:
    settings = Settings(Path.cwd(), **PROJECT)
    for option in ("--watch", "--collect-only"):
        assert read(option, settings=settings).destinations == (Destination("table"),)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"format": "tabel"}, "`format` in [tool.gradcheck]: no report format 'tabel': did you"),
        ({"reports": {"jsn": "a"}}, "did you mean 'json'?"),
        ({"memory_limit": "much"}, "`memory_limit` in [tool.gradcheck]: "),
    ],
)
def test_a_setting_that_makes_no_sense_is_told_with_its_place(
    settings: dict[str, Any], words: str
) -> None:
    places = dict.fromkeys(settings, "pyproject.toml:3")
    with pytest.raises(UsageError) as caught:
        read(settings=Settings(Path.cwd(), places=places, **settings))
    assert str(caught.value).startswith("pyproject.toml:3: ")
    assert words in str(caught.value)
