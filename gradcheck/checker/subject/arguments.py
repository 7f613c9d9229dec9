"""What a call of the library is given, as operands: names, values, and what is differentiated."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from inspect import Parameter
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from gradcheck.checker.subject.call_checks import (
    flags_apart,
    must_make_sense,
    must_take,
    parameters_of,
)
from gradcheck.checker.subject.callee import Arguments, Callee
from gradcheck.checker.subject.flatten import Flat, flatten
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.problem import Wanted
from gradcheck.checker.subject.reachable import handle_of, is_variable
from gradcheck.checker.subject.tensors import is_differentiable, tf_dtype
from gradcheck.errors import UsageError, did_you_mean
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array


@frozen(slots=True)
class Given:
    """The arguments of a call, taken apart into tensors."""

    callee: Callee
    operands: tuple[Operand, ...]
    wanted: Wanted

    def distribution(self, cdf: Callable[..., Any] | None) -> Callable[..., Any] | None:
        """The distribution function of a sample, as one of the sample and a tensor per operand."""
        if cdf is None:
            return None
        arrange, inputs = self.callee.arrange, len(self.operands)

        def function(sample: Any, *tensors: Any) -> Any:
            # (Behind the inputs come the variables that are captured.)
            positional, named = arrange(tensors[:inputs])
            return cdf(sample, *positional, **named)

        return function


def take_apart(
    fn: Callable[..., Any],
    positional: Sequence[Any],
    named: Mapping[str, Any],
    call: Mapping[str, Any],
    wrt: Any,
    structure: Mapping[str, str] | None,
    *,
    variables: bool,
) -> Given:
    """The function of one tensor per leaf of its arguments, and those tensors.

    Args:
        fn: what is called.
        positional: inputs by position.
        named: inputs by name.
        call: keyword arguments that are no inputs.
        wrt: which inputs and variables are differentiated; None for all.
        structure: by name of an input, the kind of matrix that it is.
        variables: whether variables that `wrt` does not name are differentiated.
    """
    must_make_sense(fn, call, structure, variables)
    named, call = flags_apart(named, call)
    must_take(fn, call)
    names = _names(fn, len(positional))
    moved, rest = _by_position(fn, len(positional), named)
    keys = [*names, *moved, *rest]
    everything = [*positional, *moved.values(), *rest.values()]
    flats = [flatten(each, key) for each, key in zip(everything, keys, strict=True)]
    leaves = [pair for flat in flats for pair in zip(flat.paths, flat.leaves, strict=True)]
    chosen = _chosen(wrt, [path for path, _ in leaves], keys)
    operands = tuple(
        _operand(path, leaf, chosen.inputs, structure or {}, number)
        for number, (path, leaf) in enumerate(leaves)
    )
    wanted = Wanted(variables and chosen.inputs is None, chosen.names, chosen.variables)
    if not (rest or call) and all(flat.is_leaf for flat in flats):
        return Given(Callee(fn), operands, wanted)
    arrange = _arrange(flats, len(flats) - len(rest), list(rest), dict(call))
    return Given(Callee(fn, arrange), operands, wanted)


def _arrange(
    flats: Sequence[Flat], positional: int, keywords: Sequence[str], call: dict[str, Any]
) -> Callable[[Sequence[Any]], Arguments]:
    def arrange(tensors: Sequence[Any]) -> Arguments:
        leaves = iter(tensors)
        built = [flat.build(leaves) for flat in flats]
        named = dict(zip(keywords, built[positional:], strict=True))
        return built[:positional], {**named, **call}

    return arrange


def _by_position(
    fn: Callable[..., Any], before: int, named: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The named inputs that can come by position after the others, in order, and the rest.

    By position, because `tf.custom_gradient` differentiates positional arguments only.
    """
    if not named:
        return {}, {}
    parameters = parameters_of(fn)
    kinds = {p.kind for p in parameters}
    known = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    for name in named:
        if parameters and name not in known and inspect.Parameter.VAR_KEYWORD not in kinds:
            takes = ", ".join(known) or "nothing by name"
            raise UsageError(
                f"{_called(fn)} has no input {name!r}, and check no such option: it takes {takes}"
                f"{did_you_mean(name, [*known, *_OPTIONS])}"
            )
    first, rest = {}, dict(named)
    for parameter in parameters[before:]:
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD or parameter.name not in rest:
            break
        first[parameter.name] = rest.pop(parameter.name)
    return first, rest


_OPTIONS = [
    "wrt",
    "upstream",
    "seed",
    "tolerance",
    "mode",
    "checks",
    "structure",
    "call",
    "variables",
    "outputs",
    "budget",
    "cdf",
]
"""What `check` takes besides inputs: a misspelt one looks like an input."""


