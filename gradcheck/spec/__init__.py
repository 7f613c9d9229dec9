"""Text into Cases: located YAML, the format and its schema, safe expressions, expansion.

May import `gradcheck.ops`, `gradcheck.model` and `gradcheck.errors`. Inside, imports point one way:
yaml < expression < format < discover, resolve, setting_keys < settings < load_specs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcheck.spec.format.json_schema import schema
    from gradcheck.spec.load_specs import Loaded, load

__all__ = ["Loaded", "load", "schema"]


def __getattr__(name: str) -> Any:
    """Import on first use: who reads formulas alone (`explain`) needs nothing of YAML."""
    if name not in __all__:
        raise AttributeError(f"module 'gradcheck.spec' has no attribute {name!r}")
    from importlib import import_module

    home = "format.json_schema" if name == "schema" else "load_specs"
    value = getattr(import_module(f"gradcheck.spec.{home}"), name)
    globals()[name] = value
    return value
