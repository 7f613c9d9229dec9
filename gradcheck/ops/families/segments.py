"""Segments: rows that belong together by a number each are added, averaged, compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Domain, Example, Kind, Op, Parameter, Step
from gradcheck.ops.rules import counts, whole
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation

_NO_TIES = Domain(sample=Sample("distinct"))
_NONZERO = Domain(sample=Sample("nonzero"))
_OWN_SEGMENT = (
    "The loss changes by the inner product of G with dy. Each row of dx takes part in one row of "
    "dy alone, that of its own segment: beside it stands what that segment has."
)
_BATCHES = "Axes behind those of the ids are carried along: the formula holds for each of them."


def _sorted_shape(call: Call) -> Shape:
    data, ids = call.shapes["data"], counts(call.args["segment_ids"], "segment_ids")
    if not data or len(ids) != data[0]:
        raise ShapeError(
            f"segment_ids has {len(ids)} numbers, but data {list(data)} needs one for each row"
        )
    if ids != sorted(ids):
        raise ShapeError(
            f"segment_ids must not fall, got {ids}: unsorted_segment_sum and such take any order"
        )
    return ((ids[-1] + 1) if ids else 0, *data[1:])


def _unsorted_shape(call: Call) -> Shape:
    data, ids = call.shapes["data"], call.shapes["segment_ids"]
    count = whole(call.args["num_segments"], "num_segments")
    if count < 0:
        raise ShapeError(f"num_segments is not negative, got {count}")
    if data[: len(ids)] != ids:
        raise ShapeError(
            f"segment_ids {list(ids)} need the shape of data {list(data)}, or of its first axes"
        )
    return (count, *data[len(ids) :])


def _letters(call: Call) -> dict[str, str]:
    """A letter for each axis: those of the ids first, s for the segments."""
    rank = len(call.shapes["data"])
    first = len(call.shapes.get("segment_ids", (0,)))
    rows, rest = "ikmn"[:first], "jpqr"[: rank - first]
    found = {"data": rows + rest, "out": f"s{rest}"}
    return found | ({"segment_ids": rows} if "segment_ids" in call.shapes else {})


@dataclass(frozen=True, slots=True)
class _Words:
    """How TensorFlow's code names the ids, and what a row takes from its segment."""

    ids: str
    count: int
    inside: str
    """Which rows belong to a segment; empty where all do."""

    def of(self, text: str) -> str:
        if not self.inside:
            return f"tf.gather({text}, {self.ids})"
        found = f"tf.gather({text}, tf.maximum({self.ids}, 0))"
        return f"tf.where({self.inside}, {found}, tf.zeros([], G.dtype))"

    def total(self, text: str) -> str:
        return f"tf.math.unsorted_segment_sum({text}, {self.ids}, {self.count})"


@dataclass(frozen=True, slots=True)
class _Segments:
    """What the ops on segments differ in."""

    name: str
    summary: str
    how: str
    """Why dy is a weighted sum of dx, as a sentence."""
    pitfalls: tuple[str, ...]
    forward: str
    """IDS and COUNT stand for the ids and the number of segments."""
    weight: str = ""
    """What the change of an element is multiplied by; empty for 1."""
    named: tuple[Step, ...] = ()
    """A name for a part of the weight."""
    domain: Domain = ANYWHERE
    undefined: tuple[str, ...] = ()
    seen: Callable[[bool], Seen] | None = None
    """What TensorFlow does at special points, for the ids as an argument."""
    code: Callable[[_Words], str] = lambda words: words.of("G")
    """The gradient in TensorFlow."""

    def declared(self, *, is_sorted: bool) -> Op:
        name = f"segment_{self.name}" if is_sorted else f"unsorted_segment_{self.name}"
        ids = Parameter("segment_ids", Domain(sample=Sample("integers")), Kind.INTEGER)
        example = (
            Example({"data": (4, 2)}, {"segment_ids": [0, 0, 1, 1]})
            if is_sorted
            else Example({"data": (4, 2), "segment_ids": (4,)}, {"num_segments": 3})
        )
        return Op(
            name=name,
            tf=f"tf.math.{name}",
            family="segment",
            summary=self.summary,
            inputs=(Parameter("data", self.domain), *(() if is_sorted else (ids,))),
            formula=lambda call: {"data": self._written(self._gradient(), call)},
            forward=lambda call: self._written(self.forward, call),
            tangent=lambda call: self._written(self._tangent(), call),
            code=lambda call: {"data": self.code(_words(call))},
            derivation=self._derivation,
            shape=_sorted_shape if is_sorted else _unsorted_shape,
            real_only=True,
            required=("segment_ids",) if is_sorted else ("num_segments",),
            symbols={"data": "x", "segment_ids": "ids"},
            axes=_letters,
            batches=_BATCHES,
            undefined=self.undefined,
            example=example,
            related=(
                f"unsorted_{name}" if is_sorted else "gather",
                "reduce_sum",
                "scatter_nd",
            ),
            pitfalls=(
                *self.pitfalls,
                *((self.seen(is_sorted),) if self.seen else ()),
                "The ids have no gradient: which row belongs where does not move."
                if is_sorted
                else "A row whose id is negative belongs to no segment, and gets 0.",
            ),
        )

    def _written(self, text: str, call: Call) -> str:
        if "num_segments" in call.args:
            count = str(call.args["num_segments"])
        else:
            count = str(_sorted_shape(call)[0])
            text = text.replace("unsorted_", "segment_")
        return text.replace("IDS", "segment_ids").replace("COUNT", count)

    def _gradient(self) -> str:
        spread = "of_segment(G, IDS)"
        return f"{spread} * {self.weight}" if self.weight else spread

    def _tangent(self) -> str:
        moved = f"{self.weight} * ddata" if self.weight else "ddata"
        return f"segment_sum({moved}, IDS, COUNT)"

    def _derivation(self, call: Call) -> Derivation:
        steps = (
            *self.named,
            Step(self.how, f"dout == {self._tangent()}"),
            Step(_OWN_SEGMENT, f"sum(G * dout) == sum({self._gradient()} * ddata)"),
        )
        return tuple(Step(step.text, self._written(step.claim, call)) for step in steps)


