"""What to say of a name that no declaration answers to: never that name again, nor another such."""

from __future__ import annotations

from gradcheck import ops
from gradcheck.errors import nearest

__all__ = ["told_of_unknown"]


def told_of_unknown(name: str) -> str:
    """A sentence that ends in what can be explained."""
    parts = [op.name for op in ops.all_ops() if _is_part_of(op, name)]
    if parts:
        listed = " or ".join(f"`gradcheck explain {part}`" for part in parts)
        return f"{name!r} as a whole has no declaration; a part of it has: {listed}"
    if _is_keras(name) and "layer" in name:
        return (
            f"{name!r} is a layer, which holds weights of its own, and layers have no declaration: "
            "write what it computes with --expr, such as 'tf.matmul(x, w) + b'; "
            "`gradcheck run` checks layers"
        )
    near = nearest(name, _answered())
    hint = f"did you mean {near!r}?" if near else "`gradcheck explain` lists them."
    return f"no op {name!r} is declared: {hint}"


def _is_part_of(op: ops.Op, name: str) -> bool:
    whole = {op.tf, *op.aliases} if op.is_part else set()
    whole |= {op.part_of[0]} if op.part_of else set()
    return name in whole or (_is_keras(name) and f"tf.{name}" in whole)


def _is_keras(name: str) -> bool:
    return name.startswith(("tf.keras.", "keras."))


def _answered() -> list[str]:
    """Every name that leads to a page."""
    known = [key for op in ops.all_ops() for key in (op.name, op.tf, *op.aliases)]
    return [key for key in known if ops.find(key) is not None]
