"""The gradients that TensorFlow registers, as a worker finds them: commands have no TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.checker.coverage.op_families import family_of
from gradcheck.checker.coverage.op_reach import is_float_op, why_out_of_reach
from gradcheck.checker.subject.private_names import Absent, Private, private
from gradcheck.model import Case, Location, Target, TargetKind, Verdict
from gradcheck.model.inventories import Inventory, RegisteredGradient

if TYPE_CHECKING:
    from collections.abc import Collection

_NAME = "TensorFlow's gradients"


def inventory_case() -> Case:
    """The task to look into TensorFlow, as workers take tasks."""
    here = Location(_NAME, 1, 1)
    return Case(_NAME, _NAME, _NAME, here, Target(TargetKind.OP, "", here), ())


def take_inventory(case: Case, *, allow: Collection[str] = (), root: str = ".") -> Inventory:
    """What TensorFlow registers; an error where it does not tell."""
    del allow, root
    import tensorflow  # noqa: F401  (all that it has registers itself with this)

    try:
        registry = private(Private.REGISTRY)
    except Absent as error:
        told = f"this TensorFlow does not tell which gradients it registers: no {error}"
        return Inventory(case.id, Verdict.ERROR, message=told, case=case)
    functions = {str(op): registry.lookup(op) for op in sorted(registry.list())}
    return Inventory(
        case.id,
        Verdict.PASS,
        case=case,
        gradients=tuple(
            RegisteredGradient(
                op,
                family_of(op, str(getattr(function, "__module__", ""))),
                is_float_op(op),
                why_out_of_reach(op),
            )
            for op, function in functions.items()
            if function is not None
        ),
        no_gradient=tuple(op for op, function in functions.items() if function is None),
    )
