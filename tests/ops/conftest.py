"""Hypothesis without its clock: a slow machine is no failure."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no-clock", deadline=None)
settings.load_profile("no-clock")
