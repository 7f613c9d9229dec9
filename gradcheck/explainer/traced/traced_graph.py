"""What ran, read as the graph of an expression: each op a declared one, or a symbol."""

from __future__ import annotations

import ast
import keyword
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import GradcheckError, UsageError
from gradcheck.explainer.derive.call_graph import Graph
from gradcheck.explainer.derive.read_graph import Reader
from gradcheck.explainer.derive.safe_names import renamed
from gradcheck.explainer.formula.held_arrays import code_of_array
from gradcheck.explainer.traced.closed_steps import ClosedSteps, TooLarge, is_float
from gradcheck.explainer.traced.complex_steps import ComplexSteps, has_complex
from gradcheck.explainer.traced.composite_steps import CompositeSteps
from gradcheck.explainer.traced.op_given import Given
from gradcheck.explainer.traced.op_texts import CONSTANT_OPS, PASSED_OPS, text_of_op
from gradcheck.explainer.traced.outside_ops import NO_NUMBERS, OUTSIDE
from gradcheck.explainer.traced.read_texts import NoRule
from gradcheck.explainer.traced.whole_numbers import handed_on, without_handed_on
from gradcheck.spec.expression.syntax import parse_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gradcheck.explainer.traced.opaque_steps import Jacobian
    from gradcheck.explainer.traced.ran_ops import Ran, Watched
    from gradcheck.model import Array, Shape

__all__ = ["LONGEST_PAGE", "TooLarge", "Traced", "read_ops"]

LONGEST_PAGE = 80
"""Steps that a page writes out; what has more is listed, op by op."""
LONGEST_CONSTANT = 12
"""Elements of a constant that is written where it is used; a longer one gets a name."""

_NEUTRAL = {"Mul": 1, "RealDiv": 1, "AddV2": 0, "Sub": 0, "Pow": 1}

_ALL_OUTSIDE = (
    f"what it returns is {OUTSIDE}: nothing of that can be derived, and TensorFlow's tape has no "
    "gradient of it. Write it with TensorFlow's ops; a gradient that you gave it by "
    "tf.custom_gradient is checked by `gradcheck run`"
)


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """A function as a graph, and what its symbols stand for."""

    graph: Graph
    names: Mapping[str, str]
    """By operand of the function: its name on the page."""
    wanted: tuple[str, ...]
    """The names on the page of what is differentiated."""
    constants: Mapping[str, Array]
    """Arrays that the function holds, by name."""
    held: Mapping[str, Array]
    """What no gradient goes through, by name, at this point."""
    jacobians: tuple[Jacobian, ...]
    reasons: tuple[str, ...] = ()
    """Why something has another name here."""
    outside: Mapping[str, str] = field(default_factory=dict)
    """By name: where in the user's code it is used; it comes of the inputs by no op."""

    @property
    def unknown(self) -> dict[str, list[Jacobian]]:
        """By kind of op that has no rule: its Jacobians."""
        found: dict[str, list[Jacobian]] = {}
        for each in self.jacobians:
            found.setdefault(each.ran.kind, []).append(each)
        return found


def read_ops(watched: Watched, title: str) -> Traced:
    """The graph of the first output; TooLarge where no page would hold it."""
    names, reasons = _page_names([operand.name for operand in watched.operands])
    return _Translator(without_handed_on(watched), names).traced(title, reasons)


