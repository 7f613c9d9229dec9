"""Planting a wrong gradient: the function stays what it is, its gradient is multiplied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.frameworks import load
from benchmarks.subjects import Function
from gradcheck.model import Array


def plant(framework: str, function: Function, factors: Sequence[Array]) -> Function:
    """The function with the gradient of each input multiplied, element by element.

    Every input passes through an identity on its way in; the way back through it is wrong.
    """
    skew = {"tensorflow": _tensorflow, "torch": _torch, "jax": _jax}[framework]
    skewed = [skew(load(framework), factor) for factor in factors]

    def planted(*inputs: Any) -> Any:
        return function(*(wrong(x) for wrong, x in zip(skewed, inputs, strict=True)))

    return planted


def _tensorflow(tf: Any, factor: Array) -> Function:
    def identity(x: Any) -> Any:
        return tf.identity(x), lambda upstream: upstream * factor

    skewed: Function = tf.custom_gradient(identity)
    return skewed


def _torch(torch: Any, factor: Array) -> Function:
    tensor = torch.tensor(factor)

    def forward(context: Any, x: Any) -> Any:  # noqa: ARG001  (torch passes it)
        return x.clone()

    def backward(context: Any, upstream: Any) -> Any:  # noqa: ARG001  (torch passes it)
        return upstream * tensor

    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    skewed: Function = type("Skewed", (torch.autograd.Function,), methods).apply  # type: ignore[attr-defined]  # torch has no types here
    return skewed


def _jax(jax: Any, factor: Array) -> Function:
    skewed: Any = jax.custom_vjp(lambda x: x)
    skewed.defvjp(lambda x: (x, None), lambda _, upstream: (upstream * factor,))
    function: Function = skewed
    return function
