"""`assert_gradients`: a check that fails like an assertion, and says what the command says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import GradcheckError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Result


def assert_gradients(fn: Callable[..., Any], *inputs: Any, **options: Any) -> Result:
    """Raise AssertionError, saying which element is wrong and by how much, unless all is right.

    Takes what `check` takes, and returns its Result. In pytest the failure is shown at the line
    that called this, without frames of gradcheck's own.
    """
    __tracebackhide__ = True  # pytest reads it
    return demand(checked(fn, *inputs, **options))


def checked(fn: Callable[..., Any], *inputs: Any, **options: Any) -> Result:
    """The result of `check`; what is wrong with the call is told without the place in our code."""
    __tracebackhide__ = True
    from gradcheck.checker.api import check

    try:
        return check(fn, *inputs, **options)
    except GradcheckError as error:
        raise error.with_traceback(None) from None


def demand(result: Result) -> Result:
    """The result, if it is right; AssertionError if it is not."""
    __tracebackhide__ = True
    if not result.verdict.acceptable:
        from gradcheck.report.display import failure

        raise AssertionError(failure(result))
    return result
