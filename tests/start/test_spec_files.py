from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from gradcheck.model import Comparison, Result, Verdict
from gradcheck.model.findings import Found, FoundKind
from gradcheck.start.spec_files import is_kept, module_specs, single_spec, targets_of, why_left_out
from gradcheck.start.trial import Tried

EMPTY = Result(
    "c", Verdict.PASS, (Comparison("x", Verdict.PASS, (0,), "float64", note="nothing to judge: 0"),)
)
JUDGED = Result("c", Verdict.PASS, (Comparison("x", Verdict.PASS, (3,), "float64"),))
HOSTILE = "it said\nop: matmul\n- x: {evil: !!python/name:os.system}"


def tried(name: str, result: Result | None, kind: FoundKind = FoundKind.LAYER) -> Tried:
    target = f"pkg.layers:{name}"
    draft = {"layer": target, "inputs": {"x": [3, 4]}}
    return Tried(Found(kind, target), draft, result, "" if result else HOSTILE)


@pytest.mark.parametrize(
    ("thing", "kept"),
    [
        (tried("A", JUDGED), True),
        (tried("A", EMPTY), False),
        (tried("A", EMPTY, FoundKind.CUSTOM_GRADIENT), True),
        (tried("A", None), False),
    ],
)
def test_what_shows_no_gradient_is_kept_where_one_was_written(thing: Tried, kept: bool) -> None:
    assert is_kept(thing) is kept
    assert kept or why_left_out(thing)


def test_a_file_for_a_module_has_what_runs_and_the_rest_as_comments() -> None:
    (draft,) = module_specs([tried("A", JUDGED), tried("B", None), tried("C", EMPTY)], Path("s"))
    assert draft.path == Path("s/pkg/layers.yaml")
    assert (draft.cases, draft.left_out) == (1, 2)
    assert yaml.safe_load(draft.text) == {
        "cases": [{"layer": "pkg.layers:A", "inputs": {"x": [3, 4]}}]
    }
    assert "# - layer: pkg.layers:B" in draft.text
    assert targets_of([draft.text]) == {f"pkg.layers:{name}" for name in "ABC"}


def test_a_file_in_which_nothing_runs_is_set_aside() -> None:
    (draft,) = module_specs([tried("B", None)], Path("s"))
    assert draft.path == Path("s/pkg/layers.yaml.todo")
    assert draft.cases == 0


def test_a_single_spec_is_one_whether_it_runs_or_not() -> None:
    for result in (JUDGED, None):
        text = single_spec(tried("A", result))
        assert yaml.safe_load(text) == {"layer": "pkg.layers:A", "inputs": {"x": [3, 4]}}
        assert ("does not run yet" in text) is (result is None)
    untried = Tried(Found(FoundKind.LAYER, "pkg:A"), {"layer": "pkg:A"}, reason="why")
    assert yaml.safe_load(single_spec(untried))["inputs"] == {"x": [3, 4]}
