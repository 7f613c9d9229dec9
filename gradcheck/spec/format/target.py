"""The function under test: which of `op`, `expr` and `function`, and whether it may be reached."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck import ops
from gradcheck.model import Target, TargetKind
from gradcheck.spec.expression import allowlist
from gradcheck.spec.format import fields
from gradcheck.spec.format.keys import FUNCTION
from gradcheck.spec.yaml.source import Source, shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from gradcheck.ops.declaration import Op
    from gradcheck.spec.yaml.nodes import Node


@dataclass(frozen=True, slots=True)
class Chosen:
    """A target that may be reached, with our declaration of it where there is one."""

    target: Target
    node: Node
    op: Op | None = None

    @property
    def is_expression(self) -> bool:
        """Whether it is the text of an `expr`."""
        return self.target.kind is TargetKind.EXPR

    @property
    def label(self) -> str:
        """A short name for ids."""
        if self.is_expression:
            return "expr"
        return re.split(r"[.:]", self.op.name if self.op else self.target.text)[-1]


def read_target(source: Source, key: str, node: Node, allow: Collection[str]) -> Chosen | None:
    """Check what `op`, `expr` or `function` names; None where it cannot be reached."""
    text = fields.text(source, node, f"`{key}`")
    if text is None:
        return None
    target = Target(TargetKind(key), text.strip(), source.location(node))
    if key == "op":
        return _read_op(source, node, target)
    if key == "function" and not _function_allowed(source, node, target.text, allow):
        return None
    return Chosen(target, node)


def _read_op(source: Source, node: Node, target: Target) -> Chosen | None:
    name = target.text
    op = ops.find(name)
    if op is not None or name in allowlist.ALLOWED:
        return Chosen(target, node, op)
    if name.startswith("tf."):
        near = allowlist.nearest(name)
        message = f"{shown(name)} is not on the list of pure TensorFlow functions"
        hint = f"did you mean `{near}`?" if near else "`gradcheck ops` lists the declared ones"
        if allowlist.is_module(name):
            message, hint = f"{shown(name)} is a module: name one of its functions", ""
    else:
        message = f"there is no op {shown(name)}"
        hint = fields.did_you_mean(name, ops.names())
        if not hint:
            near = allowlist.nearest(name)
            hint = f"did you mean `{near}`?" if near else "`gradcheck ops` lists them"
    if "(" in name:
        hint = "an expression goes under `expr:`"
    elif ":" in name:
        hint = "a function of your own goes under `function:`"
    source.problem(node, message, hint)
    return None


def _function_allowed(source: Source, node: Node, text: str, allow: Collection[str]) -> bool:
    if not re.fullmatch(FUNCTION, text):
        message = f"`function` must be written package.module:name, not {shown(text)}"
        source.problem(node, message)
        return False
    module = text.partition(":")[0]
    if any(module == entry or module.startswith(entry + ".") for entry in allow):
        return True
    package = module.partition(".")[0]
    source.problem(
        node,
        f"the package `{package}` is not allowed: a `function` runs code",
        f"pass `--allow {package}`, or add it to `allow` in [tool.gradcheck] of pyproject.toml",
    )
    return False
