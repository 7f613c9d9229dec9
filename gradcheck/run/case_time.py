"""How long a case may take that does not say so itself."""

from __future__ import annotations

DEFAULT_TIMEOUT = 60.0
"""Seconds: small cases take a few thousandths of one, and what XLA has to compile takes a few."""