def _words(call: Call) -> _Words:
    if "num_segments" not in call.args:
        return _Words(str(call.args["segment_ids"]), _sorted_shape(call)[0], "")
    behind = len(call.shapes["data"]) - len(call.shapes["segment_ids"])
    inside = "segment_ids >= 0"
    if behind:
        inside = f"(segment_ids >= 0)[..., {', '.join(['tf.newaxis'] * behind)}]"
    return _Words("segment_ids", call.args["num_segments"], inside)


_HITS = "where(equal(data, of_segment(out, IDS)), 1, 0)"
_SELECTED = f"{_HITS} / maximum(of_segment(segment_sum({_HITS}, IDS, COUNT), IDS), 1)"
_SIZES = "maximum(of_segment(segment_sum(ones_like(data), IDS, COUNT), IDS), 1)"

_SIZE = Step("Let n be how many rows the segment of a row has.", f"n := {_SIZES}")


def _selected_code(words: _Words) -> str:
    hits = f"tf.cast(tf.equal(data, {words.of('out')}), G.dtype)"
    return f"{words.of('G')} * {hits} / tf.maximum({words.of(words.total(hits))}, 1)"


def _ties(is_sorted: bool) -> Seen:
    ids: dict[str, Any] = {"segment_ids": [0, 0, 1]}
    return Seen(
        "Ties share G equally in TensorFlow.",
        {"data": [2.0, 2.0, 1.0], **({} if is_sorted else ids)},
        {"data": [0.5, 0.5, 1.0]},
        args=ids if is_sorted else {"num_segments": 2},
    )


def _extreme(name: str, word: str) -> _Segments:
    return _Segments(
        name,
        f"y = the {word} x of each segment",
        f"A small change does not change which x is the {word} of its segment, so y moves as that "
        "one does. (Where k are equal, each counts 1/k.)",
        (
            f"Only the {word} of each segment gets a gradient, all others 0.",
            "The output of a segment without rows is a constant.",
        ),
        forward=f"unsorted_{name}(data, IDS, COUNT)",
        weight=f"({_SELECTED})",
        named=(
            Step(f"Let w be 1 at the {word} of each segment, and 0 elsewhere.", f"w := {_HITS}"),
        ),
        domain=_NO_TIES,
        undefined=("Where two rows of a segment tie there is a kink.",),
        code=_selected_code,
        seen=_ties,
    )


_KINDS = (
    _Segments(
        "sum",
        "y = Σ x of each segment",
        "y adds up the rows of x that belong to each segment, and so dy adds up those of dx.",
        ("Every row of a segment gets the same: the whole G of its segment.",),
        forward="segment_sum(data, IDS, COUNT)",
    ),
    _Segments(
        "mean",
        "y = the mean of x of each segment",
        "The mean is the sum over n, which is a constant: dy is the mean of the dx.",
        ("The divisor is the size of the row's own segment, not one for all.",),
        forward="segment_sum(data, IDS, COUNT) / maximum(segment_sum(ones_like(data), IDS, "
        "COUNT), 1)",
        weight=f"(1 / {_SIZES})",
        named=(_SIZE,),
        code=lambda words: (
            f"{words.of('G')} / tf.maximum({words.of(words.total('tf.ones_like(data)'))}, 1)"
        ),
    ),
    _extreme("max", "largest"),
    _extreme("min", "smallest"),
    _Segments(
        "prod",
        "y = Π x of each segment",
        "By the product rule each dx of a segment comes with the product of all the others of it.",
        ("G·y/x breaks where an element is 0: the product of the others is still defined.",),
        forward="segment_prod(data, IDS, COUNT)",
        weight="others_in_segment(data, IDS, COUNT)",
        domain=_NONZERO,
        code=lambda words: f"{words.of('G * out')} / data",
    ),
)

_SQRT_N = _Segments(
    "sqrt_n",
    "y = Σ x of each segment, over √n",
    "The sum is divided by the root of n, which is a constant: dx is summed and divided in the "
    "same way.",
    ("The divisor is the root of the size: between a sum and a mean.",),
    forward="segment_sum(data, IDS, COUNT) / sqrt(maximum(segment_sum(ones_like(data), IDS, "
    "COUNT), 1))",
    weight=f"(1 / sqrt({_SIZES}))",
    named=(_SIZE,),
    code=lambda words: (
        f"{words.of('G')} / tf.sqrt(tf.maximum({words.of(words.total('tf.ones_like(data)'))}, 1))"
    ),
)

OPS = (
    *(kind.declared(is_sorted=True) for kind in _KINDS),
    *(kind.declared(is_sorted=False) for kind in (*_KINDS, _SQRT_N)),
)
