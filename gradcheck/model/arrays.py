"""The shorthand of all other rooms: arrays, shapes, numbers."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]
Shape = tuple[int, ...]
Scalar = float | complex
