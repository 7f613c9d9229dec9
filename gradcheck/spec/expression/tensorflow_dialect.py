"""The dialect of `expr:`: inputs, allowed functions of TensorFlow and Keras, lambdas for loops.

A lambda stands only where a function of `control_flow.py` wants one. Its body is an expression of
the same dialect, over the inputs and its own parameters: it reaches nothing that the expression
around it does not.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from gradcheck.spec.expression import allowlist
from gradcheck.spec.expression.control_flow import CONTROL_FLOW, MAX_ITERATIONS, ControlFlow
from gradcheck.spec.expression.translator import (
    Arguments,
    Code,
    Constant,
    Lookup,
    Translator,
    did_you_mean,
    inputs_are,
    value_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from gradcheck.errors import ExpressionError

_DTYPES = "float16 float32 float64 half double bfloat16 complex64 complex128 bool "
_DTYPES += "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
TF_CONSTANTS = frozenset(f"tf.{name}" for name in ("newaxis", *_DTYPES.split()))
"""What an expression may name without calling it: the dtypes, and `tf.newaxis`."""

ROOTS = ("tf", "keras")


class TensorFlowDialect(Translator):
    """Names are inputs; functions and constants are dotted `tf.…` and `keras.…` names."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        super().__init__(text, names)
        self._turns = 1
        """How often the loops around the node that is translated turn, multiplied."""

    def _name(self, node: ast.Name) -> Code:
        if node.id in self.allowed:
            return value_of(node.id)
        if node.id in ROOTS:
            message = f"`{node.id}` alone is not a value: name one of its functions, {node.id}.…"
            raise self.refused(node, message)
        hint = did_you_mean(node.id, self.allowed) or inputs_are(self.allowed)
        raise self.refused(node, f"`{node.id}` is not an input of this case", hint)

    def _attribute(self, node: ast.Attribute) -> Code:
        name = _dotted(node)
        if name is None or name.partition(".")[0] not in ROOTS:
            if node.attr == "dtype":
                # What a value is kept in is no more than the value tells.
                value = self.translate(node.value)
                return lambda values, lookup: value(values, lookup).dtype
            raise self._no_attribute(node, name)
        if name in TF_CONSTANTS:
            return lambda _values, lookup: lookup(name)
        if name in allowlist.CALLABLE:
            raise self.refused(node, f"`{name}` is a function: call it, {name}(…)")
        raise self._no_function(node, name)

    def function_name(self, node: ast.expr) -> str:
        """The dotted name of a function that an expression may call; refuses any other."""
        name = _dotted(node)
        if name is None:
            if isinstance(node, ast.Attribute):
                raise self._no_attribute(node, name)
            raise self.refused(node, "only functions named tf.… can be called")
        if name not in allowlist.CALLABLE:
            raise self._no_function(node, name)
        return name

    def arguments(self, name: str, node: ast.Call) -> Arguments:
        """What a function is called with; a loop says how often it turns at most."""
        parameters = allowlist.parameters(name)
        self._check_names(name, node)
        flow = CONTROL_FLOW.get(name.removeprefix("tf.")) or CONTROL_FLOW.get(name)
        if flow is None:
            return super().arguments(name, node)
        given = dict(zip(parameters.by_position, node.args, strict=False))
        given |= {k.arg: k.value for k in node.keywords if k.arg}
        turns = self._bound(name, node, flow, given)
        self._turns *= turns
        functions = [id(given[p]) for p in flow.functions if p in given]

        def code(argument: ast.expr) -> Code:
            wanted = id(argument) in functions
            return self._function(argument) if wanted else self.translate(argument)

        args = tuple(code(a) for a in node.args)
        keywords = tuple((k.arg, code(k.value)) for k in node.keywords if k.arg)
        self._turns //= turns
        return args, keywords

    def _check_names(self, name: str, node: ast.Call) -> None:
        """Refuse arguments that the function has not, and calls that lack one."""
        parameters, shown = allowlist.parameters(name), f"`{name}`"
        named = {k.arg: k.value for k in node.keywords if k.arg}
        for misfit in parameters.placed_misfits(shown, len(node.args), named):
            message = misfit.message.replace("`inputs` has", "here are").replace(
                "from `inputs` by position too", "by position too"
            )
            raise self.refused(named.get(misfit.name, node), message, misfit.hint)

    def _bound(
        self, name: str, node: ast.Call, flow: ControlFlow, given: Mapping[str, ast.expr]
    ) -> int:
        """How often a loop may turn, which must be written out; 1 where tensors end it."""
        if not flow.bound:
            return 1
        written = {p: self._whole(given.get(p)) for p in (flow.bound, *flow.start)}
        for parameter, value in written.items():
            if value is None:
                hint = f"write {parameter}=10: a whole number, and at most {MAX_ITERATIONS:,}"
                place = given.get(parameter, node)
                raise self.refused(place, f"`{name}` needs `{parameter}` written out", hint)
        turns = (written[flow.bound] or 0) - sum(written[p] or 0 for p in flow.start)
        if self._turns * max(turns, 1) > MAX_ITERATIONS:
            inside = "" if self._turns == 1 else f" inside of {self._turns:,}"
            raise self.refused(
                given[flow.bound],
                f"a loop of {turns:,} turns{inside} is too long: at most {MAX_ITERATIONS:,}",
            )
        return max(turns, 1)

    def _whole(self, node: ast.expr | None) -> int | None:
        code = None if node is None else self.translate(node)
        known = isinstance(code, Constant) and type(code.value) is int
        return code.value if known else None  # type: ignore[union-attr]  # the line above knows

    def _function(self, node: ast.expr) -> Code:
        """The code of a function that is handed over: a lambda, the name of one, a list of them."""
        if isinstance(node, ast.Lambda):
            return self._lambda_code(node)
        if isinstance(node, ast.List | ast.Tuple):
            items = tuple(self._item(e) for e in node.elts)
            kind = list if isinstance(node, ast.List) else tuple
            return lambda values, lookup: kind([i(values, lookup) for i in items])
        if isinstance(node, ast.Constant) and node.value is None:
            return Constant(None)
        name = _dotted(node)
        if name in allowlist.ALLOWED:
            return lambda _values, lookup: lookup(name)
        hint = "write lambda x: …, or the name of a function, tf.square"
        raise self.refused(node, "a function is wanted here", hint)

    def _item(self, node: ast.expr) -> Code:
        """What stands in a list of functions: tf.case has each behind its condition."""
        is_function = isinstance(node, ast.Lambda | ast.List | ast.Tuple)
        if is_function or _dotted(node) in allowlist.ALLOWED:
            return self._function(node)
        return self.translate(node)

    def _lambda_code(self, node: ast.Lambda) -> Code:
        given = node.args
        if given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults:
            message = "a lambda takes plain names: no defaults, no `*`, no `/`"
            raise self.refused(node, message)
        names = tuple(a.arg for a in given.args)
        for argument in given.args:
            if argument.arg in ROOTS:
                raise self.refused(argument, f"`{argument.arg}` cannot be the name of a parameter")
        outside, self.allowed = self.allowed, frozenset({*self.allowed, *names})
        body = self.translate(node.body)
        self.allowed = outside
        return lambda values, lookup: _closure(names, body, values, lookup)

    def _no_function(self, node: ast.expr, name: str) -> ExpressionError:
        root = name.partition(".")[0]
        if root in self.allowed:
            if isinstance(node, ast.Attribute):
                return self._no_attribute(node, name)
            return self.refused(node, f"`{name}` is an input, it cannot be called")
        near = allowlist.nearest(name)
        hint = f"did you mean `{near}`?" if near else "tf.math, tf.linalg, tf.nn … are allowed"
        reason = allowlist.why_refused(name)
        if allowlist.is_module(name):
            message, hint = f"`{name}` is a module, not a function", "name one of its functions"
        elif name in allowlist.LAYERS:
            message, hint = f"`{name}` is a class", f"a layer is a target by itself: layer: {name}"
        elif root in ROOTS:
            message = f"`{name}` is not on the list of pure functions of TensorFlow and Keras"
            message, hint = (f"{message}: {reason}", "") if reason else (message, hint)
        else:
            message = f"`{name}` is not a function known here: functions are written tf.…"
        return self.refused(node, message, hint)

    def _no_attribute(self, node: ast.Attribute, name: str | None) -> ExpressionError:
        if name is not None and name.partition(".")[0] not in self.allowed:
            return self._no_function(node, name)
        if name is None:
            # What the attribute is taken of may be the graver matter.
            self.translate(node.value)
        near = {"T": "tf.transpose", "shape": "tf.shape"}.get(node.attr)
        near = near or allowlist.equivalent(node.attr)
        hint = f"write {near}(…) of the value" if near else "functions are written tf.…(value)"
        return self.refused(node, f"`.{node.attr}` of a value is not reached from a spec", hint)


def _closure(
    names: tuple[str, ...], body: Code, values: Mapping[str, Any], lookup: Lookup
) -> Callable[..., Any]:
    def function(*given: Any) -> Any:
        if len(given) != len(names):
            shown = ", ".join(names) or "nothing"
            raise TypeError(f"the lambda takes {shown}, and got {len(given)} values")
        return body({**values, **dict(zip(names, given, strict=True))}, lookup)

    return function


def _dotted(node: ast.expr) -> str | None:
    """`tf.linalg.matmul` for the nodes that spell it; None for anything but names and dots."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])
