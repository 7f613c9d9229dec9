"""One thread for each worker: they share the machine, and results must not depend on how many.

Sums that are split among threads differ with the number of them: `numpy.linalg.inv` of a hundred
rows does between one thread and two, and so would a report between machines, or between a worker
of Dask's, which has one, and others. Imports nothing: the fork server begins with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLES = (
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "TF_NUM_INTEROP_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Who says how many threads TensorFlow, numpy and what is below them have."""


def one_each(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process with one thread for everything, but for what the user says."""
    return {**dict.fromkeys(VARIABLES, "1"), **environment}


def more_than_one(environment: Mapping[str, str]) -> dict[str, str]:
    """What the user says that is something else."""
    return {name: environment[name] for name in VARIABLES if environment.get(name, "1") != "1"}
