"""The types of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Flags", "Floats", "Indices", "Ints", "Longs"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Indices = NDArray[np.intp]
