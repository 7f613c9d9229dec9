"""From index notation to closed formulas and to code."""
