"""A blob that is to be written: the buffer of an array, and how it is stored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dtypes import Array
from .compression import Rule


@dataclass(frozen=True, slots=True)
class NewBlob:
    """One array of numbers, and the name that it is read by.

    Attributes:
        key: what the schema reads, without the prefix.
        array: C-contiguous and little-endian.
        rule: compresses it; None leaves it as it is.
    """

    key: str
    array: Array
    rule: Rule | None

    def content(self) -> memoryview | bytes:
        """Return its bytes, as they are stored."""
        plain = self.array.reshape(-1).view(np.uint8).data if self.array.size else memoryview(b"")
        return plain if self.rule is None else self.rule.compress_buffer(plain)
