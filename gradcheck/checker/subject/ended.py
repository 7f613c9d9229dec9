"""A check that is over before anything is compared: its verdict is known already."""

from __future__ import annotations

from gradcheck.model import Stage, Verdict


class Ended(Exception):  # noqa: N818  (a verdict, not an error)
    """There is nothing to compare, or no sense in it."""

    def __init__(self, verdict: Verdict, message: str, stage: Stage = Stage.SET_UP) -> None:
        """What the verdict is, why, and where it arose."""
        super().__init__(message)
        self.verdict, self.message, self.stage = verdict, message, stage
