from __future__ import annotations

import dataclasses
import tracemalloc

import pytest

from gradcheck.model import Result, Verdict
from tests.cache.project import CASES, MACHINE, Project, result
from tests.run.fakes import make_case


def test_a_torn_line_costs_its_own_result_and_nothing_is_said(project: Project) -> None:
    project.run(result(0), result(1))
    journal = project.folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-40])
    store = project.store()
    assert [r.id for r in store.resume(CASES, MACHINE)] == [CASES[0].id]
    store.add(result(3))
    store.close()
    assert project.resumed() == ["a", "d"]
    assert project.said == []


@pytest.mark.parametrize(
    "damage",
    [
        b"\x00\xff\xfe not text\n",
        b"[]\n",
        b"{}\n",
        b"null\n",
        b'{"gradcheck_journal": 99, "timed": true, "environment": {}}\n',
        b'{"gradcheck_journal": 1, "timed": true, "environment": []}\n',
        b"\n\n\n",
        b"[" * 100_000 + b"\n",
    ],
    ids=range(8),
)
def test_a_foreign_journal_is_one_sentence(project: Project, damage: bytes) -> None:
    project.folder.mkdir()
    (project.folder / "journal.jsonl").write_bytes(damage)
    project.run(result(0))
    assert len(project.said) == 1
    assert "journal.jsonl is ignored" in project.said[0]
    assert project.resumed() == ["a"]


def test_damage_in_the_middle_costs_its_lines_and_is_one_sentence(project: Project) -> None:
    project.run(*(result(number) for number in range(4)))
    path = project.folder / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2], lines[3] = b"\x00\x01\n", b'{"key": "x", "result": {"id": 3}}\n'
    path.write_bytes(b"".join(lines))
    assert project.resumed() == ["a", "d"]
    (said,) = project.said
    assert "2 damaged lines ignored" in said


def test_damage_inside_a_result_costs_that_result_and_is_one_sentence(project: Project) -> None:
    project.run(*(result(number) for number in range(4)))
    path = project.folder / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"verdict":"pass"', b'"verdict":"past"')
    lines[3] = lines[3].replace(b'"verdict":', b'"verdict"')
    path.write_bytes(b"".join(lines))
    assert project.resumed() == ["a", "d"]
    (said,) = project.said
    assert "2 in the journal are damaged: their cases run again" in said


def test_results_are_read_when_they_are_asked_for(project: Project) -> None:
    project.run(result(0), result(1))
    store = project.store()
    found = store.resume(CASES, MACHINE)
    assert len(found) == 2
    store.add(result(2))  # behind them, while they are read
    assert [r.id for r in found] == [CASES[0].id, CASES[1].id]
    store.close()
    assert list(found) == []
    assert project.resumed() == ["a", "b", "c"]


def test_a_text_that_looks_like_the_beginning_of_a_result_is_none(project: Project) -> None:
    case = make_case('a,"result":{"b')
    store = project.store()
    store.begin(MACHINE)
    store.add(Result(case.id, Verdict.PASS, message=',"result":', case=case))
    store.close()
    store = project.store()
    (found,) = store.resume([case], MACHINE)
    assert (found.id, found.message) == (case.id, ',"result":')
    store.close()


@pytest.mark.parametrize("kept", [0, 10, -1])
def test_a_torn_header_is_no_journal(project: Project, kept: int) -> None:
    project.run(result(0))
    path = project.folder / "journal.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0][:kept])
    project.run(result(1))
    assert project.resumed() == ["b"]


def test_a_journal_that_is_a_device_is_not_read(project: Project) -> None:
    project.folder.mkdir()
    (project.folder / "journal.jsonl").symlink_to("/dev/zero")
    project.run(result(0))
    assert "it is a link, which is not followed" in project.said[0]
    assert project.resumed() == ["a"]


def test_facts_are_found_again(project: Project) -> None:
    store = project.store()
    store.begin(MACHINE)
    store.add_facts({"device": "CPU:1"})
    store.close()
    store = project.store()
    store.resume(CASES, MACHINE)
    assert store.facts == {"device": "CPU:1"}
    store.begin(MACHINE)
    assert store.facts == {}


def test_a_long_journal_takes_little_more_memory_than_its_file(project: Project) -> None:
    cases = [dataclasses.replace(CASES[0], id=f"a.yaml::{n}", seed=n) for n in range(500)]
    project.run(*(dataclasses.replace(result(0), id=case.id, case=case) for case in cases))
    size = (project.folder / "journal.jsonl").stat().st_size
    project.store().close()  # whatever is imported and kept for good
    tracemalloc.start()
    try:
        store = project.store()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(store.resume(cases, MACHINE)) == 500
    store.close()
    assert held < 4 * size
