"""Powers that are the same on every processor: NumPy's own `**` rounds its last bit as the processor's loops do."""

from __future__ import annotations

from typing import Any

import numpy as np


def powers_of_ten(exponents: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the double nearest to 10 to the power of each exponent."""
    exponents = np.asarray(exponents)
    return np.array([float(f"1e{exponent}") for exponent in exponents.ravel().tolist()]).reshape(exponents.shape)


def powers_of_two(exponents: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return 2 to the power of each exponent, exact."""
    return np.ldexp(1.0, exponents)
