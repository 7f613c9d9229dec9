"""Hypothesis without its clock, and TensorFlow once for all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("no-clock", deadline=None)
settings.load_profile("no-clock")


@pytest.fixture(scope="session")
def tf() -> Any:
    """TensorFlow, imported when the first test asks for it."""
    import tensorflow

    return tensorflow
