"""A check that is over before anything is compared: its verdict is known already."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradcheck.model import Verdict


class Ended(Exception):  # noqa: N818  (a verdict, not an error)
    """There is nothing to compare, or no sense in it."""

    def __init__(self, verdict: Verdict, message: str) -> None:
        """What the verdict is, and why."""
        super().__init__(message)
        self.verdict, self.message = verdict, message
