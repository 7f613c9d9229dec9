"""The function under test, from what a case says: an op, an expression or a user's function."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck import ops
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.phases import with_fixed_phase
from gradcheck.checker.subject.tensors import explain_exception
from gradcheck.errors import FunctionError, UsageError
from gradcheck.model import Array, Case, TargetKind, Verdict
from gradcheck.ops.language.vocabulary import CONSTANTS, FUNCTIONS, unbroadcast
from gradcheck.spec.expression import allowlist
from gradcheck.spec.expression.expression import TF_CONSTANTS, parse_formula, parse_tf

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from gradcheck.checker.subject.problem import Formula


def build(case: Case, *, allow: Collection[str], root: str) -> Callable[..., Any]:
    """A function of one tensor per input, in the order of the case."""
    if case.target.kind is TargetKind.OP:
        return _op(case)
    if case.target.kind is TargetKind.EXPR:
        return _expression(case)
    return _user_function(case, allow, root)


def resolve(name: str) -> Any:
    """The TensorFlow function or constant of this dotted name, if the allow-list has it."""
    import tensorflow as tf

    if name not in allowlist.ALLOWED and name not in TF_CONSTANTS:
        raise UsageError(f"`{name}` is not on the list of pure TensorFlow functions")
    found: Any = tf
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
        if found is None:
            raise Ended(Verdict.SKIPPED, f"TensorFlow {tf.__version__} has no `{name}`")
    return found


def formulas(case: Case) -> dict[str, Formula]:
    """The declared formulas of the case's op, by input; none where there is no declaration."""
    op = ops.find(case.target.text) if case.target.kind is TargetKind.OP else None
    if op is None or (op.real_only and case.dtype.startswith("complex")):
        return {}
    call = op.call({i.name: i.shape for i in case.inputs}, case.args)
    names = [i.name for i in case.inputs]
    shapes = dict(call.shapes)

    def make(name: str, text: str) -> Formula:
        evaluate = _formula(text, names, call.args)

        def formula(inputs: list[Array], upstream: list[Array], outputs: list[Array]) -> Array:
            return unbroadcast(evaluate(inputs, upstream, outputs), shapes[name])

        return formula

    return {name: make(name, text) for name, text in op.formulas(call).items() if name in names}


def claims(case: Case) -> dict[str, Formula]:
    """What the spec claims the gradients are, by input."""
    names = [i.name for i in case.inputs]
    claimed: dict[str, Formula] = {}
    for name, claim in case.gradient.items():
        if isinstance(claim, str):
            claimed[name] = _formula(claim, names, case.args)
        else:
            claimed[name] = functools.partial(_constant, claim)
    return claimed


def _constant(value: Array, *_: Any) -> Array:
    return value


def _formula(text: str, names: list[str], args: Mapping[str, Any]) -> Formula:
    expression = parse_formula(text, [*names, *args, "G", "out"])

    def lookup(name: str) -> Any:
        return FUNCTIONS[name] if name in FUNCTIONS else CONSTANTS[name]

    def formula(inputs: list[Array], upstream: list[Array], outputs: list[Array]) -> Array:
        values = {**args, **dict(zip(names, inputs, strict=True))}
        values["G"] = upstream[0] if len(upstream) == 1 else upstream
        values["out"] = outputs[0] if len(outputs) == 1 else outputs
        return np.asarray(expression.evaluate(values, lookup))

    return formula


def _op(case: Case) -> Callable[..., Any]:
    import tensorflow as tf

    op = ops.find(case.target.text)
    names, args = [i.name for i in case.inputs], dict(case.args)
    if op is not None and op.build is not None:
        make = op.build
        complete = op.call({i.name: i.shape for i in case.inputs}, args).args
        return lambda *tensors: make(tf, list(tensors), complete)
    name = op.tf if op is not None else case.target.text
    function = resolve(name)
    if name.startswith("tf.raw_ops."):
        # These take nothing but keywords.
        return lambda *tensors: function(**dict(zip(names, tensors, strict=True)), **args)
    return with_fixed_phase(name, _caller(function, names, args))


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


def _expression(case: Case) -> Callable[..., Any]:
    names = [i.name for i in case.inputs]
    expression = parse_tf(case.target.text, names)
    lookup = functools.cache(resolve)

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
