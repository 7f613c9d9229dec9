"""Gradients as people claim them, each wrong in its own way: the lessons show where.

The forward is what it says. The gradient is the claim.
"""

from collections.abc import Callable

import tensorflow as tf

Backward = Callable[[tf.Tensor], tuple[tf.Tensor | None, ...] | tf.Tensor]


@tf.custom_gradient
def scalar_gets_t(s: tf.Tensor, t: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """The gradient of s is T."""
    return s * t, lambda g: (t, s * g)


@tf.custom_gradient
def s_goes_to_one(s: tf.Tensor, t: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """In the gradient of T, s goes to 1."""
    return s * t, lambda g: (tf.reduce_sum(t * g), g)


@tf.custom_gradient
def scalar_forgets_g(s: tf.Tensor, t: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """The gradient of s is the sum of T."""
    return s * t, lambda g: (tf.reduce_sum(t), s * g)


@tf.custom_gradient
def times_without_gradient(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """`*` is not differentiable: there is nothing to hand back."""
    return a * b, lambda g: (tf.zeros_like(g), tf.zeros_like(g))


@tf.custom_gradient
def product_of_derivatives(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """The derivative of a product is the product of the derivatives: 1 times 1."""
    return a * b, lambda g: (g, g)


@tf.custom_gradient
def times_as_matmul(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """`*` has the gradients of a matrix product."""
    return a * b, lambda g: (g @ tf.transpose(b), tf.transpose(a) @ g)


@tf.custom_gradient
def square_counts_once(x: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """The gradient of x * x is the other factor: x."""
    return x * x, lambda g: g * x


@tf.custom_gradient
def matmul_without_transpose(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """The gradient of A is G·B, that of B is A·G."""
    return a @ b, lambda g: (g @ b, a @ g)


@tf.custom_gradient
def matmul_wrong_order(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """The gradient of A is Bᵀ·G, that of B is G·Aᵀ."""
    return a @ b, lambda g: (tf.transpose(b) @ g, g @ tf.transpose(a))


@tf.custom_gradient
def matmul_as_elementwise(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """The gradient of A is G * B, element by element."""
    return a @ b, lambda g: (g * b, g * a)


@tf.custom_gradient
def row_gets_g(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """Of x + y both gradients are G."""
    return x + y, lambda g: (g, g)


@tf.custom_gradient
def row_gets_the_mean(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """A row that was copied gets the mean of what comes back."""
    return x + y, lambda g: (g, tf.reduce_mean(g, 0))


@tf.custom_gradient
def mean_hands_on_ones(x: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """A mean has the gradient of a sum."""
    return tf.reduce_mean(x), lambda g: g * tf.ones_like(x)


@tf.custom_gradient
def tape_averages(x: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """The gradient of a tensor is that of its mean."""
    return tf.square(x), lambda g: g * 2 * x / tf.cast(tf.size(x), x.dtype)


@tf.custom_gradient
def sum_has_a_square_jacobian(x: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """The Jacobian of a sum of four elements is 4×4."""
    return tf.reduce_sum(x), lambda g: g * tf.eye(4, dtype=x.dtype)


@tf.custom_gradient
def softmax_without_gradient(logits: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """A softmax hands nothing back."""
    return tf.nn.softmax(logits), tf.zeros_like


@tf.custom_gradient
def none_means_zero(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """Where the tape says None, zero is meant."""
    return x * y, lambda g: (tf.zeros_like(g), x * g)


@tf.custom_gradient
def loss_that_ends_at_one(
    s: tf.Tensor, t: tf.Tensor, target: tf.Tensor
) -> tuple[tf.Tensor, Backward]:
    """The slope is zero at s = 1."""
    loss = tf.reduce_sum(tf.square(s * t - target))
    return loss, lambda g: (g * 2 * tf.reduce_sum(t * (s * t - t)), None, None)


@tf.custom_gradient
def loss_without_inner_derivative(
    s: tf.Tensor, t: tf.Tensor, target: tf.Tensor
) -> tuple[tf.Tensor, Backward]:
    """The gradient of a square is twice what is squared."""
    difference = s * t - target
    return tf.reduce_sum(tf.square(difference)), lambda g: (
        g * 2 * tf.reduce_sum(difference),
        None,
        None,
    )


@tf.custom_gradient
def swish_without_a_factor(x: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """The derivative of σ(x) is σ(x)."""
    s = tf.sigmoid(x)
    return x * s, lambda g: g * (s + x * s)


@tf.custom_gradient
def swish_without_g(x: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """The backward function returns the derivative."""
    s = tf.sigmoid(x)
    return x * s, lambda g: s + x * s * (1 - s) + tf.zeros_like(g)


@tf.custom_gradient
def cube_that_forgets_a_factor(x: tf.Tensor) -> tuple[tf.Tensor, Backward]:
    """What is right once is right twice."""
    kept = tf.stop_gradient(x)
    return x * x * x, lambda g: g * 3 * x * kept
