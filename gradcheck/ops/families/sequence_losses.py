"""The loss of sequences without an alignment: all alignments are summed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Kind, Op, Parameter, Step
from gradcheck.ops.rules import counts, whole

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call

_GIVEN = "labels, logits, label_length, logit_length, blank_index"
_OCCUPANCY = f"ctc_occupancy({_GIVEN})"
_BACK = f"(softmax(logits, -1) - {_OCCUPANCY})"


def _ctc_shape(call: Call) -> Shape:
    labels, logits = call.shapes["labels"], call.shapes["logits"]
    if len(labels) != 2 or len(logits) != 3 or labels[0] != logits[1]:
        raise ShapeError(
            f"labels {list(labels)} needs axes for the batch and the places, logits "
            f"{list(logits)} for the frames, the same batch and the symbols"
        )
    for name, most in (("label_length", labels[1]), ("logit_length", logits[0])):
        given = counts(call.args[name], name)
        if len(given) != labels[0] or any(n > most for n in given):
            raise ShapeError(f"{name} is a number of at most {most} for each sequence")
    pairs = zip(call.args["label_length"], call.args["logit_length"], strict=True)
    if any(frames < count for count, frames in pairs):
        raise ShapeError("a sequence with fewer frames than labels has no alignment")
    blank = whole(call.args["blank_index"], "blank_index")
    if not 0 <= blank < logits[2]:
        raise ShapeError(f"blank_index is one of the {logits[2]} symbols, not {blank}")
    return (labels[0],)


def _ctc_build(tf: Any, tensors: list[Any], args: Any) -> Any:
    labels, logits = tensors
    lengths = [tf.constant(args[name]) for name in ("label_length", "logit_length")]
    return tf.nn.ctc_loss(labels, logits, *lengths, blank_index=args["blank_index"])


OPS = (
    Op(
        name="ctc_loss",
        tf="tf.nn.ctc_loss",
        family="loss",
        summary="y = -log of the probability of the labels, summed over all their alignments",
        inputs=(
            Parameter("labels", Domain(sample=Sample("integers", (1.0, 3.0))), Kind.INTEGER),
            Parameter("logits"),
        ),
        formula={"logits": f"expand_dims(expand_dims(G, 0), -1) * {_BACK}"},
        forward=f"ctc_loss({_GIVEN})",
        tangent=f"sum({_BACK} * dlogits, [0, 2])",
        shape=_ctc_shape,
        real_only=True,
        required=("label_length", "logit_length"),
        args={"blank_index": 0},
        float32_only=True,
        build=_ctc_build,
        axes={"labels": "bk", "logits": "tbs", "out": "b"},
        symbols={"logits": "x"},
        derivation=(
            Step(
                "Each frame gives shares to the symbols, and an alignment, which names one symbol "
                "for each frame, is as probable as the product of their shares. The labels are as "
                "probable as all the alignments together that spell them, once what is repeated "
                "and the blanks are taken out. So y is -log Σ exp(Σ log shares), a sum over "
                "alignments of a sum over frames.",
                "p := softmax(logits, -1)",
            ),
            Step(
                "Of such a logarithm of a sum the derivative by one log share is how probable it "
                "is that the alignment passes there, given the labels. Forwards from the first "
                "frame and backwards from the last, place by place, the products of all "
                "alignments through a place are summed without being listed: that gives A, the "
                "occupancy of each symbol in each frame.",
                f"A := {_OCCUPANCY}",
            ),
            Step("In each frame the alignment is somewhere.", "sum(A, -1) == 1"),
            Step(
                "y falls by A for each log share, and the log shares change with the logits as "
                "those of a softmax do, by dx less its mean under p. A sums to one, so",
                "dout == sum((p - A) * dlogits, [0, 2])",
            ),
            Step(
                "The loss changes by the inner product of G with dy: each sequence has a G of its "
                "own.",
                "sum(G * dout) == sum(expand_dims(expand_dims(G, 0), -1) * (p - A) * dlogits)",
            ),
        ),
        undefined=(
            "Where no alignment spells the labels, as there are too few frames, y is infinite.",
        ),
        batches="The axis of the batch comes second in the logits: sequences do not mix.",
        example=Example(
            {"labels": (1, 2), "logits": (4, 1, 3)},
            {"label_length": [2], "logit_length": [4]},
        ),
        related=(
            "sparse_softmax_cross_entropy_with_logits",
            "softmax",
            "reduce_logsumexp",
            "linear_recurrence",
        ),
        pitfalls=(
            "The gradient is shares less occupancy, as softmax less labels is with one alignment "
            "that is known.",
            "The logits go in before any softmax: the op takes one itself.",
            "Two equal labels in a row need a blank between them, and so a frame more.",
            "Frames behind the length of a sequence get 0.",
        ),
    ),
)
