"""The shapes of a call: a letter and a size for each axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import Select, Tensor, walk
from gradcheck.explainer.calculus.indices import LETTERS, Lookup
from gradcheck.explainer.derive.gradient_steps import forward_element
from gradcheck.explainer.document import Equation
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.typeset.lettering import Lettering, lettered
from gradcheck.ops.rules import broadcast_call, several_axes

if TYPE_CHECKING:
    from gradcheck.explainer.calculus.indices import Index
    from gradcheck.explainer.derive.op_subject import Subject
    from gradcheck.explainer.document import Block, Math
    from gradcheck.explainer.style import Style
    from gradcheck.model import Shape

__all__ = ["shapes"]

BATCH_LETTERS = "bBβγ"
"""Letters for the axes before those that an op names."""


def shapes(subject: Subject) -> tuple[Block, ...]:
    """Each array with a letter and a size per axis."""
    letters = _axis_letters(subject)
    outputs = subject.shape if subject.op.outputs else [subject.shape]
    lines = [
        _line(subject, name, shape, letters.get(name))
        for name, shape in subject.call.shapes.items()
    ]
    for i, shape in enumerate(outputs):
        key = f"out[{i}]" if subject.op.outputs else "out"
        lines.append(_line(subject, key, shape, letters.get(key)))
    return (*lines, *_arguments(subject))


def _arguments(subject: Subject) -> list[Equation]:
    """The arguments that this call has and another may not: sentences name them."""
    op, found = subject.op, []
    for name, value in subject.call.args.items():
        asked = name in op.required or (name in op.args and value != op.args[name])
        if asked and isinstance(value, bool | int | float | str | list | tuple):
            found.append(Equation(_said(f"{name} = {value!r}"), "an argument"))
    return found


def _said(text: str) -> Math:
    return lambda style: style.words(text)


def _axis_letters(subject: Subject) -> dict[str, list[str]]:
    """By array: a letter per axis, as the forward in index notation or the declaration has it."""
    ranks = {name: len(shape) for name, shape in subject.call.shapes.items()}
    if subject.op.outputs:
        ranks |= {f"out[{i}]": len(shape) for i, shape in enumerate(subject.shape)}
    else:
        ranks["out"] = len(subject.shape)
    axes = subject.op.axis_letters(subject.call)
    declared = {name: _declared(axes[name], ranks[name]) for name in axes}
    return {**_found(subject), **declared}


def _declared(letters: str, rank: int) -> list[str]:
    """The letters of the declaration, one more for each axis before them."""
    before = rank - len(letters)
    if before >= 0:
        return [*BATCH_LETTERS[:before], *letters]
    return list(letters[-rank:]) if rank else []


def _found(subject: Subject) -> dict[str, list[str]]:
    found = forward_element(subject)
    if found is None:
        return _in_order(subject)
    avoided = frozenset(subject.symbols.values()) | {"G", subject.loss}
    letters = lettered((), Lettering(avoided).of(found.indices), avoided)
    letters.walk(found.node, letters.known)
    names = letters.known
    result: dict[str, list[str]] = {}

    def note(name: str, indices: tuple[Index, ...]) -> None:
        shown = [names[i] if isinstance(i, str) and i in names else "1" for i in indices]
        if name in subject.call.shapes or name == "out":
            result.setdefault(name, shown)

    for part in walk(found.node):
        if isinstance(part, Tensor):
            note(part.name, part.indices)
        if isinstance(part, Select):
            for atom, _ in part.form.terms:
                if isinstance(atom, Lookup):
                    note(atom.name, atom.indices)
    note("out", found.indices)
    return result


def _in_order(subject: Subject) -> dict[str, list[str]]:
    """Letters in the order of the axes, where an op works along one of them or several."""
    if subject.op.shape is broadcast_call:
        return _beside(subject)
    first = next(iter(subject.call.shapes))
    shape, axis = subject.call.shapes[first], subject.call.args.get("axis", ())
    symbols = {*subject.symbols.values()}
    letters = [a for a in LETTERS if a not in symbols][: len(shape)]
    gone = several_axes(axis, len(shape))
    rest = [letter for i, letter in enumerate(letters) if i not in gone]
    result = {first: letters}
    outputs = subject.shape if subject.op.outputs else [subject.shape]
    for i, out in enumerate(outputs):
        shown = rest if len(out) == len(rest) else letters
        sizes = dict(zip(letters, shape, strict=True))
        same = [a if sizes[a] == n else "1" for a, n in zip(shown, out, strict=False)]
        result[f"out[{i}]" if subject.op.outputs else "out"] = same
    return result


def _beside(subject: Subject) -> dict[str, list[str]]:
    """What broadcasts has the letters of the last axes of the output, where it is as large."""
    symbols, whole = {*subject.symbols.values()}, subject.shape
    letters = [a for a in LETTERS if a not in symbols][: len(whole)]
    result = {"out": letters}
    for name, shape in subject.call.shapes.items():
        last = len(whole) - len(shape)
        pairs = zip(letters[last:], whole[last:], shape, strict=True)
        result[name] = [a if size == own else "1" for a, size, own in pairs]
    return result


def _line(subject: Subject, name: str, shape: Shape, letters: list[str] | None) -> Equation:
    def math_(style: Style) -> str:
        shown = subject.symbols.get(name, name) if "[" in name else None
        base = style.symbol(shown) if shown else subject.setting(style).symbol(name)
        named = letters if letters and len(letters) == len(shape) else ["1"] * len(shape)
        sizes = [
            f"{style.words(letter)}={size}" if letter != "1" else str(size)
            for letter, size in zip(named, shape, strict=True)
        ]
        inner = ", ".join(sizes)
        return f"{base}: [{inner}]" if shape else f"{base}: {style.words('a number')}"

    own = subject.symbols.get(name)
    note = f"the argument {name}" if name in subject.call.shapes and own != name else ""
    if name.startswith("out"):
        upstream = UNICODE.symbol(subject.symbols.get(name.replace("out", "G"), "G"))
        note = f"the output; its upstream gradient {upstream} is as large"
    return Equation(math_, note)
