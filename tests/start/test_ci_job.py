from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from gradcheck.start.ci_job import job_text, why_no_job
from gradcheck.start.project import Project

if TYPE_CHECKING:
    from pathlib import Path


def steps(root: Path, *, installs: bool) -> list[str]:
    text = job_text(Project(root, ("pkg",), (), installs), "my/specs")
    return [step["run"] for step in yaml.safe_load(text)["jobs"]["gradients"]["steps"][2:4]]


def test_what_is_installed_is_what_the_project_says(tmp_path: Path) -> None:
    assert steps(tmp_path, installs=True)[0] == "pip install . gradcheck"
    install, run = steps(tmp_path, installs=False)
    assert install == "pip install tensorflow gradcheck"
    assert run.startswith("gradcheck run my/specs ")
    (tmp_path / "requirements.txt").write_text("tensorflow\n")
    assert steps(tmp_path, installs=False)[0] == "pip install -r requirements.txt gradcheck"


def test_a_job_below_the_repository_would_not_be_seen(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    inside = tmp_path / "packages" / "one"
    inside.mkdir(parents=True)
    assert why_no_job(tmp_path) == ""
    assert str(tmp_path) in why_no_job(inside)
