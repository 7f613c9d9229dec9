"""Real clusters, as processes of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.run import Cluster, shut_down
from tests.run.dask.clusters import DaskProcesses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIGHT = ("gradcheck.run.workers.worker",)
"""What the processes load that run no real checks."""


@pytest.fixture(scope="package")
def three_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskProcesses]:
    """One machine with three Dask workers of one thread each."""
    pytest.importorskip("distributed")
    with DaskProcesses(tmp_path_factory.mktemp("dask")) as processes:
        processes.add_worker("--nworkers", "3", "--nthreads", "1")
        processes.wait_for_workers(3)
        yield processes
    shut_down()


@pytest.fixture
def cluster(three_workers: DaskProcesses) -> Iterator[Cluster]:
    with Cluster(three_workers.address, preload=LIGHT) as cluster:
        yield cluster


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[DaskProcesses]:
    """A scheduler, to which a test adds what it needs."""
    pytest.importorskip("distributed")
    (tmp_path / "dask").mkdir()
    with DaskProcesses(tmp_path / "dask") as processes:
        yield processes
