"""What a function takes: the names of its parameters, and what is wrong with a call of it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gradcheck.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

_MOST_GUESSES = 20
"""Unknown names for which the nearest is looked for: that takes longer than all the rest."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """What is wrong with a call: of which name, in a sentence, and what would be right."""

    name: str
    """The input or argument that is to blame; empty where one is missing."""
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a function, as its signature tells them."""

    by_position: tuple[str, ...] = ()
    """Those that can be given by position, in their order."""
    by_name: tuple[str, ...] = ()
    """Those that can be given by name, in their order."""
    required: frozenset[str] = frozenset()
    variadic: str = ""
    """The parameter that takes any number of values by position, if there is one."""
    open_ended: bool = False
    """Whether it takes any name."""

    @classmethod
    def read(cls, words: Iterable[str]) -> Parameters:
        """From the words of the lists: `x axis= * name=` (`=` for one that may be left out)."""
        by_position: list[str] = []
        by_name: list[str] = []
        required: set[str] = set()
        variadic, open_ended, keywords_only = "", False, False
        for word in words:
            name = word.strip("*=")
            if word == "/":
                by_name.clear()
            elif word.startswith("**"):
                open_ended = True
            elif word.startswith("*"):
                keywords_only, variadic = True, name
            else:
                by_name.append(name)
                if not keywords_only:
                    by_position.append(name)
                if not word.endswith("="):
                    required.add(name)
        return cls(tuple(by_position), tuple(by_name), frozenset(required), variadic, open_ended)

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Parameters | None:
        """From a function's signature; None where it has none, as some of those in C."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return None
        plain = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        return cls(
            tuple(p.name for p in plain if p.kind is not p.KEYWORD_ONLY),
            tuple(p.name for p in plain if p.kind is not p.POSITIONAL_ONLY),
            frozenset(p.name for p in plain if p.default is p.empty),
            next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), ""),
            any(p.kind is p.VAR_KEYWORD for p in parameters),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, in their order."""
        return tuple(dict.fromkeys([*self.by_position, *self.by_name]))

    def takes(self, name: str) -> bool:
        """Whether a value can be given by this name."""
        return name in self.by_name or (self.open_ended and name not in self.by_position)

    def also(self, name: str) -> Parameters:
        """These, and one more that may be given by its name."""
        if name in self.by_name:
            return self
        return replace(self, by_name=(*self.by_name, name))

    def first_by_position(self, count: int) -> Parameters:
        """These, but by position no more than so many."""
        return replace(self, by_position=self.by_position[:count])

    def list_text(self) -> str:
        """What it takes, for a message."""
        names = [*self.by_position]
        names += [f"*{self.variadic}"] if self.variadic else []
        names += [name for name in self.by_name if name not in self.by_position]
        names += ["any other name"] if self.open_ended else []
        return f"it takes: {', '.join(names)}" if names else "it takes nothing"

    def named_misfits(
        self, function: str, inputs: Sequence[str], args: Collection[str]
    ) -> Iterator[Misfit]:
        """What is wrong with a call whose inputs come by name."""
        strangers = 0
        for kind, names in (("input", inputs), ("arg", args)):
            for name in names:
                if not self.takes(name):
                    strangers += 1
                    yield self._unknown(function, kind, name, guess=strangers <= _MOST_GUESSES)
        given = {*inputs, *args}
        missing = [n for n in self.names if n in self.required and n not in given]
        # A wrong name explains a missing one: it is said once.
        others = sorted(given - set(self.names)) if self.open_ended else []
        yield from (self._missing(function, name, others) for name in missing[strangers:])

    def placed_misfits(self, function: str, count: int, args: Collection[str]) -> Iterator[Misfit]:
        """What is wrong with a call of so many inputs by position."""
        taken, strangers = self.by_position[:count], 0
        if count > len(self.by_position) and not self.variadic:
            yield Misfit(
                "",
                f"{function} takes {len(self.by_position)} by position, and `inputs` has {count}",
                self.list_text(),
            )
            return
        for name in args:
            if name in taken:
                yield Misfit(name, f"{function} gets `{name}` twice: from `inputs` by position too")
            elif not self.takes(name):
                strangers += 1
                yield self._unknown(function, "arg", name, guess=strangers <= _MOST_GUESSES)
        given = {*taken, *args}
        for name in self.names:
            if name in self.required and name not in given:
                yield self._missing(function, name)

    def _unknown(self, function: str, kind: str, name: str, *, guess: bool) -> Misfit:
        near = nearest(name, self.by_name) if guess else ""
        hint = f"did you mean `{near}`? {self.list_text()}" if near else self.list_text()
        if kind == "input" and (self.variadic or set(self.by_position) - set(self.by_name)):
            hint = "write `inputs` as a list, [[3], [3]]: it takes them by position"
        return Misfit(name, f"{function} has no {kind} `{name}`", hint)

    def _missing(self, function: str, name: str, others: Sequence[str] = ()) -> Misfit:
        """What is said of a name that is not given; one of the others may be a slip for it.

        (A function that takes any other name takes a misspelt one without a word.)
        """
        slip = nearest(name, others)
        hint = f"did you mean `{name}` by `{slip}`? {self.list_text()}" if slip else ""
        return Misfit(slip, f"{function} needs `{name}`", hint or self.list_text())
