"""Layers that Keras and torch both have: a check of each beside torch.autograd.gradcheck.

Both are in float64, which torch's checker needs, with all their weights. A layer is made anew for
every check, and both take turns.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import gradcheck
from benchmarks.frameworks import installed, load
from benchmarks.markdown import table
from benchmarks.speed import geometric_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Shape

ROUNDS = 10

TEXT = """\
Milliseconds for one check of a layer in float64, with its inputs and all its weights: gradcheck's
of Keras' layer, and `torch.autograd.gradcheck`'s, in its slow mode, of torch's layer of the same
size. The best of up to {rounds} rounds in one process, in turns; the layers are made anew for every
check. Torch's recurrent layers have two biases where Keras' have one."""


@dataclass(frozen=True)
class Pair:
    """A layer in both frameworks, and the shapes of its inputs in each."""

    name: str
    keras: Callable[[Any], Any]
    torch: Callable[[Any], Any]
    shapes: tuple[Shape, ...]
    torch_shapes: tuple[Shape, ...] = ()
    """Where they differ: torch has its channels first."""


PAIRS = (
    Pair(
        "Dense 3 on 2×4",
        lambda k: k.Dense(3, dtype="float64"),
        lambda nn: nn.Linear(4, 3),
        ((2, 4),),
    ),
    Pair(
        "Dense 16 on 8×32",
        lambda k: k.Dense(16, dtype="float64"),
        lambda nn: nn.Linear(32, 16),
        ((8, 32),),
    ),
    Pair(
        "Conv1D 2×3 on 2×6×3",
        lambda k: k.Conv1D(2, 3, dtype="float64"),
        lambda nn: nn.Conv1d(3, 2, 3),
        ((2, 6, 3),),
        ((2, 3, 6),),
    ),
    Pair(
        "Conv2D 3×3×3 on 1×5×5×2",
        lambda k: k.Conv2D(3, 3, dtype="float64"),
        lambda nn: nn.Conv2d(2, 3, 3),
        ((1, 5, 5, 2),),
        ((1, 2, 5, 5),),
    ),
    Pair(
        "LayerNormalization on 3×5",
        lambda k: k.LayerNormalization(dtype="float64"),
        lambda nn: nn.LayerNorm(5),
        ((3, 5),),
    ),
    Pair(
        "GroupNormalization on 2×3×4",
        lambda k: k.GroupNormalization(2, dtype="float64"),
        lambda nn: nn.GroupNorm(2, 4),
        ((2, 3, 4),),
        ((2, 4, 3),),
    ),
    Pair(
        "SimpleRNN 3 on 2×3×4",
        lambda k: k.SimpleRNN(3, return_sequences=True, dtype="float64"),
        lambda nn: nn.RNN(4, 3, batch_first=True),
        ((2, 3, 4),),
    ),
    Pair(
        "LSTM 3 on 2×3×4",
        lambda k: k.LSTM(3, return_sequences=True, dtype="float64"),
        lambda nn: nn.LSTM(4, 3, batch_first=True),
        ((2, 3, 4),),
    ),
    Pair(
        "GRU 3 on 2×3×4",
        lambda k: k.GRU(3, return_sequences=True, dtype="float64"),
        lambda nn: nn.GRU(4, 3, batch_first=True),
        ((2, 3, 4),),
    ),
    Pair(
        "MultiHeadAttention 2 heads on 1×3×4",
        lambda k: k.MultiHeadAttention(2, 2, dtype="float64"),
        lambda nn: nn.MultiheadAttention(4, 2, batch_first=True),
        ((1, 3, 4), (1, 5, 4), (1, 5, 4)),
    ),
)


def run(*, quick: bool = False) -> str:
    """The table of times, as a section of Markdown."""
    title = "## Layers, beside torch's"
    if not installed("torch"):
        return f"{title}\n\ntorch is not installed; its layers are left out.\n"
    rounds = 1 if quick else ROUNDS
    rows, measured = [], []
    for pair in PAIRS:
        times = best(pair, rounds)
        measured.append(times)
        rows.append(_row(pair.name, [times]))
    rows.append(_row("**geometric mean**", measured))
    header = ["layer", "gradcheck ms", "torch ms", "ratio"]
    return "\n\n".join([title, TEXT.format(rounds=rounds), table(header, rows)]) + "\n"


def best(pair: Pair, rounds: int) -> dict[str, float]:
    """The shortest time of each, in turns, after a round that warms up."""
    times: dict[str, list[float]] = {"gradcheck": [], "torch": []}
    for number in range(rounds + 1):
        for name in list(times)[:: -1 if number % 2 else 1]:
            check = _CONTENDERS[name](pair)
            begun = time.perf_counter()
            check()
            times[name].append(time.perf_counter() - begun)
    return {name: min(taken[1:]) for name, taken in times.items()}


def keras_layer(pair: Pair) -> tuple[Any, list[Any]]:
    """The layer, built, and its inputs."""
    load("tensorflow")
    keras = load("keras")
    keras.utils.set_random_seed(0)
    layer, inputs = pair.keras(keras.layers), _normal(pair.shapes)
    layer(*inputs)
    return layer, inputs


def torch_layer(pair: Pair) -> tuple[Callable[..., Any], list[Any]]:
    """The layer as a function of its inputs and its weights, and these."""
    torch = load("torch")
    torch.manual_seed(0)
    module = pair.torch(torch.nn).double()
    inputs = [
        torch.tensor(x, requires_grad=True) for x in _normal(pair.torch_shapes or pair.shapes)
    ]
    names, weights = zip(*module.named_parameters(), strict=True)

    def function(*values: Any) -> Any:
        given = dict(zip(names, values[len(inputs) :], strict=True))
        out = torch.func.functional_call(module, given, values[: len(inputs)])
        return out[0] if isinstance(out, tuple) else out

    return function, [*inputs, *weights]


def _normal(shapes: tuple[Shape, ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape) for shape in shapes]


def _ours(pair: Pair) -> Callable[[], object]:
    layer, inputs = keras_layer(pair)

    def check() -> None:
        verdict = gradcheck.check(layer, *inputs).verdict
        if not verdict.acceptable:
            raise ValueError(f"{pair.name}: a false alarm, {verdict}")

    return check


def _torch(pair: Pair) -> Callable[[], object]:
    function, values = torch_layer(pair)
    return lambda: load("torch").autograd.gradcheck(function, tuple(values))


_CONTENDERS: dict[str, Callable[[Pair], Callable[[], object]]] = {
    "gradcheck": _ours,
    "torch": _torch,
}


def _row(name: str, measured: list[dict[str, float]]) -> list[str]:
    ours, torch = (geometric_mean(m[n] for m in measured) for n in ("gradcheck", "torch"))
    return [name, f"{1e3 * ours:.1f}", f"{1e3 * torch:.1f}", f"{torch / ours:.2f}"]