def _called(fn: Any) -> str:
    return str(getattr(fn, "__name__", type(fn).__name__))


def _names(fn: Callable[..., Any], count: int) -> list[str]:
    """The function's own parameter names, or input0, input1, … where it does not tell."""
    if type(fn) is FunctionType and fn.__code__.co_argcount >= count and not fn.__dict__:
        # The usual case, for a tenth of the cost.
        return list(fn.__code__.co_varnames[:count])
    known = _POSITIONAL.get(fn) if type(fn) is FunctionType else None
    if known is None:
        kinds = Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD
        known = [p.name for p in parameters_of(fn) if p.kind in kinds]
        if type(fn) is FunctionType:
            _POSITIONAL[fn] = known
    return [known[i] if i < len(known) else f"input{i}" for i in range(count)]


_POSITIONAL: WeakKeyDictionary[FunctionType, list[str]] = WeakKeyDictionary()
"""What the functions take by position that are wrapped, as those of TensorFlow are: to read such a
signature costs as much as ten ops."""


@frozen(slots=True)
class _Choice:
    """What `wrt` asks for."""

    inputs: frozenset[int] | None = None
    """Positions of leaves; None for all."""
    names: tuple[str, ...] = ()
    variables: tuple[Any, ...] = ()


def _chosen(wrt: Any, paths: list[str], arguments: list[str]) -> _Choice:
    if wrt is None:
        return _Choice()
    positions: set[int] = set()
    names, variables = [], []
    for item in _listed(wrt):
        if isinstance(item, str):
            under = [i for i, path in enumerate(paths) if _is_under(path, item)]
            positions |= set(under)
            if not under:
                # Perhaps a variable: which there are is known once the function was called.
                names.append(item)
        elif is_variable(item):
            variables.append(item)
        elif isinstance(item, bool) or not isinstance(item, int):
            kind = type(item).__name__
            raise UsageError(
                f"wrt holds a {kind}: inputs are named by position or name, variables by name or "
                "by themselves"
            )
        elif -len(arguments) <= item < len(arguments):
            positions |= {i for i, path in enumerate(paths) if _is_under(path, arguments[item])}
        else:
            raise UsageError(f"wrt names input {item}, but there are {len(arguments)}")
    if not positions and not names and not variables:
        raise UsageError(
            "wrt is empty: there is nothing to differentiate (a layer has no variables before it "
            "was called or built)"
        )
    return _Choice(frozenset(positions), tuple(names), tuple(variables))


def _listed(wrt: Any) -> list[Any]:
    if isinstance(wrt, int | str) or is_variable(wrt):
        return [wrt]
    if isinstance(wrt, Collection) and not isinstance(wrt, np.ndarray):
        return list(wrt)
    raise UsageError(
        f"wrt is a {type(wrt).__name__}: it names inputs by position or name, and variables"
    )


def _is_under(path: str, argument: str) -> bool:
    """Whether a leaf is this argument, or lies in it."""
    return path == argument or (path.startswith(argument) and path[len(argument)] in ".[")


def _operand(
    name: str,
    given: Any,
    chosen: frozenset[int] | None,
    structure: Mapping[str, str],
    position: int,
) -> Operand:
    value = _value(given, name)
    differentiable = is_differentiable(value.dtype)
    if chosen is not None and position in chosen and not differentiable:
        raise UsageError(f"input {name!r} is {value.dtype.name}: it has no gradient")
    variable = is_variable(given)
    return Operand(
        name=name,
        value=value,
        differentiate=differentiable and (chosen is None or position in chosen),
        variable=variable,
        given=handle_of(given) if variable else None,
        structure=_structure(structure, name, value),
    )


def _structure(structure: Mapping[str, str], name: str, value: Array) -> str:
    kind = structure.get(name, "general")
    known = ("general", "symmetric", "lower")
    if kind not in known:
        raise UsageError(f"there is no structure {kind!r}{did_you_mean(kind, known)}")
    if kind != "general" and (value.ndim < 2 or value.shape[-1] != value.shape[-2]):
        raise UsageError(f"input {name!r} is said to be {kind}, but it has no square matrices")
    return kind


def _value(given: Any, name: str) -> Array:
    """An input as an array."""
    import tensorflow as tf

    if isinstance(given, tf.Tensor) or is_variable(given):
        return np.asarray(given.numpy())
    try:
        value = np.asarray(given)
        if value.dtype.kind not in "fciubV":
            raise TypeError(f"it is a {type(given).__name__}")
        tf_dtype(value.dtype)
    except (TypeError, ValueError) as error:
        raise UsageError(f"input {name!r} is no tensor: {error}") from error
    return value
