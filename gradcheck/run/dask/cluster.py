"""`--dask ADDRESS`: the same cases on the machines of a Dask cluster, with the same results.

Dask gives the cases of a worker that is lost to another one. Every case has one future, and its
first result counts: none is lost, and none comes twice.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import uuid
from typing import TYPE_CHECKING, Any, Self

from gradcheck.errors import GradcheckError, UsageError
from gradcheck.model import Case, Result, Stage, Verdict
from gradcheck.run.dask.remote import RemoteJob, check_remotely, end_run, prepare
from gradcheck.run.environment import describe
from gradcheck.run.workers import fork_server
from gradcheck.run.workers.worker import Check, check_with_tensorflow

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping, MutableMapping, Sequence

SCHEDULER_SECONDS = 5.0
"""Seconds for the scheduler to answer; it may have been started just before."""

WORKER_SECONDS = 20.0
"""Seconds to wait for the first worker of the cluster: it may be on a machine that is starting."""

TASK_RETRIES = 3
"""How often Dask runs a task again whose worker raised or was lost on the way: Dask's own number of
workers that a task may lose before it is given up."""


class ClusterLostError(GradcheckError):
    """The cluster went away in the middle of a run."""


class Cluster:
    """A connection to a Dask scheduler."""

    def __init__(self, address: str, preload: Sequence[str] = fork_server.PRELOAD) -> None:
        try:
            import distributed
        except ImportError as error:
            raise UsageError("--dask needs Dask: pip install 'gradcheck[dask]'") from error
        self._preload = tuple(preload)
        try:
            self._client: Any = distributed.Client(address, timeout=SCHEDULER_SECONDS)
        except Exception as error:  # whatever else answers there may send anything
            reason = str(error) or type(error).__name__
            raise UsageError(f"no Dask scheduler answers at {address}: {reason}") from error
        try:
            self._client.wait_for_workers(1, timeout=WORKER_SECONDS)
            self._client.run(prepare, self._preload)
        except TimeoutError as error:
            self._client.close()
            raise UsageError(
                f"the Dask cluster at {address} has no workers: start some with "
                f"`dask worker {address}`"
            ) from error
        except BaseException:
            self._leave()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def _leave(self) -> None:
        """Leave the cluster as it was."""
        with contextlib.suppress(Exception):
            self._client.run(end_run, on_error="ignore")
        self._client.close()

    def describe(self) -> dict[str, str]:
        """On what the workers run; where they differ, all values side by side."""
        told: Mapping[str, Mapping[str, str]] = self._client.run(describe)
        machines = [told[name] for name in sorted(told)]
        keys = dict.fromkeys(key for machine in machines for key in machine)
        return {
            key: " | ".join(sorted({machine.get(key, "unset") for machine in machines}))
            for key in keys
        }

    def run(
        self,
        cases: Sequence[Case],
        *,
        allow: Collection[str],
        root: str,
        timeout: float = 60.0,
        memory_limit: int | None = None,
        fair_share: bool = False,
        maxfail: int | None = None,
        check: Check = check_with_tensorflow,
        facts: MutableMapping[str, str] | None = None,
    ) -> Generator[Result, None, None]:
        """Check the cases on the cluster, as `gradcheck.run.run` does on this machine.

        `fair_share` limits the memory of each process to its share of the machine it is on.
        """
        job = RemoteJob(
            token=uuid.uuid4().hex,
            allow=tuple(allow),
            root=root,
            timeout=timeout,
            memory_limit=memory_limit,
            fair_share=fair_share,
            check=check,
            preload=self._preload,
        )
        executor = self._client.get_executor(pure=False, retries=TASK_RETRIES)
        waiting = {executor.submit(check_remotely, job, case): case for case in cases}
        failures = 0
        try:
            for future in concurrent.futures.as_completed(tuple(waiting)):
                result, told = self._outcome(future, waiting[future])
                case = waiting.pop(future)
                if facts is not None:
                    facts.update(told)
                result = dataclasses.replace(result, case=case)
                yield result
                failures += not result.expected
                if maxfail is not None and failures >= maxfail:
                    break
        finally:
            # What still runs cannot be taken back from a thread: it is told to stop.
            with contextlib.suppress(Exception):
                executor.shutdown(wait=False)
            with contextlib.suppress(Exception):
                self._client.run(end_run, job.token, on_error="ignore")
        for case in waiting.values():
            text = f"not run: stopped after {failures} failure{'s' if failures > 1 else ''}"
            yield Result(case.id, Verdict.SKIPPED, message=text, case=case)

    def _outcome(
        self, future: concurrent.futures.Future[Any], case: Case
    ) -> tuple[Result, Mapping[str, str]]:
        from distributed import KilledWorker

        try:
            result, told = future.result()
        except KilledWorker as error:
            message = f"every Dask worker that had the case was lost: {error}"
            stage = Stage.WORKER
            return Result(case.id, Verdict.CRASHED, message=message, decided_by=stage), {}
        except concurrent.futures.CancelledError as error:
            raise ClusterLostError(
                "the connection to the Dask cluster was lost; --resume runs what is missing"
            ) from error
        except Exception as error:
            message = f"the Dask worker could not run the case: {type(error).__name__}: {error}"
            return Result(case.id, Verdict.ERROR, message=message), {}
        if result is None:
            return Result(case.id, Verdict.ERROR, message="the Dask worker gave the case up"), told
        return result, told
