"""Spec files into Cases, with all the problems of all the files at once."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck.model import Case, Location, SpecProblem
from gradcheck.spec.discover import SpecFile, discover
from gradcheck.spec.format import fields, keys
from gradcheck.spec.format.draft import Draft, merge
from gradcheck.spec.format.expand import expand
from gradcheck.spec.format.reader import CaseReader
from gradcheck.spec.yaml.located import read_yaml
from gradcheck.spec.yaml.nodes import ListNode, MapNode, Node
from gradcheck.spec.yaml.source import Source

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MAX_BYTES = 4 * 2**20
"""What a million values take, the most that are read, at four characters each. No spec written by a
person is larger; one that is should draw its values."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The cases that are right, and what is wrong with the others."""

    cases: tuple[Case, ...]
    problems: tuple[SpecProblem, ...]


def load(paths: Sequence[str], *, allow: Collection[str] = (), seed: int | None = None) -> Loaded:
    """Read files, folders and ids of cases; bad content and missing files are problems.

    `allow` are the packages that specs may import from, `seed` is that of the cases which
    give none of their own.
    """
    files, problems = discover(paths)
    cases: list[Case] = []
    for file in files:
        text, problem = _read(file.path)
        if problem is not None:
            problems.append(problem)
            continue
        source = Source(file.path, text)
        found = read_spec(source, allow, seed)
        problems += source.problems
        chosen, missing = _select(file, found)
        cases += chosen
        problems += missing
    return Loaded(tuple(cases), tuple(problems))


def read_spec(source: Source, allow: Collection[str], seed: int | None) -> tuple[Case, ...]:
    """The cases of one file that are right; its problems are noted in the source."""
    root = read_yaml(source)
    if root is None:
        return ()
    if not isinstance(root, MapNode):
        message = f"a spec is a mapping of keys such as `op` and `inputs`, not {root.kind}"
        source.problem(root, message)
        return ()
    before = source.count
    fields.unknown_keys(source, root, "a spec", [*keys.CASE_KEYS, "cases"])
    if "cases" in root.items:
        _check_shared(source, root)
    # What is wrong with the keys of the file is wrong with each of its cases.
    shared_bad = source.count != before or root.fault
    shared_bad |= any(node.bad for key, node in root.items.items() if key != "cases")
    drafts = [_draft(source, root, case, allow) for case in _case_nodes(source, root)]
    cases = expand(source, [draft for draft in drafts if draft is not None], seed)
    return () if shared_bad else cases


def _check_shared(source: Source, root: MapNode) -> None:
    """Note what a file with `cases` cannot say for all of them."""
    if "name" in root.keys:
        message = "`name` belongs to a case, not to a file with `cases`"
        source.problem(root.keys["name"], message, "move it into the case")
    given = [target for target in keys.TARGETS if target in root.items]
    if len(given) > 1:
        both = " and ".join(f"`{target}`" for target in given)
        place = max((root.keys[t] for t in given), key=lambda key: (key.line, key.column))
        source.problem(place, f"{both} stand side by side", "keep one of them")


def _case_nodes(source: Source, root: MapNode) -> list[Node | None]:
    """The items of `cases`; one None stands for a file that is a single case."""
    node = root.items.get("cases")
    if node is None:
        return [None]
    if not isinstance(node, ListNode) or not node.items:
        hint = "write `- inputs: …` below it for each case"
        source.problem(root.keys["cases"], "`cases` must be a list with at least one case", hint)
        return []
    return list(node.items)


def _draft(
    source: Source, root: MapNode, case: Node | None, allow: Collection[str]
) -> Draft | None:
    if case is not None and not isinstance(case, MapNode):
        message = f"a case is a mapping of keys such as `inputs`, not {fields.found(case)}"
        source.problem(case, message)
        return None
    before = source.count
    if case is not None:
        fields.unknown_keys(source, case, "a case", keys.CASE_KEYS)
    draft = CaseReader(source, case or root, merge(root, case), allow).read()
    if source.count != before or (case is not None and case.bad):
        return None
    return draft


def _read(path: str) -> tuple[str, SpecProblem | None]:
    """The text of a file, or what keeps it from being read."""
    here = Location(path, 1, 1)
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return "", SpecProblem(f"the file cannot be read: {error.strerror}", here)
    if len(data) > MAX_BYTES:
        hint = "give shapes and samples in place of values"
        return "", SpecProblem(f"the file is larger than {MAX_BYTES // 2**20} MiB", here, hint)
    try:
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(errors="replace")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        message = f"the file is not UTF-8: the byte 0x{data[error.start]:02x} does not belong here"
        return "", SpecProblem(message, Location(path, line, column), "save it as UTF-8")


def _select(file: SpecFile, cases: tuple[Case, ...]) -> tuple[list[Case], list[SpecProblem]]:
    """The cases that were asked for, in the file's order, and the names that none of them has."""
    if not file.selected:
        return list(cases), []
    ids = {case.id.partition("::")[2]: case for case in cases}
    wanted: set[str] = set()
    problems: list[SpecProblem] = []
    for name in file.selected:
        matching = [key for key, case in ids.items() if name in (key, case.name)]
        wanted.update(matching)
        if not matching:
            known = [*ids, *dict.fromkeys(case.name for case in cases)]
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean `{file.path}::{near[0]}`?" if near else ""
            message = f"there is no case `{name}` that could run in this file"
            problems.append(SpecProblem(message, Location(file.path, 1, 1), hint))
    return [case for key, case in ids.items() if key in wanted], problems
