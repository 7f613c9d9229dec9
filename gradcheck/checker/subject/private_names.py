"""The names of TensorFlow that are not public: all that are used stand here, and nowhere else.

Another version may lack one. Then whoever asks for it gets `Absent` and does without: with more
calls or less to say, never with another verdict. `test_verdicts_without_a_private_name` takes each
of them away.
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Absent(Exception):  # noqa: N818  (an answer, not an error)
    """This TensorFlow does not have it."""


class Private(StrEnum):
    """By what each is for: where it stands."""

    FAST = "pywrap_tfe.TFE_Py_FastPathExecute"
    """Runs most eager ops."""
    SLOW = "pywrap_tfe.TFE_Py_Execute"
    """Runs the others, and traced functions."""
    CONTEXT = "eager.context.context"
    """Knows the definitions of traced functions."""
    DEFINITION = "framework.op_def_registry.get"
    """Knows those of ops."""
    VARIABLE = "ops.resource_variable_ops.ResourceVariable"
    """What a plain variable is."""
    GRADIENT = "eager.imperative_grad.imperative_grad"
    """Goes back along a tape."""
    WATCH = "eager.tape.watch"
    """Has a tape watch a tensor."""
    STOP_RECORDING = "eager.record.stop_recording"
    RECORD = "eager.record.record_operation"
    IS_RECORDED = "eager.record.should_record_backprop"
    """What a tape records."""
    ADD_CALLBACK = "framework.op_callbacks.add_op_callback"
    REMOVE_CALLBACK = "framework.op_callbacks.remove_op_callback"
    """Tell of every op, in graphs too."""
    CREATE_OP = "framework.op_def_library._apply_op_helper"
    CREATE_CONSTANT = "framework.ops._create_graph_constant"
    """Add to a graph."""
    TEXT = "framework.ops.numpy_text"
    """What a tensor looks like in a message."""
    REGISTRY = "framework.ops._gradient_registry"
    GRAPH_REGISTRY = "framework.ops.gradient_registry"
    """The gradient functions, by op: where tapes look, and where graphs do."""
    KERNELS = "framework.kernels.get_registered_kernels_for_op"
    """Knows for which devices and dtypes an op has a kernel."""
    CUSTOM = "ops.custom_gradient._eager_mode_decorator"
    REGISTERED = "eager.backprop._gradient_function"
    """Call the gradient functions."""
    PY_FUNCTION = "ops.script_ops._internal_py_func"
    PFOR = "ops.parallel_for.control_flow_ops.pfor"
    """Run a Python function inside of an op, or one graph of it for all rows."""
    CALL_TRACED = "eager.polymorphic_function.concrete_function.ConcreteFunction._call_flat"
    GRAPH_OF = "framework.function_def_to_graph.function_def_to_graph"
    """Call a traced function, and make a graph of what TensorFlow knows of one."""
    VARIABLE_SCOPE = "ops.variable_scope.get_variable_scope"
    """Where `tf.map_fn` leaves things behind."""
    ONE_DNN = "util._pywrap_util_port.IsMklEnabled"
    DETERMINISTIC = "framework.config.is_op_determinism_enabled"
    """Facts about the installation."""

    def __init__(self, place: str) -> None:
        """A member, which knows its module and its name there."""
        self.owner, _, self.attribute = place.rpartition(".")


def private(name: Private) -> Any:
    """What stands there; raises Absent."""
    try:
        return getattr(_module(name.owner), name.attribute)
    except (ImportError, AttributeError) as error:
        raise Absent(f"tensorflow.python.{name}") from error


@cache
def _module(path: str) -> Any:
    """A module, or a class in one."""
    try:
        return importlib.import_module(f"tensorflow.python.{path}")
    except ModuleNotFoundError:
        owner, _, name = path.rpartition(".")
        if not owner:
            raise
        return getattr(_module(owner), name)


class replaced:  # noqa: N801  (used like a function; a generator would cost three times as much)
    """Within this, something else stands there; raises Absent."""

    def __init__(self, name: Private, new: Any) -> None:
        self._before, self._new = private(name), new
        self._module, self._attribute = _module(name.owner), name.attribute

    def __enter__(self) -> None:
        setattr(self._module, self._attribute, self._new)

    def __exit__(self, *_: object) -> None:
        setattr(self._module, self._attribute, self._before)


def shape_of(tensor: Any) -> tuple[int, ...]:
    """The shape of an eager tensor; its own class tells it in a tenth of the time."""
    try:
        return tuple(tensor._shape_tuple())
    except AttributeError:
        return tuple(tensor.shape.as_list())


@contextmanager
def called_back(callback: Callable[..., Any]) -> Iterator[None]:
    """Within this, TensorFlow tells of every op; raises Absent.

    Some names come as bytes (that of `Reshape`, where a gradient runs it): here all are text, else
    `test_what_a_gradient_runs_is_recorded` fails.
    """
    add, remove = private(Private.ADD_CALLBACK), private(Private.REMOVE_CALLBACK)

    def told(kind: str | bytes, *rest: Any, **named: Any) -> Any:
        return callback(kind.decode() if isinstance(kind, bytes) else kind, *rest, **named)

    add(told)
    try:
        yield
    finally:
        remove(told)


def definition_of_op(kind: str) -> Any:
    """What TensorFlow says of an op; None where there is none of that kind, or it does not tell."""
    try:
        return private(Private.DEFINITION)(kind)
    except Absent:
        return None


def definition_of_function(name: str) -> Any:
    """What a traced function consists of; None where there is none, or TensorFlow does not tell."""
    try:
        current = private(Private.CONTEXT)()
        return current.get_function_def(name) if current.has_function(name) else None
    except (Absent, AttributeError):
        return None
