"""What TensorFlow itself says of an op: that it has no gradient, or that any order may be taken.

Read in a worker: an op's description, and those of the public functions that call it.
"""

from __future__ import annotations

import functools
import inspect
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.look_up import look_up
from gradcheck.checker.subject.private_names import Absent, Private, private
from gradcheck.hunter.drafts import Draft, array_of, target_of, tensors
from gradcheck.hunter.signatures import RAW
from gradcheck.spec.expression import allowlist

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_GRADIENT = re.compile(
    r"gradient[^.]{0,40} not (defined|supported|implemented)"
    r"|not (support|provide)[^.]{0,20}(backprop|gradient)|not differentiable",
    re.IGNORECASE,
)
_ONLY_SOMEWHERE = re.compile(
    r"gradient[^.]{0,80}[ -](defined only|only defined|undefined|not (?:well.)?defined)[^.]{0,12}"
    r" (when|where|if|for|at)\b[^.]*",
    re.IGNORECASE,
)
_ANY_ORDER = re.compile(
    r"non-?deterministic"
    r"|(?:duplicate|repeat|appears in both|more than once)[^.]*(?:undefined|invalid|unspecified)",
    re.IGNORECASE,
)
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_RANGE = re.compile(
    r"(?:well.defined|expected|must|should|assumed)[^.]{0,60} in (?:the range )?"
    rf"`?\[{_NUMBER}, ?{_NUMBER}\]"
)
_SHAPE = re.compile(r"shape `?\[([^\]`]*)\]|(?<![\w.-])(\d)-D\b|\((\w+(?:, \w+)+)\)-tensor")
_OR_ANOTHER = re.compile(
    r"at least|at most|up to|or (?:lower|less|fewer)|typically|any ", re.IGNORECASE
)
_ONE_SHAPE = re.compile(
    r"not (?:currently )?support broadcast"
    r"|shape[^.]{0,30} (?:must|has to|needs to|should) (?:be )?(?:exactly|match|equal|the same)"
    r"|(?:must|should) have (?:exactly )?the same shape",
    re.IGNORECASE,
)
_CALLS = re.compile(r"\bgen_\w+\.(\w+)\(")
_VERSION = re.compile(r"V\d+$")


def without_gradient(op: str) -> str:
    """Where it is said that the op has no gradient on purpose; empty where nothing says so.

    Without it `test_what_is_documented_is_no_finding` fails.
    """
    if _is_silent(_VERSION.sub("", op)):
        return f"{_VERSION.sub('', op)}, of which it is a version, is not differentiable"
    for name, text in descriptions(RAW + op):
        if found := _NO_GRADIENT.search(" ".join(text.split())):
            return f"the description of {name} says so: {found[0]}"
    return ""


def only_somewhere(draft: Draft) -> str:
    """Where it is said that the gradient is there only for some numbers; empty where it is not.

    Without it `test_a_gradient_that_is_promised_only_somewhere` fails.
    """
    for name, text in descriptions(target_of(draft)):
        if found := _ONLY_SOMEWHERE.search(" ".join(text.split())):
            return f"the description of {name} says: {found[0]}"
    return ""


def takes_any_order(draft: Draft) -> bool:
    """Whether the call repeats an index of an op that promises nothing then."""
    said = descriptions(target_of(draft))
    if not any(_ANY_ORDER.search(" ".join(text.split())) for _, text in said):
        return False
    whole: dict[Any, list[Any]] = {}
    for path, entry in tensors(draft):
        array = array_of(entry)
        # (A place alone is one, too, where several are given.)
        if array is not None and array.dtype.kind in "iu" and (array.ndim or len(path) > 1):
            whole.setdefault(path[0], []).append(array)
    # (Several lists of indices may repeat those of one another.)
    flat = (a[0] if len(a) == 1 else np.concatenate([*map(np.ravel, a)]) for a in whole.values())
    return any(map(_repeats, flat))


def out_of_range(draft: Draft, values: Any) -> str:
    """Where it is said of an op in which range its numbers are to be, and these are not.

    Without it `test_numbers_out_of_the_range_that_is_documented` fails.
    """
    if not values.size or values.dtype.kind not in "fc":
        return ""
    for name, text in descriptions(target_of(draft)):
        found = _RANGE.search(" ".join(text.split()))
        if found and not float(found[1]) <= values.real.min() <= values.real.max() <= float(
            found[2]
        ):
            return f"the description of {name} says: {found[0]}"
    return ""


