"""Drafts that are run: functions that take few shapes, none, or their worker along."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from gradcheck.model import Verdict
from gradcheck.model.findings import Found, FoundKind, Taken
from gradcheck.start.trial import Tried, read_draft, try_all

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
import os
import tensorflow as tf

def square(x):
    return x * x

def any_number(*args):
    return tf.reduce_sum(tf.sqrt(args[0]))

def by_position(x, /):
    return tf.reduce_sum(tf.math.log(x))

def in_single(x):
    return tf.reduce_sum(tf.sqrt(x * tf.constant(2.0)))

def matrix(x):
    tf.debugging.assert_equal(tf.shape(x), [4, 4])
    return tf.linalg.trace(x)

def raises(x):
    raise ValueError("the moon is wrong")

def dies(x):
    os._exit(1)
"""
TAKES = {"any_number": (), "by_position": (Taken("x", by_position=True),)}


def found(name: str) -> tuple[Found, str]:
    call = TAKES.get(name, (Taken("x"),))
    return Found(FoundKind.TENSOR_FUNCTION, f"gc_tried:{name}", call), "function"


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tried]:
    """All of them at once, as `init` does."""
    root: Path = tmp_path_factory.mktemp("tried")
    (root / "gc_tried.py").write_text(SOURCE)
    names = ["square", "any_number", "by_position", "in_single", "matrix", "raises", "dies"]
    gave = try_all(
        [found(name) for name in names],
        allow=["gc_tried"],
        root=str(root),
        until=time.monotonic() + 200,
    )
    return dict(zip(names, gave, strict=True))


@pytest.mark.parametrize(
    ("name", "draft"),
    [
        ("square", {"inputs": {"x": [3, 4]}}),
        ("any_number", {"inputs": [{"shape": [3, 4], "sample": "positive"}]}),
        ("by_position", {"inputs": [{"shape": [3, 4], "sample": "positive"}]}),
        (
            "in_single",
            {"inputs": {"x": {"shape": [3, 4], "sample": "positive"}}, "dtype": "float32"},
        ),
        ("matrix", {"inputs": {"x": [4, 4]}}),
    ],
)
def test_a_spec_is_found_that_passes(
    tried: dict[str, Tried], name: str, draft: dict[str, object]
) -> None:
    went = tried[name]
    assert went.draft == {"function": f"gc_tried:{name}", **draft}
    assert went.result is not None
    assert went.result.verdict is Verdict.PASS


def test_what_takes_no_shape_tells_what_the_likeliest_said(tried: dict[str, Tried]) -> None:
    went = tried["raises"]
    assert not went.works
    assert went.reason.startswith("no shape works, of 7 tried; with the first ")
    assert "the moon is wrong" in went.reason
    assert went.draft["inputs"] == {"x": [3, 4]}


def test_what_dies_is_given_up_soon(tried: dict[str, Tried]) -> None:
    assert not tried["dies"].works
    assert "of 2 tried" in tried["dies"].reason


def test_when_the_time_is_over_what_is_open_says_so() -> None:
    (went,) = try_all([found("square")], allow=[], root=".", until=time.monotonic() - 1)
    assert (went.works, went.reason) == (False, "the time was over before it was tried")


def test_what_cannot_be_called_is_not_run() -> None:
    thing = Found(FoundKind.FUNCTION, "gc_tried:f", (Taken("axis"),))
    (went,) = try_all([(thing, "function")], allow=[], root=".", until=time.monotonic() + 9)
    assert went.reason == "it takes no tensor"


def test_a_draft_that_is_no_spec_is_told() -> None:
    told = read_draft({"function": "gc_tried:f", "inputs": {"x": [-1]}}, "try.yaml", ["gc_tried"])
    assert isinstance(told, str)
    assert "-1" in told
