"""Formulas as people write them, in matrices or in indices."""
