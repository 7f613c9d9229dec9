"""The keys of one case, merged with those of its file, into a Draft or into problems."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gradcheck.errors import ExpressionError, ShapeError
from gradcheck.model import (
    Array,
    CheckKind,
    Expectation,
    Input,
    Mode,
    Shape,
    Tolerance,
    Upstream,
)
from gradcheck.spec.expression.expression import parse_tf
from gradcheck.spec.format import claims, fields, keys
from gradcheck.spec.format.args import read_args
from gradcheck.spec.format.array_values import size_problem
from gradcheck.spec.format.draft import Draft
from gradcheck.spec.format.inputs import read_inputs
from gradcheck.spec.format.target import Chosen, read_target

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from gradcheck.ops.declaration import Op
    from gradcheck.spec.yaml.nodes import Entries, Entry, Node
    from gradcheck.spec.yaml.source import Source


class CaseReader:
    """Reads the merged keys of one case, noting every problem in its source."""

    def __init__(
        self, source: Source, place: Node, entries: Entries, allow: Collection[str]
    ) -> None:
        self._source = source
        self._place = place
        self._entries = entries
        self._allow = allow

    def read(self) -> Draft | None:
        """The draft; None where anything is wrong."""
        before = self._source.count
        chosen = self._target()
        args = self._args(chosen)
        inputs = self._inputs(chosen, args)
        fitting = chosen is not None and self._source.count == before
        output = self._output(chosen, inputs, args) if chosen is not None and fitting else None
        self._check_expression(chosen)
        dtypes = self._choices("dtype", keys.CASE_DTYPES, ("float64",))
        self._check_complex(inputs, dtypes)
        modes = self._choices("mode", keys.MODES, ("eager",))
        checks = self._choices("check", keys.CHECKS, ("reverse",))
        seeds, tags = self._seeds(), self._tags()
        name = self._text("name", keys.NAME, "letters, digits and any of _ - . , + make a name")
        reason = self._text("reason") or ""
        upstream, tolerance, timeout = self._upstream(output), self._tolerance(), self._timeout()
        # Claims about inputs that could not be read would only raise false alarms.
        gradient = self._gradient(chosen, inputs, args) if fitting else {}
        expect = self._expect(reason, inputs) if fitting else None
        if self._source.count != before or chosen is None:
            return None
        return Draft(
            location=self._source.location(self._place),
            name=name,
            name_node=self._entries["name"].value if name else self._place,
            chosen=chosen,
            inputs=inputs,
            args=args,
            dtypes=dtypes,
            modes=tuple(Mode(mode) for mode in modes),
            seeds=seeds,
            checks=tuple(CheckKind(check) for check in checks),
            upstream=upstream,
            gradient=gradient,
            expect=expect,
            reason=reason,
            tolerance=tolerance,
            timeout=timeout,
            tags=tags,
        )

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
            hint = "give one of `op`, `expr` and `function`, here or at the top of the file"
            self._source.problem(self._place, "the case does not say what to check", hint)
        return None

    def _args(self, chosen: Chosen | None) -> dict[str, Any]:
        entries = self._mapping("args")
        if chosen is not None and chosen.is_expression and entries:
            hint = "write the value in the expression, or make it an input with `grad: false`"
            self._source.problem(self._entries["args"].key, "an `expr` takes no `args`", hint)
            return {}
        place = self._entries["args"].key if "args" in self._entries else self._place
        return read_args(self._source, entries, place, _op(chosen))

    def _inputs(self, chosen: Chosen | None, args: Mapping[str, Any]) -> tuple[Input, ...]:
        if "inputs" not in self._entries:
            hint = "write `inputs: {x: [3, 4]}`: a list of whole numbers is a shape"
            self._source.problem(self._place, "the case has no `inputs`", hint)
            return ()
        place = self._entries["inputs"]
        before = self._source.count
        entries = self._mapping("inputs")
        if self._source.count != before:
            return ()
        reserved = dict.fromkeys(args, "an arg already")
        if chosen is not None and chosen.is_expression:
            reserved["tf"] = "TensorFlow in an expression"
        if "gradient" in self._entries:
            reserved |= {"G": "the upstream in a formula", "out": "the output in a formula"}
        inputs = read_inputs(self._source, entries, place.key, _op(chosen), reserved)
        if self._source.count == before and not any(i.grad for i in inputs):
            message = "no input has a gradient" if inputs else "`inputs` is empty"
            hint = "leave out `grad: false` where the gradient is to be checked" if inputs else ""
            self._source.problem(place.key, message, hint)
        return inputs

    def _output(
        self, chosen: Chosen, inputs: tuple[Input, ...], args: Mapping[str, Any]
    ) -> Shape | None:
        """The output's shape where the op is declared; says why the inputs do not fit."""
        op, place = chosen.op, self._entries["inputs"].key
        if op is None:
            return None
        try:
            shape = op.shape(op.call({i.name: i.shape for i in inputs}, args))
        except ShapeError as error:
            self._misfit(op, str(error))
            return None
        except Exception as error:  # an arg of a kind that the rule did not think of
            self._misfit(op, f"{type(error).__name__}: {error}")
            return None
        problem = size_problem(shape)
        if problem:
            self._source.problem(place, f"the output of `{op.name}`: {problem}")
        return shape if not op.outputs else None

    def _misfit(self, op: Op, why: str) -> None:
        """Note why a call is not possible, at the arg that is to blame or at the inputs."""
        for name, entry in self._mapping("args").items():
            if re.search(rf"\b{name}\b", why):
                self._source.problem(entry.key, f"the args do not fit `{op.name}`: {why}")
                return
        place = self._entries["inputs"].key
        self._source.problem(place, f"the inputs do not fit `{op.name}`: {why}")

    def _check_expression(self, chosen: Chosen | None) -> None:
        if chosen is None or not chosen.is_expression:
            return
        try:
            parse_tf(chosen.target.text, list(self._mapping("inputs")))
        except ExpressionError as error:
            claims.expression_problem(self._source, chosen.node, error)

    def _check_complex(self, inputs: tuple[Input, ...], dtypes: tuple[str, ...]) -> None:
        real = [dtype for dtype in dtypes if not dtype.startswith("complex")]
        for given in inputs:
            is_complex = given.values is not None and given.values.dtype.kind == "c"
            if is_complex and given.dtype is None and real:
                entry = self._mapping("inputs")[given.name]
                message = f"the input `{given.name}` is complex, and `dtype` is {real[0]}"
                self._source.problem(entry.key, message, "write `dtype: complex128` in the case")

    def _gradient(
        self, chosen: Chosen | None, inputs: tuple[Input, ...], args: Mapping[str, Any]
    ) -> dict[str, str | Array]:
        names = claims.formula_names(_op(chosen), inputs, args)
        return claims.read_gradient(self._source, self._mapping("gradient"), inputs, names)

    def _upstream(self, output: Shape | None) -> Upstream:
        if "upstream" not in self._entries:
            return "random"
        return claims.read_upstream(self._source, self._entries["upstream"].value, output)

    def _expect(self, reason: str, inputs: tuple[Input, ...]) -> Expectation:
        if "expect" not in self._entries:
            return None
        return claims.read_expect(self._source, self._entries["expect"].value, reason, inputs)

    def _tolerance(self) -> Tolerance | None:
        if "tolerance" not in self._entries:
            return None
        place = self._entries["tolerance"].key
        before = self._source.count
        entries = self._mapping("tolerance")
        if self._source.count != before:
            return None
        return claims.read_tolerance(self._source, entries, place)

    def _timeout(self) -> float | None:
        if "timeout" not in self._entries:
            return None
        node = self._entries["timeout"].value
        seconds = fields.number(self._source, node, "`timeout`")
        if seconds is not None and not 0 < seconds <= keys.MAX_TIMEOUT:
            message = f"`timeout` must be above 0 and at most {keys.MAX_TIMEOUT:,} seconds"
            self._source.problem(node, message)
        return seconds

    def _seeds(self) -> tuple[int, ...] | None:
        if "seed" not in self._entries:
            return None
        return fields.one_or_more(
            self._source,
            self._entries["seed"].value,
            "`seed`",
            lambda node: fields.whole(self._source, node, "`seed`", 0, keys.MAX_SEED),
        )

    def _tags(self) -> tuple[str, ...]:
        if "tags" not in self._entries:
            return ()
        hint = "letters, digits and any of _ - . , + make a tag"
        return fields.one_or_more(
            self._source,
            self._entries["tags"].value,
            "`tags`",
            lambda node: fields.text(self._source, node, "a tag", keys.NAME, hint),
        )

    def _choices(
        self, key: str, options: Collection[str], default: tuple[str, ...]
    ) -> tuple[str, ...]:
        if key not in self._entries:
            return default
        return fields.one_or_more(
            self._source,
            self._entries[key].value,
            f"`{key}`",
            lambda node: fields.choice(self._source, node, f"`{key}`", options),
        )

    def _text(self, key: str, pattern: str = "", hint: str = "") -> str | None:
        if key not in self._entries:
            return None
        return fields.text(self._source, self._entries[key].value, f"`{key}`", pattern, hint)

    def _mapping(self, key: str) -> dict[str, Entry]:
        """The entries of a key that holds a mapping; none where it is absent or not one."""
        if key not in self._entries:
            return {}
        node = fields.mapping(self._source, self._entries[key].value, f"`{key}`")
        return {} if node is None else node.entries


def _op(chosen: Chosen | None) -> Op | None:
    """Our declaration of what is checked, if the case says what that is and there is one."""
    return None if chosen is None else chosen.op
