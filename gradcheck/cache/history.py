"""How long each case took when it last ran, and whether it failed: `history.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcheck.cache.cache_folder import set_aside
from gradcheck.report.read import typed_json as typed
from gradcheck.report.read.json_reader import MALFORMED
from gradcheck.report.read.typed_json import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.cache.cache_folder import CacheFolder

HISTORY_FILE = "history.json"
MAX_HISTORY = 2**29
"""Bytes: those of three million cases."""
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
    def read(cls, folder: CacheFolder, warn: Callable[[str], None], *, look: bool) -> History:
        """What the file holds; an empty history, and a sentence, where it is no good.

        What is damaged is put aside, unless this is but a `look`.
        """
        try:
            data = folder.read(HISTORY_FILE, MAX_HISTORY)
        except FileNotFoundError:
            return cls()
        except PermissionError as error:
            warn(f"{folder.path / HISTORY_FILE} is ignored: {error.strerror}")
            return cls()
        except OSError as error:
            set_aside(folder, HISTORY_FILE, error.strerror or str(error), warn, look=look)
            return cls()
        try:
            return cls(_pasts(parse(data)))
        except MALFORMED:
            why = "it is damaged, or not a history of this gradcheck"
            set_aside(folder, HISTORY_FILE, why, warn, look=look)
            return cls()

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

    def write(self, folder: CacheFolder) -> None:
        """Replace the file, whole; raises OSError where that is impossible.

        Two must not do this at the same time: the caller holds a lock.
        """
        cases = {
            name: {"seconds": past.seconds, "failed": past.failed}
            for name, past in sorted(self._cases.items())
        }
        # Without an indent, which is written in Python and takes ten times as long.
        text = json.dumps({"gradcheck_history": HISTORY_FORMAT, "cases": cases})
        folder.write(HISTORY_FILE, text.encode())


def past_of(seconds: float | None, *, failed: bool) -> Past:
    """What to remember, in as many digits as are worth it."""
    return Past(None if seconds is None else round(seconds, 4), failed)


def _pasts(data: Any) -> dict[str, Past]:
    if typed.count(data, "gradcheck_history") != HISTORY_FORMAT:
        raise ValueError("another version of the format")
    cases = typed.mapping(typed.member(data, "cases"), "cases")
    return {
        name: past_of(
            typed.maybe(typed.seconds, item, "seconds"), failed=typed.flag(item, "failed")
        )
        for name, item in cases.items()
    }
