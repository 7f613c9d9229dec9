"""The functions that take functions: in an expression a lambda may stand where they want one."""

from __future__ import annotations

from dataclasses import dataclass

MAX_ITERATIONS = 1_000
"""How often the loops of an expression may turn, those inside of others multiplied: a loop of a
thousand cheap steps takes a second, and a gradient is taken of it many times."""


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """Which parameters take functions, and which one bounds the loop."""

    functions: tuple[str, ...]
    bound: str = ""
    """The parameter that must be a whole number, written out; empty where tensors end the loop."""
    start: tuple[str, ...] = ()
    """The parameter from which the loop counts, written out as well."""


_LOOP = ControlFlow(("cond", "body"), bound="maximum_iterations")
_BRANCHES = ControlFlow(("true_fn", "false_fn"))

CONTROL_FLOW: dict[str, ControlFlow] = {
    "tf.case": ControlFlow(("pred_fn_pairs", "default")),
    "tf.cond": _BRANCHES,
    "tf.foldl": ControlFlow(("fn",)),
    "tf.foldr": ControlFlow(("fn",)),
    "tf.map_fn": ControlFlow(("fn",)),
    "tf.nest.map_structure": ControlFlow(("func",)),
    "tf.ragged.map_flat_values": ControlFlow(("op",)),
    "tf.scan": ControlFlow(("fn",)),
    "tf.sparse.map_values": ControlFlow(("op",)),
    "tf.switch_case": ControlFlow(("branch_fns", "default")),
    "tf.vectorized_map": ControlFlow(("fn",)),
    "tf.while_loop": _LOOP,
    "keras.ops.associative_scan": ControlFlow(("f",)),
    "keras.ops.cond": _BRANCHES,
    "keras.ops.fori_loop": ControlFlow(("body_fun",), bound="upper", start=("lower",)),
    "keras.ops.jvp": ControlFlow(("fun",)),
    "keras.ops.map": ControlFlow(("f",)),
    "keras.ops.scan": ControlFlow(("f",)),
    "keras.ops.switch": ControlFlow(("branches",)),
    "keras.ops.vectorized_map": ControlFlow(("function",)),
    "keras.ops.while_loop": _LOOP,
}
"""By dotted name. Python functions are what they take, so that only an expression can call them."""
