"""Writes the list of public functions and layers, and which of them a tape can go back through.

Run by hand on a TensorFlow upgrade, after `tools.allowlist`; it takes some five minutes:

    python -m tools.differentiable

Each function on the allow-list is called as `gradcheck new` would call it, at shapes and values
that are likely to fit, until a check of its gradient comes to a verdict. Its mark is `+` if the
tape then had a gradient for one of its inputs, `-` if it had none, or the function has no floats to
differentiate, and `?` if no call succeeded: of that nobody knows, until a spec has one that does.
Names of one function stand in one line, the deepest first.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcheck.spec.expression import allowlist
from gradcheck.start.named_target import find_named
from gradcheck.start.trial import Tried, try_all

if TYPE_CHECKING:
    from gradcheck.model.findings import Found

TARGET = Path(__file__).parents[1] / "gradcheck" / "spec" / "expression" / "public_functions.txt"

LONGEST = 3600.0
"""Seconds after which what is open counts as not known."""


def main() -> None:
    """Try everything, and write the list."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    names = [
        name
        for name in sorted(allowlist.ALLOWED | allowlist.LAYERS)
        if not name.startswith(("tf.raw_ops.", "tf.keras."))
    ]
    groups = _same(names)
    found: list[tuple[Found, str]] = []
    for group in groups:
        named = find_named(group[0], allow=(), root=".")
        found.append((named.found, named.key))
    until = time.monotonic() + LONGEST
    tried = try_all(found, allow=(), root=".", until=until, progress=_tell)
    by_name = {one.found.target: one for one in tried}
    marks = {group[0]: _mark(by_name[group[0]]) for group in groups}
    lines = [f"{marks[group[0]]} {' '.join(group)}\n" for group in sorted(groups)]
    TARGET.write_text("".join(lines), encoding="ascii")
    for one in tried:
        if marks[one.found.target] != "+":
            told = one.reason or (one.result and str(one.result.verdict))
            print(f"{marks[one.found.target]} {one.found.target}: {told}")
    told = ", ".join(f"{mark} {count}" for mark, count in Counter(marks.values()).items())
    print(f"{len(groups)} functions, {len(names)} names: {told}")


def _same(names: list[str]) -> list[list[str]]:
    """The names, those of one object together: the deepest module first, which says most."""
    groups: dict[Any, list[str]] = defaultdict(list)
    for name in names:
        groups[id(_resolved(name))].append(name)
    return [sorted(group, key=lambda name: (-name.count("."), name)) for group in groups.values()]


def _resolved(name: str) -> Any:
    root, *rest = name.split(".")
    value: Any = importlib.import_module({"tf": "tensorflow"}.get(root, root))
    for part in rest:
        value = getattr(value, part)
    return value


def _mark(one: Tried) -> str:
    if one.result is None:
        return "-" if any(words in one.reason for words in _NO_FLOATS) else "?"
    return "+" if any(c.analytic is not None for c in one.result.comparisons) else "-"


_NO_FLOATS = ("returns no floating-point or complex tensor", "it takes no tensor")
"""How a check says that there is nothing to differentiate."""


def _tell(done: int, total: int) -> None:
    print(f"{done} of {total}", file=sys.stderr)


if __name__ == "__main__":
    main()
