"""What a worker is asked to do in a hunt: a check, or a task that is told by its tag."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gradcheck.run import check_with_tensorflow

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gradcheck.model import Case, Result

PROBE, RECORD, OPINION, CODE = "probe", "record", "opinion", "code"


def do(case: Case, *, allow: Collection[str], root: str) -> Result:
    """Do it."""
    from gradcheck.hunter.gradient_code import gradient_code
    from gradcheck.hunter.probe import probe
    from gradcheck.hunter.record_calls import record
    from gradcheck.hunter.second_opinion import second_opinion

    tasks: dict[str, Callable[..., Result]] = {
        PROBE: probe,
        RECORD: record,
        OPINION: second_opinion,
        CODE: gradient_code,
    }
    task = tasks.get(case.tags[0]) if case.tags else None
    if task is not None and case.target.text.startswith("task:"):
        return task(case, allow=allow, root=root)
    return check_with_tensorflow(case, allow=allow, root=root)


def answer_of(result: Result) -> dict[str, Any]:
    """What a task told: the message begins with it.

    Behind it a worker may have noted that somebody's code left something changed: without this
    `test_a_package_that_changes_what_it_finds` fails.
    """
    told, _ = json.JSONDecoder().raw_decode(result.message)
    return dict(told)
