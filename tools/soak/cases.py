"""Many cheap checks whose verdicts are known, as spec files.

Every case has a twin in another file, with the same seed: what is said of the two must be the same
to the last digit, so that a result which came to another case is seen though both pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDERS = ("first", "twins")

SEEDS = 25
"""Cases that differ in their seed alone."""

ENTRIES = 20
"""Entries of a spec file: five hundred cases."""

PLANTED_SHARE = 0.04
"""How many of the entries have a gradient that is not right: these take thirty times as long."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is checked, and what is known of it."""

    name: str
    text: str
    verdict: str = "pass"

    def entry(self, number: int, seeds: range) -> str:
        """A line of a spec file."""
        expect = (
            "" if self.verdict == "pass" else f", expect: {self.verdict}, reason: it is planted"
        )
        listed = ", ".join(map(str, seeds))
        return f"  - {{name: {self.name}-{number}, {self.text}, seed: [{listed}]{expect}}}\n"


RIGHT = (
    Kind("exp", "op: tf.exp, inputs: {x: [3]}"),
    Kind("tanh", "op: tf.tanh, inputs: {x: [2, 3]}"),
    Kind("matmul", "op: tf.matmul, inputs: {a: [2, 3], b: [3, 2]}"),
    Kind("matmul32", "op: tf.matmul, inputs: {a: [2, 3], b: [3, 2]}, dtype: float32"),
    Kind("multiply", "op: tf.multiply, inputs: {x: [2, 3], y: [3]}"),
    Kind("softmax", "op: tf.nn.softmax, inputs: {logits: [4]}"),
    Kind("sum", "op: tf.reduce_sum, inputs: {input_tensor: [3, 2]}, args: {axis: 0}"),
    Kind("sine", "expr: tf.square(tf.sin(x)), inputs: {x: [3]}"),
)

PLANTED = (
    Kind("half", "expr: x * tf.stop_gradient(x), inputs: {x: [3]}", "mismatch"),
    Kind("other", 'op: tf.exp, inputs: {x: [3]}, gradient: {x: "1.001 * exp(x) * G"}', "mismatch"),
    Kind("none", "expr: tf.stop_gradient(x) * 2.0, inputs: {x: [3]}", "disconnected"),
    Kind("raises", 'expr: "tf.reshape(x, [7])", inputs: {x: [3]}', "error"),
    Kind("corner", "op: tf.nn.relu, inputs: {features: {values: [0.0, 1.0]}}", "kink"),
)


def write(folder: Path, count: int, seed: int) -> dict[tuple[str, int], str]:
    """Write so many cases; the verdict of each, by its id without what is in brackets, and seed."""
    known: dict[tuple[str, int], str] = {}
    drawn = list(_drawn((count + 1) // 2, Random(seed)))  # noqa: S311  (nothing is secret here)
    for place, most in zip(FOLDERS, ((count + 1) // 2, count // 2), strict=True):
        (folder / place).mkdir(parents=True)
        for number, first in enumerate(range(0, len(drawn), ENTRIES)):
            name = f"{folder.name}/{place}/{number:04}.yaml"
            lines = []
            for kind, entry, seeds in drawn[first : first + ENTRIES]:
                seeds = range(seeds.start, min(seeds.stop, most))  # noqa: PLW2901
                if seeds:
                    lines.append(kind.entry(entry, seeds))
                    known |= {(f"{name}::{kind.name}-{entry}", n): kind.verdict for n in seeds}
            if lines:
                (folder.parent / name).write_text("cases:\n" + "".join(lines))
    return known


def _drawn(count: int, random: Random) -> Iterator[tuple[Kind, int, range]]:
    for entry, first in enumerate(range(0, count, SEEDS)):
        kinds = PLANTED if random.random() < PLANTED_SHARE else RIGHT
        yield random.choice(kinds), entry, range(first, min(first + SEEDS, count))
