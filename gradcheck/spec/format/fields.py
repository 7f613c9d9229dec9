"""Single fields: a YAML value into a text, a number, a choice, or a problem that says what fits.

Each reader notes a problem and answers None where the value will not do: whoever asks goes on, so
that all problems of a file are found at once.
"""

from __future__ import annotations

import keyword
import math
import re
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from gradcheck.errors import nearest
from gradcheck.spec.expression.translator import MOST_LISTED
from gradcheck.spec.format.keys import IDENTIFIER, PLAIN_LETTERS
from gradcheck.spec.yaml.nodes import ListNode, MapNode, Node, ScalarNode
from gradcheck.spec.yaml.source import Source, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

T = TypeVar("T")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question with the nearest known name; empty where none is near."""
    near = nearest(name, known)
    return f"did you mean `{near}`?" if near else ""


def listed(names: Collection[str]) -> str:
    """Names for a message: the first, where there are many."""
    first = ", ".join(islice(names, MOST_LISTED))
    more = len(names) - MOST_LISTED
    return f"{first} and {more:,} more" if more > 0 else first


def found(node: Node) -> str:
    """What stands there, for a message: the value itself, or its kind."""
    if isinstance(node, ScalarNode):
        return shown(node.text) if node.text else "nothing"
    return node.kind


def text(source: Source, node: Node, what: str, pattern: str = "", allowed: str = "") -> str | None:
    """A text that is not empty, and matches the pattern where there is one."""
    if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
        quotable = isinstance(node, ScalarNode) and node.value is not None
        hint = "put it in quotes" if quotable else ""
        source.problem(node, f"{what} must be a text, not {found(node)}", hint)
        return None
    if not node.value.strip():
        source.problem(node, f"{what} is empty")
        return None
    if not all(c.isprintable() or c in "\n\t" for c in node.value):
        source.problem(node, f"{what} holds a control character: {found(node)}")
        return None
    if pattern and not re.fullmatch(pattern, node.value):
        source.problem(node, f"{what} cannot be {found(node)}", allowed)
        return None
    return node.value


def boolean(source: Source, node: Node, what: str) -> bool | None:
    """`true` or `false`, and none of YAML's older words for them."""
    if isinstance(node, ScalarNode) and isinstance(node.value, bool):
        return node.value
    word = node.text.lower() if isinstance(node, ScalarNode) else ""
    meant = {"on": "true", "yes": "true", "y": "true", "off": "false", "no": "false", "n": "false"}
    hint = "`on`, `yes`, `off` and `no` are plain texts here" if word in meant else ""
    if word in meant and isinstance(node, ScalarNode) and node.style is None:
        hint = f"write {meant[word]}: {hint}"
    source.problem(node, f"{what} must be true or false, not {found(node)}", hint)
    return None


def number(source: Source, node: Node, what: str) -> float | None:
    """A finite number."""
    if isinstance(node, ScalarNode) and type(node.value) in (int, float):
        try:
            value = float(node.value)  # type: ignore[arg-type]  # the line above knows
        except OverflowError:
            value = math.inf
        if math.isfinite(value):
            return value
    source.problem(node, f"{what} must be a number, not {found(node)}")
    return None


def whole(source: Source, node: Node, what: str, low: int, high: int) -> int | None:
    """A whole number from `low` to `high`."""
    if not isinstance(node, ScalarNode) or type(node.value) is not int:
        source.problem(node, f"{what} must be a whole number, not {found(node)}")
        return None
    if not low <= node.value <= high:
        limit = f"at least {low}" if node.value < low else f"at most {high}"
        source.problem(node, f"{what} must be {limit}, not {found(node)}")
        return None
    return node.value


def choice(source: Source, node: Node, what: str, options: Collection[str]) -> str | None:
    """One of the options."""
    if isinstance(node, ScalarNode) and node.text in options:
        return node.text
    known = f"one of {', '.join(options)}"
    written = node.text if isinstance(node, ScalarNode) else ""
    message = f"{what} must be {known}, not {found(node)}"
    source.problem(node, message, lambda: did_you_mean(written, options))
    return None


def one_or_more(
    source: Source, node: Node, what: str, read: Callable[[Node], T | None]
) -> tuple[T, ...]:
    """A single value or a list of different ones; empty where something is wrong."""
    if not isinstance(node, ListNode):
        single = read(node)
        return () if single is None else (single,)
    if not node.items:
        source.problem(node, f"{what} is an empty list", "give at least one, or leave the key out")
    values: dict[T, None] = {}
    for item in node.items:
        value = read(item)
        if value is not None and value in values:
            source.problem(item, f"{what} holds {found(item)} twice")
        elif value is not None:
            values[value] = None
    return tuple(values)


def mapping(source: Source, node: Node, what: str) -> MapNode | None:
    """A mapping, of whatever keys."""
    if isinstance(node, MapNode):
        return node
    hint = "write `name: value` lines, or {name: value}"
    source.problem(node, f"{what} must be a mapping, not {found(node)}", hint)
    return None


def unknown_keys(source: Source, node: MapNode, what: str, known: Collection[str]) -> None:
    """Note each key that is not known, with the nearest that is."""
    for name, key in node.keys.items():
        if name not in known:
            hint = partial(_nearest_key, name, known)
            source.problem(key, f"{what} has no key {shown(name)}", hint)


def _nearest_key(name: str, known: Collection[str]) -> str:
    return did_you_mean(name, known) or f"known are: {', '.join(known)}"


def name_is_good(
    source: Source, name: str, key: ScalarNode, what: str, reserved: Mapping[str, str]
) -> bool:
    """Whether a name of the spec's can be used in a call and in expressions."""
    if not re.fullmatch(IDENTIFIER, name) or keyword.iskeyword(name):
        hint = "Python has that word for itself" if keyword.iskeyword(name) else PLAIN_LETTERS
        source.problem(key, f"{shown(name)} cannot be the name of {what}", hint)
        return False
    if name in reserved:
        source.problem(key, f"`{name}` cannot be the name of {what}: it is {reserved[name]}")
        return False
    return True


def plain(node: Node) -> object:
    """The value without its places."""
    if isinstance(node, MapNode):
        return {name: plain(item) for name, item in node.items.items()}
    if isinstance(node, ListNode):
        return [plain(item) for item in node.items]
    return node.value if isinstance(node, ScalarNode) else None