def of_a_lower_rank(draft: Draft) -> str:
    """Which input has fewer axes than its function describes; empty where none has.

    Some kernels die of them. (More are often taken on purpose, as a batch, and fewer by public
    functions that describe the same kernel.) Without it `test_fewer_axes_than_are_described` fails.
    """
    for path, (axes, told) in _too_few_axes(draft).items():
        return f"{path[0]} has {axes} axes, and is described as {told[0][0]}"
    return ""


def axes_described(draft: Draft) -> dict[tuple[Any, ...], int]:
    """How many axes those inputs are described with that have fewer.

    None, where a public function of the kernel's name takes any number of them.
    """
    own = snake(target_of(draft).removeprefix(RAW))
    for name in allowlist.ALLOWED:
        if name.rpartition(".")[2] == own and name.startswith("tf."):
            told = next(iter(_described_inputs(name).values()), "")
            if told and not _SHAPE.search(told):
                return {}
    return {path: min(map(_axes, told)) for path, (_, told) in _too_few_axes(draft).items()}


def _too_few_axes(draft: Draft) -> dict[tuple[Any, ...], tuple[int, list[re.Match[str]]]]:
    described = _described_inputs(target_of(draft))
    found = {}
    for path, entry in tensors(draft):
        array, text = array_of(entry), described.get(str(path[0]), "")
        if array is None or len(path) > 1 or _OR_ANOTHER.search(text):
            continue
        told = list(_SHAPE.finditer(text))
        if told and array.ndim < min(map(_axes, told)):
            found[path] = (array.ndim, told)
    return found


def demands_a_shape(draft: Draft) -> bool:
    """Whether it is said that a shape has to be a certain one, or that nothing is broadcast."""
    texts = (text for _, text in descriptions(target_of(draft)))
    return any(_ONE_SHAPE.search(" ".join(text.split())) for text in texts)


def _axes(told: re.Match[str]) -> int:
    """How many axes this says at least."""
    if told[2]:
        return int(told[2])
    lengths = [each.strip() for each in (told[1] or told[3] or "").split(",")]
    return sum(1 for each in lengths if each and not set(each) & set(".:*"))


def _described_inputs(target: str) -> dict[str, str]:
    """What a function's description says of each of its arguments."""
    with suppress(Ended):
        text = inspect.getdoc(look_up(target)) or ""
        arguments = text.partition("Args:")[2].partition("Returns:")[0]
        found = re.split(r"^ {2}(\w+): ", arguments, flags=re.MULTILINE)
        return {
            name: " ".join(told.split())
            for name, told in zip(found[1::2], found[2::2], strict=True)
        }
    return {}


def _repeats(indices: Any) -> bool:
    rows = indices.reshape(-1, indices.shape[-1]) if indices.ndim > 1 else indices[:, np.newaxis]
    return len(np.unique(rows, axis=0)) < len(rows)


def _is_silent(op: str) -> bool:
    try:
        return private(Private.REGISTRY).lookup(op) is None
    except (Absent, LookupError):
        return False


def descriptions(target: str) -> Iterator[tuple[str, str]]:
    """What is said of a function, and of a kernel by those that call it."""
    with suppress(Ended):
        yield target, inspect.getdoc(look_up(target)) or ""
    if target.startswith(RAW):
        yield from _of_callers().get(snake(target.removeprefix(RAW)), [])


def snake(op: str) -> str:
    """The name of the function that makes the op, in TensorFlow's generated modules."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", op)
    return parted.lower()


@functools.cache
def _of_callers() -> dict[str, list[tuple[str, str]]]:
    """By op: the public functions whose source calls it, with their descriptions."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, function in _public_functions():
        try:
            called = set(_CALLS.findall(inspect.getsource(inspect.unwrap(function))))
        except (OSError, TypeError):
            continue
        for each in called:
            found.setdefault(each, []).append((name, inspect.getdoc(function) or ""))
    return found


def _public_functions() -> Iterator[tuple[str, Any]]:
    modules = {name.rpartition(".")[0] for name in allowlist.ALLOWED if name.startswith("tf.")}
    for module in sorted(modules - {RAW.rstrip(".")}):
        with suppress(Ended):
            held = vars(look_up(module)).items() if inspect.ismodule(look_up(module)) else ()
            yield from ((f"{module}.{name}", f) for name, f in held if inspect.isfunction(f))
