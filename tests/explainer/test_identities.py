"""The derivatives of the tables of matrix calculus: ours are the same."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tools.identities import PAGE, errors
from tools.identity_list import IDENTITIES, Identity


def test_there_are_many() -> None:
    assert len({(i.expr, i.by) for i in IDENTITIES}) == len(IDENTITIES) >= 80


@pytest.mark.parametrize("identity", IDENTITIES, ids=lambda i: f"{i.expr} by {i.by}")
def test_ours_is_the_known_one(identity: Identity) -> None:
    ours, differences = errors(identity)
    assert ours < 1e-9
    assert differences < 1e-6


def test_a_wrong_one_is_found_out() -> None:
    wrong = replace(IDENTITIES[1], known="x")
    assert min(errors(wrong)) > 1e-3


def test_the_page_has_every_row() -> None:
    text = Path(PAGE).read_text("utf-8")
    rows = re.findall(r"^\| `(.+?)` \| ∂/∂(\w+) \|", text, re.MULTILINE)
    assert rows == [(i.expr.replace("|", "\\|"), i.by) for i in IDENTITIES]
    assert "| — |" not in text


def test_ours_is_not_longer() -> None:
    """But for G in front, which takes three letters and a pair of brackets, and for one order."""
    text = Path(PAGE).read_text("utf-8")
    rows = re.findall(r"^\| `.+?` \| ∂/∂\w+ \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    assert len(rows) == len(IDENTITIES)
    for ours, known in rows:
        # What the letters stand for comes behind the formula.
        formula = re.split(r", \S+ = ", ours)[0]
        assert len(formula.replace("G·", "")) <= len(known) + 3, (ours, known)
