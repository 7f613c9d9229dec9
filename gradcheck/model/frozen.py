"""Data classes that nobody changes, for the price of ordinary ones.

A frozen `dataclass` sets each field in a way that takes five times as long, and a check makes some
fifty objects of ten fields. Who changes one of these is told so by mypy, which the tests run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import replace as altered

__all__ = ["altered", "frozen"]

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, eq_default=False)
def frozen(*, slots: bool = False, kw_only: bool = False) -> Callable[[type[_T]], type[_T]]:
    """A data class without `==`, for what goes through every check and to no user."""
    return dataclass(eq=False, slots=slots, kw_only=kw_only)


if not TYPE_CHECKING:

    def altered(thing: Any, /, **changes: Any) -> Any:
        """What `dataclasses.replace` makes of one of these without slots, for a third of the price.

        (To mypy it is that one, so that it knows the fields.)
        """
        own, fields = vars(thing), thing.__dataclass_fields__
        if len(own) != len(fields):
            # What was worked out of the others is worked out anew.
            own = {name: own[name] for name in fields}
        other = object.__new__(type(thing))
        vars(other).update(own, **changes)
        return other
