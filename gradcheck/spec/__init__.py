"""Text into Cases: located YAML, the format and its schema, safe expressions, expansion.

May import `gradcheck.ops`, `gradcheck.model` and `gradcheck.errors`. Inside, imports point one way:
yaml < expression < format < discover, resolve, setting_keys < settings < load.
"""

from gradcheck.spec.format.json_schema import schema
from gradcheck.spec.load import Loaded, load

__all__ = ["Loaded", "load", "schema"]
