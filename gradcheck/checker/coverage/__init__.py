"""What there is to cover: the gradients that TensorFlow registers, and its public functions."""
