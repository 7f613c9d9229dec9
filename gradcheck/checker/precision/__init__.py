"""Low precision: the gradient in float32 and below against the one in float64."""
