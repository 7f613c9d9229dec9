"""The function under test: which of `op`, `expr`, `function`, `layer`, and may it be reached."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck import ops
from gradcheck.model import Target, TargetKind
from gradcheck.model.problems import or_pass
from gradcheck.spec.expression import allowlist
from gradcheck.spec.expression.control_flow import CONTROL_FLOW
from gradcheck.spec.format import fields
from gradcheck.spec.format.keys import DOTTED, FUNCTION, PLAIN_LETTERS, package_allowed
from gradcheck.spec.yaml.source import Source, shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from gradcheck.ops.declaration import Op
    from gradcheck.spec.expression.parameters import Parameters
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
    def is_layer(self) -> bool:
        """Whether it is a class, of which an object is made."""
        return self.target.kind is TargetKind.LAYER

    @property
    def may_read_variables(self) -> bool:
        """Whether it may have something to differentiate that is no input."""
        return self.target.kind in (TargetKind.LAYER, TargetKind.FUNCTION)

    @property
    def parameters(self) -> Parameters | None:
        """What a call of it takes, where the lists tell; a user's code tells when it runs."""
        name = self.target.text
        if name in allowlist.ALLOWED:
            return allowlist.parameters(name)
        return allowlist.layer_parameters(name).call if name in allowlist.LAYERS else None

    @property
    def label(self) -> str:
        """A short name for ids."""
        if self.is_expression:
            return "expr"
        return re.split(r"[.:]", self.op.name if self.op else self.target.text)[-1]


def read_target(source: Source, key: str, node: Node, allow: Collection[str]) -> Chosen | None:
    """Check what `op`, `expr`, `function` or `layer` names; None where it cannot be reached."""
    text = fields.text(source, node, f"`{key}`")
    if text is None:
        return None
    target = Target(TargetKind(key), text.strip(), source.location(node))
    if key == "op":
        return _read_op(source, node, target)
    if key == "layer" and not layer_allowed(source, node, target.text, allow):
        return None
    if key == "function" and not _function_allowed(source, node, target.text, allow):
        return None
    return Chosen(target, node)


def _read_op(source: Source, node: Node, target: Target) -> Chosen | None:
    name = target.text
    op = ops.find(name)
    if op is not None or name in allowlist.ALLOWED:
        return Chosen(target, node, op)
    source.problem(node, *_no_op(name))
    return None


def _no_op(name: str) -> tuple[str, str]:
    """Why there is no such op, and what would be right."""
    if name.startswith(("tf.", "keras.")):
        message, hint = _not_listed(name)
    else:
        message = f"there is no op {shown(name)}"
        near = allowlist.nearest(name)
        hint = fields.did_you_mean(name, ops.names())
        hint = hint or (f"did you mean `{near}`?" if near else "`gradcheck ops` lists them")
    if "(" in name:
        hint = "an expression goes under `expr:`"
    elif ":" in name:
        hint = "a function of your own goes under `function:`"
    return message, hint


def _not_listed(name: str) -> tuple[str, str]:
    if name in allowlist.LAYERS:
        return f"{shown(name)} is a class", f"write `layer: {name}`"
    if name in allowlist.CALLABLE:
        wanted = CONTROL_FLOW[name if name in CONTROL_FLOW else name.removeprefix("tf.")]
        message = f"{shown(name)} takes functions: {', '.join(wanted.functions)}"
        return message, f"call it in an expression: `expr: {name}(lambda …)`"
    if allowlist.is_module(name):
        return f"{shown(name)} is a module: name one of its functions", ""
    message = f"{shown(name)} is not on the list of pure functions of TensorFlow and Keras"
    reason = allowlist.why_refused(name)
    if reason:
        return f"{message}: {reason}", ""
    near = allowlist.nearest(name)
    return message, f"did you mean `{near}`?" if near else "`gradcheck ops` lists the declared ones"


def layer_allowed(source: Source, node: Node, text: str, allow: Collection[str]) -> bool:
    """Whether an object of this class may be made; notes why not."""
    if ":" in text:
        return _package_allowed(source, node, text, "layer", allow)
    if text in allowlist.LAYERS:
        return True
    near, reason = allowlist.nearest_layer(text), allowlist.why_refused(text)
    hint = f"did you mean `{near}`?" if near else "a layer of your own is mypkg.layers:Attention"
    if reason:
        message, hint = f"{shown(text)} cannot be a `layer`: {reason}", ""
    elif text in allowlist.CALLABLE:
        message, hint = f"{shown(text)} is a function", f"write `op: {text}`"
    else:
        message = f"{shown(text)} is not on the list of Keras' layers, losses and models"
    source.problem(node, message, hint)
    return False


def _function_allowed(source: Source, node: Node, text: str, allow: Collection[str]) -> bool:
    name = text.replace(":", ".")
    if name in allowlist.LAYERS:
        message = f"{shown(text)} is a class: its objects are the functions"
        source.problem(node, message, f"write `layer: {name}`, and what it takes under `init:`")
        return False
    return _package_allowed(source, node, text, "function", allow)


def _package_allowed(
    source: Source, node: Node, text: str, key: str, allow: Collection[str]
) -> bool:
    private = next((p for p in re.split(r"[.:]", text) if p.startswith("_")), "")
    if private and re.fullmatch(rf"{DOTTED}:{DOTTED}", text):
        message = f"{shown(private)} in {shown(text)} is private: a spec cannot name it"
        source.problem(node, message, "name what the package offers by a public name")
        return False
    if not re.fullmatch(FUNCTION, text):
        message = f"`{key}` must be written package.module:name, not {shown(text)}"
        source.problem(node, message, _as_written(text))
        return False
    module = text.partition(":")[0]
    if package_allowed(module, allow):
        return True
    package = module.partition(".")[0]
    source.problem(
        node,
        f"the package `{package}` is not allowed: a `{key}` runs code",
        f"add it to `allow` in [tool.gradcheck] of pyproject.toml{or_pass(f'--allow {package}')}",
    )
    return False


def _as_written(text: str) -> str:
    """How such a name is written, where that can be told."""
    module, dot, name = text.rpartition(".")
    if dot and re.fullmatch(FUNCTION, f"{module}:{name}"):
        return f"did you mean `{module}:{name}`?"
    return "" if text.isascii() else PLAIN_LETTERS
