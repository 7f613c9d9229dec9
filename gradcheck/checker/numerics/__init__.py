"""Differentiation with error bounds, in numpy alone: steps, extrapolation, noise, colouring."""
