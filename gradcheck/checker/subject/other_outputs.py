"""A function that returns other tensors in its mode than it does eagerly.

It is another function there, and not one whose gradient can be compared: the upstream is for what
it returns eagerly. TensorFlow would take it all the same where shapes happen to fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.ended import Ended
from gradcheck.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Shape


def must_be_like(upstream: Sequence[Any], outputs: Sequence[Any], where: str) -> None:
    """End the check where what a graph returns has not the shapes of its upstream, as far as known.

    Without it `test_other_shapes_than_eagerly` fails.
    """
    pairs = zip(outputs, upstream, strict=False)
    alike = all(output.shape.is_compatible_with(ct.shape) for output, ct in pairs)
    if not alike or len(outputs) != len(upstream):
        there = [None if o.shape.rank is None else tuple(o.shape.as_list()) for o in outputs]
        raise _ended(where, there, [tuple(ct.shape) for ct in upstream])


def must_have_shapes(wanted: Sequence[Shape], there: Sequence[Shape], where: str) -> None:
    """End the check where the shapes that came out are not those that the function has eagerly.

    Without it `test_other_shapes_that_only_the_compiler_knows` fails.

    Args:
        wanted: the shapes that it has eagerly, in double precision if there is one.
        there: those that came out.
        where: the mode, or the dtype where the mode is eager.
    """
    if list(wanted) != list(there):
        raise _ended(where, there, wanted)


def _ended(
    where: str, there: Sequence[tuple[int | None, ...] | None], wanted: Sequence[Shape]
) -> Ended:
    return Ended(
        Verdict.ERROR,
        f"in {where} the function returns {_told(there)}, and else {_told(wanted)}: it is another "
        "function there, and its gradient no gradient of this one",
    )


def _told(shapes: Sequence[tuple[int | None, ...] | None]) -> str:
    if not shapes:
        return "no tensor"
    told = ["any shape" if s is None else str(list(s)).replace("None", "?") for s in shapes]
    return f"{'a tensor' if len(shapes) == 1 else 'tensors'} of {' and '.join(told)}"
