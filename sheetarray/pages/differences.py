"""The difference of two arrays on a server, computed for each box that a page asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dtypes import Array
from .blobs import list_texts
from .measures import find_missing, is_numeric, to_numbers
from .served import Box, ServedArray


@dataclass(frozen=True, slots=True)
class ServedDifference:
    """The differences of two arrays of one shape, element by element: the second minus the first.

    Attributes:
        first: an array.
        second: another one.

    Example:
        >>> one, two = (ServedArray.from_array(np.array(values)) for values in ([1.5, np.nan], [2.0, np.nan]))
        >>> ServedDifference(one, two).take((slice(0, 2, 1),))
        array([0.5, 0. ])
    """

    first: ServedArray
    second: ServedArray
    info: None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of both."""
        return self.first.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of differences."""
        return np.dtype(np.float64)

    def take(self, box: Box) -> Array:
        """Return the differences in a box.

        Raises:
            FormatError: a file has changed, or cannot be read.
            LimitError: the box reaches out of the arrays, or is too large.
        """
        return subtract_elements(self.first.take(box), self.second.take(box))


def subtract_elements(first: Array, second: Array) -> Array:
    """Return `second - first` as doubles: 0 where both elements are the same, NaN where one of them is missing.

    Integers are subtracted exactly. For complex numbers it is their distance; for elements that are no numbers it is 1
    where they differ.
    """
    if not (is_numeric(first.dtype) and is_numeric(second.dtype)):
        texts = [np.array(_texts(elements), np.object_).reshape(first.shape) for elements in (first, second)]
        differs: Array = (texts[0] != texts[1]).astype(np.float64)
        return differs
    one, other = first.reshape(-1), second.reshape(-1)
    missing = find_missing(one) | find_missing(other)
    both = find_missing(one) & find_missing(other)
    with np.errstate(all="ignore"):
        if one.dtype.kind == other.dtype.kind == "c":
            away = np.abs(other.astype(np.complex128) - one.astype(np.complex128))
            same = one == other
        elif one.dtype.kind in "iubm" and other.dtype.kind in "iubm":
            whole = [_to_whole(elements) for elements in (one, other)]
            same, rises = whole[0] == whole[1], whole[1] > whole[0]
            low, high = (elements.astype(np.uint64) for elements in whole)  # modulo 2^64, where differences are exact
            away = np.where(rises, (high - low).astype(np.float64), -(low - high).astype(np.float64))
            if "u8" in {elements.dtype.str[1:] for elements in whole} and whole[0].dtype != whole[1].dtype:
                pairs = zip(*(elements.tolist() for elements in whole), strict=True)  # may lie further apart than 2^64
                away = np.fromiter((float(above - below) for below, above in pairs), np.float64, len(same))
        else:
            numbers = [to_numbers(elements) for elements in (one, other)]
            same = numbers[0] == numbers[1]
            away = numbers[1] - numbers[0]
    away = np.where(missing, np.nan, away)
    return np.where(same | both, 0.0, away).reshape(first.shape)


def _to_whole(elements: Array) -> Array:
    if elements.dtype.kind == "m":
        return elements.view(np.int64)
    return elements.astype(np.int64) if elements.dtype.kind == "b" else elements


def _texts(elements: Array) -> list[str]:
    """Return elements as texts, whatever they are."""
    if is_numeric(elements.dtype):
        return [str(value) for value in elements.reshape(-1).tolist()]
    return list_texts(elements)
