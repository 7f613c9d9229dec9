"""Tracing that is given up where the graph becomes too large to be worth it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.private_names import Private, private, replaced

if TYPE_CHECKING:
    from collections.abc import Iterator


class TooLarge(Exception):  # noqa: N818  (an answer, not an error)
    """The graph would have more ops than it may."""


@contextmanager
def graph_of(most: int) -> Iterator[None]:
    """Within this, adding more ops than this to graphs raises TooLarge; raises Absent."""
    helper, own, added = private(Private.CREATE_OP), threading.get_ident(), 0

    def create(kind: str, name: Any = None, **given: Any) -> Any:
        nonlocal added
        if threading.get_ident() == own:
            added += 1
            if added > most:
                raise TooLarge(f"{added} ops, and more to come")
        return helper(kind, name, **given)

    with replaced(Private.CREATE_OP, create):
        yield
