"""YAML into values that know their place, with the traps of YAML 1.1 closed.

Numbers are those of YAML 1.2 (`1e-4`, `.5`), only `true` and `false` are booleans, a key stands
once, tags are refused. The tree is built from the parser's events, so that nesting, size and the
expansion of aliases are bounded while it grows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from gradcheck.spec.yaml.nodes import ListNode, MapNode, Node, Scalar, ScalarNode, resolve
from gradcheck.spec.yaml.source import Source, shown

MAX_NODES = 1_000_000
"""Counted with every alias spelt out: a small file can stand for a huge one. A million numbers take
150 MiB and ten seconds to read."""
_CHARACTERS = 100
"""Of a text that count as one more value."""
MAX_YAML_DEPTH = 64
"""Values of the highest rank, 32, nest as deep as that, and five levels of keys stand around them:
`cases`, the case, `inputs`, the input, `values`. The rest is room."""

# PyYAML's compiled parser reads ten times faster; not every platform has it.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(source: Source) -> Node | None:
    """The file's one document; None where problems kept it from being read."""
    builder = _Builder(source)
    try:
        for event in yaml.parse(source.text, Loader=_Loader):
            builder.take(event)
    except yaml.YAMLError as error:
        _report_broken(source, error)
        return None
    except _StopReadingError:
        return None
    root = builder.root
    if root is None or (isinstance(root, ScalarNode) and root.value is None):
        hint = "a spec names its `inputs` and one of `op`, `expr`, `function` and `layer`"
        source.problem_at(1, 1, "the file is empty", hint)
        return None
    return root


class _StopReadingError(Exception):
    """Reading further makes no sense; the problem is noted."""


@dataclass(slots=True)
class _Frame:
    """A collection that is not closed yet."""

    node: ListNode | MapNode
    anchor: str | None
    key: ScalarNode | None = None
    merged: set[str] = field(default_factory=set)
    """The keys that came through `<<`: the mapping's own keys override them."""


