"""JUnit XML, as GitLab, Jenkins and GitHub's actions read it: a suite per spec file.

It keeps to the schema of Jenkins, the strictest there is: a test case has no file and no line, so
that its suite names the file, and the text of a failure the line.

A known bug is `skipped`, as pytest writes its expected failures; a spec that could not be read is
a test case with an error.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from gradcheck.model import Verdict
from gradcheck.report.columns import failure_text
from gradcheck.report.details import failure_details, gist, mark
from gradcheck.report.reporter import CollectingReporter, Outcome
from gradcheck.report.safe_text import one_line, spelt
from gradcheck.report.tally import split_id
from gradcheck.report.totals import by_file

if TYPE_CHECKING:
    from gradcheck.model import Plan, Result, SpecProblem

_BROKEN = frozenset({Verdict.ERROR, Verdict.CRASHED, Verdict.TIMEOUT})
"""Verdicts that say nothing about the gradient: an `error`, where the others are a `failure`."""

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class JUnitReporter(CollectingReporter):
    """One XML document, written at the end."""

    def report(self, outcome: Outcome) -> None:
        """Write the document."""
        root = document(outcome)
        ET.indent(root)
        # Character references for all that is not ASCII: right whatever the stream's encoding.
        text = ET.tostring(root, encoding="us-ascii", xml_declaration=False).decode("ascii")
        text = spelt(text, "&#{};", lines=True)
        self.stream.write(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')


@dataclass(slots=True)
class _Suite:
    path: str
    cases: list[ET.Element] = field(default_factory=list)
    seconds: float = 0.0

    def counts(self) -> dict[str, str]:
        outcomes = [child.tag for case in self.cases for child in case]
        return {
            "tests": str(len(self.cases)),
            "failures": str(outcomes.count("failure")),
            "errors": str(outcomes.count("error")),
            "time": _time(self.seconds),
        }

    def element(self) -> ET.Element:
        skipped = sum(child.tag == "skipped" for case in self.cases for child in case)
        known = {"file": self.path} if self.path else {}
        counts = {**self.counts(), "skipped": str(skipped)}
        return _element("testsuite", name=self.path or "gradcheck", **known, **counts)


def document(outcome: Outcome) -> ET.Element:
    """The whole run as one `testsuites` element."""
    suites = {
        path: _Suite(
            path,
            cases=[_testcase(result, outcome.plan) for result in results],
            seconds=sum(result.seconds for result in results),
        )
        for path, results in by_file(outcome.results).items()
    }
    for problem in outcome.plan.problems:
        suite = suites.setdefault(problem.location.path, _Suite(problem.location.path))
        suite.cases.append(_problem(problem))
    everything = _Suite("", [case for suite in suites.values() for case in suite.cases])
    everything.seconds = outcome.summary.seconds
    root = _element("testsuites", name="gradcheck", **everything.counts())
    for suite in suites.values():
        element = suite.element()
        root.append(element)
        properties = ET.SubElement(element, "properties")
        for key, value in outcome.plan.environment.items():
            properties.append(_element("property", name=key, value=value))
        element.extend(suite.cases)
    return root


def _testcase(result: Result, plan: Plan) -> ET.Element:
    path, name = split_id(result)
    element = _case_element(path, name, result.seconds)
    if not result.expected:
        details = failure_details(result, plan)
        message = gist(details) if details.headline else f"{result.verdict}: {gist(details)}"
        tag = "error" if result.verdict in _BROKEN else "failure"
        child = _element(tag, type=str(result.verdict), message=message)
        child.text = _NOT_XML.sub("", failure_text(details))
        element.append(child)
    elif result.verdict is Verdict.SKIPPED:
        element.append(_element("skipped", type="skipped", message=one_line(result.message)))
    elif mark(result):
        reason = one_line(result.case.reason) if result.case else ""
        message = f"expected {result.verdict}{reason and f': {reason}'}"
        element.append(_element("skipped", type="known", message=message))
    return element


def _problem(problem: SpecProblem) -> ET.Element:
    where = problem.location
    name = f"spec problem at {where.line}:{where.column}"
    element = _case_element(where.path, name, 0.0)
    child = _element("error", type="spec", message=one_line(problem.message))
    child.text = _NOT_XML.sub("", str(problem))
    element.append(child)
    return element


def _case_element(path: str, name: str, seconds: float) -> ET.Element:
    # Jenkins takes what stands before the last dot for the package.
    parts = PurePath(os.path.splitext(path)[0]).parts  # noqa: PTH122  (`.` and `/` have no suffix)
    classname = ".".join(parts) or "gradcheck"
    return _element("testcase", classname=classname, name=name, time=_time(seconds))


def _element(tag: str, **attributes: str) -> ET.Element:
    return ET.Element(tag, _valid(attributes))


def _valid(attributes: dict[str, str]) -> dict[str, str]:
    return {key: _NOT_XML.sub("", value) for key, value in attributes.items()}


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
