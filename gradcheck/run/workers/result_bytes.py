"""A result on its way from a worker to its parent; one that cannot make the way is an error."""

from __future__ import annotations

import dataclasses
import json

from gradcheck.model import Case, Result, Verdict
from gradcheck.model.findings import Sighting
from gradcheck.model.inventories import Inventory
from gradcheck.model.planted import Power
from gradcheck.run.workers.wire import codec

LONGEST_TEXT = 20_000
"""How many characters of a message or a note are sent: whoever reads more of it reads a log."""

_KINDS: dict[str, type[Result]] = {
    kind.__name__: kind for kind in (Result, Power, Sighting, Inventory)
}
"""What a check may return."""

_write = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def cut(text: str, most: int = LONGEST_TEXT) -> str:
    """The text, or its beginning and its end where it is very long.

    Without it `test_a_huge_exception_is_cut` fails.
    """
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} … ({len(text) - 2 * half} characters left out) … {text[-half:]}"


def to_bytes(result: Result) -> bytes:
    """The result without its case, which the parent has; it may hold what cannot be sent."""
    kind = type(result).__name__
    try:
        light = dataclasses.replace(result, case=None, message=cut(result.message))
        return _write([kind, codec(_KINDS[kind])[0](light)]).encode()
    except Exception as error:
        message = f"the result could not be sent back: {type(error).__name__}: {error}"
        spoilt = Result(result.id, Verdict.ERROR, message=cut(message))
        return _write(["Result", codec(Result)[0](spoilt)]).encode()


def from_bytes(data: bytes, case: Case) -> Result:
    """The result of the case; anything else that came is an error."""
    try:
        kind, content = json.loads(data)
        result: Result = codec(_KINDS[kind])[1](content)
        if result.id != case.id:
            raise ValueError(f"it is that of {cut(result.id, 200)}")
    except Exception as error:
        message = cut(f"the result cannot be read: {type(error).__name__}: {error}")
        return Result(case.id, Verdict.ERROR, message=message, case=case)
    return dataclasses.replace(result, case=case)
