"""Many points carried along with one call of a function, op by op."""
