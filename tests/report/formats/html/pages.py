"""Pages made for tests, and pages read: a strict parser that knows what stands where."""

from __future__ import annotations

import base64
import io
import json
import re
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from gradcheck.report import make_reporter
from gradcheck.report.background import Background, DeclaredOp, EarlierRun
from tests.report import examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.model import Result, SpecProblem

CATALOGUE = (
    DeclaredOp("matmul", "linalg", ("matmul", "tf.matmul", "tf.linalg.matmul")),
    DeclaredOp("tanh", "elementwise", ("tanh", "tf.tanh")),
)

_VOID = frozenset({"meta", "input", "br", "path", "line", "rect"})


@dataclass(eq=False)
class Node:
    """An element of a page."""

    name: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, name: str, class_: str = "") -> list[Node]:
        """All elements of that name and class below this one."""
        named = [node for node in self.walk() if node.name == name]
        return [node for node in named if not class_ or class_ in node.classes]

    def one(self, name: str, class_: str = "") -> Node:
        (node,) = self.all(name, class_)
        return node

    def by_id(self, place: str) -> Node:
        (node,) = [node for node in self.walk() if node.attributes.get("id") == place]
        return node

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()

    @property
    def text(self) -> str:
        return "".join(c if isinstance(c, str) else c.text for c in self.children)


class _Parser(HTMLParser):
    """Refuses what is not well-formed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("")
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"twice the same attribute in {tag}"
        node = Node(tag, dict(attrs))
        self._open[-1].children.append(node)
        if tag not in _VOID:
            self._open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _VOID, f"<{tag}/> has no end in HTML"
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().name == tag, f"</{tag}> ends something else"

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def close(self) -> None:
        super().close()
        assert self._open == [self.root], "something is left open"


def parse(text: str) -> Node:
    """The page, or a piece of one, as a tree; AssertionError where it is not well-formed."""
    parser = _Parser()
    parser.feed(text)
    parser.close()
    return parser.root


def earlier(results: Sequence[Result], name: str = "old.json", **environment: str) -> EarlierRun:
    return EarlierRun(name, {**examples.ENVIRONMENT, **environment}, tuple(results), 2.0)


def page_text(
    results: Sequence[Result],
    *before: EarlierRun,
    problems: tuple[SpecProblem, ...] = (),
    environment: dict[str, str] = examples.ENVIRONMENT,
) -> str:
    stream = io.StringIO()
    background = Background(before, CATALOGUE)
    reporter = make_reporter("html", stream, background=background)
    examples.tell(reporter, results, problems, environment)
    return stream.getvalue()


def page(results: Sequence[Result], *before: EarlierRun) -> Node:
    return parse(page_text(results, *before))


def unpacked(text: str) -> list[str]:
    """The details of the cases, as the script finds them."""
    found: list[str] = []
    for pack in re.findall(r'<script type="text/plain" id="pack\d+">([^<]*)</script>', text):
        found += json.loads(zlib.decompress(base64.b64decode(pack), -zlib.MAX_WBITS))
    return found
