from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gradcheck.cli.outputs import Destination, OutputFile, pair
from gradcheck.errors import UsageError


@pytest.mark.parametrize(
    ("formats", "outputs", "junitxml", "expected"),
    [
        ([], [], None, [Destination("table")]),
        (["json"], [], None, [Destination("json")]),
        (["json"], ["r"], None, [Destination("table"), Destination("json", Path("r"))]),
        (["plain", "json"], ["r"], None, [Destination("plain"), Destination("json", Path("r"))]),
        ([], [], "r.xml", [Destination("table"), Destination("junit", Path("r.xml"))]),
    ],
)
def test_files_belong_to_the_last_formats(
    formats: list[str], outputs: list[str], junitxml: str | None, expected: list[Destination]
) -> None:
    assert pair(formats, outputs, junitxml, "table") == expected


def test_lines_for_a_machine_share_the_screen() -> None:
    assert pair(["plain", "github", "json"], ["a"], None, "table") == [
        Destination("plain"),
        Destination("github"),
        Destination("json", Path("a")),
    ]
    assert pair(["github", "table"], [], None, "plain") == [
        Destination("github"),
        Destination("table"),
    ]
    assert pair(["github"], [], None, "plain") == [Destination("github")]
    assert pair(["github", "github"], [], None, "plain") == [Destination("github")]
    with pytest.raises(UsageError, match="plain and markdown cannot share the screen"):
        pair(["plain", "github", "markdown"], [], None, "table")


def test_files_keep_their_order() -> None:
    assert pair(["plain", "json", "junit"], ["a", "b"], "c", "table") == [
        Destination("plain"),
        Destination("json", Path("a")),
        Destination("junit", Path("b")),
        Destination("junit", Path("c")),
    ]


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    file = OutputFile(path)
    file.stream.write("new ±")
    assert path.read_text() == "old"
    file.commit()
    file.discard()
    assert path.read_text(encoding="utf-8") == "new ±"
    assert list(tmp_path.iterdir()) == [path]


def test_a_discarded_file_leaves_no_trace(tmp_path: Path) -> None:
    file = OutputFile(tmp_path / "report")
    file.stream.write("half")
    file.discard()
    assert list(tmp_path.iterdir()) == []


def test_permissions_are_those_of_an_ordinary_file(tmp_path: Path) -> None:
    ordinary, report = tmp_path / "ordinary", tmp_path / "report"
    ordinary.touch()
    OutputFile(report).commit()
    assert report.stat().st_mode == ordinary.stat().st_mode
    report.chmod(0o640)
    OutputFile(report).commit()
    assert stat.S_IMODE(report.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    OutputFile(link).commit()
    assert link.is_symlink()
    assert target.is_file()


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    file = OutputFile(pipe)
    file.stream.write("through")
    file.commit()
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize(
    ("name", "said"), [("absent/r", "there is no folder"), (".", "it is a folder")]
)
def test_what_cannot_be_written_is_said(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        OutputFile(tmp_path / name)
