"""What is done around a case wherever it runs, in a worker or in pytest's process."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.model import Case, Result, Verdict
from gradcheck.run.workers.result_bytes import cut

if TYPE_CHECKING:
    from collections.abc import Callable


def seed_generators(seed: int) -> None:
    """Let the random numbers of Python and numpy begin anew, whatever was drawn before."""
    random.seed(seed)
    np.random.seed(seed % 2**32)


def outcome_of(
    case: Case, check: Callable[[], Any], passing: tuple[type[BaseException], ...] = ()
) -> Result:
    """What the check returns, or the error that it ends in: a user's function raises anything.

    Args:
        case: what is checked.
        check: checks it.
        passing: what is not the case's own, and goes on to whoever called.
    """
    start = time.perf_counter()
    try:
        result = check()
        if isinstance(result, Result):
            return result
        message = f"the check returned {type(result).__name__} in place of a Result"
    except passing:
        raise
    except SystemExit as error:
        message = f"the function under test called sys.exit({told(repr, error.code)})"
    except BaseException as error:
        text = told(str, error)
        message = type(error).__name__ + (f": {text}" if text else ", which has no text")
    return Result(case.id, Verdict.ERROR, message=message, seconds=time.perf_counter() - start)


def told(how: Callable[[Any], str], what: object) -> str:
    """A user's object as a text: what that does is the user's too."""
    try:
        return cut(how(what))
    except Exception:
        return ""
