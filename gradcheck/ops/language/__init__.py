"""The small language of formulas: what its words mean, in numpy."""