class _Builder:
    """Turns events into nodes."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.root: Node | None = None
        self._documents = 0
        self._nodes = 0
        self._anchors: dict[str, Node | None] = {}
        self._open: list[_Frame] = []

    def take(self, event: yaml.Event) -> None:
        """Add one event."""
        if isinstance(event, yaml.ScalarEvent):
            node = self._scalar(event)
            self._count(event, node.size)
            if event.anchor is not None:
                self._anchors[event.anchor] = node
            self._add(node)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._count(event, 1)
            self._start(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            frame = self._open.pop()
            if frame.anchor is not None:
                self._anchors[frame.anchor] = frame.node
            self._add(frame.node)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                message = "a second document begins here; a spec file holds one"
                self._stop(event, message, "put several cases under `cases:`")

    def _stop(self, event: yaml.Event, message: str, hint: str = "") -> None:
        self.source.problem_at(*_start(event), message, hint)
        raise _StopReadingError

    def _count(self, event: yaml.Event, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            self._stop(event, f"the file stands for more than {MAX_NODES:,} values")

    def _start(self, event: yaml.CollectionStartEvent) -> None:
        if len(self._open) >= MAX_YAML_DEPTH:
            self._stop(event, f"the YAML is nested more than {MAX_YAML_DEPTH} levels deep")
        line, column = _start(event)
        kind = MapNode if isinstance(event, yaml.MappingStartEvent) else ListNode
        node = kind(line=line, column=column)
        self._refuse_tag(event, node)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._open.append(_Frame(node, event.anchor))

    def _alias(self, event: yaml.AliasEvent) -> None:
        anchor = event.anchor or ""
        node = self._anchors.get(anchor)
        if node is None:
            known = anchor in self._anchors
            what = "lies inside its own anchor" if known else "has no anchor before it"
            self._stop(event, f"the alias {shown('*' + anchor)} {what}")
        else:
            self._count(event, node.size)
            self._add(node)

    def _scalar(self, event: yaml.ScalarEvent) -> ScalarNode:
        line, column = _start(event)
        end: Any = event.end_mark
        one_line = line == end.line + 1
        value: Scalar = event.value
        misfit = ""
        if not event.style and event.implicit[0]:
            try:
                value = resolve(event.value)
            except ValueError as error:
                value, misfit = 0, str(error)
        node = ScalarNode(
            line=line,
            column=column,
            length=max(1, end.column + 1 - column) if one_line else 1,
            value=value,
            # (A long text takes as long as many short ones.)
            size=1 + len(event.value) // _CHARACTERS,
            text=event.value,
            style=event.style or None,
            one_line=one_line,
        )
        self._refuse_tag(event, node)
        if misfit:
            self._fault(node, node, misfit)
        return node

    def _refuse_tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, node: Node) -> None:
        tag = event.tag
        if tag is not None and tag != "!":
            name = shown(tag.replace("tag:yaml.org,2002:", "!!"))
            self._fault(node, node, f"the tag {name} is refused: a spec is plain data")

    def _fault(self, owner: Node, place: Node, message: str, hint: str = "") -> None:
        self.source.problem(place, message, hint)
        owner.fault = owner.bad = True

    def _add(self, node: Node) -> None:
        """Put a finished node into the collection that is open, or make it the root."""
        if not self._open:
            self.root = node
            return
        frame = self._open[-1]
        parent = frame.node
        parent.size += node.size
        parent.parts += node.parts + 1 if isinstance(node, ListNode | MapNode) else 0
        parent.bad |= node.bad
        if isinstance(parent, ListNode):
            parent.items.append(node)
        elif frame.key is not None:
            key, frame.key = frame.key, None
            self._add_pair(frame, parent, key, node)
        elif isinstance(node, ScalarNode):
            frame.key = node
        else:
            self._fault(parent, node, f"a key must be text, not {node.kind}")
            frame.key = ScalarNode(line=node.line, column=node.column, value="?", text="?")

    def _add_pair(self, frame: _Frame, parent: MapNode, key: ScalarNode, value: Node) -> None:
        name = key.text
        if name == "<<" and key.style is None:
            self._merge(frame, parent, value)
        elif name in parent.items and name not in frame.merged:
            first = parent.keys[name]
            where = f"first on line {first.line}, column {first.column}"
            message = f"the key {shown(name)} stands twice in this mapping: {where}"
            self._fault(parent, key, message, "keep one of them")
        else:
            frame.merged.discard(name)
            parent.parts += 1
            parent.keys[name] = key
            parent.items[name] = value

    def _merge(self, frame: _Frame, parent: MapNode, value: Node) -> None:
        for part in value.items if isinstance(value, ListNode) else [value]:
            if not isinstance(part, MapNode):
                self._fault(parent, part, "`<<` takes the alias of a mapping, or a list of them")
                continue
            for name, item in part.items.items():
                if name not in parent.items:
                    parent.keys[name] = part.keys[name]
                    parent.items[name] = item
                    frame.merged.add(name)


def _start(event: yaml.Event) -> tuple[int, int]:
    """Line and column, from 1, of the place where an event begins."""
    mark: Any = event.start_mark
    return mark.line + 1, mark.column + 1


# What the parser says → what it means, and what to do.
_KIND_WORDS = (
    ("found character that cannot start any token", "this character cannot begin a value", ""),
    (
        "mapping values are not allowed",
        "a `:` is not expected here",
        "quote a text that holds `: `, and look at the indentation of the line",
    ),
    (
        "could not find expected ':'",
        "a key without its `:`",
        "write `key: value`, and look at the indentation of the lines before",
    ),
    (
        "did not find expected ',' or ']'",
        "a list begins here, and `,` or `]` is missing in it",
        "",
    ),
    (
        "did not find expected ',' or '}'",
        "a mapping begins here, and `,` or `}` is missing in it",
        "quote a text that holds brackets or commas",
    ),
    (
        "did not find expected '-' indicator",
        "a list item is expected here, beginning with `- `",
        "look at the indentation: the items of a list stand in one column",
    ),
    (
        "did not find expected key",
        "a key is expected here",
        "look at the indentation: the keys of a mapping stand in one column",
    ),
    ("found unexpected end of stream", "a quoted text is not closed", "add the closing quote"),
    ("characters are not allowed", "a control character is not allowed in a spec", ""),
)

# What is better shown where it began than where the parser gave up.
_BEGAN_EARLIER = ("did not find expected ','", "unexpected end of stream", "find expected ':'")


def _report_broken(source: Source, error: yaml.YAMLError) -> None:
    """Say in kind words what the parser could not read."""
    text = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    mark = getattr(error, "problem_mark", None)
    if any(words in text for words in _BEGAN_EARLIER):
        mark = getattr(error, "context_mark", None) or mark
    line, column = (mark.line + 1, mark.column + 1) if mark else _place_of_control(source)
    message, hint = f"this is not valid YAML: {text}", ""
    for said, meant, advice in _KIND_WORDS:
        if said in text:
            message, hint = f"this is not valid YAML: {meant}", advice
            break
    row = source.lines[line - 1] if line <= len(source.lines) else ""
    if "\t" in row[: column + 1] and not row[:column].strip():
        message = "this is not valid YAML: a tab cannot indent a line"
        hint = "use spaces"
    source.problem_at(line, column, message, hint)


def _place_of_control(source: Source) -> tuple[int, int]:
    """Where a character stands that YAML does not allow: the parser gives no mark for it."""
    for number, row in enumerate(source.lines, 1):
        for column, character in enumerate(row, 1):
            if not character.isprintable() and character not in "\t\xa0":
                return number, column
    return 1, 1
