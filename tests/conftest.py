"""TensorFlow without its start-up noise, for the tests that import it."""

from __future__ import annotations

import os

# Before anything imports TensorFlow, which reads this when it starts.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
