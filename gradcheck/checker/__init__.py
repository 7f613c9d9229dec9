"""One Case → one Result: sample, analytic, numeric, compare, diagnose."""

from gradcheck.checker.api import assert_gradients, check
from gradcheck.checker.case import check_case

__all__ = ["assert_gradients", "check", "check_case"]
