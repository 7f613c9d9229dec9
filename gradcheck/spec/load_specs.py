"""Spec files into Cases, with all the problems of all the files at once."""

from __future__ import annotations

import itertools
import os
import stat
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gradcheck.errors import nearest
from gradcheck.model import Case, Location, SpecProblem
from gradcheck.spec.discover import SpecFile, discover
from gradcheck.spec.format import fields, keys
from gradcheck.spec.format.draft import Draft, merge
from gradcheck.spec.format.expand import MAX_CASES, expand
from gradcheck.spec.format.reader import CaseReader
from gradcheck.spec.format.run_axes import NO_AXES, RunAxes, shorter_ids
from gradcheck.spec.yaml.located import read_yaml
from gradcheck.spec.yaml.nodes import ListNode, MapNode, Node
from gradcheck.spec.yaml.source import MOST_OF_A_KIND, Source

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MAX_BYTES = 4 * 2**20
"""What a million values take, the most that are read, at four characters each. No spec written by a
person is larger; one that is should draw its values."""
MAX_PARTS = 4_000_000
"""Entries of all cases of a file: each takes some microseconds to read."""
MOST_BAD_CASES = 200
"""Cases of a file that are wrong, after which it is read no further: to look for what may have been
meant takes hundredths of a second each."""

MOST_NAMED = 12
"""Cases of a file that a message lists."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The cases that are right, and what is wrong with the others."""

    cases: tuple[Case, ...]
    problems: tuple[SpecProblem, ...]


def load(
    paths: Sequence[str],
    *,
    allow: Collection[str] = (),
    seed: int | None = None,
    budget: float | None = None,
    max_cases: int = MAX_CASES,
    axes: RunAxes = NO_AXES,
) -> Loaded:
    """Read files, folders and ids of cases; bad content and missing files are problems.

    `allow` are the packages that specs may import from, `seed` and `budget` those of the cases
    which give none of their own, `max_cases` what all files together may expand to, `axes` the
    modes and checks of the run, in place of those of the specs.
    """
    files, problems = discover(paths)
    cases: list[Case] = []
    for file in files:
        text, problem = _read(file.path)
        if problem is not None:
            problems.append(problem)
            continue
        source = Source(file.path, text)
        found = read_spec(source, allow, seed, max_cases, axes)
        max_cases -= len(found)
        problems += source.problems
        chosen, missing = _select(file, found)
        cases += chosen if budget is None else [_with_budget(case, budget) for case in chosen]
        problems += missing
    return Loaded(tuple(cases), tuple(problems))


def read_spec(
    source: Source,
    allow: Collection[str],
    seed: int | None,
    room: int = MAX_CASES,
    axes: RunAxes = NO_AXES,
) -> tuple[Case, ...]:
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
    cases = expand(source, _drafts(source, root, allow), seed, room, axes)
    return () if shared_bad else cases


def _drafts(source: Source, root: MapNode, allow: Collection[str]) -> list[Draft]:
    """The cases that are right; after many that are not, the rest is not read."""
    nodes, drafts = _case_nodes(source, root), []
    shared = sum(node.parts + 1 for key, node in root.items.items() if key != "cases")
    parts = sum(shared + (0 if case is None else case.parts + 1) for case in nodes)
    if parts > MAX_PARTS:
        message = (
            f"the {len(nodes):,} cases hold {parts:,} entries, what they share counted for each"
        )
        hint = f"at most {MAX_PARTS:,} are read: put fewer cases, or fewer inputs, into a file"
        source.problem(root.keys["cases"], message, hint)
        return []
    for number, case in enumerate(nodes):
        draft = _draft(source, root, case, allow)
        if draft is not None:
            drafts.append(draft)
        elif number + 1 - len(drafts) == MOST_BAD_CASES and number + 1 < len(nodes):
            left = len(nodes) - number - 1
            message = f"{MOST_BAD_CASES} cases are wrong: the other {left:,} are not read"
            source.problem(root.keys["cases"], message, "mend those, and look again")
            break
    return drafts


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
        # (A pipe among the files of a folder would keep us waiting.)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return "", SpecProblem("it is no file that could be read", here)
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


def _with_budget(case: Case, budget: float) -> Case:
    return case if case.budget is not None else replace(case, budget=budget)


def _select(file: SpecFile, cases: tuple[Case, ...]) -> tuple[list[Case], list[SpecProblem]]:
    """The cases that were asked for, in the file's order, and the names that none of them has."""
    if not file.selected:
        return list(cases), []
    ids = {case.id.removeprefix(f"{file.path}::"): case for case in cases}
    named: dict[str, list[str]] = {}
    for key, case in ids.items():
        for name in {key, case.name, *shorter_ids(key)}:
            named.setdefault(name, []).append(key)
    wanted: set[str] = set()
    problems: list[SpecProblem] = []
    for name in file.selected:
        wanted.update(named.get(name, ()))
        if name not in named:
            # (Looking for what was meant takes time by the number of cases.)
            guess = len(problems) < MOST_OF_A_KIND
            near = nearest(name, named) if guess else ""
            hint = f"did you mean `{file.path}::{near}`? " if near else ""
            hint = f"{hint}{_listed(ids)}"
            message = f"there is no case `{name}` that could run in this file"
            problems.append(SpecProblem(message, Location(file.path, 1, 1), hint))
    return [case for key, case in ids.items() if key in wanted], problems


def _listed(ids: Mapping[str, Case]) -> str:
    """The cases that there are, as far as they fit into a message."""
    if not ids:
        return "none of its cases can run"
    shown = ", ".join(itertools.islice(ids, MOST_NAMED))
    more = f" and {len(ids) - MOST_NAMED:,} more" if len(ids) > MOST_NAMED else ""
    return f"there {'is' if len(ids) == 1 else 'are'} {shown}{more}"
