from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.cache.fingerprint import fingerprint
from gradcheck.model import (
    Argument,
    Group,
    Input,
    Location,
    Mode,
    Target,
    TargetKind,
    Tolerance,
    Verdict,
)
from tests.run.fakes import make_case

HERE, THERE = Location("specs/a.yaml", 1, 1), Location("specs/a.yaml", 9, 9)


def of(sources: str = "", **changes: Any) -> str:
    return fingerprint(make_case("pass", **changes), sources)


def test_the_same_case_is_the_same_wherever_it_stands_in_its_file() -> None:
    target = Target(TargetKind.OP, "exp", THERE)
    assert of() == of(location=THERE, target=target)
    assert of(inputs=(Input("x", (2,), HERE),)) == of(inputs=(Input("x", (2,), THERE),))


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"mode": Mode.XLA},
        {"dtype": "float32"},
        {"target": Target(TargetKind.OP, "sin", HERE)},
        {"target": Target(TargetKind.EXPR, "exp", HERE)},
        {"args": {"axis": 1}},
        {"args": {"axis": "1"}},
        {"args": {"axis": [1]}},
        {"args": {"axis": True}},
        {"inputs": (Input("x", (2,), HERE),)},
        {"inputs": (Input("x", (), HERE, values=np.array(1.0)),)},
        {"inputs": (Input("x", (), HERE, values=np.array(1.0, np.float32)),)},
        {"inputs": (Input("x", (), HERE, values=np.array(2.0)),)},
        {"upstream": "ones"},
        {"upstream": (np.ones(2),)},
        {"expect": Verdict.KINK},
        {"expect": {"x": Verdict.KINK}},
        {"tolerance": Tolerance(rtol=1e-3)},
        {"timeout": 1.0},
        {"tags": ("slow",)},
        {"init": {"units": 3}},
        {"variables": False},
        {"outputs": (0,)},
        {"by_position": True},
        {"arguments": (Argument("x", Group("list", ("x",))),)},
    ],
    ids=str,
)
def test_whatever_changes_the_check_changes_the_fingerprint(changes: dict[str, Any]) -> None:
    assert of(**changes) == of(**changes)
    assert of(**changes) != of()


def test_arguments_are_not_run_together() -> None:
    assert of(tags=("a", "bc")) != of(tags=("ab", "c"))
    assert of(args={"a": [1, [2]]}) != of(args={"a": [[1], 2]})


def test_the_users_code_counts_where_it_is_run() -> None:
    function = Target(TargetKind.FUNCTION, "mypkg:f", HERE)
    assert of("old", target=function) != of("new", target=function)
    layer = Target(TargetKind.LAYER, "mypkg:Mine", HERE)
    assert of("old", target=layer) != of("new", target=layer)
    assert of("old") == of("new")
