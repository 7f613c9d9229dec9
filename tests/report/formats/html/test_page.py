from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.model import Comparison, Element, Plan, Result, Shard, Verdict
from gradcheck.report import FORMATS
from gradcheck.report.formats.html.packing import CASES_IN_A_PACK
from tests.report import examples
from tests.report.formats.html.pages import earlier, page, page_text, parse, unpacked

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.report.formats.html.pages import Node


@pytest.fixture(autouse=True)
def _always_the_same_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def everything() -> list[Result]:
    return [*examples.all_results(), examples.pictured(), examples.pictured_kink()]


def without_assets(text: str) -> str:
    """The page without what is inlined, which has files of its own."""
    text = re.sub(r"<style>.*?</style>", "<style></style>", text, flags=re.DOTALL)
    text = re.sub(r"<script>.*?</script>", "<script></script>", text, flags=re.DOTALL)
    text = re.sub(r"sha256-[^']*", "sha256-", text)
    # (What it packs is told apart, and depends on the version of zlib.)
    text = re.sub(r'(id="pack\d+">)[^<]*', r"\1", text)
    return text.replace("><", ">\n<")


def test_a_small_report(snapshot: SnapshotAssertion) -> None:
    text = page_text([examples.passing(), examples.mismatch(), examples.kink()])
    assert without_assets(text) == snapshot
    assert unpacked(text) == snapshot


def test_it_is_well_formed() -> None:
    text = page_text(everything(), earlier(everything()), problems=(examples.PROBLEM,))
    assert text.startswith('<!doctype html>\n<html lang="en">')
    assert text.isascii()
    parse(text)
    for details in unpacked(text):
        parse(details)


def test_every_place_is_there_once_and_every_link_leads_somewhere() -> None:
    tree = page(everything(), earlier([examples.passing()]))
    places = [place for node in tree.walk() if (place := node.attributes.get("id"))]
    assert len(places) == len(set(places))
    links = {node.attributes["href"] for node in tree.all("a")}
    assert links
    assert links <= {f"#{place}" for place in places}
    named = [label for n in tree.walk() if (label := n.attributes.get("aria-labelledby"))]
    assert set(named) <= set(places)


def test_it_needs_no_network() -> None:
    text = page_text(everything())
    tree = parse(text)
    for node in tree.walk():
        for name in ("src", "srcset", "action", "data", "poster", "background", "ping"):
            assert name not in node.attributes, node
        assert (node.attributes.get("href") or "#").startswith("#")
        assert node.name not in {"link", "iframe", "object", "embed", "base", "img"}
    assert not re.search(r"url\(|@import|https?://", text)


def headings(tree: Node) -> list[int]:
    return [int(n.name[1]) for n in tree.walk() if re.fullmatch("h[1-6]", n.name)]


def test_headings_go_down_step_by_step() -> None:
    text = page_text(everything(), earlier([examples.passing()]))
    levels = headings(parse(text))
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for details in unpacked(text):
        assert set(headings(parse(details))) <= {3}


def test_it_can_be_read_aloud() -> None:
    text = page_text(everything(), earlier(everything()))
    tree = parse(text + "".join(unpacked(text)))
    for svg in tree.all("svg"):
        assert svg.attributes["role"] == "img"
        assert svg.attributes["aria-label"]
    for table in tree.all("table"):
        assert table.all("caption")
        assert all("scope" in th.attributes for th in table.all("th"))
    for control in (*tree.all("input"), *tree.all("select")):
        holders = [label for label in tree.all("label") if control in label.walk()]
        assert holders, control
    assert [n.attributes["aria-label"] for n in tree.all("nav")] == ["Sections"]
    assert len(tree.all("main")) == 1
    assert tree.by_id("count").attributes["role"] == "status"


