"""Files that a command adds to somebody's project: never over one that is there."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

from gradcheck.errors import UsageError
from gradcheck.spec.discover import shown_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gradcheck.start.project import Project


def write_new(path: Path, text: str) -> bool:
    """Write a new file, and its folders; whether it was not there. UsageError where that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    return True


class NewFiles:
    """What was written and what was not, to be told at once."""

    def __init__(self) -> None:
        self._lines: list[tuple[str, str, str]] = []

    def told(self) -> Iterator[str]:
        """A line for each file: what was done, its name, and what of it."""
        width = max((len(path) for _, path, _ in self._lines), default=0)
        return (f"{done:<5} {path:<{width}}  {about}".rstrip() for done, path, about in self._lines)

    def write(self, path: Path, text: str, about: str) -> bool:
        """Write a file; whether it was new."""
        if write_new(path, text):
            self._note("wrote", path, about)
            return True
        self._note(
            "kept", path, "it is there already, and is not overwritten: `gradcheck new` adds one"
        )
        return False

    def allow(self, path: Path, packages: Sequence[str]) -> None:
        """Allow the packages in pyproject.toml, which keeps all that it says."""
        from gradcheck.start.pyproject_edit import NotEditableError, with_allowed

        wanted = f"allow = {json.dumps(list(packages))}"
        try:
            before = path.read_bytes().decode() if path.exists() else ""
            after = with_allowed(before, packages)
            if after == before:
                self._note("kept", path, "it allows the package already")
                return
            path.write_bytes(after.encode())
        except (NotEditableError, tomllib.TOMLDecodeError, UnicodeDecodeError):
            self._note("kept", path, f"add {wanted} to [tool.gradcheck] by hand")
        except OSError as error:
            self._note("kept", path, f"{error.strerror}; add {wanted} to [tool.gradcheck] by hand")
        else:
            self._note("wrote", path, f"[tool.gradcheck] {wanted}: specs may run its code")

    def add_job(self, project: Project, specs: Path) -> None:
        """Add a job for GitHub's CI."""
        from gradcheck.start.ci_job import PLACE, job_text, why_no_job

        path = project.root / PLACE
        if reason := why_no_job(project.root):
            self._note("no", path, reason)
            return
        inside = specs.is_relative_to(project.root)
        folder = specs.relative_to(project.root).as_posix() if inside else "specs"
        if write_new(path, job_text(project, folder)):
            self._note("wrote", path, "a CI job that fails when a gradient is wrong")
        else:
            self._note("kept", path, "it is there already, and is not overwritten")

    def _note(self, done: str, path: Path, about: str) -> None:
        self._lines.append((done, shown_path(str(path)), about))
