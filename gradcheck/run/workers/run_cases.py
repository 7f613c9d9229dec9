"""Many Cases → a stream of Results, with workers that are there for this alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.run.case_time import DEFAULT_TIMEOUT
from gradcheck.run.workers import fork_server
from gradcheck.run.workers.pool import Pool
from gradcheck.run.workers.worker import Check, check_with_tensorflow

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, MutableMapping, Sequence

    from gradcheck.model import Case, Result


def run(
    cases: Sequence[Case],
    *,
    allow: Collection[str],
    root: str,
    jobs: int | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    memory_limit: int | None = None,
    maxfail: int | None = None,
    check: Check = check_with_tensorflow,
    preload: Sequence[str] = fork_server.PRELOAD,
    facts: MutableMapping[str, str] | None = None,
) -> Generator[Result, None, None]:
    """Check the cases in worker processes and yield each result as it comes.

    Every case gets exactly one result. After `maxfail` unexpected ones the rest is `skipped`.

    Args:
        cases: What to check, in the order in which it is begun.
        allow: Packages whose functions a case may name.
        root: The folder from which those packages are imported.
        jobs: How many workers at most; by default one per processor.
        timeout: The limit in seconds for a case that gives none itself.
        memory_limit: How many bytes a worker may hold; None for no limit.
        maxfail: After how many unexpected results to stop.
        check: What a worker does with a case; importable by its name.
        preload: Modules that are loaded once for all workers.
        facts: Filled with what TensorFlow says in a worker: the device, and flags.
    """
    with Pool(
        allow=allow,
        root=root,
        jobs=jobs,
        timeout=timeout,
        memory_limit=memory_limit,
        check=check,
        preload=preload,
        facts=facts,
    ) as pool:
        yield from pool.run(cases, maxfail=maxfail)
