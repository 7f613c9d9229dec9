"""What a case calls, and with what: its target, `init`, `args` or `call`, and `inputs`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gradcheck import ops
from gradcheck.errors import ExpressionError, ShapeError, nearest
from gradcheck.ops.language.bounds import MAX_ELEMENTS
from gradcheck.spec.expression.expression import parse_tf
from gradcheck.spec.format import claims, fields, keys
from gradcheck.spec.format.args import read_args
from gradcheck.spec.format.array_values import size_problem
from gradcheck.spec.format.inputs import Inputs, Listed, list_inputs, read_inputs
from gradcheck.spec.format.layer_init import read_init
from gradcheck.spec.format.nested_inputs import structure
from gradcheck.spec.format.target import Chosen, read_target

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Op
    from gradcheck.spec.yaml.nodes import Entries, Entry, Node
    from gradcheck.spec.yaml.source import Source


@dataclass(frozen=True, slots=True)
class Called:
    """What is called; whole only where no problem was noted."""

    chosen: Chosen | None = None
    inputs: Inputs = field(default_factory=Inputs)
    by_position: bool = False
    args: Mapping[str, Any] = field(default_factory=dict)
    init: Mapping[str, Any] = field(default_factory=dict)
    output: Shape | None = None
    """The shape of the one output, where that is known."""

    @property
    def op(self) -> Op | None:
        """Our declaration of what is checked, if there is one."""
        return None if self.chosen is None else self.chosen.op


class CallReader:
    """Reads those keys of a case that make up the call."""

    def __init__(
        self, source: Source, place: Node, entries: Entries, allow: Collection[str]
    ) -> None:
        self._source = source
        self._place = place
        self._entries = entries
        self._allow = allow

    def read(self) -> Called:
        """The call; problems are noted in the source."""
        before = self._source.count
        chosen = self._target()
        key = "call" if chosen is not None and chosen.is_layer else "args"
        self._check_keys(chosen)
        given = self.mapping(key)
        listed = self._listed(chosen)
        names = [] if listed is None else list(listed.entries)
        if chosen is not None and chosen.op is not None:
            # By TensorFlow's own name, a call may be more than we have declared.
            op = ops.find_for(chosen.target.text, _tensors(listed), given)
            if op is None:
                chosen = replace(chosen, op=None)
                # (A list has the names of TensorFlow's parameters then.)
                listed = None if listed is None else self._listed(chosen)
                names = [] if listed is None else list(listed.entries)
        called = Called(chosen, args=self._args(chosen, key, given), init=self._init(chosen))
        if listed is not None:
            inputs = self._inputs(called, listed)
            called = replace(called, inputs=inputs, by_position=listed.by_position)
            self._check_names(chosen, listed, given)
        if chosen is not None and self._source.count == before:
            called = replace(called, output=self._output(chosen, called))
        if chosen is not None and chosen.is_expression and (listed or not self._mistyped()):
            self._check_expression(chosen, names)
        return called

    def mapping(self, key: str) -> dict[str, Entry]:
        """The entries of a key that holds a mapping; none where it is absent or not one."""
        if key not in self._entries:
            return {}
        node = fields.mapping(self._source, self._entries[key].value, f"`{key}`")
        return {} if node is None else node.entries

    def _target(self) -> Chosen | None:
        given = [target for target in keys.TARGETS if target in self._entries]
        if len(given) == 1:
            node = self._entries[given[0]].value
            return read_target(self._source, given[0], node, self._allow)
        if given:
            both = " and ".join(f"`{target}`" for target in given)
            place = max((self._entries[t].key for t in given), key=lambda k: (k.line, k.column))
            self._source.problem(place, f"{both} stand side by side", "keep one of them")
        else:
            hint = "give one of `op`, `expr`, `function` and `layer`, here or at the top"
            self._source.problem(self._place, "the case does not say what to check", hint)
        return None

    def _check_keys(self, chosen: Chosen | None) -> None:
        """Note the keys that do not go with the target."""
        if chosen is None:
            return
        if chosen.is_layer and "args" in self._entries:
            hint = "those of its class go under `init`, those of its call under `call`"
            self._source.problem(self._entries["args"].key, "a `layer` takes no `args`", hint)
        for key in keys.OF_A_LAYER:
            if not chosen.is_layer and key in self._entries:
                place = self._entries[key].key
                hint = "arguments that are not differentiated go under `args`"
                self._source.problem(place, f"`{key}` goes with `layer`", hint)

    def _args(self, chosen: Chosen | None, key: str, given: Mapping[str, Entry]) -> dict[str, Any]:
        if chosen is not None and chosen.is_expression and given:
            hint = "write the value in the expression, or make it an input with `grad: false`"
            self._source.problem(self._entries["args"].key, "an `expr` takes no `args`", hint)
            return {}
        place = self._entries[key].key if key in self._entries else self._place
        return read_args(self._source, given, place, None if chosen is None else chosen.op)

    def _init(self, chosen: Chosen | None) -> dict[str, Any]:
        if chosen is None or not chosen.is_layer:
            return {}
        place = self._entries["init" if "init" in self._entries else "layer"].key
        given = self.mapping("init")
        return read_init(self._source, given, place, chosen.target.text, self._allow)

    def _listed(self, chosen: Chosen | None) -> Listed | None:
        if "inputs" not in self._entries:
            hint = "write `inputs: {x: [3, 4]}`: a list of whole numbers is a shape"
            if self._mistyped():
                self._source.count += 1
            else:
                self._source.problem(self._place, "the case has no `inputs`", hint)
            return None
        op = None if chosen is None else chosen.op
        parameters = None if chosen is None else chosen.parameters
        return list_inputs(self._source, self._entries["inputs"].value, op, parameters)

    def _mistyped(self) -> bool:
        """Whether `inputs` is there by another name: that was told already, with what is meant."""
        unknown = [key for key in self._entries if key not in keys.CASE_KEYS]
        return bool(nearest("inputs", unknown, alike=0.75))

    def _inputs(self, called: Called, listed: Listed) -> Inputs:
        place, chosen = self._entries["inputs"].key, called.chosen
        before = self._source.count
        reserved = dict.fromkeys(called.args, "an arg already")
        if chosen is not None and chosen.is_expression:
            reserved |= {"tf": "TensorFlow in an expression", "keras": "Keras in an expression"}
        if "gradient" in self._entries:
            reserved |= {"G": "the upstream in a formula", "out": "the output in a formula"}
        if "cdf" in self._entries:
            reserved["out"] = "the sample in `cdf`"
        inputs = read_inputs(self._source, listed.entries, place, called.op, reserved)
        if self._source.count != before:
            return inputs
        if called.op is not None and any(not isinstance(a.template, str) for a in inputs.arguments):
            hint = f"write `op: {called.op.tf}`"
            self._source.problem(place, f"`{called.op.name}` is declared for tensors alone", hint)
        elif not inputs.tensors:
            self._source.problem(place, "`inputs` is empty")
        elif sum(math.prod(i.shape) for i in inputs.tensors) > MAX_ELEMENTS:
            together = sum(math.prod(i.shape) for i in inputs.tensors)
            message = f"the inputs hold {together:,} elements together: at most {MAX_ELEMENTS:,}"
            self._source.problem(place, message)
        elif not any(i.grad for i in inputs.tensors) and not self._reads_variables(chosen):
            hint = "leave out `grad: false` where the gradient is to be checked"
            self._source.problem(place, "no input has a gradient", hint)
        return inputs

    def _reads_variables(self, chosen: Chosen | None) -> bool:
        """Whether there may be something to differentiate beside the inputs."""
        entry = self._entries.get("variables")
        left_out = entry is not None and fields.plain(entry.value) is False
        return chosen is not None and chosen.may_read_variables and not left_out

    def _check_names(
        self, chosen: Chosen | None, listed: Listed, given: Mapping[str, Entry]
    ) -> None:
        """Hold the names of inputs and arguments against those that the function has."""
        parameters = None if chosen is None or chosen.op is not None else chosen.parameters
        if chosen is None or parameters is None:
            return
        shown, names = f"`{chosen.target.text}`", list(listed.entries)
        misfits = (
            parameters.placed_misfits(shown, len(names), given)
            if listed.by_position
            else parameters.named_misfits(shown, names, given)
        )
        for misfit in misfits:
            entry = listed.entries.get(misfit.name) or given.get(misfit.name)
            place = self._entries["inputs"].key if entry is None else entry.key
            self._source.problem(place, misfit.message, misfit.hint)

    def _output(self, chosen: Chosen, called: Called) -> Shape | None:
        """The output's shape where the op is declared; says why the inputs do not fit."""
        op, place = chosen.op, self._entries["inputs"].key
        if op is None:
            return None
        shapes = {i.name: i.shape for i in called.inputs.tensors}
        try:
            shape = op.shape(op.call(shapes, called.args))
        except ShapeError as error:
            self._misfit(op, str(error))
            return None
        except Exception as error:  # an arg of a kind that the rule did not think of
            self._misfit(op, f"{type(error).__name__}: {error}")
            return None
        problem = size_problem(shape)
        if problem:
            self._source.problem(place, f"the output of `{op.name}`: {problem}")
        return shape if not op.outputs and "outputs" not in self._entries else None

    def _misfit(self, op: Op, why: str) -> None:
        """Note why a call is not possible, at the arg that is to blame or at the inputs."""
        for name, entry in self.mapping("args").items():
            if re.search(rf"\b{name}\b", why):
                self._source.problem(entry.key, f"the args do not fit `{op.name}`: {why}")
                return
        place = self._entries["inputs"].key
        self._source.problem(place, f"the inputs do not fit `{op.name}`: {why}")

    def _check_expression(self, chosen: Chosen, names: Collection[str]) -> None:
        def read() -> None:
            try:
                parse_tf(chosen.target.text, names)
            except ExpressionError as error:
                claims.expression_problem(self._source, chosen.node, error)

        self._source.once(chosen.node, tuple(names), read)


def _tensors(listed: Listed | None) -> list[str]:
    """The names of the inputs; of one that is a structure, that of a tensor in it."""
    entries = {} if listed is None else listed.entries
    return [f"{n}[0]" if structure(entry.value) else n for n, entry in entries.items()]
