"""Which failures are taken for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.checker.subject.jacobian_ways import Way
from gradcheck.hunter.failures import Failure, FailureKind
from gradcheck.hunter.one_cause import cause_of

if TYPE_CHECKING:
    from gradcheck.hunter.drafts import Draft

RAISES, MISSING = FailureKind.RAISES, FailureKind.MISSING


def cause(name: str, kind: FailureKind, text: str, about: str = "", **keys: str) -> str:
    draft: Draft = {"op": f"tf.raw_ops.{name}", "inputs": {"x": {"values": 1.0}}, **keys}
    return cause_of(about or draft["op"], Failure(kind, text=text, about=about), draft)


def test_what_tensorflow_cannot_do_for_any_op_is_one_cause() -> None:
    five = "UnimplementedError: Broadcast between [1,1,2] and [1,1,1] is not supported yet."
    six = "UnimplementedError: Broadcast between [1,1,1,1] and [1,1,1,3] is not supported yet."
    jacobian = {"check": "jacobian"}
    assert cause("Sin", MISSING, five, **jacobian) == cause("Cos", MISSING, six, **jacobian)
    slices = "forward mode does not go through {}: TensorFlow makes no tangents of slices"
    one, other = (
        cause(name, RAISES, slices.format(name), check="forward")
        for name in ("SparseSegmentSum", "SparseSegmentMean")
    )
    assert one == other


def test_what_an_op_lacks_is_its_own() -> None:
    one, other = (
        cause("Sin", MISSING, f"{name} has no gradient in TensorFlow", about=name, check="forward")
        for name in ("IgammaGradA", "SparseSegmentSumGrad")
    )
    assert one != other
    assert cause("Qr", MISSING, "not implemented") != cause("Lu", MISSING, "not implemented")


def test_a_loop_over_gradients_has_no_part_of_any_op() -> None:
    """By XLA it gives the numbers of another dtype, eagerly it refuses them."""
    wrong = f"{Way.LOOPED.value} does not make the Jacobian that the gradients make"
    raised = f"Jacobian raised: {Way.BATCH_LOOPED.value}: InvalidArgumentError: TensorArray dtype"
    one = cause("ComplexAbs", FailureKind.WRONG, wrong, check="jacobian", mode="xla")
    assert one == cause("Cast", RAISES, raised, check="jacobian")
    at_once = wrong.replace(Way.LOOPED.value, Way.VECTORISED.value)
    at_once += f"; {Way.LOOPED.value} takes another way"
    one, other = (cause(n, FailureKind.WRONG, at_once, check="jacobian") for n in ("Roll", "Exp"))
    assert one != other


def test_where_a_library_ends_its_process_is_one_cause() -> None:
    check = "died of SIGABRT\n{}: F0000 00:00:1 {} {}.h:428] Check failed: index < {}"
    first = crash("Conv2D", check.format(1, 4201, "tensor_format", 3))
    assert first == crash("DepthwiseConv2dNative", check.format(2, 5311, "tensor_format", 5))
    assert first != crash("Conv2D", check.format(1, 4201, "tensor_shape", 3))
    silent = "the worker process died of SIGSEGV"
    assert crash("Conv2D", silent) != crash("Conv3D", silent)


def crash(op: str, message: str) -> str:
    name = f"tf.raw_ops.{op}"
    return cause_of(name, Failure(FailureKind.CRASH, about=message), {"op": name, "inputs": {}})


def test_a_wrong_shape_and_what_raises_about_it_are_one() -> None:
    told = "the gradient has shape [1, 1], but its input has shape []: that is the output's"
    wrong = cause("SoftmaxCrossEntropyWithLogits", FailureKind.WRONG, told)
    raised = "gradient raised: InvalidArgumentError: logits must have >= 1 dimension, got []"
    assert wrong == cause("SoftmaxCrossEntropyWithLogits", RAISES, raised)
    assert wrong == cause("SoftmaxCrossEntropyWithLogits", RAISES, raised, dtype="float16")
    # ... but not what has wrong numbers, or raises about something else.
    numbers = "the gradient of an element belongs to another one"
    assert wrong != cause("SoftmaxCrossEntropyWithLogits", FailureKind.WRONG, numbers)
    other = "gradient raised: InvalidArgumentError: Input is not invertible."
    assert wrong != cause("SoftmaxCrossEntropyWithLogits", RAISES, other)
