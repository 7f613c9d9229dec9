"""What one declaration of an op says; the families hold the declarations themselves.

A formula is always text in the small language of `ops/language/`: the checks execute that text and
`explain` prints it, so the two cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gradcheck.model import Sample, Shape


class Kind(StrEnum):
    """What an input holds.

    Only `real` ones (which may be complex too) are differentiated, and those that are complex in
    every call.
    """

    REAL = "real"
    COMPLEX = "complex"
    INTEGER = "integer"
    BOOLEAN = "boolean"

    @property
    def is_differentiated(self) -> bool:
        """Whether there is a gradient by such an input."""
        return self in (Kind.REAL, Kind.COMPLEX)


@dataclass(frozen=True, slots=True)
class Domain:
    """Where an input may lie, and how to draw it so that it does."""

    low: float = float("-inf")
    high: float = float("inf")
    """The interval on which the op is defined and differentiable; steps stay inside it."""
    sample: Sample = Sample("normal")
    kinks: tuple[float, ...] = ()
    """Points where the op is not differentiable: random samples keep away from them."""


ANYWHERE = Domain()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One tensor parameter of an op, named as TensorFlow names it."""

    name: str
    domain: Domain = ANYWHERE
    kind: Kind = Kind.REAL


@dataclass(frozen=True, slots=True)
class Call:
    """One concrete use of an op: what a rule needs to write a formula or to infer a shape."""

    shapes: Mapping[str, Shape]
    """By input, in the order of the call."""
    args: Mapping[str, Any]
    """Completed with the declared defaults."""