def _page_names(given: list[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """By operand: a name that formulas can have, without the path of a layer's variable."""
    short: dict[str, str] = {}
    for name in given:
        base = re.sub(r"\W", "_", name.rpartition("/")[2]) or "x"
        base = f"{base}_" if keyword.iskeyword(base) or base[0].isdigit() else base
        free, number = base, 2
        while free in short.values():
            free, number = f"{base}{number}", number + 1
        short[name] = free
    renaming = renamed(short.values())
    return {k: renaming.names.get(v, v) for k, v in short.items()}, renaming.reasons


class _Translator:
    """Reads the ops one by one."""

    def __init__(self, watched: Watched, names: Mapping[str, str]) -> None:
        self.watched, self.names = watched, names
        shapes = {names[o.name]: tuple(o.value.shape) for o in watched.operands}
        self.inputs: dict[str, Shape] = dict(shapes)
        self.told: dict[str, str] = {}
        for operand in watched.operands:
            if operand.value.dtype.kind == "c":
                raise TooLarge(f"{operand.name} is a variable of complex numbers")
            if operand.captured is not None:
                self.told[names[operand.name]] = f"the variable {operand.name}"
        self.reader = Reader(parse_tree("0"), shapes)
        self.values: dict[int, ast.expr] = {}
        """By id of a tensor that depends on the inputs: how it is written."""
        for operand, tensor in zip(watched.operands, watched.given, strict=True):
            self.values[id(tensor)] = ast.Name(names[operand.name])
        self.constants: dict[str, Array] = {}
        self.code: dict[str, str] = {}
        """By constant: what makes it."""
        self.by_text: dict[tuple[Any, ...], str] = {}
        self.outside: dict[str, str] = {}
        self.complex = ComplexSteps(self)
        self.closed = ClosedSteps(self, self.complex)
        self.composites = CompositeSteps(self, watched)

    def traced(self, title: str, reasons: tuple[str, ...]) -> Traced:
        """All of it."""
        done_to = 0
        for ran in self.watched.ran:
            if ran.place < done_to:
                continue
            self._hold_outside(ran.inputs)
            self._hold_outside(ran.outputs)
            if (composite := self.composites.step(ran)) is not None:
                outputs, done_to = composite
                self.values |= outputs
            else:
                self._op(ran)
            if len(self.reader.steps) > LONGEST_PAGE:
                raise TooLarge(f"it takes more than {LONGEST_PAGE} steps")
        if not self.watched.outputs:
            raise UsageError("it returns no number: there is nothing to differentiate")
        self._hold_outside(self.watched.outputs[:1])
        output = self.values.get(id(self.watched.outputs[0]))
        if isinstance(output, ast.Name) and output.id in self.outside:
            raise UsageError(_ALL_OUTSIDE)
        if not isinstance(output, ast.Name) or output.id in self.inputs:
            raise UsageError(
                "no op of it goes from an input to the output: it gives an input back, whose "
                "gradient is G, or nothing that has a gradient"
            )
        held, jacobians = self.closed.held, tuple(self.closed.jacobians)
        symbols = [*held, *(n for j in jacobians for n in (j.symbol, j.of))]
        steps, told = tuple(self.reader.steps), self.told
        unwritten = frozenset(symbols)
        graph = Graph(title, self.inputs, steps, output.id, (), told, unwritten, self.code)
        wanted = tuple(self.names[o.name] for o in self.watched.operands if o.differentiate)
        found = self.constants, held, jacobians
        return Traced(graph, self.names, wanted, *found, reasons, self.outside)

    def _hold_outside(self, tensors: Iterable[Any]) -> None:
        """A symbol for each number that comes of the inputs by no op."""
        for tensor in tensors:
            if id(tensor) in self.watched.outside and id(tensor) not in self.values:
                symbol = self.closed.hold(np.asarray(tensor.numpy()), OUTSIDE)
                self.values[id(tensor)] = ast.Name(symbol)
                self.outside[symbol] = self.watched.outside[id(tensor)]

    def _op(self, ran: Ran) -> None:
        if not any(self.moves(given) for given in ran.inputs) or ran.kind in CONSTANT_OPS:
            return
        between_floats = ran.kind == "Cast" and is_float(ran.inputs[0]) and is_float(ran.outputs[0])
        if ran.kind in PASSED_OPS or between_floats:
            self._pass(ran)
            return
        if has_complex(ran):
            self._complex(ran)
            return
        if self._does_nothing(ran):
            self.values[id(ran.outputs[0])] = self.values[id(ran.inputs[0])]
            return
        for place, out in enumerate(ran.outputs):
            if id(out) in self.watched.needed:
                if out.dtype.name in NO_NUMBERS:
                    raise TooLarge(
                        f"{ran.kind} gives what is no array of numbers ({out.dtype.name})"
                    )
                same = self.values.get(handed_on(ran, out, self.moves))
                self.values[id(out)] = same if same is not None else self._output(ran, place)

    def _pass(self, ran: Ran) -> None:
        for given, out in zip(ran.inputs, ran.outputs, strict=False):
            if given in self.complex:
                self.complex.same(given, out)
            elif id(given) in self.values:
                self.values[id(out)] = self.values[id(given)]

    def _complex(self, ran: Ran) -> None:
        """What takes complex numbers or gives them, as steps of real ones."""
        for place, out in enumerate(ran.outputs):
            if id(out) in self.watched.needed:
                try:
                    real = self.complex.add(ran, place)
                except (NoRule, GradcheckError):
                    if out.dtype.is_complex:
                        halves = (self.closed.step(ran, place, half) for half in (0, 1))
                        self.complex.pairs[id(out)] = (next(halves), next(halves))
                        continue
                    real = self.closed.step(ran, place)
                if real is not None:
                    self.values[id(out)] = real

    def moves(self, tensor: Any) -> bool:
        """Whether it depends on the inputs."""
        return id(tensor) in self.values or tensor in self.complex

    def known(self) -> dict[str, Array]:
        """By name on the page: its value."""
        found = {self.names[k]: value for k, value in self.watched.values.items()}
        tensors = {id(out): out for ran in self.watched.ran for out in ran.outputs}
        for key, own in self.values.items():
            if isinstance(own, ast.Name) and key in tensors:
                found[own.id] = np.asarray(tensors[key].numpy())
        return {**found, **self.constants, **self.closed.held}

    def given(self, ran: Ran) -> Given:
        """An op, for rules."""
        return Given(ran, self.x, self.moves)

    def _does_nothing(self, ran: Ran) -> bool:
        """Whether it divides by a one, or takes a zero away: defaults leave such ops behind."""
        neutral = _NEUTRAL.get(ran.kind)
        if neutral is None or id(ran.inputs[1]) in self.values:
            return False
        same = ran.inputs[0].shape == ran.outputs[0].shape
        return bool(same and np.all(ran.inputs[1].numpy() == neutral))

    def _output(self, ran: Ran, place: int) -> ast.expr:
        try:
            text = (
                f"tf.cast({self.x(ran.inputs[0])}, tf.float64)"
                if ran.kind == "Cast" and is_float(ran.outputs[0])
                else text_of_op(ran.kind, self.given(ran), place)
            )
            return self.read(text, tuple(ran.outputs[place].shape))
        except (NoRule, GradcheckError):
            pass
        return self.closed.step(ran, place)

    def read(self, text: str, shape: Shape) -> ast.expr:
        """The steps of a text; NoRule where it has another shape."""
        before = len(self.reader.steps)
        self.reader.tree = parse_tree(text)
        found = self.reader.value(self.reader.tree.body)
        if self.reader.shape_of(found) != shape:
            self.forget(before)
            raise NoRule("another thing")
        return found

    def forget(self, count: int) -> None:
        """Take back the steps of a translation that is another thing."""
        gone = {step.name for step in self.reader.steps[count:]}
        del self.reader.steps[count:]
        self.reader.seen = {k: v for k, v in self.reader.seen.items() if v.id not in gone}

    def add(self, symbol: str, shape: Shape, told: str) -> None:
        """A name that stands for an array beside the inputs."""
        self.inputs[symbol] = self.reader.shapes[symbol] = shape
        self.told[symbol] = told

    def fresh(self, letter: str) -> str:
        """A name that nothing has."""
        return next(n for i in range(1, 9999) if (n := f"{letter}{i}") not in self.reader.shapes)

    def x(self, tensor: Any, *, typed: bool = True) -> str:
        """A tensor as it is written: a name, or a constant, in code of the dtype of the rest."""
        if id(tensor) in self.values:
            return ast.unparse(self.values[id(tensor)])
        if tensor.dtype.name in NO_NUMBERS:
            return str(tensor.dtype.name)
        return self.constant(np.asarray(tensor.numpy()), typed=typed)

    def constant(self, value: Array, *, typed: bool = True, told: str = "", code: str = "") -> str:
        """An array as it is written: its numbers, or its name where it is long or told of."""
        short = value.size <= LONGEST_CONSTANT and not told
        if short and value.dtype != np.bool_ and np.isfinite(value).all():
            text = repr(value.tolist())
            needs = typed and value.ndim and value.dtype.kind == "f"
            return f"tf.constant({text}, G.dtype)" if needs else text
        key = (value.shape, value.dtype.str, value.tobytes())
        if key not in self.by_text:
            symbol = self.by_text[key] = self.fresh("c")
            self.constants[symbol] = value
            self.code[symbol] = code or code_of_array(value)
            self.add(symbol, value.shape, told or "a constant that it holds")
        return self.by_text[key]
