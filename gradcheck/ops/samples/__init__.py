"""How inputs are drawn, by the name of a sample."""
