"""What a spec said: a Case, its inputs, its target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from gradcheck.model.arrays import Array, Shape
from gradcheck.model.structures import Argument
from gradcheck.model.verdicts import Verdict


class Mode(StrEnum):
    """How TensorFlow runs the function whose gradient is checked."""

    EAGER = "eager"
    GRAPH = "graph"
    XLA = "xla"


class CheckKind(StrEnum):
    """Which derivative is checked: the tape's, forward mode's, the gradient's own, the Jacobian."""

    REVERSE = "reverse"
    FORWARD = "forward"
    SECOND = "second"
    JACOBIAN = "jacobian"


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a spec file; line and column count from 1."""

    path: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Sample:
    """How values are drawn: a name from `gradcheck.ops.samples.registry` and its parameters."""

    name: str = "normal"
    params: tuple[float, ...] = ()

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(f'{p:g}' for p in self.params)})"


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """One tensor that the function takes: given values, or a shape and how to fill it."""

    name: str
    shape: Shape
    location: Location
    values: Array | None = None
    sample: Sample | None = None
    """None: as the op's declaration says, else standard normal."""
    dtype: str | None = None
    """None: the case's dtype, or what the op's declaration or the values demand."""
    grad: bool = True
    variable: bool = False


class TargetKind(StrEnum):
    """The ways a spec names the function under test."""

    OP = "op"
    EXPR = "expr"
    FUNCTION = "function"
    LAYER = "layer"
    """A class, of which an object is made: its call is the function."""


@dataclass(frozen=True, slots=True)
class Target:
    """The function under test, as the spec names it."""

    kind: TargetKind
    text: str
    location: Location

    @property
    def users_own(self) -> bool:
        """Whether it names code of the user's, which may do anything: `package.module:name`."""
        return self.kind is TargetKind.FUNCTION or (
            self.kind is TargetKind.LAYER and ":" in self.text
        )


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A tolerance given by hand, in place of the one that follows from the error bars."""

    rtol: float = 0.0
    atol: float = 0.0


Upstream = Literal["random", "ones"] | tuple[Array, ...]
"""The cotangent: drawn, all ones, or one array per output."""

Expectation = Verdict | Mapping[str, Verdict] | None
"""The verdict a case expects: of the whole, or input by input (the others pass)."""


@dataclass(frozen=True, slots=True)
class KnownBug:
    """What a spec says of a wrong gradient, beside its verdict and the reason."""

    versions: str = ""
    """The versions that have it, as the spec writes them: `tensorflow<2.22`; empty for all."""
    otherwise: str = ""
    """What the spec expects of other versions: `error when tensorflow<2.17`."""
    mended: str = ""
    """The reason of an expectation that older versions have and the installed one has not: it is
    mended here. Empty where the bug is expected."""
    instead: str = ""
    """The same function, written so that its gradient is right: an expression over the inputs."""
    issue: str = ""
    """Where it was reported: an address."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One fully concrete check."""

    id: str
    path: str
    name: str
    location: Location
    target: Target
    inputs: tuple[Input, ...]
    """Every tensor, those inside of structures too."""
    args: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments that are not differentiated; of a layer, those of its call."""
    init: Mapping[str, Any] = field(default_factory=dict)
    """Of a layer: the arguments of its class."""
    variables: bool = True
    """Whether the variables that the function reads are checked beside its inputs."""
    outputs: tuple[int | str, ...] = ()
    """Which outputs are differentiated, by position or name; all of them if none is named."""
    arguments: tuple[Argument, ...] = ()
    """What the inputs make up, where that is more than an argument each; see `takes`."""
    by_position: bool = False
    """Whether the arguments are handed over in their order, whatever they are called."""
    dtype: str = "float64"
    mode: Mode = Mode.EAGER
    checks: tuple[CheckKind, ...] = (CheckKind.REVERSE,)
    upstream: Upstream = "random"
    gradient: Mapping[str, str | Array] = field(default_factory=dict)
    """Claims about gradients by input: a formula's text, or the values."""
    cdf: str = ""
    """Of a sample that is differentiated implicitly: its distribution function, an expression."""
    expect: Expectation = None
    added: bool = False
    """Whether the run chose a mode or a check that the spec does not name: what is expected was
    said of others, so that here it may come true and need not."""
    reason: str = ""
    bug: KnownBug | None = None
    """What else is known of a wrong gradient; None where the spec expects none here or elsewhere
    by version, and says nothing of how to go around it."""
    seed: int = 0
    tolerance: Tolerance | None = None
    timeout: float | None = None
    """When the case is given up, in seconds."""
    budget: float | None = None
    """What the check may spend on evaluating the function, in seconds of processor time."""
    tags: tuple[str, ...] = ()

    @property
    def takes(self) -> tuple[Argument, ...]:
        """The differentiated arguments of the function, each as it is made of the inputs."""
        return self.arguments or tuple(Argument(i.name, i.name) for i in self.inputs)
