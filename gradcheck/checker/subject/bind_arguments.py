"""Tensors, one per input, into the arguments of the function: each to the parameter of its name."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

from gradcheck.errors import FunctionError
from gradcheck.model import Group, Ragged, TargetKind, Template

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcheck.checker.subject.callee import Arguments
    from gradcheck.model import Case
    from gradcheck.spec.expression.parameters import Parameters


def bind(
    case: Case, parameters: Parameters | None, args: Mapping[str, Any]
) -> Callable[[Sequence[Any]], Arguments]:
    """How the inputs of a case and its args are handed over; FunctionError where they do not fit.

    By position as far as possible, because `tf.custom_gradient` differentiates positional
    arguments only: an input that comes by keyword would silently get the gradient of the ops
    inside. Without it `test_a_wrong_custom_gradient_is_found_whatever_its_input_is_called` fails.
    """
    rebuilt = _rebuilder(case)
    if case.by_position:
        _check_places(case, parameters, args)
        return lambda tensors: (list(rebuilt(tensors).values()), dict(args))
    if parameters is None:
        raise FunctionError(
            f"`{case.target.text}` does not tell the names of its parameters: "
            "write `inputs` as a list, [[3], [3]]"
        )
    _check_names(case, parameters, args)
    leading = _leading(case, parameters, args)

    def arrange(tensors: Sequence[Any]) -> Arguments:
        values = {**args, **rebuilt(tensors)}
        return [values.pop(name) for name in leading], values

    return arrange


def _leading(case: Case, parameters: Parameters, args: Mapping[str, Any]) -> list[str]:
    """The names that come by position: those up to the last input that can."""
    names = {argument.name for argument in case.takes}
    # Keras takes nothing but tensors by position.
    between = () if case.target.kind is TargetKind.LAYER else args
    leading = list(takewhile(lambda n: n in names or n in between, parameters.by_position))
    while leading and leading[-1] not in names:
        leading.pop()
    return leading


def _check_places(case: Case, parameters: Parameters | None, args: Mapping[str, Any]) -> None:
    if parameters is not None:
        misfits = parameters.placed_misfits(f"`{case.target.text}`", len(case.takes), args)
        for misfit in misfits:
            raise FunctionError(str(misfit))


def _check_names(case: Case, parameters: Parameters, args: Mapping[str, Any]) -> None:
    names = [argument.name for argument in case.takes]
    for misfit in parameters.named_misfits(f"`{case.target.text}`", names, args):
        blamed = (i for i in case.inputs if misfit.name and i.name.startswith(misfit.name))
        raise FunctionError(str(misfit), next((i.location for i in blamed), None))


def _rebuilder(case: Case) -> Callable[[Sequence[Any]], dict[str, Any]]:
    """Tensors, one per input, to the arguments by name."""
    names, arguments = [i.name for i in case.inputs], case.takes

    def rebuilt(tensors: Sequence[Any]) -> dict[str, Any]:
        leaves = dict(zip(names, tensors, strict=True))
        return {a.name: rebuild(a.template, leaves) for a in arguments}

    return rebuilt


def rebuild(template: Template, leaves: Mapping[str, Any], *, dense: bool = False) -> Any:
    """What a template stands for; `dense`: ragged and sparse tensors are their values alone."""
    if isinstance(template, str):
        return leaves[template]
    if isinstance(template, Group):
        parts = [rebuild(part, leaves, dense=dense) for part in template.parts]
        if template.kind == "dict":
            return dict(zip(template.keys, parts, strict=True))
        return tuple(parts) if template.kind == "tuple" else parts
    values = leaves[template.values]
    if dense:
        return values
    import tensorflow as tf

    if isinstance(template, Ragged):
        # The lengths are whole numbers of 64 bits, as TensorFlow has them by default.
        lengths = [tf.constant(level, tf.int64) for level in template.row_lengths]
        return tf.RaggedTensor.from_nested_row_lengths(values, lengths)
    indices = tf.reshape(tf.constant(template.indices, tf.int64), [-1, len(template.shape)])
    return tf.SparseTensor(indices, tf.convert_to_tensor(values), template.shape)
