from __future__ import annotations

from pathlib import Path

import gradcheck
from gradcheck.errors import LONGEST_MISSPELT, MOST_KNOWN, nearest


def test_the_name_that_may_be_meant() -> None:
    assert nearest("matmull", ["exp", "matmul"]) == "matmul"
    assert nearest("matmull", ["exp"]) == ""
    assert nearest("sins", ["sin"], alike=0.9) == ""


def test_what_takes_long_to_compare_is_not_compared() -> None:
    long = "x" * LONGEST_MISSPELT
    assert nearest(long, [long + "y"]) == long + "y"
    assert nearest(long + "x", [long]) == ""
    many = [f"n{i}" for i in range(MOST_KNOWN)]
    assert nearest("matmull", [*many[1:], "matmul"]) == "matmul"
    assert nearest("matmull", [*many, "matmul"]) == ""


def test_it_is_found_in_one_place() -> None:
    """Elsewhere bounds and cutoffs would differ."""
    root = Path(gradcheck.__file__).parent
    users = [p.name for p in root.rglob("*.py") if "difflib" in p.read_text(encoding="utf-8")]
    assert users == ["errors.py"]
