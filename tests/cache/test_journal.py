from __future__ import annotations

import pytest

from tests.cache.project import CASES, MACHINE, Project, result


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


def test_a_journal_that_is_a_device_is_not_read(project: Project) -> None:
    project.folder.mkdir()
    (project.folder / "journal.jsonl").symlink_to("/dev/zero")
    project.run(result(0))
    assert "cannot be used" in project.said[0]


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
