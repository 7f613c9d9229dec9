"""The function under test, from what a case says: an op, an expression or a user's function."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import sys
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.look_up import look_up
from gradcheck.checker.subject.phases import HAS_PHASE, with_fixed_phase
from gradcheck.checker.subject.tensors import explain_exception
from gradcheck.errors import FunctionError, UsageError
from gradcheck.model import Case, TargetKind
from gradcheck.spec.expression import allowlist
from gradcheck.spec.expression.expression import TF_CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gradcheck.spec.expression.expression import Expression
    from gradcheck.spec.resolve import ResolvedCase


def build(resolved: ResolvedCase, *, allow: Collection[str], root: str) -> Callable[..., Any]:
    """A function of one tensor per input, in the order of the case."""
    case = resolved.case
    if resolved.expression is not None:
        return _expression(case, resolved.expression)
    if case.target.kind is TargetKind.OP:
        return _op(resolved)
    return _user_function(case, allow, root)


def tensorflow_name(name: str) -> Any:
    """The TensorFlow function or constant of this dotted name, if the allow-list has it."""
    if name not in allowlist.CALLABLE and name not in TF_CONSTANTS:
        raise UsageError(f"`{name}` is not on the list of pure TensorFlow functions")
    return look_up(name)


def _op(resolved: ResolvedCase) -> Callable[..., Any]:
    import tensorflow as tf

    case, declared = resolved.case, resolved.declared
    names, args = [i.name for i in case.inputs], dict(case.args)
    if declared is not None and declared.op.build is not None:
        make, complete = declared.op.build, declared.call.args
        return lambda *tensors: make(tf, list(tensors), complete)
    name = case.target.text if declared is None else declared.op.tf
    function = tensorflow_name(name)
    if name.startswith("tf.raw_ops."):
        # These take nothing but keywords.
        return lambda *tensors: function(**dict(zip(names, tensors, strict=True)), **args)
    caller = _caller(function, names, args)
    return with_fixed_phase(name, caller) if name in HAS_PHASE else caller


def _caller(
    function: Callable[..., Any], names: list[str], args: dict[str, Any]
) -> Callable[..., Any]:
    """Hand the inputs over by position as far as possible, each to the parameter of its name.

    By position, because `tf.custom_gradient` differentiates positional arguments only: an input
    that comes by keyword would silently get the gradient of the ops inside. Where the names are
    not the function's, the order of the inputs counts.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = {}.values()
    if not {p.name for p in parameters} >= set(names):
        return lambda *tensors: function(*tensors, **args)
    leading: list[str] = []
    for parameter in parameters:
        known = parameter.name in names or parameter.name in args
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            break
        if not known:
            break
        leading.append(parameter.name)

    def call_by_name(*tensors: Any) -> Any:
        values = {**args, **dict(zip(names, tensors, strict=True))}
        first = [values.pop(name) for name in leading]
        return function(*first, **values)

    return call_by_name


def _expression(case: Case, expression: Expression) -> Callable[..., Any]:
    names, lookup = [i.name for i in case.inputs], functools.cache(tensorflow_name)

    def function(*tensors: Any) -> Any:
        return expression.evaluate(dict(zip(names, tensors, strict=True)), lookup)

    return function


def _user_function(case: Case, allow: Collection[str], root: str) -> Callable[..., Any]:
    module_name, _, attribute = case.target.text.partition(":")
    # The spec reader has said this already; a case that comes another way is held to it too.
    if not any(module_name == a or module_name.startswith(f"{a}.") for a in allow):
        raise FunctionError(f"`{module_name}` is not among the allowed packages")
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # whatever the user's module does when it is imported
        raise FunctionError(
            f"`{module_name}` cannot be imported: {explain_exception(error)}"
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, dir(found), n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise FunctionError(f"`{module_name}` has no `{attribute}`{hint}")
        found = getattr(found, part)
        if inspect.ismodule(found):
            # `mypkg.layers:os.system` would reach code that nobody allowed.
            raise FunctionError(f"`{part}` in `{case.target.text}` is a module, not a function")
    if not callable(found):
        raise FunctionError(f"`{case.target.text}` is not callable: it is a {type(found).__name__}")
    return _caller(found, [i.name for i in case.inputs], dict(case.args))
