"""Cases without a spec: made by hand, and run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import check_case
from gradcheck.model import Case, Input, Location, Result, Target, TargetKind

if TYPE_CHECKING:
    from gradcheck.model import Shape

HERE = Location("specs/s.yaml", 3, 5)
ROOT = Path(__file__).parents[2]


def shape(name: str, *size: int, **rest: Any) -> Input:
    return Input(name=name, shape=size, location=HERE, **rest)


def values(name: str, given: Any, **rest: Any) -> Input:
    array = np.asarray(given)
    size: Shape = array.shape
    return Input(name=name, shape=size, location=HERE, values=array, **rest)


def case(kind: str, text: str, *inputs: Input, **rest: Any) -> Case:
    target = Target(TargetKind(kind), text, HERE)
    return Case("specs/s.yaml::c", "specs/s.yaml", "c", HERE, target, inputs, **rest)


def run(kind: str, text: str, *inputs: Input, **rest: Any) -> Result:
    return check_case(case(kind, text, *inputs, **rest), allow=("tests.checker",), root=str(ROOT))
