"""Text into Cases: located YAML, the format and its schema, safe expressions, expansion."""

from gradcheck.spec.load import Loaded, load
from gradcheck.spec.schema import schema

__all__ = ["Loaded", "load", "schema"]
