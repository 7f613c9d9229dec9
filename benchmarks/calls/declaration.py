"""What a call of the broad set is: a function, its inputs, and how either checker is given it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.frameworks import load
from benchmarks.subjects import Draw, Function

if TYPE_CHECKING:
    from gradcheck.model import Array

F64, F32, F16, BF16 = "float64", "float32", "float16", "bfloat16"
C64, C128 = "complex64", "complex128"

DTYPES = (F64, F32, F16, BF16, C64, C128)

Make = Callable[[Any], Function]
"""The function, given TensorFlow: made anew for every check, so that nothing is kept from one."""


@dataclass(frozen=True)
class Prepared:
    """One call, ready for either checker: the same mathematics at the same numbers."""

    checked: Any
    """What gradcheck is given: a function, or a layer or a closure with its own variables."""
    inputs: list[Array]
    plain: Function
    """What tf.test.compute_gradient is given: a function of the inputs and of the variables."""
    values: list[Array]
    """The numbers that are differentiated: the inputs and the variables."""
    options: dict[str, Any]
    """What gradcheck is told besides."""

    @property
    def numbers(self) -> int:
        """How many numbers are differentiated; a complex one is one."""
        return sum(int(np.size(value)) for value in self.values)


@dataclass(frozen=True)
class Call:
    """One call of the broad set."""

    title: str
    family: str
    dtype: str
    prepare: Callable[[], Prepared]

    @property
    def name(self) -> str:
        """Unique among the calls."""
        return f"{self.title}, {self.dtype}"


def op(title: str, family: str, dtype: str, draw: Draw, make: Make) -> Call:
    """A function of its inputs alone."""

    def prepare() -> Prepared:
        function, inputs = make(load("tensorflow")), cast(draw, dtype)
        return Prepared(function, inputs, function, inputs, {})

    return Call(title, family, dtype, prepare)


def closure(title: str, family: str, dtype: str, draw: Draw, variables: Draw, make: Make) -> Call:
    """A function of its inputs that reads tf.Variables, written as a function of both."""

    def prepare() -> Prepared:
        tf = load("tensorflow")
        body, inputs, values = make(tf), cast(draw, dtype), cast(variables, dtype, seed=1)
        kept = [tf.Variable(value) for value in values]
        return Prepared(lambda *xs: body(*xs, *kept), inputs, body, inputs + values, {})

    return Call(title, family, dtype, prepare)


def layer(title: str, make: Make, *draws: Draw, **call: Any) -> Call:
    """A Keras layer or model in float32 with all its weights, made by `make` from Keras."""

    def prepare() -> Prepared:
        built, inputs = _built(make, draws, call)
        values, plain = _stateless(built, inputs, call)
        return Prepared(built, inputs, plain, values, {"call": call})

    return Call(title, "Keras layers", F32, prepare)


def around(title: str, make: Make, *draws: Draw, weights: bool = True) -> Call:
    """A function of the user's that calls a Keras layer, with all its weights or without them."""

    def prepare() -> Prepared:
        built, inputs = _built(make, draws, {})
        values, plain = _stateless(built, inputs, {})

        def function(*xs: Any) -> Any:
            return built(*xs)

        if not weights:
            return Prepared(function, inputs, function, inputs, {"variables": False})
        return Prepared(function, inputs, plain, values, {})

    return Call(title, "functions around Keras layers", F32, prepare)


def _built(make: Make, draws: tuple[Draw, ...], call: dict[str, Any]) -> tuple[Any, list[Array]]:
    load("tensorflow")
    keras = load("keras")
    # (Keras draws weights by Python's generator. TensorFlow's own seed would empty its cache of
    # kernels, which for each kernel costs as much as thirty runs, and only of these calls.)
    random.seed(0)
    built, inputs = make(keras), [array for draw in draws for array in cast(draw, F32)]
    built(*inputs, **call)
    return built, inputs


def _stateless(
    built: Any, inputs: list[Array], call: dict[str, Any]
) -> tuple[list[Array], Function]:
    """What is differentiated, and the layer as a function of it."""
    trained = [variable.numpy() for variable in built.trainable_variables]
    rest = [variable.value for variable in built.non_trainable_variables]
    # Words are not differentiated.
    moved = [x for x in inputs if x.dtype.kind == "f"]

    # Of Keras' ways to give a layer its weights this one is the quickest, and it is public.
    def plain(*values: Any) -> Any:
        left, weights = iter(values), list(values[len(moved) :])
        xs = [next(left) if x.dtype.kind == "f" else x for x in inputs]
        if built.compute_dtype == built.variable_dtype:
            return built.stateless_call(weights, rest, *xs, **call)[0]
        # It would leave the policy's casts out.
        pairs = zip(built.trainable_variables, weights, strict=True)
        with load("keras").StatelessScope(state_mapping=list(pairs)):
            return built(*xs, **call)

    return moved + trained, plain


def cast(draw: Draw, dtype: str, seed: int = 0) -> list[Array]:
    """The numbers in their dtype, but whole ones; complex ones have drawn imaginary parts."""
    rng = np.random.default_rng(seed)
    arrays: list[Any] = list(draw(rng))
    if dtype in (C64, C128):
        arrays = [x + 1j * y for x, y in zip(arrays, draw(rng), strict=True)]
    kind = load("tensorflow").as_dtype(dtype).as_numpy_dtype
    return [x if x.dtype.kind == "i" else np.asarray(x).astype(kind) for x in arrays]


def given(*arrays: Any) -> Draw:
    """These numbers and no others."""
    return lambda _: tuple(np.asarray(array, np.float64) for array in arrays)


def each(*draws: Draw) -> Draw:
    """What several draws give, one after another."""
    return lambda rng: tuple(array for draw in draws for array in draw(rng))


def distinct(*shape: int) -> Draw:
    """Numbers a tenth or more apart, in a random order: for what sorts and compares."""
    count = int(np.prod(shape))
    return lambda rng: ((rng.permutation(count) - count / 2 + 0.3).reshape(shape) * 0.1,)
