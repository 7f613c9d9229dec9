"""A whole package: what is tried, what is not, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.start.project import Project
from gradcheck.start.survey import Survey, survey

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "__init__": "from gc_surveyed.right import square, cube\n",
    "right": """
import tensorflow as tf

@tf.custom_gradient
def square(x):
    return x * x, lambda dy: 2 * x * dy

@tf.custom_gradient
def cube(x):
    return x ** 3, lambda dy: 3 * x * x * dy

@tf.custom_gradient
def _hidden(x):
    return x * x, lambda dy: 3 * x * dy

@tf.custom_gradient
def _seen_by_another_name(x):
    return x * x, lambda dy: 2 * x * dy

double = _seen_by_another_name

def save(path): raise SystemExit
""",
    "broken": "import tensorflow\nraise RuntimeError('no licence')\n",
    "typo": "def f(:\n",
    "plain": "raise SystemExit('a module without tensors was imported')\n",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root: Path = tmp_path_factory.mktemp("surveyed")
    (root / "gc_surveyed").mkdir()
    for name, text in FILES.items():
        (root / "gc_surveyed" / f"{name}.py").write_text(text)
    return Project.find(root, None)


@pytest.fixture(scope="module")
def found(project: Project) -> Survey:
    return survey(project, {"gc_surveyed.right:cube"})


def test_what_has_a_spec_is_left_alone_and_what_is_passed_on_is_taken_once(found: Survey) -> None:
    assert [tried.found.target for tried in found.tried] == [
        "gc_surveyed.right:square",
        "gc_surveyed.right:double",
    ]
    assert found.tried[0].works
    assert found.known == ("gc_surveyed.right:cube",)


def test_what_may_do_anything_is_not_called(found: Survey) -> None:
    assert found.not_called == ("gc_surveyed.right:save",)


def test_what_no_spec_can_name_is_told_unless_it_has_another_name(found: Survey) -> None:
    assert found.unnamed == ("gc_surveyed.right:_hidden",)


def test_modules_that_cannot_be_read_or_imported_are_told(found: Survey) -> None:
    told = dict(found.unreadable)
    assert told.keys() == {"gc_surveyed.broken", "gc_surveyed.typo"}
    assert "no licence" in told["gc_surveyed.broken"]
    assert "no Python" in told["gc_surveyed.typo"]


def test_what_was_cut_is_told(tmp_path: Path) -> None:
    found = survey(Project(tmp_path, ("pkg",), (), installs=False, cut="too many"), ())
    assert found.unreadable == (("pkg", "too many"),)
    assert found.tried == ()
