"""A job for GitHub's CI that fails when a gradient is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradcheck.start.project import Project

PLACE = Path(".github", "workflows", "gradients.yml")

_JOB = """\
# Fails when a gradient is wrong, and marks the line of its spec.
name: gradients

on:
  push:
  pull_request:

jobs:
  gradients:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: {install}
      - run: gradcheck run {specs} --format github --junitxml gradients.xml
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: gradients
          path: gradients.xml
"""


def job_text(project: Project, specs: str) -> str:
    """The workflow; `specs` is their folder, seen from the project's."""
    if project.installs:
        install = "pip install . gradcheck"
    elif (project.root / "requirements.txt").is_file():
        install = "pip install -r requirements.txt gradcheck"
    else:
        install = "pip install tensorflow gradcheck"
    return _JOB.format(install=install, specs=specs)


def why_no_job(root: Path) -> str:
    """Why GitHub would not see a job that is put there; empty where it would."""
    repository = next((f for f in (root, *root.parents) if (f / ".git").exists()), root)
    if repository == root:
        return ""
    return f"the repository is {repository}, and GitHub looks for jobs there alone"
