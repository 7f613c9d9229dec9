"""Models of a user's own, which the guide's specs check."""

from typing import Any

import keras


class Residual(keras.Model):
    """A subclassed model: layers as attributes, and what they do in `call`."""

    def __init__(self, units: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.units = units
        self.first = keras.layers.Dense(units, activation="gelu", name="first")
        self.second = keras.layers.Dense(units, name="second")

    def call(self, inputs: Any) -> Any:
        """Two layers, and a way around them."""
        return inputs + self.second(self.first(inputs))

    def get_config(self) -> dict[str, Any]:
        """What it takes to make it again: in float64, to judge its formulas there."""
        return {**super().get_config(), "units": self.units}


class TransformerBlock(keras.layers.Layer):
    """Attention and two dense layers, each with a way around it and a normalization behind."""

    def __init__(self, heads: int, width: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.heads, self.width = heads, width
        self.attention = keras.layers.MultiHeadAttention(heads, key_dim=width // heads)
        self.inside = keras.layers.Dense(2 * width, activation="gelu", name="inside")
        self.outside = keras.layers.Dense(width, name="outside")
        self.norm = keras.layers.LayerNormalization(name="norm")
        self.last_norm = keras.layers.LayerNormalization(name="last_norm")
        self.dropout = keras.layers.Dropout(0.2, seed=1)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Each step looks at those before it."""
        attended = self.attention(inputs, inputs, use_causal_mask=True)
        x = self.norm(inputs + self.dropout(attended, training=training))
        return self.last_norm(x + self.outside(self.inside(x)))

    def get_config(self) -> dict[str, Any]:
        """What it takes to make it again."""
        return {**super().get_config(), "heads": self.heads, "width": self.width}


class Decay(keras.layers.Layer):
    """A recurrence written by hand: a loop over the steps in Python."""

    def build(self, shape: Any) -> None:
        """One rate for each channel."""
        self.rate = self.add_weight(shape=(shape[-1],), name="rate")

    def call(self, sequences: Any) -> Any:
        """What is left of all the steps before, at every step."""
        kept = keras.ops.sigmoid(self.rate)
        state, states = keras.ops.zeros_like(sequences[:, 0]), []
        for step in range(sequences.shape[1]):
            state = kept * state + (1 - kept) * sequences[:, step]
            states.append(state)
        return keras.ops.stack(states, axis=1)


def functional(units: int) -> Any:
    """A model made of symbolic tensors: two branches of one input."""
    inputs = keras.Input((4,))
    left = keras.layers.Dense(units, activation="tanh", name="left")(inputs)
    right = keras.layers.Dense(units, activation="sigmoid", name="right")(inputs)
    return keras.Model(inputs, keras.layers.Multiply()([left, right]))


class Gated:
    """A class of nobody's around a functional model: what can be called can be checked."""

    def __init__(self, units: int) -> None:
        self.model = functional(units)

    def __call__(self, x: Any) -> Any:
        """What the model says of it."""
        return self.model(x)
