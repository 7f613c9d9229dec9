"""The fixture `gradcheck`: checks inside a test, which the report of the run remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.testing.assertion import checked, demand

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from gradcheck.model import Result


class GradientCheck:
    """What a test gets that asks for `gradcheck`: call it with a function and its inputs."""

    def __init__(self, node: pytest.Item) -> None:
        self._node = node
        self.results: list[Result] = []
        """What the checks of this test came to, in their order."""

    def __repr__(self) -> str:
        return f"<gradcheck: {'; '.join(map(repr, self.results)) or 'no check so far'}>"

    def __call__(self, fn: Callable[..., Any], *inputs: Any, **options: Any) -> Result:
        """Fail the test unless the gradients are right; takes what `gradcheck.check` takes."""
        __tracebackhide__ = True  # pytest reads it
        return demand(self._noted(checked(fn, *inputs, **options)))

    def check(self, fn: Callable[..., Any], *inputs: Any, **options: Any) -> Result:
        """The result, whatever it is: for a test that expects another verdict than `pass`."""
        __tracebackhide__ = True
        return self._noted(checked(fn, *inputs, **options))

    def _noted(self, result: Result) -> Result:
        self.results.append(result)
        self._node.user_properties.append(("gradcheck", repr(result)))
        return result
