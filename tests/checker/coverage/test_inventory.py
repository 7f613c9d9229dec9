"""What TensorFlow registers, and what of it can be reached: found, and tried where it can be."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from gradcheck.checker.coverage import inventory, op_reach
from gradcheck.checker.coverage.inventory import inventory_case, take_inventory
from gradcheck.checker.subject.private_names import Absent, Private, private
from gradcheck.model import Verdict
from gradcheck.model.inventories import Inventory, RegisteredGradient
from gradcheck.run.workers.result_bytes import from_bytes, to_bytes


@cache
def taken() -> Inventory:
    """Once for all tests here: every op that is registered is tried."""
    return take_inventory(inventory_case())


@cache
def found() -> dict[str, RegisteredGradient]:
    return {gradient.op: gradient for gradient in taken().gradients}


def test_everything_that_is_registered_is_there(tf: Any) -> None:
    registry = private(Private.REGISTRY)
    told = taken()
    names = {op.op for op in told.gradients} | set(told.no_gradient)
    assert names == set(registry.list())
    assert all(registry.lookup(op) is None for op in told.no_gradient)
    assert len(told.gradients) > 350


def test_it_comes_back_from_a_worker(tf: Any) -> None:
    told = taken()
    back = from_bytes(to_bytes(told), inventory_case())
    assert isinstance(back, Inventory)
    assert (back.gradients, back.no_gradient) == (told.gradients, told.no_gradient)


@pytest.mark.parametrize(
    ("op", "is_float"),
    [
        ("MatMul", True),
        ("SparseTensorDenseMatMul", True),
        ("GatherV2", True),
        ("ReadVariableOp", False),  # a resource
        ("TensorListStack", False),  # a variant
        ("StatelessIf", False),  # functions
        ("RandomGamma", False),  # state
        ("ArgMax", False),  # whole numbers
        ("RefIdentity", False),  # a reference
        ("XlaSharding", False),  # not in tf.raw_ops
    ],
)
def test_which_ops_are_pure_functions_of_floats(tf: Any, op: str, is_float: bool) -> None:
    assert found()[op].is_float is is_float


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ("CudnnRNNV3", "no kernel for the CPU, but for GPU"),
        ("CrossReplicaSum", "no kernel in this TensorFlow"),
        ("TopK", "removed from graphs of version 7 on: Use TopKV2"),
        ("RefMerge", "takes references"),
        ("ArgMax", "its outputs are no floats"),
        ("Relayout", "not in `tf.raw_ops`"),
        ("NextIteration", "a loop of TensorFlow 1"),
    ],
)
def test_what_is_out_of_reach_says_why(tf: Any, op: str, reason: str) -> None:
    assert found()[op].out_of_reach.startswith(reason)


@pytest.mark.parametrize("op", ["MatMul", "IdentityN", "AccumulateNV2", "TensorListStack", "Tile"])
def test_what_can_be_called_is_in_reach(tf: Any, op: str) -> None:
    assert found()[op].out_of_reach == ""


def test_what_was_removed_really_raises(tf: Any) -> None:
    with pytest.raises(tf.errors.UnimplementedError, match="not available in GraphDef"):
        tf.raw_ops.QuantizeAndDequantize(input=[[1.0]])


def test_a_tensor_array_of_old_really_raises(tf: Any) -> None:
    """The declared reason is true: its gradient cannot be taken under a tape."""
    x = tf.constant([[1.0, 2.0]])

    @tf.function  # type: ignore[untyped-decorator]  # no types in TF
    def through_array(x: Any) -> Any:
        handle, flow = tf.raw_ops.TensorArrayV3(size=1, dtype=tf.float32)
        flow = tf.raw_ops.TensorArrayWriteV3(handle=handle, index=0, value=x, flow_in=flow)
        return tf.raw_ops.TensorArrayReadV3(handle=handle, index=0, flow_in=flow, dtype=tf.float32)

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = through_array(x)
        return tape.gradient(y, x)

    with pytest.raises(AssertionError):
        gradient()


@pytest.mark.parametrize(
    ("op", "family"),
    [
        ("Sin", "math"),
        ("Lgamma", "special"),
        ("UnsortedSegmentMax", "segment"),
        ("Sum", "reduction"),
        ("TensorScatterAdd", "scatter"),
        ("MatMul", "linalg"),
        ("Cholesky", "linalg"),
        ("Conv2D", "nn"),
        ("SparseSoftmaxCrossEntropyWithLogits", "nn"),
        ("FFT", "signal"),
        ("StatelessWhile", "control_flow"),
        ("BlockLSTM", "rnn"),
        ("FakeQuantWithMinMaxVars", "quantization"),
        ("SparseAdd", "sparse"),
        ("RaggedGather", "ragged"),
        ("Reshape", "array"),
    ],
)
def test_families(tf: Any, op: str, family: str) -> None:
    assert found()[op].family == family


def test_a_gradient_of_somebody_else_is_of_his_package() -> None:
    from gradcheck.checker.coverage.op_families import family_of

    assert family_of("MyOp", "mypackage.ops.gradients") == "mypackage"
    assert family_of("NewOp", "tensorflow.python.ops.quantum_grad") == "quantum_grad"


def test_without_the_registry_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(wanted: Private) -> Any:
        raise Absent(wanted.value)

    monkeypatch.setattr(inventory, "private", without)
    told = take_inventory(inventory_case())
    assert told.verdict is Verdict.ERROR
    assert "does not tell which gradients it registers" in told.message


def test_without_kernels_nothing_is_out_of_reach_for_want_of_one(
    tf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(op_reach, "_kernels", lambda _op: ())
    monkeypatch.setattr(op_reach, "_kernels_are_known", lambda: False)
    assert op_reach.why_out_of_reach("CudnnRNNV3") == ""
    assert op_reach.why_out_of_reach("MatMul") == ""
