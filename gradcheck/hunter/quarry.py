"""What to hunt: names of functions, modules and packages into single targets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck import ops
from gradcheck.errors import UsageError
from gradcheck.hunter.signatures import RAW
from gradcheck.model.findings import FoundKind
from gradcheck.spec.expression import allowlist
from gradcheck.spec.format.keys import package_allowed
from gradcheck.start.named_target import find_named
from gradcheck.start.sightings import look_at_modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_DRAWS = re.compile(
    r"random|stateless|truncated_?normal|dropout|multinomial|sampl(e|er)s?\b|noise|categorical\b|shuffle|gumbel",
    re.I,
)
"""Functions that draw: the samples of most have no derivative to compare with."""
_ROUNDS = re.compile(r"quant(?!ile)|^tf\.raw_ops\.Xla", re.IGNORECASE)
"""Functions that round on purpose, with the gradient of what they round; and parts of XLA."""
_BACKWARD = re.compile(r"Grad(V\d+)?$|Backprop|GradGrad|GradWith|Grad(Input|Filter|A|V\d)$")
"""Kernels that are gradients themselves: of numbers that do not belong together they need not give
anything in particular. They are looked at where they come up, as second derivatives."""


@dataclass(frozen=True, slots=True)
class Quarry:
    """One target."""

    name: str
    key: str
    """What names it in a spec: `op`, `function` or `layer`."""

    @property
    def is_single(self) -> bool:
        """Whether nothing stands between it and its gradient: a kernel, or code of the user's."""
        return self.name.startswith(RAW) or ":" in self.name


def find_quarry(names: Sequence[str], *, allow: Sequence[str], root: str) -> list[Quarry]:
    """All that the names stand for, each once; UsageError where one stands for nothing."""
    found: dict[str, Quarry] = {}
    for name in names:
        some = list(_named(name, allow, root))
        if not some:
            raise UsageError(f"nothing to hunt in {name!r}")
        found |= {quarry.name: quarry for quarry in some}
    return list(found.values())


def _named(name: str, allow: Sequence[str], root: str) -> Iterator[Quarry]:
    if name == "all":
        yield from _everything()
    elif name == "ops":
        yield from (Quarry(op, "op") for op in ops.names() if not _DRAWS.search(op))
    elif ":" not in name and allowlist.is_module(name):
        below = f"{name}."
        yield from _of_lists(lambda text: text.startswith(below))
    elif ":" not in name and package_allowed(name, allow):
        yield from _of_package(name, allow, root)
    else:
        known = find_named(name, allow=allow, root=root)
        yield Quarry(known.found.target, known.key)


def _everything() -> Iterator[Quarry]:
    """Kernels first: each function that uses one would only find it again."""
    lists = list(_of_lists(lambda text: not text.startswith("tf.keras.")))
    yield from (quarry for quarry in lists if quarry.name.startswith(RAW))
    yield from (Quarry(op, "op") for op in ops.names() if not _DRAWS.search(op))
    rest = [q for q in lists if not q.name.startswith(RAW) and ops.find(q.name) is None]
    yield from (q for q in rest if not q.name.startswith("tf.experimental.numpy."))
    yield from (q for q in rest if q.name.startswith("tf.experimental.numpy."))


def _of_lists(wanted: object) -> Iterator[Quarry]:
    """Functions and layers of TensorFlow's and Keras', each by the shortest of its names."""
    names = [n for n in allowlist.ALLOWED | allowlist.LAYERS if wanted(n)]  # type: ignore[operator]
    for name in _shortest(n for n in names if not _DRAWS.search(n)):
        if _ROUNDS.search(name) or (name.startswith(RAW) and _BACKWARD.search(name)):
            continue
        yield Quarry(name, "layer" if name in allowlist.LAYERS else "op")


def _shortest(names: Iterable[str]) -> list[str]:
    """One name for functions that have several: those of one module's family with one last name."""
    chosen: dict[tuple[str, str], str] = {}
    for name in sorted(names, key=lambda n: (n.count("."), n)):
        family, last = _family(name), name.rpartition(".")[2]
        chosen.setdefault((family, last), name)
    return sorted(chosen.values())


def _family(name: str) -> str:
    for family in ("tf.raw_ops.", "tf.experimental.numpy.", "keras.ops.", "keras.", "tf.keras."):
        if name.startswith(family):
            return family
    # (tf.abs is tf.math.abs, but tf.sparse.add is not tf.add.)
    module = name.split(".")[1] if name.count(".") > 1 else "math"
    return module if module in ("sparse", "ragged", "image", "signal", "compat") else "tf"


def _of_package(name: str, allow: Sequence[str], root: str) -> Iterator[Quarry]:
    """What the modules of an allowed package offer, imported in a worker."""
    from pathlib import Path

    from gradcheck.start.project import Project

    modules = [m.name for m in Project.find(Path(root), name).modules]
    for seen in look_at_modules(modules, allow=allow, root=root):
        for found in seen.found:
            if found.kind is not FoundKind.FUNCTION:
                yield Quarry(found.target, "layer" if found.kind.is_class else "function")
