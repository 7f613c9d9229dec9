"""Letters for indices: none that names something else, and none that runs over two ranges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import Array, Grid, Node, Total, children
from gradcheck.explainer.calculus.indices import LETTERS, Index, extent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Lettering", "lettered"]

MORE_LETTERS = "αβγεζηθκμνξρτυφχω"
"""For those who need more than people usually take."""


@dataclass
class Lettering:
    """Which letter each index of some lines is written with."""

    avoided: frozenset[str] = frozenset()
    """Letters that are symbols of the page."""
    known: dict[Index, str] = field(default_factory=dict)
    ranges: dict[str, int] = field(default_factory=dict)
    """By letter: how far it runs wherever it stands."""

    def choose(self, index: str, used: Iterable[str]) -> str:
        """The letter of an index where others are in use."""
        taken, size = {*used}, extent(index)
        known = self.known.get(index)
        if known is not None and known not in taken:
            return known
        own = index.partition("_")[0]
        spare = [a for a in (own, *LETTERS, *MORE_LETTERS) if a and a not in taken | self.avoided]
        fitting = [a for a in spare if self.ranges.get(a, size) == size]
        letter = next(iter([*fitting, *spare]), f"z{len(taken)}")
        self.known.setdefault(index, letter)
        self.ranges.setdefault(letter, size)
        return letter

    def of(self, indices: tuple[Index, ...], used: Iterable[str] = ()) -> dict[Index, str]:
        """A letter for each of the indices."""
        names: dict[Index, str] = {}
        for index in indices:
            if isinstance(index, str) and index not in names:
                names[index] = self.choose(index, (*used, *names.values()))
        return names

    def walk(self, node: Node, names: Mapping[Index, str]) -> None:
        """Choose for everything inside, in the order in which it is read."""
        if isinstance(node, Total):
            names = {**names, **self.of(node.indices, names.values())}
        if isinstance(node, Array):
            for arg in node.args:
                if isinstance(arg, Grid):
                    self.walk(arg.body, {**names, **self.of(arg.indices, names.values())})
        for child in children(node):
            self.walk(child, names)


def lettered(
    nodes: Iterable[Node], names: Mapping[Index, str], avoided: frozenset[str]
) -> Lettering:
    """Letters for lines that are read one below the other; the given ones have theirs."""
    letters = Lettering(avoided, dict(names))
    letters.ranges |= {a: extent(index) for index, a in names.items() if isinstance(index, str)}
    for node in nodes:
        letters.walk(node, names)
    return letters
