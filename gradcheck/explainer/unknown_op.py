"""What to say of a name that no declaration answers to: never that name again, nor another such."""

from __future__ import annotations

from gradcheck import ops
from gradcheck.errors import nearest
from gradcheck.spec.expression import allowlist

__all__ = ["told_of_unknown"]

LAST_ALIKE = 0.7
"""How much of a name has to agree: of three letters two are not enough."""
NEARLY = 0.85
"""So much where the module is a part of the name."""


def told_of_unknown(name: str) -> str:
    """A sentence that ends in what can be explained."""
    parts = [op.name for op in ops.all_ops() if _is_part_of(op, name)]
    if parts:
        listed = " or ".join(f"`gradcheck explain {part}`" for part in parts)
        return f"{name!r} as a whole has no declaration; a part of it has: {listed}"
    if name in allowlist.CALLABLE and name not in allowlist.ALLOWED:
        return (
            f"{name!r} calls a function that it is given: `gradcheck explain --function "
            "package.module:name` explains one of yours that calls it, step by step as it ran; "
            "of loops see `gradcheck explain linear_recurrence`"
        )
    if {name, name.removeprefix("tf.")} & {*allowlist.LAYERS}:
        return (
            f"{name!r} is a layer, which holds weights of its own, and layers have no declaration: "
            "write what it computes with --expr, such as 'tf.matmul(x, w) + b'; "
            "`gradcheck run` checks layers"
        )
    if name in allowlist.ALLOWED:
        return (
            f"{name!r} has no declaration, and is explained as it runs: give each input with "
            "--shape NAME=3,4 (a plain --shape NAME= is a number)"
        )
    near = _near(name)
    hint = f"did you mean {near!r}?" if near else "`gradcheck explain` lists them."
    return f"no op {name!r} is declared: {hint}"


def _is_part_of(op: ops.Op, name: str) -> bool:
    whole = {op.tf, *op.aliases} if op.is_part else set()
    whole |= {op.part_of[0]} if op.part_of else set()
    return name in whole or (name.startswith("keras.") and f"tf.{name}" in whole)


def _near(name: str) -> str:
    """A name with a page that may be meant; empty where none is near.

    The last part of a name counts, `relu` of `torch.nn.functional.relu`.
    """
    if name.startswith(("keras.", "tf.keras.")):
        layer = nearest(name.removeprefix("tf."), allowlist.LAYERS, alike=NEARLY)
        if layer:
            return layer
    last, dotted = _last(name), name.startswith("tf.")
    known = sorted(
        (key for key in _answered() if ("." in key) == dotted),
        key=lambda key: key.rpartition(".")[0] != name.rpartition(".")[0],
    )
    ways = (_declared(last, known), "" if dotted else _runs(last), _longer(last, known))
    return next((way for way in ways if way), "") or _misspelt(last, known)


def _declared(last: str, known: list[str]) -> str:
    """A name that ends the same in other letters, or begins or ends with it: `reduce_sum`."""
    parts = [op.name for op in ops.all_ops() if op.is_part and _last(op.tf) == last]
    same = [key for key in known if _last(key) == last]
    same += parts if parts and "." not in known[0] else []
    around = [
        key for key in known if _last(key).startswith(f"{last}_") or _last(key).endswith(f"_{last}")
    ]
    return same[0] if same else min(around, key=_shortest, default="")


def _shortest(name: str) -> tuple[int, bool]:
    return len(_last(name)), "reduce_" not in name


def _runs(last: str) -> str:
    """What has no declaration, and is explained as it runs: functions, then layers."""
    names = [*sorted(allowlist.ALLOWED, key=_priority), *sorted(allowlist.LAYERS)]
    return next((key for key in names if _last(key) == last), "")


def _priority(name: str) -> tuple[bool, bool, str]:
    away = any(part in name for part in (".raw_ops.", ".experimental.", ".layers."))
    return away, "keras." in name, name


def _longer(last: str, known: list[str]) -> str:
    """A name with the same words in it or before it, or the longest that stands in front of it."""
    words, plain = set(last.split("_")), last.replace("_", "")
    whole = [key for key in known if words <= set(_last(key).split("_"))]
    whole = whole or [key for key in known if _last(key).replace("_", "").startswith(plain)]
    within = [key for key in known if len(_last(key)) > 2 and last.startswith(_last(key))]
    longest = max(within, key=lambda key: len(_last(key)), default="")
    return min(whole, key=_shortest) if whole else longest


def _misspelt(last: str, known: list[str]) -> str:
    lasts = {_last(key): key for key in reversed(known)}
    near = nearest(last, lasts, alike=LAST_ALIKE)
    return lasts[near] if near else ""


def _last(name: str) -> str:
    return name.rpartition(".")[2].lower()


def _answered() -> list[str]:
    """Every name that leads to a page."""
    known = [key for op in ops.all_ops() for key in (op.name, op.tf, *op.aliases)]
    return [key for key in known if ops.find(key) is not None]
