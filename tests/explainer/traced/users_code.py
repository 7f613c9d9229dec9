"""Code of a user's, written into a folder of its own and explained there."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, Any

from gradcheck.explainer.compose import Question, answer
from gradcheck.explainer.render.terminal import render_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from gradcheck.explainer.proof import Proof

__all__ = ["UsersCode", "flat"]


class UsersCode:
    """A module in a folder, whose functions are explained."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
        monkeypatch.chdir(folder)
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, name, raising=False)
        self.name = name

    def explained(
        self,
        function: str,
        *,
        verify: bool = True,
        forward: bool = False,
        second: bool = False,
        at: Mapping[str, Any] | None = None,
        shapes: Mapping[str, tuple[int, ...]] | None = None,
        **more: tuple[int, ...],
    ) -> tuple[str, list[Proof]]:
        """The page, without its line breaks, and the proofs."""
        asked = Question(
            function=f"{self.name}:{function}",
            shapes={**(shapes or {}), **more} or {"x": (3,)},
            verify=verify,
            forward=forward,
            second=second,
            at=at or {},
        )
        document, proofs = answer(asked)
        return flat(render_text(document)), proofs


def flat(text: str) -> str:
    """A page as one line."""
    return " ".join(text.split())
