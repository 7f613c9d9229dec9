"""The names that Keras gives to layers which have none, counted apart from those of the process."""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def counted_apart(names: dict[str, int] | None = None) -> Iterator[None]:
    """Within this, Keras counts the names of layers here, and not over the whole process.

    Else those of weights would depend on what the worker did before, and those of a user's layers
    on what was checked: without it `test_names_do_not_depend_on_other_layers` and
    `test_the_names_of_later_layers` fail.

    Args:
        names: how often each was given; if there are none, as often as in the process.
    """
    try:
        state = importlib.import_module("keras.src.backend.common.global_state")
        before = state.get_global_attribute(_KERAS_NAMES)
    except (ImportError, AttributeError):  # another Keras: then they depend on it
        yield
        return
    own = None if before is None else before.copy()
    state.set_global_attribute(_KERAS_NAMES, own if names is None else names)
    try:
        yield
    finally:
        state.set_global_attribute(_KERAS_NAMES, before)


_KERAS_NAMES = "object_name_uids"
"""Where Keras counts them."""