Formulas = Mapping[str, str]
"""By input: the vector-Jacobian product, as text over the inputs, the args, `G` and `out`."""


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a written derivation: a sentence, and what it claims.

    A claim is `name := formula`, which defines a name for the lines below, or `left == right`,
    which the tests evaluate at a random point with a random change of the inputs: `dx` is the
    change of the input x, `dout` the change of the output that follows from it.
    """

    text: str
    claim: str = ""


Derivation = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A call that shows the op well, for those who ask for none in particular."""

    shapes: Mapping[str, Shape]
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One declaration: name, TensorFlow callable, input domains, formula, pitfalls."""

    name: str
    tf: str
    """The TensorFlow callable, by its dotted name; looked up only when a case runs."""
    family: str
    summary: str
    """What it computes, in one line: `C = A·B`."""
    inputs: tuple[Parameter, ...]
    formula: Formulas | Callable[[Call], Formulas]
    shape: Callable[[Call], Shape]
    """The output's shape; raises ShapeError, which `validate` shows without TensorFlow."""
    real_only: bool = False
    """Whether the formula is that of real inputs alone: of complex ones the function takes the
    modulus, or the formula would need conjugates that it does not have."""
    complex_out: bool = False
    """Whether the output is complex, of real inputs too."""
    float32_only: bool = False
    """Whether TensorFlow computes it in float32 alone, or gives float32 whatever it is given."""
    variadic: bool = False
    """Whether the one declared parameter takes a list: any number of inputs, of any names."""
    args: Mapping[str, Any] = field(default_factory=dict)
    """The arguments that are not differentiated, with their defaults."""
    required: tuple[str, ...] = ()
    """The args (not in `args`) that a spec must give."""
    positions: tuple[str, ...] = ()
    """The order of TensorFlow's parameters, where it is not inputs, required, args."""
    aliases: tuple[str, ...] = ()
    """Other dotted TensorFlow names of the same callable."""
    is_part: bool = False
    """Whether this is only a part of what the callable does, as singular values are of an SVD: then
    its TensorFlow name does not lead here."""
    part_of: tuple[str, int] | None = None
    """The TensorFlow function that gives this among others, and the place at which it does:
    `tf.linalg.eigh(x)[0]` are the eigenvalues."""
    build: Callable[[Any, list[Any], Mapping[str, Any]], Any] | None = None
    """`build(tf, tensors, args)` where a plain call by keyword does not do."""
    pitfalls: tuple[str, ...]
    """The mistakes people make with this gradient, a sentence each; what TensorFlow
    does is Seen."""
    forward: str | Callable[[Call], str] = ""
    """What it computes, as text in the language of the formulas; empty where it has no words."""
    tangent: str | Callable[[Call], str] = ""
    """How the output changes when each input x changes by `dx`; empty where it can be generated:
    for elementwise ops, and for those that are linear in each input."""
    code: Formulas | Callable[[Call], Formulas] = field(default_factory=dict)
    """By input: a line of TensorFlow, where the formula cannot be translated into one."""
    of_multiple: Mapping[str, str] = field(default_factory=dict)
    """By input of a function of matrices: its gradient where G is a multiple of I, which commutes
    with everything. So it is behind a trace."""
    derivation: Derivation | Callable[[Call], Derivation] = ()
    """Written where no rule can generate it."""
    slope: Derivation | Callable[[Call], Derivation] = ()
    """Of an elementwise op: why its slope is what it is, where that is not the definition."""
    axes: Mapping[str, str] | Callable[[Call], Mapping[str, str]] = field(default_factory=dict)
    """By input, and for `out`: a letter for each of the last axes, where no rule finds them."""
    batches: str = ""
    """What batch axes and broadcasting add, where it is not what they add in the whole family."""
    symbols: Mapping[str, str] = field(default_factory=dict)
    """How mathematics writes the inputs and `out`, where not by their own names."""
    outputs: tuple[str, ...] = ()
    """The names of several outputs: `G` and `out` are then lists. One that ends in … stands for
    any number of them."""
    shapes: Callable[[Call], list[Shape]] | None = None
    """The shapes of several outputs; `shape` then gives the first."""
    complex_finding: str = ""
    """What TensorFlow does wrong for complex inputs; a `known_bugs.yaml` in `specs/` has a case."""
    undefined: tuple[str, ...] = ()
    """Where it is not defined or not differentiable, beyond what the domains say."""
    related: tuple[str, ...]
    """Ops to read next."""
    example: Example | None = None
    """A call to show; generated where a plain shape will do."""

    @property
    def is_complex(self) -> bool:
        """Whether complex numbers go in or come out in every call."""
        return self.complex_out or any(p.kind is Kind.COMPLEX for p in self.inputs)

    def output_shapes(self, call: Call) -> list[Shape]:
        """The shape of each output."""
        return [self.shape(call)] if self.shapes is None else self.shapes(call)

    def output_names(self, call: Call) -> tuple[str, ...]:
        """The names of several outputs in this very call; none where there is only one."""
        if self.outputs and self.outputs[0].endswith("…"):
            base = self.outputs[0][:-1]
            return tuple(f"{base}{i}" for i in range(1, len(self.output_shapes(call)) + 1))
        return self.outputs

    def forward_text(self, call: Call) -> str:
        """What it computes for this very call; empty where the language has no words."""
        return self.forward(call) if callable(self.forward) else self.forward

    def codes(self, call: Call) -> Formulas:
        """The lines of TensorFlow that are declared, for this very call."""
        return self.code(call) if callable(self.code) else self.code

    def tangent_text(self, call: Call) -> str:
        """The declared forward-mode formula for this very call."""
        return self.tangent(call) if callable(self.tangent) else self.tangent

    def derivation_steps(self, call: Call) -> Derivation:
        """The written derivation for this very call; empty where the rules generate it."""
        return self.derivation(call) if callable(self.derivation) else self.derivation

    def axis_letters(self, call: Call) -> Mapping[str, str]:
        """The letters of axes that are declared, for this very call."""
        return self.axes(call) if callable(self.axes) else self.axes

    def slope_steps(self, call: Call) -> Derivation:
        """Why the slope is what it is, in this very call."""
        return self.slope(call) if callable(self.slope) else self.slope

    def formulas(self, call: Call) -> Formulas:
        """The formula of each input for this very call."""
        return self.formula(call) if callable(self.formula) else self.formula

    def has_arg(self, name: str) -> bool:
        """Whether it has an argument of this name that is not differentiated."""
        return name in self.args or name in self.required

    def call(self, shapes: Mapping[str, Shape], args: Mapping[str, Any]) -> Call:
        """A Call of this op, its args completed with the defaults."""
        return Call(shapes=dict(shapes), args={**self.args, **args})
