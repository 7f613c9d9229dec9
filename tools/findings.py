"""`python -m tools.findings`: writes docs/findings.md, what TensorFlow gets wrong.

Every finding of `specs/` is run and confirmed (`finding_proof.py`): the numbers of the page are
those of the run, and nothing that is not confirmed is written.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.model import CheckKind, KnownBug, Mode, TargetKind, Verdict
from gradcheck.model.versions import installed_version
from gradcheck.report import numbers
from tools.finding_proof import Proof, findings, mended, prove
from tools.finding_words import INTRODUCTION, KINDS, all_versions, called, versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gradcheck.model import Array, Case, Comparison

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "findings.md"
TABLE = ROOT / "gradcheck" / "explainer" / "page" / "known_findings.json"
_MOST_ELEMENTS = 3
"""Of an input: the worst, which tell the fault; the case has them all."""
_LONGEST = 200
"""Characters of what an exception says."""


def page(proofs: Sequence[Proof], gone: Sequence[Case] = ()) -> str:
    """The whole page; ValueError where a finding is not confirmed."""
    proofs = [proof for proof in proofs if not proof.is_refused]
    for proof in proofs:
        if not (proof.is_shown and proof.is_confirmed):
            told = f"{proof.wrong.verdict}, and the graft is {proof.right.verdict}"
            raise ValueError(f"{proof.case.id}: not confirmed: it is {told}")
    version = installed_version("tensorflow") or ""
    lines = [INTRODUCTION.format(count=len(proofs), version=version), *_overview(proofs)]
    for verdicts, title, text in KINDS:
        found = [proof for proof in proofs if proof.wrong.verdict in verdicts]
        lines += ["", f"## {title}", "", text]
        lines += [line for proof in found for line in ("", *_section(proof))]
    lines += _mended(gone)
    return "\n".join([*lines, ""])


def _overview(proofs: Iterable[Proof]) -> list[str]:
    rows = ["| function | case | verdict | versions |", "| --- | --- | --- | --- |"]
    for proof in proofs:
        title, case = _title(proof.case), proof.case
        anchor = re.sub(r"[^\w\s-]", "", title.lower()).replace(" ", "-")
        bug = all_versions(case.bug or KnownBug())
        variant = _variant(case)
        link = f"[{case.name}](#{anchor})"
        rows.append(f"| `{called(case)}` | {link}, {variant} | {proof.wrong.verdict} | {bug} |")
    return rows


def _title(case: Case) -> str:
    return f"{called(case)}: {case.name}"


def _variant(case: Case) -> str:
    """How the case is run, as far as that is not what one supposes."""
    checks = [str(kind) for kind in case.checks if kind is not CheckKind.REVERSE]
    mode = [] if case.mode is Mode.EAGER else [str(case.mode)]
    return ", ".join([case.dtype, *mode, *checks])


def _section(proof: Proof) -> list[str]:
    case, bug = proof.case, proof.case.bug or KnownBug()
    target = case.target.text if case.target.kind is TargetKind.EXPR else called(case)
    given = f" with {', '.join(f'`{k}={v}`' for k, v in case.args.items())}" if case.args else ""
    lines = [f"### {_title(case)}", "", _sentence(case.reason), ""]
    lines += [f"- the case: `{case.id}`, {_variant(case)}"]
    lines += [f"- the function: `{target}`{given}"]
    lines += [f"- TensorFlow's gradient: {_symptom(proof)}"]
    lines += [f"- right, and the same function: `{bug.instead}`"]
    lines += [f"- versions: {all_versions(bug)}"]
    lines += [f"- reported: <{bug.issue}>"] if bug.issue else []
    if case.checks == (CheckKind.FORWARD,):
        return [*lines, "", "Forward mode is judged along directions: both ways agree on each."]
    formula = any(w is not None and w.formula is not None for w, _ in proof.inputs)
    header = ["element", "input", "TensorFlow gives", "differences", "gradient of the same"]
    header += ["closed formula"] if formula else []
    lines += ["", f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    for wrong, right in proof.inputs:
        lines += _rows(proof, wrong, right, formula=formula)
    return lines


def _sentence(text: str) -> str:
    return " ".join(text.split())


def _symptom(proof: Proof) -> str:
    verdict = proof.wrong.verdict
    if verdict is Verdict.ERROR:
        told = _sentence(proof.wrong.message).removeprefix("the forward pass is fine, but its ")
        return f"`{told[:_LONGEST]}`"
    if verdict is Verdict.DISCONNECTED:
        names = ", ".join(f"`{w.name}`" for w, _ in proof.inputs if w is not None)
        return f"`None` for {names}"
    shapes = [w.note for w, _ in proof.inputs if w is not None and not w.worst]
    if shapes:
        return _sentence(shapes[0]).partition(":")[0]
    return ", ".join(
        f"{w.failing} of {numbers.count(w.elements, 'element')} of `{w.name}` wrong"
        for w, _ in proof.inputs
        if w is not None
    )


def _rows(
    proof: Proof, wrong: Comparison | None, right: Comparison, *, formula: bool
) -> Iterable[str]:
    numeric, analytic = right.numeric, right.analytic
    if numeric is None or analytic is None:
        raise ValueError(f"{proof.case.id}: too large to show: give it fewer elements")
    value = proof.values[right.name]
    for index in _places(wrong, numeric):
        told = "raises" if proof.wrong.verdict is Verdict.ERROR else "None"
        if wrong is not None and wrong.analytic is not None:
            told = numbers.scalar(wrong.analytic[index])
        elif wrong is not None and wrong.verdict is Verdict.MISMATCH:
            told = "another shape"
        place = f"{right.name}{numbers.index(index) if index else ''}"
        cells = [f"`{place}`", numbers.scalar(value[index]), f"**{told}**"]
        cells += [numbers.scalar(_rounded(array, index)) for array in (numeric, analytic)]
        known = wrong.formula if wrong is not None else None
        cells += [] if not formula else [numbers.scalar(None if known is None else known[index])]
        yield f"| {' | '.join(cells)} |"


def _rounded(array: Array, index: tuple[int, ...]) -> complex:
    """An element, without what is rounding beside the largest: 1e-17 is 0 here."""
    least = 1e-9 * float(np.max(np.abs(array), initial=0.0))
    value = complex(array[index])
    parts = [0.0 if abs(part) <= least else part for part in (value.real, value.imag)]
    return complex(*parts) if np.iscomplexobj(array) else np.float64(parts[0])


def _places(wrong: Comparison | None, numeric: Array) -> list[tuple[int, ...]]:
    """The elements to show: those that are wrong, or else those that move the output most."""
    if wrong is not None and wrong.worst:
        return [element.index for element in wrong.worst[:_MOST_ELEMENTS]]
    order = np.argsort(-np.abs(numeric), axis=None, kind="stable")[:_MOST_ELEMENTS]
    return [tuple(int(i) for i in np.unravel_index(flat, numeric.shape)) for flat in order]


def _mended(gone: Sequence[Case]) -> list[str]:
    if not gone:
        return []
    rows = [
        f"- `{called(case)}`, `{case.id}`: {_sentence(case.bug.mended)} ({all_versions(case.bug)})"
        for case in gone
        if case.bug is not None
    ]
    return ["", "## Mended", "", "Older versions have these; this one does not.", "", *rows]


def table(cases: Iterable[Case]) -> str:
    """The findings of declared ops, for the pages of `gradcheck explain`: JSON by op."""
    from gradcheck import ops

    found: dict[str, list[dict[str, str]]] = {}
    for case in cases:
        bug, op = case.bug, ops.find(_named(case))
        if bug is None or op is None:
            continue
        told = {
            "case": case.id,
            "where": _variant(case),
            "reason": _sentence(bug.mended or case.reason),
            "versions": versions(bug.versions) if bug.versions else "",
            "instead": bug.instead,
        }
        found.setdefault(op.name, []).append(told)
    return json.dumps(dict(sorted(found.items())), indent=2, ensure_ascii=False) + "\n"


def _named(case: Case) -> str:
    """As the spec names it: an op of ours may be a part of a function of TensorFlow's."""
    return case.target.text if case.target.kind is TargetKind.OP else called(case)


def main() -> None:
    """Run all of them, and write the page and the table."""
    cases = findings(ROOT)
    proofs = []
    for number, case in enumerate(cases, start=1):
        print(f"{number} of {len(cases)}: {case.id}", flush=True)
        proofs.append(prove(case))
    gone = mended(ROOT)
    PAGE.write_text(page(proofs, gone), encoding="utf-8")
    TABLE.write_text(table([*cases, *gone]), encoding="utf-8")


if __name__ == "__main__":
    main()
