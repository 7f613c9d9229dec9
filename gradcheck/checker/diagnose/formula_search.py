"""The shortest formula for some numbers: products of a few factors, and sums of two of those.

Every product is tried, on a few numbers; what fits those has to fit all the others, at points too
that it was not looked for at.

Without it `test_the_error_is_a_formula` fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import causes
from gradcheck.checker.budget import current
from gradcheck.checker.diagnose.factors import Scene
from gradcheck.checker.diagnose.term_text import Coefficient, Factor, coefficient, total
from gradcheck.model import Array

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Powers = tuple[Factor, ...]
Target = Callable[[Scene], Array]
"""What a formula is looked for, by element of the input; NaN where it is not known."""


@dataclass(frozen=True)
class Formula:
    """A sum of terms, each a number times powers of factors; all times what they share."""

    terms: tuple[tuple[Coefficient, Powers], ...]
    shared: Powers
    cost: float
    """How long it is to read."""

    def __str__(self) -> str:
        """As people write it."""
        return total(self.terms, self.shared)

    def values(self, scene: Scene) -> Array:
        """By element of the input."""
        found = np.zeros(len(scene.upstream))
        for number, factors in self.terms:
            found += number.value * scene.product((*self.shared, *factors))
        return np.asarray(scene.summed(found[np.newaxis])[0])


class Pool:
    """Powers of the factors that all the scenes have, the shortest first; no two are the same."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        """Look at the factors of all the scenes."""
        common = set.intersection(*(set(scene.factors) for scene in scenes))
        cost = {f: scenes[0].factors[f][1] for f in common}
        powers: list[tuple[float, Factor]] = []
        seen: list[Array] = []
        for formula in sorted(common, key=lambda f: (cost[f], f)):
            values = np.concatenate([scene.factors[formula][0] for scene in scenes])
            if not np.isfinite(values).all() or not np.ptp(values) > 0:
                continue
            direction = values[:: -(-len(values) // causes.COMPARED)]
            direction = direction / direction[int(np.argmax(np.abs(direction)))]
            if any(np.allclose(direction, other, rtol=causes.FIT, atol=0) for other in seen):
                continue
            seen.append(direction)
            for exponent in (1, 2, 3, -1, -2) if cost[formula] <= 1 else (1, 2, -1, -2):
                if exponent > 0 or values.all():
                    longer = causes.LENGTHS["power"] * (abs(exponent) - 1 + (exponent < 0))
                    powers.append((cost[formula] + longer, (formula, exponent)))
        powers.sort(key=lambda item: item[0])
        self.powers = [power for _, power in powers[: causes.POOL]]
        self.costs = np.array([cost for cost, _ in powers[: causes.POOL]])
        names = {formula: number for number, (formula, _) in enumerate(self.powers)}
        self._base = np.array([names[formula] for formula, _ in self.powers], dtype=int)

    def values(self, scene: Scene) -> Array:
        """A row for each."""
        return np.array([scene.product((power,)) for power in self.powers])

    @cached_property
    def pairs(self) -> Array:
        """Two different ones in each column."""
        one, two = np.triu_indices(len(self.powers), 1)
        apart = self._base[one] != self._base[two]
        return np.array([one[apart], two[apart]])

    @cached_property
    def shortest_products(self) -> list[tuple[int, ...]]:
        """Those that sums are tried of."""
        few = len(self.powers[: causes.PAIRED_POWERS])
        pairs = [tuple(pair) for pair in self.pairs.T.tolist() if max(pair) < few]
        plain = [i for i, (_, n) in enumerate(self.powers[:few]) if n == 1][: causes.PAIRED_FACTORS]
        triples = [ids for ids in combinations(plain, 3) if len({*self._base[list(ids)]}) == 3]
        every = [(), *((i,) for i in range(len(self.powers))), *pairs, *triples]
        every.sort(key=lambda ids: float(self.costs[list(ids)].sum()))
        return every[: causes.PAIRED_TERMS]

    def products(self, values: Array, count: int) -> Iterator[tuple[Array, Array]]:
        """Blocks of products of so many of them: which, in the columns, and their values."""
        if count == 0:
            yield np.zeros((0, 1), dtype=int), np.ones((1, values.shape[1]))
        elif count == 1:
            yield np.arange(len(values))[np.newaxis], values
        elif count == 2:
            yield self.pairs, values[self.pairs[0]] * values[self.pairs[1]]
        else:
            one, two = self.pairs
            both = values[one] * values[two]
            for i in range(len(values)):
                start = int(np.searchsorted(one, i + 1))
                j, k = one[start:], two[start:]
                apart = np.flatnonzero(
                    (self._base[j] != self._base[i]) & (self._base[k] != self._base[i])
                )
                chosen = np.array([np.full(len(apart), i), j[apart], k[apart]])
                yield chosen, both[start:][apart] * values[i]


class Search:
    """Formulas over the factors that all the scenes have."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        """The last scene is not looked at before there is a formula."""
        self._scenes = scenes
        self._pool = Pool(scenes)

    def product(self, target: Target) -> Formula | None:
        """The shortest single term that is the target in every scene, within the error bars."""
        ground = Ground.of(self._scenes[:-1], target)
        if ground is None:
            return None
        for shared, most in _SHARED.items():
            # (Sums over what an input was broadcast to take longer.)
            for count in range(min(most, 2) + 1 if ground.scene.is_broadcast else most + 1):
                found = self._best(ground.products(self._pool, shared, count), target)
                if found is not None:
                    return found
        return None

    def sum(self, target: Target) -> Formula | None:
        """The shortest sum of two terms that is."""
        ground = Ground.of(self._scenes[:-1], target)
        if ground is None:
            return None
        return self._best(ground.sums(self._pool, (("G", 1),)), target)

    def _best(self, candidates: Iterator[Formula], target: Target) -> Formula | None:
        budget = current()
        for formula in sorted(candidates, key=lambda candidate: candidate.cost):
            budget.must_be_left()
            if all(_agrees(formula, scene, target(scene)) for scene in self._scenes):
                return formula
        return None


_SHARED: dict[Powers, int] = {(("G", 1),): 3, (("1 − G", 1),): 2, (): 2, (("G", 2),): 1}
"""What a term may do with the upstream, and how many factors are tried beside it. A gradient is
linear in the upstream; a wrong one may forget it in a term, or have it twice."""


def _agrees(formula: Formula, scene: Scene, target: Array) -> bool:
    known = np.isfinite(target)
    largest = float(np.max(np.abs(scene.numeric[known]), initial=0.0))
    allowed = scene.allowed + causes.FORMULA_FITS * largest
    return bool((np.abs(formula.values(scene) - target) <= allowed)[known].all())


@dataclass(frozen=True, eq=False)
class Ground:
    """A few numbers that formulas are tried on."""

    scene: Scene
    target: Array
    allowed: Array

    @classmethod
    def of(cls, scenes: Sequence[Scene], target: Target) -> Ground | None:
        """Numbers that say much; None if they are too few, or too uncertain."""
        wanted = np.concatenate([target(scene) for scene in scenes])
        whole = Scene.joined(scenes)
        size = np.where(np.isfinite(wanted), np.abs(wanted), 0.0)
        allowed = whole.allowed + causes.FORMULA_FITS * size.max(initial=0.0)
        telling = np.flatnonzero(allowed < causes.SHOWS_FORMULA * size)
        if len(telling) < causes.FEWEST_NUMBERS:
            return None
        share = -(-len(whole.owner) // len(wanted))
        most = max(causes.FEWEST_NUMBERS, causes.FORMULA_NUMBERS // share)
        chosen = telling[:: -(-len(telling) // most)]
        return cls(whole.only(chosen), wanted[chosen], allowed[chosen])

    def products(self, pool: Pool, shared: Powers, count: int) -> Iterator[Formula]:
        """Single terms of so many factors that fit."""
        upstream = self.scene.product(shared)
        pivot = int(np.argmin(self.allowed / np.abs(self.target)))
        for chosen, products in pool.products(pool.values(self.scene), count):
            terms = self.scene.summed(products * upstream)
            numbers = self.target[pivot] / terms[:, pivot]
            fits = np.arange(len(terms))
            for k in range(len(self.target)):
                off = np.abs(numbers[fits] * terms[fits, k] - self.target[k])
                fits = fits[off <= self.allowed[k]]
            for i in fits:
                yield from _formula([(float(numbers[i]), chosen[:, i])], pool, shared)

    def sums(self, pool: Pool, shared: Powers) -> Iterator[Formula]:
        """Sums of two terms that fit."""
        values, short = pool.values(self.scene), pool.shortest_products
        products = np.array([np.prod(values[list(ids)], axis=0) for ids in short])
        terms = self.scene.summed(products * self.scene.product(shared))
        target = self.target
        order = np.argsort(self.allowed / np.abs(target))
        p, q = order[0], order[len(order) // 2]
        one, two = np.triu_indices(len(terms), 1)
        area = terms[one, p] * terms[two, q] - terms[one, q] * terms[two, p]
        first = (target[p] * terms[two, q] - target[q] * terms[two, p]) / area
        second = (target[q] * terms[one, p] - target[p] * terms[one, q]) / area
        for k in order:
            off = np.abs(first * terms[one, k] + second * terms[two, k] - target[k])
            fits = off <= self.allowed[k] + causes.FIT * np.abs(target[k])
            one, two, first, second = one[fits], two[fits], first[fits], second[fits]
        for i, j in zip(one, two, strict=True):
            weighed = (terms[[i, j]] / self.allowed).T
            numbers = np.linalg.lstsq(weighed, target / self.allowed, rcond=None)[0]
            given = zip(numbers, (short[i], short[j]), strict=True)
            pair = [(float(number), np.array(ids, dtype=int)) for number, ids in given]
            yield from _formula(pair, pool, shared)


def _formula(terms: list[tuple[float, Array]], pool: Pool, shared: Powers) -> Iterator[Formula]:
    """The formula of these terms, unless a coefficient is no number that people would write."""
    cost, told = (
        causes.LENGTHS["sum"] * (len(terms) - 1),
        list[tuple[Coefficient, Powers]](),
    )
    for number, ids in terms:
        known = coefficient(number)
        if known is None:
            return
        cost += known.cost + (float(pool.costs[ids].sum()) if len(ids) else causes.LENGTHS["one"])
        told.append((known, tuple(sorted((pool.powers[i] for i in ids), key=_is_beside_one))))
    yield Formula(tuple(told), shared, cost)


def _is_beside_one(factor: Factor) -> bool:
    """Whether it is one and something, which stands after the something."""
    return factor[0].startswith("1 ")
