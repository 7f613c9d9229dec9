from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import xmlschema

from gradcheck.model import Result, Verdict
from gradcheck.report import make_reporter
from tests.report import examples, hostile

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def text_of(results: list[Result]) -> str:
    stream = io.StringIO()
    examples.tell(make_reporter("junit", stream), results, (examples.PROBLEM,))
    return stream.getvalue()


def parsed(results: list[Result]) -> ET.Element:
    return ET.fromstring(text_of(results))  # noqa: S314 - our own output, a line above


def test_the_whole_document(snapshot: SnapshotAssertion) -> None:
    assert text_of(examples.all_results()) == snapshot


def test_counts_agree_with_what_is_there() -> None:
    root = parsed(examples.all_results())
    for suite in root.iter("testsuite"):
        assert suite.get("skipped") == str(len(list(suite.iter("skipped"))))
    for suite in [root, *root.iter("testsuite")]:
        assert suite.get("tests") == str(len(list(suite.iter("testcase"))))
        assert suite.get("failures") == str(len(list(suite.iter("failure"))))
        assert suite.get("errors") == str(len(list(suite.iter("error"))))


def outcome(result: Result) -> tuple[str, str | None]:
    testcase = next(parsed([result]).iter("testcase"))
    return (testcase[0].tag, testcase[0].get("type")) if len(testcase) else ("passed", None)


def test_each_verdict_has_its_element() -> None:
    assert outcome(examples.passing()) == ("passed", None)
    assert outcome(examples.kink()) == ("passed", None)
    assert outcome(examples.mismatch()) == ("failure", "mismatch")
    assert outcome(examples.disconnected()) == ("failure", "disconnected")
    assert outcome(examples.error()) == ("error", "error")
    assert outcome(examples.crashed()) == ("error", "crashed")
    assert outcome(examples.timeout()) == ("error", "timeout")
    assert outcome(examples.skipped()) == ("skipped", "skipped")
    assert outcome(examples.known_bug()) == ("skipped", "known")
    assert outcome(examples.bug_gone()) == ("failure", "pass")


def test_a_failure_names_the_gradient_function() -> None:
    failure = next(parsed([examples.mismatch()]).iter("failure"))
    assert "in your code: layers/products.py:31, in Product.call.grad" in (failure.text or "")


def test_a_testcase_can_be_found_in_its_file() -> None:
    suite = next(parsed([examples.mismatch()]).iter("testsuite"))
    assert suite.get("file") == "specs/linalg/matmul.yaml"
    testcase = next(suite.iter("testcase"))
    assert testcase.attrib == {
        "classname": "specs.linalg.matmul",
        "name": "transposed[float32,xla]",
        "time": "0.310",
    }
    assert "at specs/linalg/matmul.yaml:7:5" in (testcase[0].text or "")


def test_a_spec_problem_is_an_error() -> None:
    suite = parsed([]).findall("testsuite")[0]
    assert suite.get("name") == "specs/broken.yaml"
    error = next(suite.iter("error"))
    assert error.get("message") == "unknown key 'shpae'"
    assert "^^^^^" in (error.text or "")


def test_characters_that_xml_has_not_are_removed() -> None:
    case = examples.case("a.yaml::x", reason="\x00\ufffe\ud800 why")
    result = Result("a.yaml::x", Verdict.ERROR, (), "a\x00b\x0b\ufffe\ud800 <&>", case=case)
    error = next(parsed([result]).iter("error"))
    assert error.get("message") == "error: ab <&>"
    assert "ab <&>" in (error.text or "")


SCHEMA = xmlschema.XMLSchema(Path(__file__).parents[1] / "schemas" / "junit-10.xsd")
"""What Jenkins' xunit plugin takes, in its strictest version."""


def test_it_passes_the_schema_of_jenkins() -> None:
    slow = replace(examples.passing(), seconds=123456.789)
    SCHEMA.validate(text_of([*examples.all_results(), examples.pictured(), slow]))
    SCHEMA.validate(text_of([]))
    SCHEMA.validate(text_of(hostile.results()))


def test_the_schema_would_find_what_is_wrong() -> None:
    text = text_of(examples.all_results())
    assert not SCHEMA.is_valid(text.replace("<testcase ", '<testcase file="a.yaml" ', 1))
    assert not SCHEMA.is_valid(text.replace("properties>", "facts>"))
