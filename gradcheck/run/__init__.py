"""Many Cases → a stream of Results, in worker processes that may crash, hang or exit.

The modules of this package say which cases run and on what, and count what came of them: select,
shard, summary, environment; when a command may be interrupted: interruptions; how many threads
a worker has: threads; and how long a case may take: case_time. They import
nothing but `gradcheck.model` and `gradcheck.errors`. `workers/` may import them, and
`gradcheck.checker` where a case runs; `dask/` may import both.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcheck.run.dask.cluster import Cluster
    from gradcheck.run.environment import cores, describe
    from gradcheck.run.select import compile_selector
    from gradcheck.run.shard import cut, parse_shard
    from gradcheck.run.summary import Count, summarise
    from gradcheck.run.workers.fork_server import dismiss, in_a_command, shut_down, warm_up
    from gradcheck.run.workers.memory import default_limit, parse_size
    from gradcheck.run.workers.pool import Pool
    from gradcheck.run.workers.run_cases import run
    from gradcheck.run.workers.worker import check_with_tensorflow

__all__ = [
    "Cluster",
    "Count",
    "Pool",
    "check_with_tensorflow",
    "compile_selector",
    "cores",
    "cut",
    "default_limit",
    "describe",
    "dismiss",
    "in_a_command",
    "parse_shard",
    "parse_size",
    "run",
    "shut_down",
    "summarise",
    "warm_up",
]

_HOMES = {
    "Cluster": "dask.cluster",
    "Count": "summary",
    "Pool": "workers.pool",
    "check_with_tensorflow": "workers.worker",
    "compile_selector": "select",
    "cores": "environment",
    "cut": "shard",
    "default_limit": "workers.memory",
    "describe": "environment",
    "dismiss": "workers.fork_server",
    "in_a_command": "workers.fork_server",
    "parse_shard": "shard",
    "parse_size": "workers.memory",
    "run": "workers.run_cases",
    "shut_down": "workers.fork_server",
    "summarise": "summary",
    "warm_up": "workers.fork_server",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `warm_up` comes first in a command, and must not wait for numpy."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
