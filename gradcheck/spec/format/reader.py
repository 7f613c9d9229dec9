"""The keys of one case, merged with those of its file, into a Draft or into problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from gradcheck.errors import ExpressionError
from gradcheck.model import Array, CheckKind, Input, Mode, Tolerance, Upstream
from gradcheck.spec.expression.expression import OUT, parse_tf
from gradcheck.spec.format import claims, fields, keys
from gradcheck.spec.format.called import Called, CallReader
from gradcheck.spec.format.draft import Draft
from gradcheck.spec.format.expect_keys import ADDRESS, KNOWN_BUG_KEYS
from gradcheck.spec.format.expectations import Expected, ExpectReader
from gradcheck.spec.yaml.nodes import ScalarNode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gradcheck.spec.yaml.nodes import Entries, Node
    from gradcheck.spec.yaml.source import Source


T = TypeVar("T")

_NAME_HINT = f"up to {keys.LONGEST_NAME} letters, digits and any of _ - . , + make a name"


class CaseReader:
    """Reads the merged keys of one case, noting every problem in its source."""

    def __init__(
        self, source: Source, place: Node, entries: Entries, allow: Collection[str]
    ) -> None:
        self._source = source
        self._place = place
        self._entries = entries
        self._call = CallReader(source, place, entries, allow)

    def read(self) -> Draft | None:
        """The draft; None where anything is wrong."""
        before = self._source.count
        called = self._call.read()
        fitting = self._source.count == before
        tensors = called.inputs.tensors
        # Keras computes in float16 or bfloat16 by such a policy, and takes float32.
        mixed = str(called.init.get("dtype", "")).startswith("mixed_")
        dtypes = self._choices("dtype", keys.CASE_DTYPES, ("float32" if mixed else "float64",))
        self._check_complex(tensors, dtypes)
        modes = self._choices("mode", keys.MODES, ("eager",))
        checks = self._choices("check", keys.CHECKS, ("reverse",))
        seeds, tags = self._seeds(), self._tags()
        name = self._text("name", keys.NAME, _NAME_HINT)
        reason = self._text("reason") or ""
        upstream, tolerance = self._upstream(called), self._tolerance()
        timeout, budget = self._seconds("timeout"), self._seconds("budget")
        variables, outputs = self._variables(), self._outputs()
        # Claims about inputs that could not be read would only raise false alarms.
        gradient = self._gradient(called) if fitting else {}
        cdf = self._expression("cdf", [OUT, *self._names(called)]) if fitting else ""
        expect = self._expect(reason, called, variables=variables) if fitting else ()
        instead = self._expression("instead", self._names(called)) if fitting else ""
        issue = self._text("issue", ADDRESS, "write its address: https://…") or ""
        self._check_bug()
        if self._source.count != before or called.chosen is None:
            return None
        return Draft(
            location=self._source.location(self._place),
            name=name,
            name_node=self._entries["name"].value if name else self._place,
            chosen=called.chosen,
            inputs=tensors,
            arguments=called.inputs.arguments,
            by_position=called.by_position,
            args=called.args,
            init=called.init,
            variables=variables,
            outputs=outputs,
            dtypes=dtypes,
            modes=tuple(Mode(mode) for mode in modes),
            seeds=seeds,
            checks=tuple(CheckKind(check) for check in checks),
            upstream=upstream,
            gradient=gradient,
            cdf=cdf,
            expect=expect,
            instead=instead,
            issue=issue,
            tolerance=tolerance,
            timeout=timeout,
            budget=budget,
            tags=tags,
        )

    def _check_complex(self, inputs: tuple[Input, ...], dtypes: tuple[str, ...]) -> None:
        real = [dtype for dtype in dtypes if not dtype.startswith("complex")]
        for given in inputs:
            is_complex = given.values is not None and given.values.dtype.kind == "c"
            if is_complex and given.dtype is None and real:
                message = f"the input `{given.name}` is complex, and `dtype` is {real[0]}"
                hint, at = "write `dtype: complex128` in the case", given.location
                self._source.problem_at(at.line, at.column, message, hint, len(given.name))

    def _gradient(self, called: Called) -> dict[str, str | Array]:
        names = claims.formula_names(called.op, called.inputs.arguments, called.args)
        given = self._call.mapping("gradient")
        return claims.read_gradient(self._source, given, called.inputs.tensors, names)

    def _upstream(self, called: Called) -> Upstream:
        if "upstream" not in self._entries:
            return "random"
        return claims.read_upstream(self._source, self._entries["upstream"].value, called.output)

    def _expect(self, reason: str, called: Called, *, variables: bool) -> tuple[Expected, ...]:
        if "expect" not in self._entries:
            return (Expected(reason=reason),)
        # Of which variables a function reads, nothing is known before it runs.
        known = not variables or called.chosen is None or not called.chosen.may_read_variables
        reader = ExpectReader(self._source, called.inputs.tensors, reason, others=not known)
        return reader.read(self._entries["expect"].value)

    def _variables(self) -> bool:
        if "variables" not in self._entries:
            return True
        node = self._entries["variables"].value
        return bool(fields.boolean(self._source, node, "`variables`"))

    def _names(self, called: Called) -> list[str]:
        """What the function is given, structures as a whole."""
        named = [argument.name for argument in called.inputs.arguments]
        return named or [given.name for given in called.inputs.tensors]

    def _expression(self, key: str, names: list[str]) -> str:
        """An expression over these names; empty where there is none."""
        text = self._text(key) or ""
        if text:
            try:
                parse_tf(text, names)
            except ExpressionError as error:
                claims.expression_problem(self._source, self._entries[key].value, error)
        return text

    def _check_bug(self) -> None:
        """What goes with a known bug alone is no use to a case that expects none."""
        for key in KNOWN_BUG_KEYS:
            if key in self._entries and "expect" not in self._entries:
                message = f"`{key}` belongs to a known bug, and the case expects none"
                hint = "say which verdict it has, as in `expect: mismatch`, or leave it out"
                self._source.problem(self._entries[key].key, message, hint)

    def _outputs(self) -> tuple[int | str, ...]:
        if "outputs" not in self._entries:
            return ()
        return self._several("outputs", self._output)

    def _output(self, node: Node) -> int | str | None:
        if isinstance(node, ScalarNode) and type(node.value) is int:
            return fields.whole(self._source, node, "an output", 0, keys.MAX_OUTPUTS)
        return fields.text(self._source, node, "an output, where it is no position,")

    def _tolerance(self) -> Tolerance | None:
        if "tolerance" not in self._entries:
            return None
        place = self._entries["tolerance"].key
        before = self._source.count
        entries = self._call.mapping("tolerance")
        if self._source.count != before:
            return None
        return claims.read_tolerance(self._source, entries, place)

    def _seconds(self, key: str) -> float | None:
        if key not in self._entries:
            return None
        node = self._entries[key].value
        seconds = fields.number(self._source, node, f"`{key}`")
        if seconds is not None and not 0 < seconds <= keys.MAX_TIMEOUT:
            message = f"`{key}` must be above 0 and at most {keys.MAX_TIMEOUT:,} seconds"
            self._source.problem(node, message)
        return seconds

    def _seeds(self) -> tuple[int, ...] | None:
        if "seed" not in self._entries:
            return None
        return self._several(
            "seed", lambda node: fields.whole(self._source, node, "`seed`", 0, keys.MAX_SEED)
        )

    def _tags(self) -> tuple[str, ...]:
        if "tags" not in self._entries:
            return ()
        hint = f"up to {keys.LONGEST_NAME} letters, digits and any of _ - . , + make a tag"
        return self._several(
            "tags", lambda node: fields.text(self._source, node, "a tag", keys.NAME, hint)
        )

    def _choices(
        self, key: str, options: Collection[str], default: tuple[str, ...]
    ) -> tuple[str, ...]:
        if key not in self._entries:
            return default
        return self._several(
            key, lambda node: fields.choice(self._source, node, f"`{key}`", options)
        )

    def _several(self, key: str, read: Callable[[Node], T | None]) -> tuple[T, ...]:
        """One value or a list of them; what cases share is read once."""
        node, source = self._entries[key].value, self._source
        return source.once(node, key, lambda: fields.one_or_more(source, node, f"`{key}`", read))

    def _text(self, key: str, pattern: str = "", hint: str = "") -> str | None:
        if key not in self._entries:
            return None
        node, source = self._entries[key].value, self._source
        return source.once(node, key, lambda: fields.text(source, node, f"`{key}`", pattern, hint))