def test_the_policy_allows_its_own_script_and_style_alone() -> None:
    tree = page([examples.mismatch()])
    (policy,) = [
        node.attributes["content"] or ""
        for node in tree.all("meta")
        if node.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    for name, kind in (("style", "style-src"), ("script", "script-src")):
        (inlined,) = [node for node in tree.all(name) if "type" not in node.attributes]
        digest = base64.b64encode(hashlib.sha256(inlined.text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


HOSTILE = (
    "</td></script><script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "<!--", "]]>", "&lt;b&gt;", "javascript:alert(1)", "</title></style><svg onload=alert(1)>",
)  # fmt: skip


def hostile_results(text: str) -> list[Result]:
    """The text wherever somebody else may write."""

    def spoilt(comparison: Comparison) -> Comparison:
        diagnosis = comparison.diagnosis
        return replace(
            comparison,
            name=text,
            note=text,
            dtype=text,
            diagnosis=diagnosis and replace(diagnosis, cause=text, text=text),
            places=tuple(replace(p, path=text, function=text) for p in comparison.places),
        )

    results = []
    for number, result in enumerate(everything()):
        case = result.case
        assert case is not None
        where = replace(case.location, path=text)
        own = f"{text}/a.yaml::{text}{number}"
        target = replace(case.target, text=text)
        case = replace(
            case, id=own, path=text, reason=text, dtype=text, tags=(text,), location=where,
            target=target,
        )  # fmt: skip
        told = tuple(spoilt(c) for c in result.comparisons)
        results.append(replace(result, id=own, case=case, message=text, comparisons=told))
    return results


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_becomes_markup(hostile: str) -> None:
    results = hostile_results(hostile)
    problem = replace(examples.PROBLEM, message=hostile, hint=hostile, source=hostile)
    past = earlier(results[:5], hostile, tensorflow=hostile)
    text = page_text(
        results, past, problems=(problem,), environment={"tensorflow": hostile, "allow": hostile}
    )
    plain = page_text(everything(), earlier(everything()[:5]), problems=(examples.PROBLEM,))
    known = {node.name for node in parse(plain + "".join(unpacked(plain))).walk()}
    tree = parse(text + "".join(unpacked(text)))
    assert {node.name for node in tree.walk()} <= known
    assert len([n for n in tree.all("script") if "type" not in n.attributes]) == 1
    for node in tree.walk():
        assert not any(name.startswith("on") for name in node.attributes)
        assert (node.attributes.get("href") or "#").startswith("#")
    # And it can be read as it is.
    assert hostile in tree.text


def test_no_line_is_a_command() -> None:
    text = page_text(hostile_results("::error::x"))
    assert not re.search(r"^\s*::", text, flags=re.MULTILINE)
    assert "##[" not in text


def test_the_bytes_are_the_same_again() -> None:
    assert page_text(everything()) == page_text(everything())
    assert "2023-11-14 22:13 UTC" in page_text([])


def test_a_date_that_is_none_is_today(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("", "yesterday", "9" * 30):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", wrong)
        assert "written <time" in page_text([])


def test_the_headline_says_how_it_ended() -> None:
    def headline(results: list[Result]) -> str:
        return page(results).one("h1").text

    assert headline([]) == "Nothing was run"
    assert headline([examples.passing()]) == "The case is as expected"
    assert headline([examples.passing(), examples.known_bug()]) == "All 2 cases are as expected"
    assert headline([examples.passing(), examples.error()]) == "1 of 2 cases failed"
    with_problem = page_text([examples.passing()], problems=(examples.PROBLEM,))
    assert (
        parse(with_problem).one("title").text.startswith("The case is as expected; 1 spec problem")
    )
    assert parse(with_problem).one("header").attributes["class"] == "banner failed"


def test_a_shard_and_an_interruption_are_told() -> None:
    import io

    from gradcheck.report import make_reporter

    results = [examples.passing()]
    whole = examples.plan_of([*results, examples.error()])
    plan = Plan(whole.cases, (), {}, Shard(2, 5, "cut", (3, 4)))
    stream = io.StringIO()
    reporter = make_reporter("html", stream)
    reporter.start(plan)
    reporter.result(results[0])
    reporter.finish(examples.summary_of(results, interrupted=True))
    header = parse(stream.getvalue()).one("header").text
    assert "interrupted after 1 of 2" in header
    assert "shard 2 of 5" in header


def test_failures_stand_in_the_page_and_passes_are_packed() -> None:
    text = page_text([examples.passing(), examples.mismatch()])
    failure = parse(text).by_id("f1")
    assert "1.0005 times what it should be" in failure.text
    assert "layers/products.py:31" in failure.text
    assert "gradcheck run 'specs/linalg/matmul.yaml::transposed[float32,xla]'" in failure.text
    passing, failing = unpacked(text)
    assert "gradcheck run specs/linalg/matmul.yaml::plain" in passing
    assert failing == ""


def test_many_failures_are_named_and_packed() -> None:
    failures = [
        replace(examples.mismatch(), id=f"a.yaml::{number}", case=None) for number in range(60)
    ]
    text = page_text(failures)
    tree = parse(text)
    assert len(tree.all("details", "failure")) == 40
    assert "20 more" in tree.by_id("failures").text
    assert sum(bool(details) for details in unpacked(text)) == 20


def many(count: int) -> list[Result]:
    """Results as those of small ops are, with all their pictures."""
    rng = np.random.default_rng(0)
    results = []
    for number in range(count):
        case_id = f"specs/ops/file{number // 14}.yaml::matmul-3x4-4x5-{number}[float32,graph]"
        comparisons = []
        for name, shape in (("a", (3, 4)), ("b", (4, 5))):
            numeric = rng.normal(size=shape)
            value, analytic, other = (float(v) for v in rng.normal(size=3))
            element = Element((0, 1), value, analytic, other, 1e-12, formula=0.5)
            told = examples.compared(name, shape=shape, worst=(element,), analytic=numeric)
            close_up = examples.close_up((0, 1))
            errors = tuple(float(f"{v:.2g}") for v in rng.lognormal(size=len(close_up.steps)))
            signs = rng.choice(list("+-0"), (12, numeric.size), p=[0.2, 0.2, 0.6])
            told = replace(
                told,
                bound=np.full(shape, 1e-12),
                close_up=replace(close_up, errors=errors),
                jacobian=tuple("".join(row) for row in signs),
            )
            comparisons.append(told)
        case = examples.case(case_id, dtype="float32")
        results.append(Result(case_id, Verdict.PASS, tuple(comparisons), seconds=0.01, case=case))
    return results


def test_three_hundred_cases_take_less_than_a_megabyte() -> None:
    text = page_text(many(300))
    assert all("<svg" in details for details in unpacked(text))
    assert len(text) < 1_000_000


def test_packs_hold_the_cases_in_their_order() -> None:
    results = many(CASES_IN_A_PACK + 3)
    found = unpacked(page_text(results))
    assert len(found) == len(results)
    assert all(result.id in details for result, details in zip(results, found, strict=True))


def test_it_is_a_format() -> None:
    assert "html" in FORMATS
