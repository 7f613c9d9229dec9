"""Many Cases → a stream of Results, in worker processes that may crash, hang or exit."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcheck.run.cluster import Cluster
    from gradcheck.run.environment import describe
    from gradcheck.run.memory import default_limit, parse_size
    from gradcheck.run.pool import Pool, cores, run
    from gradcheck.run.select import compile_selector
    from gradcheck.run.server import dismiss, shut_down, warm_up
    from gradcheck.run.shard import cut, parse_shard
    from gradcheck.run.summary import summarise

__all__ = [
    "Cluster",
    "Pool",
    "compile_selector",
    "cores",
    "cut",
    "default_limit",
    "describe",
    "dismiss",
    "parse_shard",
    "parse_size",
    "run",
    "shut_down",
    "summarise",
    "warm_up",
]

_HOMES = {
    "Cluster": "cluster",
    "Pool": "pool",
    "compile_selector": "select",
    "cores": "pool",
    "cut": "shard",
    "default_limit": "memory",
    "describe": "environment",
    "dismiss": "server",
    "parse_shard": "shard",
    "parse_size": "memory",
    "run": "pool",
    "shut_down": "server",
    "summarise": "summary",
    "warm_up": "server",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `warm_up` comes first in a command, and must not wait for numpy."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
