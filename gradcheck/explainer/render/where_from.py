"""Where each number of a gradient comes from: choose one, and see what it is made of.

An element is chosen by pointing at it, by a tap, or by the arrow keys: it is a radio button. What
belongs to it is shown by rules of style alone, so that it works in notebooks too, and without any
script: one rule for each element names the cells that light up with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer.render.elements import Markup, element, joined
from gradcheck.explainer.render.jacobian_map import jacobian_map
from gradcheck.explainer.render.number_grid import grid, number
from gradcheck.explainer.worked_example import element_name

if TYPE_CHECKING:
    from gradcheck.explainer.render.number_grid import Cell
    from gradcheck.explainer.worked_example import Jacobian, Numbers, Picture
    from gradcheck.model import Array

__all__ = ["where_from"]

_MOST_TERMS = 12
"""Of a sum, written one by one; the others are added up."""
_OPEN = 2
"""Inputs of which the numbers are shown without being asked for."""


def where_from(picture: Picture, numbers: Numbers, scope: str) -> Markup:
    """A part for each input; `scope` is a name that nothing else on the page has."""
    parts = []
    for i, jacobian in enumerate(numbers.jacobians):
        own = f"{scope}-{i}"
        parts.append(_Part(picture, numbers, jacobian, own).markup(shown=i < _OPEN))
    return joined(*parts)


class _Part:
    """What is shown of the gradient of one input."""

    def __init__(self, picture: Picture, numbers: Numbers, jacobian: Jacobian, scope: str) -> None:
        self.numbers, self.jacobian, self.scope = numbers, jacobian, scope
        self.symbols = {place.name: place.symbol for place in picture.places}
        self.gradient = f"∂{picture.loss}/∂{jacobian.symbol}"
        self.weights = numbers.weights()
        self.rows = numbers.rows()
        self.names = [element_name(self.gradient, at) for at in np.ndindex(jacobian.shape)]
        self.totals = self.weights @ jacobian.matrix
        self.made_of = jacobian.made_of()

    def markup(self, *, shown: bool) -> Markup:
        """The numbers to choose from, what they are made of, the sum, and the map."""
        upstreams, first = [], 0
        for one in self.numbers.upstreams:
            upstreams.append(grid(one.symbol, one.value, "g", _from(first, one.value)))
            first += one.value.size
        inputs = [
            grid(self.symbols[name], self.numbers.values[name], f"v{i}-")
            for i, name in enumerate(self.made_of)
        ]
        count = len(self.names)
        chosen = max(range(count), key=lambda i: (min(self._terms(i).size, 2), -i))
        who = grid(
            self.gradient, self.totals.reshape(self.jacobian.shape), "", self._choice(chosen)
        )
        sums = element("div", *(self._sum(i) for i in range(count)), class_="gcx-sums")
        return element(
            "details",
            element("summary", f"{self.gradient}, number by number"),
            element("style", Markup("".join(self._rule(i) for i in range(count)))),
            element(
                "div",
                element("form", who, _NO_SUBMIT, class_="gcx-who"),
                *upstreams,
                *inputs,
                class_="gcx-row",
            ),
            element("div", sums, jacobian_map(self.numbers, self.jacobian), class_="gcx-row"),
            class_=f"gcx-from {self.scope}",
            open=shown,
        )

    def _terms(self, i: int) -> Array:
        """The rows of the Jacobian that an element of the gradient is made of."""
        return np.flatnonzero(self.jacobian.matrix[:, i])

    def _choice(self, chosen: int) -> Cell:
        def cell(i: int, name: str) -> Markup:
            told = number(float(self.totals[i]))
            button = element(
                "input",
                type="radio",
                name=self.scope,
                checked=i == chosen,
                aria_label=f"{name} = {told}",
                aria_describedby=f"{self.scope}-t{i}",
            )
            return element("label", button, told, class_=f"e{i}", title=name)

        return cell

    def _rule(self, i: int) -> str:
        """What lights up when an element is pointed at, or chosen while none is pointed at."""
        cells = [f".g{k}" for k in self._terms(i)]
        for n, which in enumerate(self.made_of.values()):
            cells += [f".v{n}-{k}" for k in np.flatnonzero(which[i])]
        when = f".{self.scope}:has(.e{i}:hover,.gcx-who:not(:hover) .e{i} :checked)"
        lit = f"{when} :is({','.join(cells)}){{{_LIT}}}" if cells else ""
        return f"{lit}{when} :is(.t{i},.c{i}){{display:block}}\n"

    def _sum(self, i: int) -> Markup:
        """The terms of an element, in numbers, and their sum."""
        name = self.names[i]
        column = self.jacobian.matrix[:, i]
        terms = self._terms(i)
        at = element_name(self.jacobian.symbol, self._index(i))
        rows = []
        for k in terms[:_MOST_TERMS]:
            one, place = self.rows[k]
            factor = f"{element_name(one.symbol, place)} · ∂{element_name(one.output, place)}/∂{at}"
            left, right = float(self.weights[k]), float(column[k])
            product = f"{number(left)} · {_bracketed(number(right))}"
            rows.append((factor, product, number(left * right)))
        others = terms[_MOST_TERMS:]
        if others.size:
            rest = float(self.weights[others] @ column[others])
            rows.append((f"and {others.size} more terms", "", number(rest)))
        body = [_row(*row) for row in rows] or [_row("no output depends on it", "", "0")]
        return element(
            "div",
            element("p", element("b", name), f": {self._said(i, terms.size)}"),
            element(
                "div",
                element(
                    "table",
                    element("tbody", *body),
                    element("tfoot", _row(name, "", number(float(self.totals[i])))),
                ),
                class_="gcx-wide",
            ),
            class_=f"gcx-terms t{i}",
            id=f"{self.scope}-t{i}",
        )

    def _said(self, i: int, count: int) -> str:
        """How many terms there are, and which numbers of the inputs decide about them."""
        used = [
            f"{_elements(int(np.count_nonzero(which[i])))} of {self.symbols[name]}"
            for name, which in self.made_of.items()
            if which[i].any()
        ]
        terms = "a sum of one term" if count == 1 else f"a sum of {count} terms"
        made = f"depends on {', '.join(used)}" if used else "does not depend on the inputs' values"
        return f"{terms}; it {made}."

    def _index(self, i: int) -> tuple[int, ...]:
        return tuple(int(k) for k in np.unravel_index(i, self.jacobian.shape))


_NO_SUBMIT = element("button", type="submit", disabled=True, hidden=True)
"""Radio buttons of one form are one choice, whatever else there is; Enter sends it nowhere."""
_LIT = "background:rgba(154,95,208,.32);box-shadow:inset 0 0 0 2px var(--gcx-mark)"


def _from(first: int, value: Array) -> Cell:
    """Cells that are numbered on from the outputs before."""

    def cell(place: int, name: str) -> Markup:
        told = number(float(value.flat[place]))
        return element("span", told, class_=f"g{first + place}", title=name)

    return cell


def _row(name: str, product: str, value: str) -> Markup:
    shown = f"= {value}" if product else value
    return element(
        "tr", element("th", name, scope="row"), element("td", product), element("td", shown)
    )


def _elements(count: int) -> str:
    return "1 element" if count == 1 else f"{count} elements"


def _bracketed(text: str) -> str:
    return f"({text})" if text.startswith("−") else text
