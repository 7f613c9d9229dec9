"""The words of docs/findings.md: what it begins with, how versions and functions are called."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradcheck import ops
from gradcheck.model import TargetKind, Verdict

if TYPE_CHECKING:
    from gradcheck.model import Case, KnownBug

ALL = "all"
"""Of a finding that names no version: the suite expects it of every one that it runs on."""

INTRODUCTION = """\
# Gradients that TensorFlow gets wrong

{count} findings in TensorFlow {version}, on a processor. Each is a case in `specs/` with the
tag `known_bug`, which expects the verdict that it has: the run fails when one is mended and its
spec does not say so.

```
gradcheck run specs/ --tags known_bug     see them all
python -m tools.findings                  confirm them all, and write this page
```

What is right was found twice, and no part of the wrong gradient takes part in either:

1. **differences**: the numeric derivative of TensorFlow's own function, by calls of it alone,
   with an error bar ([numerics.md](numerics.md));
2. **gradient of the same**: TensorFlow's gradient of the same function, written another way (which
   is a way around the bug, too). The check is made of a graft, with the values of the first and
   the gradient of the second, and must pass: both agree on every element, within the error bars.

Where the op is declared, the closed formula that `gradcheck explain` prints is a third way.
Numbers are for the upstream that the case draws. `tests/ops/test_findings.py` runs all of this.
Versions are those that the spec names with `when` ([specs.md](specs.md#known-bugs)); `all`, where
it names none, are those from 2.16 that gradcheck runs on. [keras.md](keras.md) is about Keras'
layers, [suite.md](suite.md) about the suite.
"""

KINDS: tuple[tuple[frozenset[Verdict], str, str], ...] = (
    (
        frozenset({Verdict.MISMATCH, Verdict.NONFINITE, Verdict.INCONCLUSIVE}),
        "Wrong numbers",
        "The tape returns a gradient, and says nothing.",
    ),
    (
        frozenset({Verdict.DISCONNECTED}),
        "None for a gradient",
        "The output moves with the input, and the tape has no gradient for it.",
    ),
    (
        frozenset({Verdict.ERROR, Verdict.CRASHED, Verdict.TIMEOUT}),
        "No gradient, with an exception",
        "The function is called well; its gradient raises.",
    ),
)
"""By verdict: a heading, and a sentence under it."""

_WORDS = {"<": "before {}", "<=": "up to {}", ">=": "since {}", ">": "after {}", "==": "{} alone"}


def called(case: Case) -> str:
    """The function that the case is about: of an expression, the outermost that it calls."""
    text = case.target.text
    if case.target.kind is not TargetKind.EXPR:
        op = ops.find(text)
        return text if op is None else op.tf
    match = re.search(r"\b(?:tf|keras)(?:\.\w+)+(?=\()", text)
    return match[0] if match else text


def all_versions(bug: KnownBug) -> str:
    """The versions that have it, and what others have: since 2.17; before 2.17: error."""
    told = [versions(bug.versions)]
    for other in filter(None, bug.otherwise.split("; ")):
        verdict, _, when = other.partition(" when ")
        told.append(f"{versions(when)}: {verdict}")
    return "; ".join(told)


def versions(conditions: str) -> str:
    """`tensorflow<2.22` in words: before 2.22."""
    if not conditions:
        return ALL
    told = []
    for condition in conditions.split(" and "):
        match = re.fullmatch(r"(\w+)(<=|>=|==|!=|<|>)(.+)", condition)
        if match is None or match[2] not in _WORDS:
            told.append(condition)
            continue
        package = "" if match[1] == "tensorflow" else f"{match[1].capitalize()} "
        told.append(package + _WORDS[match[2]].format(match[3]))
    return ", ".join(told)
