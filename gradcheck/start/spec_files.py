"""The files that are written: a spec for each module, with what does not run as comments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.model.findings import FoundKind
from gradcheck.start.spec_text import case_lines, comment, commented_out, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from gradcheck.start.trial import Tried

SET_ASIDE = ".todo"
"""Ends the name of a file in which nothing runs yet: no run takes it for a spec."""


@dataclass(frozen=True, slots=True)
class SpecDraft:
    """A file to write."""

    path: Path
    text: str
    cases: int
    left_out: int


def single_spec(tried: Tried) -> str:
    """A spec of one case."""
    lines = case_lines(_filled(tried))
    if tried.works:
        return "\n".join(lines) + "\n"
    told = f"This does not run yet: {tried.reason}. Give it inputs that it takes."
    return "\n".join([*comment(told), *lines]) + "\n"


def is_kept(tried: Tried) -> bool:
    """Whether the spec is to run.

    A gradient of which nothing can be judged is told where somebody wrote it, and else left out:
    many a layer rounds or counts, and is right to have none.
    """
    if tried.result is None:
        return False
    if tried.found.kind is FoundKind.CUSTOM_GRADIENT:
        return True
    return tried.result.anything_judged


def why_left_out(tried: Tried) -> str:
    """In one sentence, for what is not kept."""
    if tried.result is None:
        return tried.reason
    told = " ".join(tried.result.message.split()) or tried.result.meaning
    return f"it runs, but there is no gradient to judge ({tried.result.verdict}): {told}"


def module_specs(tried: Sequence[Tried], folder: Path) -> list[SpecDraft]:
    """A file for each module, in the order of the modules."""
    modules: dict[str, list[Tried]] = {}
    for thing in tried:
        modules.setdefault(thing.found.target.partition(":")[0], []).append(thing)
    return [_of_module(module, things, folder) for module, things in modules.items()]


def _of_module(module: str, things: Sequence[Tried], folder: Path) -> SpecDraft:
    kept = [thing for thing in things if is_kept(thing)]
    lines = [
        f"# Gradients of {module}, found by `gradcheck init`: this file is yours to change.",
        "cases:",
    ]
    for thing in things:
        found = thing.found
        about = f"{found.place}, {_article(found.kind)}" if found.place else _article(found.kind)
        if thing in kept:
            body = [*comment(about), *listed(thing.draft)]
        else:
            # (The reason may be anybody's text: as a comment it cannot become part of the spec.)
            told = f"{about}, left out: {why_left_out(thing)}"
            body = [*comment(told), *commented_out(listed(_filled(thing)))]
        lines += ["", *(f"  {line}" for line in body)]
    path = folder.joinpath(*module.split(".")[:-1], f"{module.rpartition('.')[2]}.yaml")
    if not kept:
        path = path.with_name(path.name + SET_ASIDE)
    text = "\n".join(lines) + "\n"
    return SpecDraft(
        path, text.replace("cases:\n\n", "cases:\n", 1), len(kept), len(things) - len(kept)
    )


def _filled(tried: Tried) -> dict[str, object]:
    """The draft, with inputs to be changed where nothing could even be tried."""
    return tried.draft if "inputs" in tried.draft else {**tried.draft, "inputs": {"x": [3, 4]}}


def _article(kind: FoundKind) -> str:
    return f"a {kind}"


def targets_of(texts: Iterable[str]) -> set[str]:
    """The functions and layers that specs name already, those in comments too."""
    named = re.compile(r"""\b(?:function|layer):\s*["']?([\w.]+:[\w.]+)""")
    return {match for text in texts for match in named.findall(text)}
