"""The Dask workers that are there: who they are, and whether their results would count."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from gradcheck.model.versions import installed_version
from gradcheck.run.dask.messages import Introduction
from gradcheck.run.dask.packages import difference, fingerprints
from gradcheck.run.dask.remote import introduce
from gradcheck.run.environment import decisive, describe

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

ANSWER_SECONDS = 60.0
"""Seconds for workers to answer something that takes them a moment: a busy machine, or one on
which modules are loaded from a slow drive, may take many."""


class Roster:
    """Workers that have introduced themselves."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.workers: dict[str, Introduction] = {}
        """By their address."""

    async def meet(self, addresses: Collection[str] | None = None) -> list[str]:
        """Let workers introduce themselves; why those that cannot be used cannot, a sentence each.

        Without addresses all that there are. Those that come later must be like those before: the
        report says on what it was made when it begins.
        """
        answers = await self._ask(introduce, addresses)
        first = not self.workers
        known = [decisive(worker.environment) for worker in self.workers.values()]
        refused = []
        for address, answer in answers.items():
            why = _objection(answer)
            if not why and not first and decisive(answer.environment) not in known:
                why = f"has {_unlike(answer.environment, known[0])}"
            if why:
                refused.append(f"the Dask worker {address} {why}")
            else:
                self.workers[address] = answer
        return refused

    async def compare(
        self, packages: Collection[str], root: str, addresses: Collection[str], here: dict[str, str]
    ) -> dict[str, str]:
        """In what the user's packages differ from those here, by the address of the worker.

        A package that is not here at all must be the same as with the first: that goes to `here`.
        """
        answers = await self._ask(fingerprints, addresses, packages, root)
        found: dict[str, str] = {}
        for address, there in answers.items():
            if isinstance(there, BaseException):
                found[address] = f"cannot be asked for its packages: {there}"
                continue
            absent = [p for p in packages if not any(_belongs(name, p) for name in here)]
            here |= {n: t for n, t in there.items() if any(_belongs(n, p) for p in absent)}
            if unlike := difference(here, there):
                found[address] = (
                    f"has other files than here: {unlike}. Bring the same there: they are looked "
                    f"for in {root}, and then among the installed packages"
                )
        return found

    def environment(self) -> dict[str, str]:
        """On what the workers run; where they differ, all values side by side."""
        all_ = [self.workers[address].environment for address in sorted(self.workers)]
        keys = dict.fromkeys(key for one in all_ for key in one)
        return {key: " | ".join(sorted({one.get(key, "unset") for one in all_})) for key in keys}

    async def _ask(
        self, what: Any, addresses: Collection[str] | None, *details: Any
    ) -> Mapping[str, Any]:
        workers = None if addresses is None else list(addresses)
        asked = self._client.run(what, *details, workers=workers, on_error="return")
        answers: Mapping[str, Any] = await asyncio.wait_for(asked, ANSWER_SECONDS)
        return answers


def _belongs(file: str, package: str) -> bool:
    """Whether a file's name is that of a module, or of a file below a package."""
    return file.partition("/")[0].partition(".")[0] == package


def _objection(answer: Any) -> str:
    """Why a worker cannot be used; empty where it can."""
    if not isinstance(answer, Introduction):
        reason = f"{type(answer).__name__}: {answer}" if isinstance(answer, Exception) else answer
        return f"cannot run gradcheck: {reason}; `pip install 'gradcheck[dask]'` there"
    here = {"gradcheck": describe()["gradcheck"], "Dask": installed_version("distributed") or ""}
    there = {"gradcheck": answer.environment.get("gradcheck"), "Dask": answer.dask}
    unlike = [name for name in here if here[name] != there[name]]
    return " and ".join(f"has {n} {there[n]}, and here it is {here[n]}" for n in unlike)


def _unlike(new: Mapping[str, str], old: Mapping[str, str]) -> str:
    new = decisive(new)
    names = (name for name in sorted({*new, *old}) if new.get(name) != old.get(name))
    name = next(names, "another environment")
    return f"{name} {new.get(name, 'unset')}, where others have {old.get(name, 'unset')}"
