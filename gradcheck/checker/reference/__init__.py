"""The numeric side of one check: the point, the plan, the derivatives."""
