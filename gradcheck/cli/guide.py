"""`gradcheck guide`: the lessons that come with gradcheck, and a folder to try them in."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import click

from gradcheck.cli.say import say
from gradcheck.errors import UsageError

INSIDE = "specs/guide"
"""Where the lessons lie in a project, and by which name their code is imported."""

SETTINGS = """\
[tool.gradcheck]
# The code that the lessons check, in specs/guide/functions.py and models.py, may run.
allow = ["specs.guide"]
"""


@click.command(name="guide")
@click.option("--copy", "folder", metavar="FOLDER", help="Write the lessons to a new folder.")
def command(folder: str | None) -> int:
    """List the lessons of the guide, or copy them to a folder to run and to change.

    Each lesson is a spec whose comments explain it.

    \b
    Examples:
      gradcheck guide
      gradcheck guide --copy lessons && cd lessons && gradcheck run
    """  # noqa: D301  (click reads the \b)
    lessons = sorted(_home().glob("*.yaml"))
    if folder is None:
        width = max(len(path.stem) for path in lessons)
        for path in lessons:
            say(f"  {path.stem:{width}}  {_title(path)}")
        say("\n`gradcheck guide --copy FOLDER` writes them to a folder, to run and to change.")
        return 0
    _copy(Path(folder))
    say(f"{len(lessons)} lessons are in {Path(folder) / INSIDE}. To run them all, or one:\n")
    say(f"  cd {shlex.quote(folder)}")
    say("  gradcheck run")
    say(f"  gradcheck run {INSIDE}/{lessons[0].name}")
    return 0


def _home() -> Path:
    """Where the lessons are: inside of an installed package, and beside one that is worked on."""
    package = Path(__file__).parents[1]
    installed = package / "guide"
    return installed if installed.is_dir() else package.parent / INSIDE


def _title(lesson: Path) -> str:
    """The first line of its explanation."""
    first = lesson.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("#").strip().rstrip(".")


def _copy(folder: Path) -> None:
    """Make a project of the lessons: the folder must be new, or empty."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder} is there already, and not empty: name a new folder")
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(_home(), folder / INSIDE, ignore=skipped)
        (folder / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}") from None
