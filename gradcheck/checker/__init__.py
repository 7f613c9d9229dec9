"""One Case → one Result.

The rooms, in the order in which they may import each other:

`numerics` < `subject` < `reference` < `judge` < `precision` < `diagnose` < `verdict` (how a verdict
arises, top to bottom) < `check` < `case`, `api` < `power`.
"""

from gradcheck.checker.case import check_case

__all__ = ["check_case"]
