"""What one check needs to know, whether it came from a spec or from a call of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.tape import Backward, Tape
from gradcheck.model import Array, CheckKind, Mode, Tolerance, Upstream, Verdict
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.model.called_gradients import GradientCall

Differentiate = Callable[[Sequence[Array], Sequence[Array]], Backward]
"""Values and upstream in, outputs and gradients out."""

Formula = Callable[[list[Array], list[Array], list[Array]], Array]
"""The closed formula of one gradient: inputs, upstream and outputs, all by position."""


@frozen(slots=True)
class Wanted:
    """Which of the variables that the function reads are differentiated."""

    trainable: bool = True
    """All that can be trained."""
    names: tuple[str, ...] = ()
    variables: tuple[Any, ...] = ()
    """These, whether they can be trained or not."""


@frozen()
class Problem:
    """A function, a point, and what is asked about the gradient there."""

    function: Callable[..., Any]
    """Takes one tensor per operand, by position, and returns any structure of tensors."""
    operands: tuple[Operand, ...]
    """The inputs; once the function is explored, the variables it captures as well."""
    wanted: Wanted = Wanted()
    upstream: Upstream = "random"
    formulas: Mapping[str, Formula] = field(default_factory=dict)
    """By operand: a declared formula, which is right for all we know."""
    claims: Mapping[str, Formula] = field(default_factory=dict)
    """By operand: what the spec says the gradient is."""
    mode: Mode = Mode.EAGER
    checks: tuple[CheckKind, ...] = (CheckKind.REVERSE,)
    seed: int = 0
    tolerance: Tolerance | None = None
    budget: float | None = None
    """How many seconds may be spent on evaluating the function; None for the default."""
    timeout: float | None = None
    """When the check is ended from outside, if it is, in seconds."""
    cdf: Callable[..., Any] | None = None
    """The distribution function of a sample that is differentiated implicitly: takes the sample and
    what the function takes."""
    remark: str = ""
    """What to say besides where the gradient does not agree, or the function does not repeat."""
    takes_other_shapes: bool = False
    """Whether the function may be called with inputs of other shapes than the user's."""
    may_stack: bool = True
    """Whether the ops that it runs would do the same with an axis more, as far as is known."""
    repeats: bool = False
    """Whether every op that the function runs is known to draw nothing."""
    keeps_its_digits: bool = False
    """Whether, given double precision, the function is known to compute in it throughout."""
    is_exact: bool = False
    """Whether every op that the function runs is known to round nothing, in any precision."""
    rounds_in: frozenset[str] = frozenset()
    """The dtypes of less than double precision in which the function was seen to compute though its
    inputs have more; none where that is not known."""
    may_have_phases: bool = True
    """Whether the function may compute vectors whose phase nothing determines."""
    ops: int = 0
    """How many ops a call of it runs, which is what eager code costs; 0 where that is not known."""
    recorded: Tape | None = None
    """What has recorded a call of the function at the operands' own values, if anything has."""
    recorded_in_double: Tape | None = None
    """The same at these values in double precision, where they have less."""
    without_twin: Callable[[], Problem] | None = None
    """Where double precision is that of a layer that was made again: the problem without that one.
    It costs some passes to be made."""
    some_outputs: bool = False
    """Whether only some of its outputs are differentiated."""
    is_gradient: bool = False
    """Whether the function is the gradient of another one: that of a linear function is constant,
    and None from the tape is right for it."""
    hint: str = ""
    """What to say where an input has no gradient."""
    kinds: frozenset[str] = frozenset()
    """Those of its ops, as far as they are known."""
    is_of_a_library: bool = False
    """Whether it is a function of a library as that has it, and is given tensors alone: then no
    code of the user's runs in it but gradients that are registered for its ops."""
    names_nothing: bool = False
    """Whether it is a function of signs and numbers alone, which cannot look at values."""
    close_ups: frozenset[Verdict] = frozenset()
    """Of which verdicts somebody wants to see pictures."""
    called: set[GradientCall] | None = None
    """Filled with the registered gradient functions that were called on the ways back that are
    judged; None where nobody asked."""
    judged: list[tuple[Callable[..., Any], Tape]] | None = None
    """Filled with the tapes that have gone back at the point, with what they differentiate; None
    where nobody asks again."""
    tape: Callable[[Callable[..., Any], Sequence[Operand], Mode], Differentiate] = Tape
    """How gradients are taken; whoever measures what a check would catch plants faults here."""

    @property
    def surely_repeats(self) -> bool:
        """Whether no code of the user's runs in it, and no op that draws anything.

        Then it is called again before its gradient is blamed, and not before that. Without it
        `test_a_function_of_a_library_is_not_called_again` fails.
        """
        return self.repeats and self.is_of_a_library and not self.is_gradient

    def note_judged(self, tape: object) -> None:
        """This tape has gone back at the point, and a verdict rests on what it gave."""
        if not isinstance(tape, Tape):
            return
        if self.judged is not None:
            self.judged.append((self.function, tape))
        if self.called is not None:
            check = CheckKind.SECOND if self.is_gradient else CheckKind.REVERSE
            self.called.update(replace(call, check=check) for call in tape.called)

    def tape_in(self, mode: Mode) -> Tape:
        """A tape of the function in this mode: the one that was judged, which is traced by now.

        Without it `test_a_gradient_is_compiled_once` fails.
        """
        for function, tape in self.judged or ():
            if function is self.function and tape.mode is mode is not Mode.EAGER:
                return tape
        return Tape(self.function, self.operands, mode)
