"""Pickles of our nouns that are small and quick to make: a call of the class with its fields.

A frozen dataclass with slots is otherwise taken apart and put together field by field, in Python.
Between two small cases there is little time, and none of what is needed is in the processor's
caches: the less is touched, the better.
"""

from __future__ import annotations

import copyreg
import dataclasses
from operator import attrgetter
from typing import Any

from gradcheck import model

_NOUNS: tuple[type, ...] = (
    model.Case,
    model.Comparison,
    model.Diagnosis,
    model.Element,
    model.Input,
    model.Location,
    model.Result,
    model.Sample,
    model.Target,
    model.Tolerance,
)


def _reducer(noun: type) -> Any:
    fields = attrgetter(*(field.name for field in dataclasses.fields(noun)))
    return lambda value: (noun, fields(value))


def register() -> None:
    """Let every pickle that this process makes be so."""
    for noun in _NOUNS:
        copyreg.pickle(noun, _reducer(noun))
