"""What is under test: the border to TensorFlow. The function, its calls, its tape."""
