"""One run after the other in one process, as `--watch` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.cache import Store
from gradcheck.cli.outputs import Destination
from gradcheck.cli.run_context import RunContext
from gradcheck.cli.run_request import RunRequest
from gradcheck.cli.session import execute
from gradcheck.model import Case, Plan, Result, Verdict
from tests.run.fakes import make_case

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    import pytest


def test_what_workers_said_is_told_and_makes_no_other_run_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = RunRequest(destinations=(Destination("plain"),))
    context = RunContext(root=tmp_path, environment={"tensorflow": "2.0"})
    warnings: list[str] = []

    def run(cases: Sequence[Case]) -> Generator[Result, None, None]:
        context.facts["device"] = "CPU:1"
        for case in cases:
            yield Result(case.id, Verdict.PASS, case=case)

    for number in (1, 2):
        execute(
            request,
            context,
            Plan((make_case(f"pass-{number}"),), (), context.environment),
            Store(tmp_path, warn=warnings.append),
            run,
            header=number == 1,
            append=number == 2,
        )
    assert warnings == []
    first, second = capsys.readouterr().out.split("1 case: 1 pass", 1)
    assert first.startswith("tensorflow 2.0\n")
    assert first.endswith("\non device CPU:1\n\n")
    assert "tensorflow" not in second
    assert "CPU" not in second
    journal = (tmp_path / ".gradcheck" / "journal.jsonl").read_text()
    assert journal.count('"result"') == 2
