"""A result on its way from a worker to its parent; one that cannot make the way is an error."""

from __future__ import annotations

import dataclasses
import pickle

from gradcheck.model import Case, Result, Verdict


def to_bytes(result: Result) -> bytes:
    """The result without its case, which the parent has; it may hold what cannot be sent."""
    try:
        return pickle.dumps(dataclasses.replace(result, case=None))
    except Exception as error:
        message = f"the result could not be sent back: {type(error).__name__}: {error}"
        return pickle.dumps(Result(result.id, Verdict.ERROR, message=message))


def from_bytes(data: bytes, case: Case) -> Result:
    """The result of the case; what it is made of may not exist on this side."""
    try:
        result: Result = pickle.loads(data)  # noqa: S301  (from our own worker)
    except Exception as error:
        message = f"the result cannot be read: {type(error).__name__}: {error}"
        return Result(case.id, Verdict.ERROR, message=message, case=case)
    return dataclasses.replace(result, case=case)
