"""Folders `.gradcheck/` that anybody may have made: nothing outside of them is touched."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.cli.app import main
from gradcheck.model import Verdict
from tests.cache.project import CASES, MACHINE, Project, result

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ["journal.jsonl", "history.json", ".history.json.tmp", ".gitignore"]
SECRET = "the user's own"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "checkout"
    root.mkdir()
    (tmp_path / "victim").write_text(SECRET)
    return Project(root)


@pytest.fixture
def victim(project: Project) -> Path:
    return project.root.parent / "victim"


def _socket(place: Path) -> None:
    here = Path.cwd()
    os.chdir(place.parent)  # (the path of a socket is short)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place.name)
    os.chdir(here)


KINDS: dict[str, Callable[[Path, Path], object]] = {
    "link": lambda place, victim: place.symlink_to(victim),
    "dangling": lambda place, victim: place.symlink_to(victim.with_name("nothing")),
    "circle": lambda place, _: place.symlink_to(place),
    "device": lambda place, _: place.symlink_to("/dev/zero"),
    "hard link": lambda place, victim: place.hardlink_to(victim),
    "pipe": lambda place, _: os.mkfifo(place),
    "socket": lambda place, _: _socket(place),
    "folder": lambda place, _: place.mkdir(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_file_is_put_aside(project: Project, victim: Path, name: str, kind: str) -> None:
    project.folder.mkdir()
    KINDS[kind](project.folder / name, victim)
    project.run(result(0), result(1, Verdict.MISMATCH))
    assert victim.read_text() == SECRET
    assert sorted(p.name for p in victim.parent.iterdir()) == ["checkout", "victim"]
    if (name, kind) == (".history.json.tmp", "folder"):
        assert "history.json cannot be written" in project.said[0]
        return
    assert project.resumed() == ["a", "b"]
    assert project.failed == [CASES[1]]
    if name in ("journal.jsonl", "history.json"):
        assert f"{name} is ignored: it is a" in project.said[0]
        assert f"kept as {name}.bad" in project.said[0]


@pytest.mark.parametrize("target", ["folder", "file", "nothing"])
def test_the_folder_itself_is_no_link(project: Project, victim: Path, target: str) -> None:
    elsewhere = victim.with_name("elsewhere")
    elsewhere.mkdir()
    places = {"folder": elsewhere, "file": victim, "nothing": victim.with_name("nothing")}
    project.folder.symlink_to(places[target])
    project.run(result(0))
    assert list(elsewhere.iterdir()) == []
    assert victim.read_text() == SECRET
    assert "it is a link, which is not followed" in project.said[0]
    assert "cannot be resumed" in project.said[0]


def test_bad_files_are_not_piled_up(project: Project) -> None:
    project.folder.mkdir()
    for _ in range(15):
        (project.folder / "journal.jsonl").unlink(missing_ok=True)
        (project.folder / "journal.jsonl").symlink_to("/dev/zero")
        project.store().close()
    assert len(list(project.folder.glob("*.bad*"))) == 9


def _state(folder: Path) -> dict[str, Any]:
    return {
        str(p.relative_to(folder)): (p.lstat().st_mtime_ns, p.lstat().st_size, p.lstat().st_ino)
        for p in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--collect-only"],
        ["run", "--collect-only", "--lf"],
        ["run", "--collect-only", "--shard", "1/2"],
        ["validate"],
        ["schema"],
        ["ops"],
        ["explain", "exp"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("content", [None, b"junk\n", b'{"torn', b""])
def test_looking_touches_nothing(
    project: Project,
    command: list[str],
    content: bytes | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project.root)
    Path("specs").mkdir()
    Path("specs/a.yaml").write_text("op: exp\ninputs: {x: [2]}\n")
    if content is not None:
        project.run(result(0))
        for name in ("journal.jsonl", "history.json"):
            path = project.folder / name
            path.write_bytes(content if content != b'{"torn' else path.read_bytes()[:-5])
    before = _state(project.root)
    assert main(command) == 0
    assert _state(project.root) == before
    capsys.readouterr()


BAD: list[Any] = [None, True, -1, 10**399, 1e308, "x", [], ["x"], {}, [[[[]]]], "9" * 5000]


def written(lines: list[Any]) -> str:
    """As a journal is written: with spaces it would not even be read."""
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


DECIDES: list[tuple[str, ...]] = [(key,) for key in ("key", "id", "seconds", "result")]
DECIDES += [("result", key) for key in ("id", "verdict", "seconds")]
"""Where each bad value makes a result none; what it says of its case the case knows better."""


def test_any_value_anywhere_in_a_journal(project: Project) -> None:
    """What is taken over is what was written: the verdict, for the case that had it."""
    project.run(result(0), result(1, Verdict.MISMATCH))
    right = {CASES[0].id: (Verdict.PASS, 0.25), CASES[1].id: (Verdict.MISMATCH, 0.25)}
    path = project.folder / "journal.jsonl"
    whole = path.read_bytes()
    lines = [json.loads(line) for line in whole.splitlines()]
    places: list[tuple[int, tuple[str, ...]]] = [(0, (key,)) for key in lines[0]]
    places += [(1, (key,)) for key in lines[1]]
    places += [(1, ("result", key)) for key in lines[1]["result"]]
    for number, keys in places:
        for value in BAD:
            changed = json.loads(json.dumps(lines))
            inner = changed[number]
            for key in keys[:-1]:
                inner = inner[key]
            inner[keys[-1]] = value
            path.write_text(written(changed))
            store = project.store()
            store.failed(CASES)
            store.order(CASES, failed_first=True)
            taken = {r.id: (r.verdict, r.seconds) for r in store.resume(CASES, MACHINE)}
            store.close()
            (project.folder / "history.json").unlink(missing_ok=True)
            told = (number, keys, value)
            assert taken.items() <= right.items(), told
            if changed == lines:
                assert taken == right
            elif number == 0:
                assert taken == {}, told
            else:
                assert CASES[1].id in taken, told
                assert keys not in DECIDES or CASES[0].id not in taken, told


def test_any_value_anywhere_in_a_history(project: Project) -> None:
    project.run(result(0))
    path = project.folder / "history.json"
    entry = {"seconds": 1.0, "failed": True}
    for value in BAD:
        for data in (
            value,
            {"gradcheck_history": value, "cases": {}},
            {"gradcheck_history": 1, "cases": value},
            {"gradcheck_history": 1, "cases": {CASES[0].id: value}},
            {"gradcheck_history": 1, "cases": {CASES[0].id: {**entry, "seconds": value}}},
            {"gradcheck_history": 1, "cases": {CASES[0].id: {**entry, "failed": value}}},
        ):
            path.write_text(json.dumps(data))
            store = project.store()
            assert store.failed(CASES) in ([], [CASES[0]])
            store.order(CASES)
            store.close()


def test_a_foreign_journal_is_kept(project: Project) -> None:
    project.folder.mkdir()
    (project.folder / "journal.jsonl").write_text("my notes")
    project.run(result(0))
    assert (project.folder / "journal.jsonl.bad").read_text() == "my notes"
    assert "kept as journal.jsonl.bad" in project.said[0]
