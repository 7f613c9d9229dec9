"""The function under test, from what a case says: an op, an expression, a function or a layer."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.bind_arguments import bind, rebuild
from gradcheck.checker.subject.build_layer import (
    LayerMaker,
    call_parameters,
    draw_weights,
)
from gradcheck.checker.subject.callee import Callee, everything
from gradcheck.checker.subject.draw_inputs import operands
from gradcheck.checker.subject.look_up import look_up
from gradcheck.checker.subject.phases import HAS_PHASE, with_fixed_phase
from gradcheck.checker.subject.select_outputs import select
from gradcheck.checker.subject.user_code import import_object
from gradcheck.errors import FunctionError, UsageError
from gradcheck.model import Case, TargetKind
from gradcheck.spec.expression import allowlist
from gradcheck.spec.expression.expression import OUT, TF_CONSTANTS
from gradcheck.spec.expression.parameters import Parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gradcheck.spec.expression.expression import Expression
    from gradcheck.spec.resolve import ResolvedCase


def build(resolved: ResolvedCase, *, allow: Collection[str], root: str) -> Callee:
    """A function of one tensor per input, in the order of the case."""
    case = resolved.case
    chosen = functools.partial(select, wanted=case.outputs) if case.outputs else everything
    if resolved.expression is not None:
        return Callee(_expression(case, resolved.expression), select=chosen)
    if case.target.kind is TargetKind.OP:
        function, parameters = _op(resolved)
        if parameters is None:
            return Callee(function, select=chosen)
        return Callee(function, bind(case, parameters, case.args), chosen)
    if case.target.kind is TargetKind.LAYER:
        maker = LayerMaker(case, allow, root)
        layer = maker.make()
        arrange = bind(case, call_parameters(layer), case.args)
        maker.build_on(layer, arrange(_tensors(resolved)))
        draw_weights(layer, case)
        return Callee(layer, arrange, chosen)
    function = _user_function(case, allow, root)
    return Callee(function, bind(case, Parameters.of(function), case.args), chosen)


def tensorflow_name(name: str) -> Any:
    """The TensorFlow function or constant of this dotted name, if the allow-list has it."""
    if name not in allowlist.CALLABLE and name not in TF_CONSTANTS:
        raise UsageError(f"`{name}` is not on the list of pure functions of TensorFlow and Keras")
    return look_up(name)


def _op(resolved: ResolvedCase) -> tuple[Callable[..., Any], Parameters | None]:
    """The op, and what it takes; None where it takes the tensors by position, and nothing else."""
    import tensorflow as tf

    case, declared = resolved.case, resolved.declared
    if declared is not None and declared.op.build is not None:
        make, complete = declared.op.build, declared.call.args
        return lambda *tensors: make(tf, list(tensors), complete), None
    name = case.target.text if declared is None else declared.op.tf
    function = tensorflow_name(name)
    caller = with_fixed_phase(name, function) if name in HAS_PHASE else function
    parameters = allowlist.parameters(name) if name in allowlist.CALLABLE else None
    # (What this version of TensorFlow takes is what counts; kernels take nothing but keywords.)
    own = None if name.startswith("tf.raw_ops.") else Parameters.of(function)
    return caller, own or parameters or Parameters()


def _expression(case: Case, expression: Expression) -> Callable[..., Any]:
    names, lookup = [i.name for i in case.inputs], functools.cache(tensorflow_name)
    arguments = case.takes

    def function(*tensors: Any, **others: Any) -> Any:
        # (Behind the inputs may come the variables that a function captures.)
        leaves = dict(zip(names, tensors, strict=False))
        values = {a.name: rebuild(a.template, leaves) for a in arguments}
        return expression.evaluate({**values, **others}, lookup)

    return function


def distribution(resolved: ResolvedCase) -> Callable[..., Any] | None:
    """The distribution function that the case gives, of the sample and one tensor per input."""
    expression = resolved.cdf
    if expression is None:
        return None
    evaluate = _expression(resolved.case, expression)
    return lambda sample, *tensors: evaluate(*tensors, **{OUT: sample})


def _user_function(case: Case, allow: Collection[str], root: str) -> Callable[..., Any]:
    found: Callable[..., Any] = import_object(case.target.text, allow, root)
    if inspect.isclass(found):
        given = ", ".join(f"{name}: {value}" for name, value in case.args.items())
        init = f" and `init: {{{given}}}`" if given else ""
        text = case.target.text
        raise FunctionError(f"`{text}` is a class: write `layer: {text}`{init} in place of it")
    return found


def _tensors(resolved: ResolvedCase) -> list[Any]:
    return [operand.hold(operand.value) for operand in operands(resolved)]
