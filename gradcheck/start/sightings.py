"""Modules that were looked at: each is imported in a worker, which a crash may take along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.model.findings import Sighting
from gradcheck.run import Pool
from gradcheck.start.look import look_at_module, module_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Result

IMPORT_SECONDS = 60.0
"""Seconds that the import of a module may take."""


def look_at_modules(
    modules: Sequence[str], *, allow: Sequence[str], root: str, jobs: int | None = None
) -> list[Sighting]:
    """Import the modules, each in a worker, and tell what they offer, in their order."""
    seen: dict[str, Sighting] = {}
    with Pool(
        allow=allow, root=root, jobs=jobs, timeout=IMPORT_SECONDS, check=look_at_module
    ) as pool:
        for result in pool.run([module_case(name) for name in modules]):
            told = result if isinstance(result, Sighting) else _failed(result)
            seen[result.id] = told
    return [seen[name] for name in modules]


def _failed(result: Result) -> Sighting:
    """A module that took its worker along."""
    first = result.message.partition("\n")[0]
    return Sighting(result.id, result.verdict, message=f"importing it: {first}")
