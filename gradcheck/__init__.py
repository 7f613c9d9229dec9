"""gradcheck: proves TensorFlow gradients right, or shows which element is wrong and why."""
