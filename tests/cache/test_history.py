from __future__ import annotations

import pytest

from gradcheck.model import Verdict
from tests.cache.project import CASES, Project, result


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        '{"gradcheck_history": 2, "cases": {}}',
        '{"gradcheck_history": 1, "cases": {"a": {"seconds": "x", "failed": true}}}',
        '{"gradcheck_history": 1, "cases": {"a": {"seconds": NaN, "failed": true}}}',
        '{"gradcheck_history": 1, "cases": {"a": {"seconds": 1}}}',
    ],
)
def test_a_foreign_history_is_one_sentence(project: Project, damage: str) -> None:
    project.folder.mkdir()
    (project.folder / "history.json").write_text(damage)
    project.run(result(0, Verdict.MISMATCH))
    assert len(project.said) == 1
    assert "history.json is ignored" in project.said[0]
    assert project.history.failed(CASES[0].id)


def test_failures_and_times_are_remembered(project: Project) -> None:
    project.run(result(0, Verdict.MISMATCH, 3.0), result(1, seconds=2.0), result(2))
    project.run(result(1, Verdict.SKIPPED), result(2, Verdict.TIMEOUT, 60.0))
    store = project.store()
    assert store.failed(CASES) == [CASES[0], CASES[2]]
    assert [store.history.seconds(case.id) for case in CASES] == [3.0, 2.0, 60.0, None]


def test_shards_leave_no_times_behind(project: Project) -> None:
    project.run(result(0, seconds=3.0))
    project.run(result(0, Verdict.MISMATCH, 7.0), result(1), timed=False)
    history = project.history
    assert (history.seconds(CASES[0].id), history.failed(CASES[0].id)) == (3.0, True)
    assert history.seconds(CASES[1].id) is None
