"""Attacks on the tool, each of which must fail."""
