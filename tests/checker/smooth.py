"""Functions of numpy with known derivatives, and the numeric side of a check on them alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from gradcheck.checker.coordinates import choose
from gradcheck.checker.layout import Layout
from gradcheck.checker.noise import measure_noise
from gradcheck.checker.numeric import Differentiator
from gradcheck.checker.problem import Operand
from gradcheck.model import Array, Estimate
