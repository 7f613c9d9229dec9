"""Places that are computed from indices, set as mathematics: `x[i + 1]`, `x[(i − 2) mod 5]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import Delta, Node, Product, Select, Total, free
from gradcheck.explainer.calculus.indices import Form, Lookup, extent, named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.explainer.calculus.indices import Atom, Index
    from gradcheck.explainer.style import Style

__all__ = ["set_place", "solved_places"]


def set_place(
    place: Form, style: Style, names: Mapping[Index, str], symbol: Callable[[str], str]
) -> str:
    """The form as mathematics."""
    # A form begins with something positive, if there is anything: 3 − i.
    terms = sorted(place.terms, key=lambda term: term[1] < 0)
    leads = place.offset > 0 and all(factor < 0 for _, factor in terms)
    text = str(place.offset) if leads else ""
    for atom, factor in terms:
        shown = _set_atom(atom, style, names, symbol)
        size = abs(factor)
        if size != 1:
            shown = style.dot([str(size), shown if shown.isalnum() else style.group(shown)])
        text += _signed(shown, factor < 0, style, first=not text)
    if (place.offset and not leads) or not text:
        text += _signed(str(abs(place.offset)), place.offset < 0, style, first=not text)
    return text


def _signed(shown: str, negative: bool, style: Style, *, first: bool) -> str:
    if first:
        return style.minus() + shown if negative else shown
    return f" {style.minus() if negative else '+'} {shown}"


def _set_atom(
    atom: Atom, style: Style, names: Mapping[Index, str], symbol: Callable[[str], str]
) -> str:
    if isinstance(atom, str):
        return names[atom]
    if isinstance(atom, Lookup):
        return style.indexed(symbol(atom.name), named(atom.indices, names))
    return style.remainder(set_place(atom.form, style, names, symbol), atom.by)


def solved_places(node: Total) -> tuple[dict[str, Form], Node]:
    """The bound indices that a condition determines, as what they are, and the body without it."""
    factors = list(node.body.factors) if isinstance(node.body, Product) else [node.body]
    places: dict[str, Form] = {}
    for factor in list(factors):
        if not isinstance(factor, Select) or factor.sign != "=" or len(factors) == 1:
            continue
        if any(index in places for index in factor.form.names):
            continue
        for index in node.indices:
            place = factor.form.solved(index)
            elsewhere = {i for f in factors if not isinstance(f, Select | Delta) for i in free(f)}
            if place is None or index not in elsewhere:
                continue
            low, high = place.range
            told = {i for form in places.values() for i in form.names}
            if low >= 0 and high < extent(index) and index not in told:
                places[index] = place
                factors.remove(factor)
                break
    return places, factors[0] if len(factors) == 1 else Product(tuple(factors))
