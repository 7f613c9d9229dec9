"""What a call leaves, for the way back of a tape that recorded it.

What calls change is put back after each of them. A gradient function finds what its own forward
pass left all the same: it is noted before it is put back, and done again for the way back.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

from gradcheck.checker.subject.watched_writes import writes_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.checker.subject.kept_state import Changes, KeptState


class Left(NamedTuple):
    """What one call left."""

    state: KeptState
    """Puts it back."""
    changes: Changes


_NOTES: ContextVar[list[Left] | None] = ContextVar("notes", default=None)
"""Where calls are noted now, if anywhere."""


class noted:  # noqa: N801  (used like a function; every call under a tape goes through it)
    """Within this, what calls leave is noted in a list.

    Without it `test_a_cache_that_the_gradient_reads` fails.
    """

    def __enter__(self) -> list[Left]:
        notes: list[Left] = []
        self._token = _NOTES.set(notes)
        return notes

    def __exit__(self, *_: object) -> None:
        _NOTES.reset(self._token)


class noted_apart(noted):  # noqa: N801
    """Within this, what calls leave is forgotten, unless it is taken over.

    Without it `test_what_a_trial_left_is_not_done_again` fails.
    """

    def __enter__(self) -> list[Left]:
        self._outer, self._notes = _NOTES.get(), super().__enter__()
        return self._notes

    def take_over(self) -> None:
        """What was left is what the call around it leaves."""
        if self._outer is not None:
            self._outer.extend(self._notes)


def end_call(state: KeptState) -> None:
    """A call went well: put back what it changed, and note that for whoever goes back."""
    notes = _NOTES.get()
    try:
        if notes is not None:
            changes = state.changes()
            # (The same function may have been called before, for nothing.)
            notes[:] = [note for note in notes if note.state is not state]
            notes.append(Left(state, changes))
    finally:
        state.after_call()


@contextmanager
def as_left(notes: Sequence[Left]) -> Iterator[None]:
    """Within this, everything is as these calls left it; behind it, as before them.

    What is changed within is put back too: without that
    `test_what_a_gradient_function_writes_and_the_function_reads` fails.
    """
    with ExitStack() as at_the_end:
        for state, changes in notes:
            at_the_end.callback(end_call, state)
            changes.redo()
            at_the_end.enter_context(writes_on(state))
        yield
