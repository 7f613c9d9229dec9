"""What the cases cover: which gradient functions, declared ops, other functions, derivatives."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gradcheck.model import TargetKind
from gradcheck.report import numbers
from gradcheck.report.coverage_totals import CoverageCount, called_gradients
from gradcheck.report.formats.html.markup import Html, joined, section, table, tag

if TYPE_CHECKING:
    from gradcheck.report.background import DeclaredOp
    from gradcheck.report.coverage_totals import Covered
    from gradcheck.report.formats.html.shown_run import ShownRun


def coverage_section(shown: ShownRun) -> Html:
    """What is checked, and which ops of the catalogue no case checks."""
    parts = [_derivatives(shown), *_gradients(shown)]
    told = any(r.case is not None and r.case.target.text for r in shown.results)
    if not told:
        note = "The report does not say which functions its cases check; newer ones do."
        parts.append(tag("p", note))
    elif shown.background.catalogue:
        parts += _catalogue(shown)
    if told:
        parts.append(_others(shown))
    return section("coverage", "What is covered", *parts)


def _derivatives(shown: ShownRun) -> Html:
    compared = [c for result in shown.results for c in result.comparisons]
    kinds = Counter(str(c.check) for c in compared)
    judged, elements = sum(c.judged for c in compared), sum(c.elements for c in compared)
    derivatives = ", ".join(f"{number} {kind}" for kind, number in kinds.items()) or "none"
    return tag(
        "p",
        f"Derivatives: {derivatives}. Of {numbers.count(elements, 'element')} in all gradients "
        f"{judged} were judged one by one.",
    )


def _gradients(shown: ShownRun) -> list[Html]:
    """The gradient functions that were called; nothing where the report does not tell."""
    if all(result.called is None for result in shown.results):
        return []
    called = called_gradients(shown.results)
    count = CoverageCount.of(called)
    summary = (
        f"{numbers.count(count.exercised, 'gradient function')} of TensorFlow "
        f"{'was' if count.exercised == 1 else 'were'} called on the ways back that were judged: "
        f"{count.verified} verified, {count.known_wrong} known to be wrong."
    )
    told = tag("p", tag("b", summary), " ", tag("code", "gradcheck coverage"), " has the others.")
    if not called:
        return [told]
    rows = [(one.name, _standing(one), _dtypes(one), str(len(one.cases))) for one in called]
    heads = ("gradient of", "is", "in", "cases")
    listing = table(heads, rows, "Gradient functions that were called")
    folded = tag("summary", f"Gradient functions ({len(called)})")
    return [told, tag("details", folded, listing)]


def _standing(one: Covered) -> str:
    words = [("verified", one.verified), ("known wrong", bool(one.known_wrong))]
    return ", ".join(word for word, is_so in words if is_so) or "called"


def _dtypes(one: Covered) -> str:
    return ", ".join(sorted({dtype for call in one.calls for dtype in call.dtypes}))


def _catalogue(shown: ShownRun) -> list[Html]:
    """The declared ops: how many have cases, and which have none."""
    own: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for result in shown.results:
        direct = result.case is not None and result.case.target.kind is TargetKind.OP
        (own if direct else inside).update(shown.ops_in(result))
    catalogue = shown.background.catalogue
    checked = [op for op in catalogue if own[op.name]]
    missing = [op for op in catalogue if not own[op.name]]
    summary = f"{len(checked)} of {len(catalogue)} declared ops have cases of their own."
    parts = [tag("p", tag("b", summary))]
    if missing:
        parts.append(_missing(missing, inside))
    if checked:
        rows = [(op.name, op.family, str(own[op.name]), str(inside[op.name])) for op in checked]
        listing = table(
            ("op", "family", "cases", "in expressions"), rows, "Declared ops with cases"
        )
        folded = tag("summary", f"Ops with cases ({len(checked)})")
        parts.append(tag("details", folded, listing))
    return parts


def _missing(missing: list[DeclaredOp], inside: Counter[str]) -> Html:
    families: dict[str, list[str]] = {}
    for op in missing:
        text = f"{op.name} (in expressions)" if inside[op.name] else op.name
        families.setdefault(op.family, []).append(text)
    rows = [(family, ", ".join(names)) for family, names in sorted(families.items())]
    listing = table(("family", "ops"), rows, "Declared ops that no case checks", "texts")
    folded = tag("summary", f"Ops that no case checks ({len(missing)})")
    return tag("details", folded, listing, open=len(missing) <= 20)


def _others(shown: ShownRun) -> Html:
    """Functions that are checked and not declared: expressions, the user's own, layers."""
    counts: Counter[tuple[str, str]] = Counter()
    declared = {word for op in shown.background.catalogue for word in op.spellings}
    for result in shown.results:
        target = result.case.target if result.case else None
        if target is not None and target.text and target.text not in declared:
            counts[str(target.kind), " ".join(target.text.split())] += 1
    if not counts:
        return Html("")
    rows = [(tag("code", text), kind, str(n)) for (kind, text), n in sorted(counts.items())[:500]]
    listing = table(("function", "named by", "cases"), rows, "Functions that are not declared")
    kinds = Counter(kind for kind, _ in counts)
    told = joined([", ".join(f"{number} by {kind}" for kind, number in kinds.items())])
    folded = tag("summary", f"Functions besides the declared ops ({len(counts)}: {told})")
    return tag("details", folded, listing)
