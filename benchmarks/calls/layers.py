"""Keras layers and models in float32, as they are made by default, with all their weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calls.declaration import Call, around, layer
from benchmarks.subjects import Draw, normal


def _functional(keras: Any) -> Any:
    """A model of two branches that meet."""
    x = keras.Input((6,))
    left = keras.layers.Dense(5, activation="tanh")(x)
    right = keras.layers.Dense(5, activation="sigmoid")(x)
    met = keras.layers.LayerNormalization()(keras.layers.Multiply()([left, right]))
    return keras.Model(x, keras.layers.Dense(2)(keras.layers.Concatenate()([met, x])))


def _classifier(keras: Any) -> Any:
    return keras.Sequential(
        [
            keras.layers.Conv2D(3, 3, activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(4, activation="softmax"),
        ]
    )


def _perceptron(keras: Any) -> Any:
    hidden = [keras.layers.Dense(16, activation="relu") for _ in range(2)]
    return keras.Sequential([*hidden, keras.layers.Dense(3)])


def _with_loss(keras: Any) -> Any:
    """A model that ends in the loss of a batch: one number."""
    x = keras.Input((5,))
    hidden = keras.layers.Dense(8, activation="gelu")(x)
    logits = keras.layers.Dense(3)(hidden)
    truth = np.eye(3, dtype=np.float32)[[0, 2, 1, 1]]
    mean = keras.layers.Lambda(
        lambda y: keras.losses.categorical_crossentropy(truth, y, from_logits=True)
    )
    return keras.Model(x, keras.ops.mean(mean(logits)))


def _transformer(keras: Any) -> Any:
    x = keras.Input((4, 6))
    attended = keras.layers.MultiHeadAttention(2, 3)(x, x)
    inner = keras.layers.LayerNormalization()(x + attended)
    fed = keras.layers.Dense(6)(keras.layers.Dense(8, activation="gelu")(inner))
    return keras.Model(x, keras.layers.LayerNormalization()(inner + fed))


def _sentence(keras: Any) -> Any:
    parts = [keras.layers.Embedding(5, 3), keras.layers.GRU(4), keras.layers.Dense(1)]
    return keras.Sequential(parts)


def words(*rows: list[int]) -> Draw:
    """Numbers of words, as a batch of sentences."""
    return lambda _: (np.array(rows),)


CALLS: tuple[Call, ...] = (
    layer("Dense 3 on 2×4", lambda keras: keras.layers.Dense(3), normal((2, 4))),
    layer(
        "Dense 10 with relu on 8×16",
        lambda keras: keras.layers.Dense(10, activation="relu"),
        normal((8, 16)),
    ),
    layer("Conv1D 2×3 on 2×6×3", lambda keras: keras.layers.Conv1D(2, 3), normal((2, 6, 3))),
    layer("Conv2D 3×3×3 on 1×5×5×2", lambda keras: keras.layers.Conv2D(3, 3), normal((1, 5, 5, 2))),
    layer(
        "DepthwiseConv2D 2×2 on 1×4×4×2",
        lambda keras: keras.layers.DepthwiseConv2D(2),
        normal((1, 4, 4, 2)),
    ),
    layer(
        "SeparableConv1D 3 on 1×6×2",
        lambda keras: keras.layers.SeparableConv1D(3, 2),
        normal((1, 6, 2)),
    ),
    layer(
        "Conv2DTranspose 2×2 on 1×3×3×2",
        lambda keras: keras.layers.Conv2DTranspose(2, 2, strides=2),
        normal((1, 3, 3, 2)),
    ),
    layer("PReLU on 2×4", lambda keras: keras.layers.PReLU(), normal((2, 4))),
    layer(
        "LayerNormalization on 3×5",
        lambda keras: keras.layers.LayerNormalization(),
        normal((3, 5)),
    ),
    layer(
        "BatchNormalization in training on 6×4",
        lambda keras: keras.layers.BatchNormalization(),
        normal((6, 4)),
        training=True,
    ),
    layer(
        "BatchNormalization on 2×3×3×2",
        lambda keras: keras.layers.BatchNormalization(),
        normal((2, 3, 3, 2)),
    ),
    layer(
        "GroupNormalization on 2×3×4",
        lambda keras: keras.layers.GroupNormalization(2),
        normal((2, 3, 4)),
    ),
    layer(
        "RMSNormalization on 3×4",
        lambda keras: keras.layers.RMSNormalization(),
        normal((3, 4)),
    ),
    layer("LSTM 3 on 2×3×4", lambda keras: keras.layers.LSTM(3), normal((2, 3, 4))),
    layer(
        "LSTM 6 with its states on 2×4×5",
        lambda keras: keras.layers.LSTM(6, return_sequences=True),
        normal((2, 4, 5)),
    ),
    layer("GRU 3 on 2×3×4", lambda keras: keras.layers.GRU(3), normal((2, 3, 4))),
    layer("SimpleRNN 3 on 2×3×4", lambda keras: keras.layers.SimpleRNN(3), normal((2, 3, 4))),
    layer(
        "Bidirectional SimpleRNN 2 on 1×3×2",
        lambda keras: keras.layers.Bidirectional(keras.layers.SimpleRNN(2)),
        normal((1, 3, 2)),
    ),
    layer(
        "LSTM cell 4 on 2×3",
        lambda keras: keras.layers.RNN(keras.layers.LSTMCell(4)),
        normal((2, 1, 3)),
    ),
    layer(
        "MultiHeadAttention 2 heads on 1×3×4",
        lambda keras: keras.layers.MultiHeadAttention(2, 2),
        normal((1, 3, 4), (1, 5, 4)),
    ),
    layer(
        "EinsumDense ab,bc->ac on 3×4",
        lambda keras: keras.layers.EinsumDense("ab,bc->ac", output_shape=5, bias_axes="c"),
        normal((3, 4)),
    ),
    layer(
        "Embedding 5×3 of 2×3 words",
        lambda keras: keras.layers.Embedding(5, 3),
        words([0, 4, 1], [4, 2, 4]),
    ),
    layer(
        "Dense 16 on 8×32",
        lambda keras: keras.layers.Dense(16, activation="tanh"),
        normal((8, 32)),
    ),
    layer(
        "Embedding, GRU 4 and Dense of 2×4 words",
        _sentence,
        words([0, 4, 1, 3], [4, 2, 4, 0]),
    ),
    layer("Dropout in evaluation on 3×4", lambda keras: keras.layers.Dropout(0.5), normal((3, 4))),
    layer("Multi-layer perceptron on 4×8", _perceptron, normal((4, 8))),
    layer("Convolutional classifier on 1×6×6×1", _classifier, normal((1, 6, 6, 1))),
    layer("Functional model on 3×6", _functional, normal((3, 6))),
    layer("Functional model with its loss on 4×5", _with_loss, normal((4, 5))),
    layer(
        "Dense and BatchNormalization in training on 6×3",
        lambda keras: keras.Sequential(
            [
                keras.layers.Dense(4),
                keras.layers.BatchNormalization(),
                keras.layers.Activation("relu"),
            ]
        ),
        normal((6, 3)),
        training=True,
    ),
    layer(
        "Dense 3 with the policy mixed_float16 on 2×4",
        lambda keras: keras.layers.Dense(3, dtype="mixed_float16"),
        normal((2, 4)),
    ),
    layer(
        "Dense 3 with the policy mixed_bfloat16 on 2×4",
        lambda keras: keras.layers.Dense(3, dtype="mixed_bfloat16"),
        normal((2, 4)),
    ),
    layer("Transformer block on 1×4×6", _transformer, normal((1, 4, 6))),
    around("x ↦ Dense 3 on 2×4", lambda keras: keras.layers.Dense(3), normal((2, 4))),
    around(
        "x ↦ LayerNormalization on 3×5",
        lambda keras: keras.layers.LayerNormalization(),
        normal((3, 5)),
    ),
    around("x ↦ Conv1D 2×3 on 2×6×3", lambda keras: keras.layers.Conv1D(2, 3), normal((2, 6, 3))),
    around(
        "x ↦ MultiHeadAttention 2 heads on 1×3×4",
        lambda keras: keras.layers.MultiHeadAttention(2, 2),
        normal((1, 3, 4), (1, 5, 4)),
    ),
    around("x ↦ LSTM 3 on 2×3×4", lambda keras: keras.layers.LSTM(3), normal((2, 3, 4))),
    around(
        "x ↦ LSTM 3 on 2×3×4, inputs only",
        lambda keras: keras.layers.LSTM(3),
        normal((2, 3, 4)),
        weights=False,
    ),
    around(
        "x ↦ GRU 3 on 2×3×4, inputs only",
        lambda keras: keras.layers.GRU(3),
        normal((2, 3, 4)),
        weights=False,
    ),
    around(
        "x ↦ SimpleRNN 3 on 2×3×4, inputs only",
        lambda keras: keras.layers.SimpleRNN(3),
        normal((2, 3, 4)),
        weights=False,
    ),
    around("x ↦ Multi-layer perceptron on 4×8", _perceptron, normal((4, 8))),
)
