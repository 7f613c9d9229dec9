"""Spec files that are almost right: good ones with something changed, cut or repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.fuzz.expressions import Expressions

if TYPE_CHECKING:
    from random import Random

_GOOD = (
    "op: matmul\ncases:\n  - inputs: {a: [3, 4], b: [4, 5]}\n  - name: t\n    inputs: {a: [4, 3], "
    "b: [4, 5]}\n    args: {transpose_a: true}\n    dtype: [float64, float32]\n"
    "    mode: [eager, xla]\n",
    "expr: tf.reduce_sum(tf.square(s * t))\ninputs:\n  s: 2.0\n  t: {values: [[1, 2], [3, 4]]}\n"
    'gradient: {s: "2 * s * sum(t * t) * G"}\nupstream: random\nseed: [1, 2]\ntags: [a, b]\n',
    "layer: keras.layers.Bidirectional\ninit:\n"
    "  layer: {layer: keras.layers.LSTM, init: {units: 3}}\n"
    "call: {training: false}\ninputs: {sequences: [2, 4, 3]}\noutputs: 0\n",
    "op: tf.identity\ninputs: {input: {ragged: [2, 0, 3], inner: [4]}}\nexpect: pass\nreason: why\n"
    "tolerance: {rtol: 1e-3}\ntimeout: 5\nbudget: 1\nvariables: false\ncheck: [reverse, forward]\n",
    "op: log\ninputs: {x: {shape: [3], sample: uniform(0.1, 1), dtype: float32, grad: true}}\n"
    "expect: {verdict: mismatch, when: tensorflow<2.22}\nreason: bug\n",
)
_PIECES = (
    "null", "[]", "{}", "true", "-1", "1e400", ".nan", ".inf", "9" * 400, "'" + "9" * 5000 + "'",
    "~",
    "[[[[1]]]]", "{a: {b: {c: 1}}}", "&a [*a]", "*b", "!!python/object:os.system x", "<<: {x: 1}",
    "|",
    "\t", "\u2028", "\x00", "é", "::error::x", "##vso[task]", "? ", "- - -", "---", "...",
    "%YAML 9",
    "x\n", ": ", ", ", "#", "0x", "1_000", "2001-01-01", "'", '"', "`", "@",
)  # fmt: skip


def spec(random: Random) -> str:
    """A text that a spec reader must answer with cases or with problems."""
    text = random.choice(_GOOD)
    for _ in range(random.choice((1, 1, 2, 4))):
        text = _changed(random, text)
    return text


def _changed(random: Random, text: str) -> str:
    place, other = sorted((random.randrange(len(text) + 1), random.randrange(len(text) + 1)))
    kind = random.randrange(7)
    if kind == 0:
        return text[:place] + random.choice(_PIECES) + text[place:]
    if kind == 1:
        return text[:place] + text[other:]
    if kind == 2:
        return text[:other] + text[place:other] * random.choice((1, 3)) + text[other:]
    if kind == 3:
        return f"expr: {Expressions(random, 0.1).any()!r}\ninputs: {{x: [3], y: [3]}}\n"
    lines = text.split("\n")
    number = random.randrange(len(lines))
    key, colon, _ = lines[number].partition(":")
    if kind == 4 and colon:
        lines[number] = f"{key}: {random.choice(_PIECES)}"
    elif kind == 5:
        lines.insert(random.randrange(len(lines)), lines[number])
    else:
        lines[number] = " " * random.randrange(4) + lines[number]
    return "\n".join(lines)
