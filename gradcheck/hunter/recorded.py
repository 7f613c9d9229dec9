"""Calls that somebody has recorded, to begin a hunt with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import UsageError
from gradcheck.hunter.drafts import KEYS, Draft, target_of
from gradcheck.spec.yaml.located import read_yaml
from gradcheck.spec.yaml.nodes import ListNode, MapNode, Node
from gradcheck.spec.yaml.source import Source
from gradcheck.start.trial import read_draft

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def read_calls(path: Path, allow: Sequence[str]) -> dict[str, list[Draft]]:
    """The calls of a file by what they call; UsageError with what is wrong in it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    source = Source(str(path), text)
    root = read_yaml(source)
    if source.problems:
        raise UsageError(str(source.problems[0]))
    if not isinstance(root, ListNode):
        raise UsageError(f"{path} is no list of calls: write - {{op: matmul, inputs: …}} for each")
    found: dict[str, list[Draft]] = {}
    for number, node in enumerate(root.items, 1):
        draft = _plain(node)
        if not isinstance(draft, dict) or not any(key in draft for key in KEYS):
            raise UsageError(f"{path}: call {number} has no `op`, `function` or `layer`")
        case = read_draft(draft, str(path), allow)
        if isinstance(case, str):
            raise UsageError(f"{path}: call {number}: {case}")
        draft["inputs"] = _with_entries(draft["inputs"])
        found.setdefault(target_of(draft), []).append(draft)
    return found


def _plain(node: Node) -> Any:
    if isinstance(node, MapNode):
        return {key: _plain(value) for key, value in node.items.items()}
    if isinstance(node, ListNode):
        return [_plain(item) for item in node.items]
    return node.value  # type: ignore[attr-defined]


def _with_entries(inputs: Any) -> Any:
    """Every tensor as a mapping: a bare list is a shape, a bare number a value."""

    def entry(value: Any) -> Any:
        if isinstance(value, list):
            return {"shape": value}
        return value if isinstance(value, dict) else {"values": value}

    if isinstance(inputs, list):
        return [entry(value) for value in inputs]
    return {name: entry(value) for name, value in inputs.items()}
