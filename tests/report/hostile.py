"""Results whose every text is an attack on a format, and a great many results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.model import CodePlace, Diagnosis, Location, SpecProblem, Verdict
from tests.report import examples

if TYPE_CHECKING:
    from gradcheck.model import Result

TEXTS = (
    "a | b \\| c \\\\| d",
    "<script>alert(1)</script> </details> <!-- <b>",
    "@octocat, see #12, GH-3, o/r#4 and https://example.org www.example.org :tada: $x^2$",
    "``` ` ~~~ ```` ``",
    "]]> &amp; \x00\x1b[31m \ud800 \ufffe",
    "first\nsecond\r\n\r\n# title\n- item\n| a | b |\n| --- | --- |\n::error::x\n##[error]y",
    "[text](https://example.org) ![x](y) {0} {1} *b* _i_ **B** \\",
    "# title",
    "- item",
    "1. item",
    "===",
    "ünïcødé ∂ 雪 🎉 \u202e \u2028 x",
    "",
    " ",
    "x" * 5000,
)


def results() -> list[Result]:
    """Every verdict with every text in every place."""
    found = []
    for number, text in enumerate(TEXTS):
        for which, result in enumerate(examples.all_results()):
            found.append(_with_text(result, text, f"{text}::{number}.{which}"))
    return found


def problems() -> tuple[SpecProblem, ...]:
    return tuple(SpecProblem(t, Location(t, 0, 0), t, t, 0) for t in TEXTS)


def many(number: int, verdict: Verdict = Verdict.MISMATCH) -> list[Result]:
    """A run with so many failures, of as many spec files as it has hundreds."""
    wrong = examples.mismatch()
    found = []
    for n in range(number):
        case_id = f"specs/f{n // 100}.yaml::case {n}[float32]"
        found.append(replace(wrong, id=case_id, verdict=verdict, case=examples.case(case_id)))
    return found


def _with_text(result: Result, text: str, name: str) -> Result:
    case = result.case
    if case is not None:
        where = Location(text, 3, 4)
        case = replace(case, id=name, path=text, name=text, location=where, reason=text)
    comparisons = tuple(
        replace(
            c,
            name=text,
            note=text,
            dtype=text,
            diagnosis=Diagnosis(text, text),
            places=(CodePlace(text, 1, text), CodePlace(f"/{text}", 0, text)),
        )
        for c in result.comparisons
    )
    return replace(result, id=name, message=text, case=case, comparisons=comparisons)
