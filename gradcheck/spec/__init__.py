"""Text into Cases: located YAML, the format and its schema, safe expressions, expansion."""

from gradcheck.spec.format.json_schema import schema
from gradcheck.spec.load import Loaded, load

__all__ = ["Loaded", "load", "schema"]
