"""How long each case took when it last ran, and whether it failed: `history.json`."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HISTORY_FORMAT = 1
"""Goes up when older files can no longer be read; such a file is then ignored."""


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of a case."""

    seconds: float | None
    """None where it ran, but nobody may rely on how long that took."""
    failed: bool


class History:
    """The past of every case that ever ran here, by id."""

    def __init__(self, cases: dict[str, Past] | None = None) -> None:
        self._cases = cases or {}

    @classmethod
    def read(cls, path: Path, warn: Callable[[str], None]) -> History:
        """What the file holds; an empty history, and a sentence, where it is no good."""
        try:
            text = path.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return cls()
        except (OSError, UnicodeDecodeError) as error:
            warn(f"{path} is ignored: it cannot be read ({error})")
            return cls()
        try:
            data = json.loads(text)
            if data["gradcheck_history"] != HISTORY_FORMAT:
                raise ValueError("another version of the format")
            cases = {str(name): _past(item) for name, item in data["cases"].items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            warn(f"{path} is ignored: it is damaged, or not a history of this gradcheck")
            return cls()
        return cls(cases)

    def seconds(self, case_id: str) -> float | None:
        """How long the case took when it last ran."""
        past = self._cases.get(case_id)
        return None if past is None else past.seconds

    def failed(self, case_id: str) -> bool:
        """Whether the case failed when it last ran."""
        past = self._cases.get(case_id)
        return past is not None and past.failed

    def note(self, case_id: str, past: Past) -> bool:
        """Remember the past of a case; whether that is news."""
        known = self._cases.get(case_id)
        if known is not None and past.seconds is None:
            past = Past(known.seconds, past.failed)
        self._cases[case_id] = past
        return known != past

    def write(self, path: Path) -> None:
        """Replace the file, whole; raises OSError where that is impossible.

        Two must not do this at the same time: the caller holds a lock.
        """
        cases = {
            name: {"seconds": past.seconds, "failed": past.failed}
            for name, past in sorted(self._cases.items())
        }
        # Without an indent, which is written in Python and takes ten times as long.
        text = json.dumps({"gradcheck_history": HISTORY_FORMAT, "cases": cases})
        temporary = path.with_name(f".{path.name}.tmp")
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def past_of(seconds: float | None, *, failed: bool) -> Past:
    """What to remember, in as many digits as are worth it."""
    return Past(None if seconds is None else round(seconds, 4), failed)


def _past(item: dict[str, object]) -> Past:
    seconds, failed = item["seconds"], item["failed"]
    if not isinstance(seconds, int | float | None) or not isinstance(failed, bool):
        raise TypeError("not the past of a case")
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError("not a time")
    return past_of(seconds, failed=failed)
