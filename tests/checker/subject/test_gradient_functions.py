"""Which gradient functions run, and what they are the gradients of."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcheck.checker.subject.gradient_functions import gradient_functions
from gradcheck.checker.subject.operand import Operand

X = np.array([0.5, 1.5])


def found(function: Any, *operands: Operand) -> list[Any]:
    return gradient_functions(function, operands, [np.ones(2)], operands[0].name)


def test_they_come_in_the_order_of_the_way_back_with_what_they_were_given(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def plus(x: Any, y: Any, *, more: float = 0.0) -> Any:
        return x + y + more, lambda upstream: (upstream, upstream)

    ran = found(lambda x, y: plus(plus(x, y), 2 * y, more=1.0), Operand("x", X), Operand("y", X))
    assert len(ran) == 2
    assert all(function.place.function.endswith("plus.<lambda>") for function in ran)
    last, first = (function.call for function in ran)
    assert (last.keywords, first.keywords) == ({"more": 1.0}, {})
    assert first.moves == last.moves == (True, False)
    np.testing.assert_array_equal(last.arguments[0], 2 * X)


def test_a_variable_moves_too(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def doubled(x: Any, factor: Any) -> Any:
        return x * factor, lambda upstream: (upstream * factor, None)

    ran = found(lambda x: doubled(x, 2.0), Operand("x", X, variable=True))
    assert [function.call.moves for function in ran] == [(True, False)]


def test_a_callable_object_and_a_decorated_function(tf: Any) -> None:
    class Gradient:
        def __call__(self, upstream: Any) -> Any:
            return upstream

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def by_object(x: Any) -> Any:
        return x, Gradient()

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def by_function(x: Any) -> Any:
        @tf.function  # type: ignore[untyped-decorator]  # no types in TF
        def gradient(upstream: Any) -> Any:
            return upstream

        return x, gradient

    names = [f.place.function for f in found(lambda x: by_function(by_object(x)), Operand("x", X))]
    assert [
        name.rpartition("test_a_callable_object_and_a_decorated_function.")[2] for name in names
    ] == [
        "by_function.gradient",
        "Gradient.__call__",
    ]


def test_a_gradient_that_raises_has_run_and_functions_are_traced_again(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def broken(x: Any) -> Any:
        def gradient(_upstream: Any) -> Any:
            raise ValueError

        return x, gradient

    assert len(found(broken, Operand("x", X))) == 1
    assert not tf.config.functions_run_eagerly()


def test_recomputing_is_no_gradient_of_the_users(tf: Any) -> None:
    assert found(tf.recompute_grad(lambda x: x * x), Operand("x", X)) == []
