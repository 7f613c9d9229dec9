"""Index notation and its calculus: terms, derivatives, simplification."""
