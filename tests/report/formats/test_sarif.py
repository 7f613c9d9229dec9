from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from gradcheck.model import CodePlace, Verdict
from gradcheck.report import make_reporter
from gradcheck.report.formats import sarif
from tests.report import examples, hostile

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest
    from syrupy.assertion import SnapshotAssertion

    from gradcheck.model import Result, SpecProblem

SCHEMA = json.loads(
    (Path(__file__).parents[1] / "schemas" / "sarif-2.1.0.json").read_text(encoding="utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)


def text_of(results: Sequence[Result], problems: tuple[SpecProblem, ...] = ()) -> str:
    stream = io.StringIO()
    examples.tell(make_reporter("sarif", stream), results, problems)
    return stream.getvalue()


def run_of(results: Sequence[Result], problems: tuple[SpecProblem, ...] = ()) -> Any:
    log = json.loads(text_of(results, problems))
    VALIDATOR.validate(log)
    (run,) = log["runs"]
    return run


def place_of(location: Any) -> tuple[str, int]:
    physical = location["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]


def test_the_whole_document(snapshot: SnapshotAssertion) -> None:
    assert text_of(examples.all_results(), (examples.PROBLEM,)) == snapshot


def test_it_passes_the_schema_of_sarif() -> None:
    run_of([])
    run_of(examples.all_results(), (examples.PROBLEM,))
    run_of([*hostile.results(), examples.pictured()], hostile.problems())


def test_the_schema_would_find_what_is_wrong() -> None:
    log = json.loads(text_of([examples.mismatch()]))
    log["runs"][0]["results"][0]["locations"][0]["line"] = 3
    assert not VALIDATOR.is_valid(log)


def test_failures_and_known_bugs_have_results() -> None:
    run = run_of(examples.all_results(), (examples.PROBLEM,))
    rules = [result["ruleId"] for result in run["results"]]
    assert len(rules) == 11 + 2 + 1
    assert rules[:2] == ["spec-problem", "crashed"]
    assert rules.count("known-bug-gone") == 2
    told = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert set(rules) <= told.keys()
    assert told["mismatch"]["help"]["text"] == Verdict.MISMATCH.meaning
    suppressed = [r["suppressions"][0] for r in run["results"] if "suppressions" in r]
    assert [one["justification"] for one in suppressed] == [
        "wrong for | negative shifts",
        "b is not used",
    ]


def test_the_line_of_the_gradient_comes_first() -> None:
    (result,) = run_of([examples.mismatch()])["results"]
    assert [place_of(one) for one in result["locations"]] == [("layers/products.py", 31)]
    assert [place_of(one) for one in result["relatedLocations"]] == [
        ("specs/linalg/matmul.yaml", 7)
    ]
    (name,) = result["locations"][0]["logicalLocations"]
    assert name == {"fullyQualifiedName": "Product.call.grad", "kind": "function"}
    # Without one it is that of the spec.
    (result,) = run_of([examples.timeout()])["results"]
    assert [place_of(one) for one in result["locations"]] == [("specs/guide/edges.yaml", 3)]
    assert "relatedLocations" not in result


def test_a_gradient_elsewhere_comes_behind_the_spec() -> None:
    wrong = examples.mismatch()
    away = (CodePlace("/opt/a b/products.py", 31, "grad"),)
    moved = tuple(replace(c, places=away if c.places else ()) for c in wrong.comparisons)
    (result,) = run_of([replace(wrong, comparisons=moved)])["results"]
    assert place_of(result["locations"][0]) == ("specs/linalg/matmul.yaml", 7)
    assert place_of(result["relatedLocations"][0]) == ("file:///opt/a%20b/products.py", 31)


def test_paths_start_at_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    (result,) = run_of([examples.mismatch()])["results"]
    assert place_of(result["locations"][0]) == ("sub/layers/products.py", 31)


def test_fingerprints_go_by_the_name_of_the_case() -> None:
    wrong = examples.mismatch()
    assert wrong.case
    moved = replace(wrong, verdict=Verdict.NONFINITE, comparisons=(), case=None)
    other = replace(wrong, id=f"{wrong.id}2")
    prints = [sarif.fingerprint_of(result.id) for result in (wrong, moved, other)]
    assert prints[0] == prints[1] != prints[2]
    told = [r["partialFingerprints"]["gradcheckCase/v1"] for r in run_of([wrong])["results"]]
    assert told == [prints[0]]


def test_a_message_has_no_links_and_no_placeholders() -> None:
    message = "[x](https://example.org) {0}"
    (result,) = run_of([replace(examples.error(), message=message)])["results"]
    assert result["message"]["text"].startswith("[x] (https://example.org) {{0}}")


def test_code_scanning_refuses_more_than_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MOST_RESULTS", 3)
    run = run_of(examples.all_results())
    assert len(run["results"]) == 3
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert notes[1]["message"]["text"] == "10 results are left out: code scanning takes 3"
