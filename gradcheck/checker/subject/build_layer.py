"""A layer, a loss or a model: made of its class and plain data, built, its weights drawn."""

from __future__ import annotations

import contextlib
import importlib
import random
import zlib
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.subject.keras_names import counted_apart
from gradcheck.checker.subject.look_up import keras, look_up
from gradcheck.checker.subject.tensors import FunctionRaised, explain_exception, where_raised
from gradcheck.checker.subject.user_code import import_object
from gradcheck.errors import FunctionError, UsageError
from gradcheck.spec.expression import allowlist
from gradcheck.spec.expression.parameters import Parameters

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from gradcheck.model import Case


class LayerMaker:
    """Makes the objects of one case, those inside of others too."""

    def __init__(self, case: Case, allow: Collection[str], root: str) -> None:
        self._case = case
        self._allow = allow
        self._root = root
        self._names: dict[str, int] = defaultdict(int)

    def make(self) -> Any:
        """An object of the case's class; FunctionError where it cannot be made."""
        with building(self._case, self._names):
            return self._make(self._case.target.text, self._case.init)

    def build_on(self, layer: Any, arguments: tuple[Any, dict[str, Any]]) -> None:
        """Make the weights, by a first call; FunctionRaised where that raises."""
        positional, named = arguments
        with building(self._case, self._names):
            try:
                layer(*positional, **named)
            except Exception as error:  # whatever the layer does
                raise FunctionRaised(error) from error

    def _make(self, text: str, init: Mapping[str, Any]) -> Any:
        kind = layer_class(text, self._allow, self._root)
        given = {name: self._value(value) for name, value in init.items()}
        taken = Parameters.of(kind)
        if taken is not None:
            for misfit in taken.named_misfits(f"`{text}`", (), given):
                raise FunctionError(str(misfit).replace(" has no arg ", " has no `init` "))
        try:
            return kind(**given)
        except Exception as error:  # whatever the class does with what it was given
            told = explain_exception(error) + where_raised(error)
            raise FunctionError(f"`{text}` cannot be made: {told}") from error

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if not isinstance(value, dict):
            return value
        if not {"layer"} <= value.keys() <= {"layer", "init"}:
            # Keras would make an object of whatever class a mapping names.
            raise UsageError("a mapping in `init` must be a layer: {layer: …, init: {…}}")
        return self._make(str(value["layer"]), value.get("init") or {})


def layer_class(text: str, allow: Collection[str], root: str) -> Any:
    """The class of this name; FunctionError or UsageError where there is none.

    Args:
        text: a name of Keras', or `package.module:Name`.
        allow: packages that may be imported.
        root: where they are looked for.
    """
    if ":" in text:
        kind = import_object(text, allow, root)
        if not isinstance(kind, type):
            raise FunctionError(f"`{text}` is no class: write `function: {text}`")
        return kind
    if text not in allowlist.LAYERS:
        raise UsageError(f"`{text}` is not on the list of Keras' layers, losses and models")
    return look_up(text)


def call_parameters(layer: Any) -> Parameters | None:
    """What a call of the object takes: for Keras, what its `call` does.

    Some of Keras' layers pass but one of them on by position: without that
    `test_a_layer_that_takes_one_by_position` fails.
    """
    called = Parameters.of(layer)
    if not isinstance(layer, keras().layers.Layer):
        return called
    own = Parameters.of(layer.call)
    if own is not None and called is not None and not called.variadic:
        own = own.first_by_position(len(called.by_position))
    return None if own is None else own.also("training")


def draw_weights(layer: Any, case: Case) -> None:
    """Give every trainable weight values of the case's seed, each from a stream of its own.

    Numbers of the size of a half are added to the initial ones, so that no weight is zero, none is
    equal to another, and a scale stays about one. Without it `test_no_weight_is_left_at_zero`
    fails. Weights that are not trained (running means and variances) stay as they were made.
    """
    for place, weight in enumerate(getattr(layer, "trainable_variables", ())):
        initial = np.asarray(weight.numpy())
        if initial.dtype.kind not in "fcV":
            continue
        name = str(weight.name).rpartition("/")[2]
        rng = generator(case.seed, zlib.crc32(f"weight {place} {name}".encode()))
        wide = initial.astype(np.complex128 if initial.dtype.kind == "c" else np.float64)
        drawn = wide + limits.WEIGHT_SPREAD * rng.standard_normal(initial.shape)
        weight.assign(drawn.astype(initial.dtype))


@contextlib.contextmanager
def building(case: Case, names: dict[str, int]) -> Iterator[None]:
    """While a layer is made and built: the dtype and the seed of the case; behind it, as before.

    Layers inside of a user's layer take Keras' own default dtype, and Keras draws weights by
    Python's generator: without it `test_layers_inside_compute_in_the_dtype_of_the_case` and
    `test_the_weights_are_those_of_the_seed` fail.

    Args:
        case: whose dtype and seed.
        names: how often Keras gave a name to a layer of this case.
    """
    config = keras().config
    before = config.dtype_policy(), config.floatx(), random.getstate(), np.random.get_state()
    try:
        _set_dtype(config, case)
        random.seed(case.seed)
        np.random.seed(case.seed % 2**32)
        if any(":" in text for text in _texts(case.target.text, case.init)):
            # TensorFlow gives its seed to nobody who would restore it: only where it may be used.
            importlib.import_module("tensorflow").random.set_seed(case.seed)
        with counted_apart(names):
            yield
    finally:
        config.set_dtype_policy(before[0])
        config.set_floatx(before[1])
        random.setstate(before[2])
        np.random.set_state(before[3])


def _set_dtype(config: Any, case: Case) -> None:
    """What layers compute in that do not say so; Keras has no complex ones, but casts no input."""
    real = {"complex128": "float64", "complex64": "float32"}.get(case.dtype, case.dtype)
    try:
        config.set_floatx(real)
        config.set_dtype_policy(str(case.init.get("dtype") or real))
    except (TypeError, ValueError) as error:
        raise FunctionError(f"Keras has no such dtype: {explain_exception(error)}") from error


def _texts(text: str, init: Any) -> Iterator[str]:
    """The names of a layer and of those inside of it."""
    yield text
    for value in init.values() if isinstance(init, dict) else init:
        if isinstance(value, list):
            yield from _texts("", value)
        elif isinstance(value, dict):
            yield from _texts(str(value.get("layer")), value.get("init") or {})
