"""Paths as the repository has them: what annotations and code scanning put their marks on."""

from __future__ import annotations

import os
from pathlib import Path

WORKSPACE = "GITHUB_WORKSPACE"
"""The variable with the folder into which GitHub has put the repository."""


def repository_path(path: str) -> str:
    """The path from the root of the repository, wherever the job runs; absolute outside of it.

    The root is GitHub's workspace or, elsewhere, the working directory.
    """
    root = os.environ.get(WORKSPACE)
    if not root:
        return path
    # (`..` is resolved as it is written: a link may lead anywhere.)
    absolute = os.path.normpath(Path(path).absolute())
    return str(Path(absolute).relative_to(root)) if Path(absolute).is_relative_to(root) else path


def is_inside(path: str) -> bool:
    """Whether a path that `repository_path` gave lies in the repository."""
    return not Path(path).is_absolute() and not os.path.normpath(path).startswith("..")


def line_url(path: str, line: int) -> str:
    """Where GitHub shows the line of a file, in a job of its own; elsewhere nothing."""
    server, name, commit = map(
        os.environ.get, ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")
    )
    inside = repository_path(path)
    if not (server and name and commit and is_inside(inside)):
        return ""
    return f"{server}/{name}/blob/{commit}/{quoted(inside)}#L{line}"


def quoted(path: str) -> str:
    """A path as part of an address."""
    from urllib.parse import quote

    return quote(Path(path).as_posix(), safe="/", errors="replace")
