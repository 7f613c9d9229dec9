"""The declared operations: one declaration each, a file per family, and how to find one by name.

May import `gradcheck.model` and `gradcheck.errors`. Inside, imports point one way:
language, seen < declaration < rules, domains, sentences < samples, factories < families <
catalogue.
"""

from gradcheck.ops.catalogue import all_ops, find, find_for, find_part, names
from gradcheck.ops.declaration import (
    ANYWHERE,
    Call,
    Derivation,
    Domain,
    Example,
    Formulas,
    Kind,
    Op,
    Parameter,
    Step,
)

__all__ = [
    "ANYWHERE",
    "Call",
    "Derivation",
    "Domain",
    "Example",
    "Formulas",
    "Kind",
    "Op",
    "Parameter",
    "Step",
    "all_ops",
    "find",
    "find_for",
    "find_part",
    "names",
]
