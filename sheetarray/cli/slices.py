"""Slices of arrays, such as `[:, :, 3]`: parsed, printed, and chosen to look at."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..api import format_shape

Index = int | slice
Indices = tuple[Index, ...]

_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_RANGE = re.compile(r"([+-]?\d{1,18})?\s*:\s*([+-]?\d{1,18})?\s*(?::\s*([+-]?\d{1,18})?)?", re.ASCII)
_SHOWN_AXES = 2


class SliceError(ValueError):
    """A slice that cannot be understood, or is not in the array."""


def parse_slice(text: str, shape: Sequence[int]) -> Indices:
    """Return one index for every axis of an array of that shape.

    `text`: as NumPy has it, with or without brackets: integers, `start:stop:step`, and `...` once.

    Raises:
        SliceError: says what is wrong with which part, and the shape.

    Example:
        >>> parse_slice("[..., -1]", (4, 5))
        (slice(None, None, None), -1)
    """
    inner = text.strip()
    if inner.startswith("[") and inner.endswith("]"):
        inner = inner[1:-1].strip()
    parts = [part.strip() for part in inner.removesuffix(",").split(",")] if inner else []
    if parts.count("...") > 1:
        raise SliceError(f"{text!r} has more than one ...")
    given = len(parts) - parts.count("...")
    if given > len(shape):
        has = "no axes" if not shape else f"{len(shape)} {'axis' if len(shape) == 1 else 'axes'}"
        raise SliceError(f"{text!r} has {given} indices, but the array has {has} (shape {format_shape(shape)})")
    whole = [":"] * (len(shape) - given)
    at = parts.index("...") if "..." in parts else len(parts)
    full = [*parts[:at], *whole, *parts[at + 1 :]]
    return tuple(_index(part, axis, shape, text) for axis, part in enumerate(full))


def _index(part: str, axis: int, shape: Sequence[int], text: str) -> Index:
    size = shape[axis]
    if _INTEGER.fullmatch(part):
        index = int(part)
        if not -size <= index < size:
            raise SliceError(
                f"index {index} is out of range for axis {axis}, which has {size} (shape {format_shape(shape)})"
            )
        return index
    if match := _RANGE.fullmatch(part):
        start, stop, step = (None if group is None else int(group) for group in match.groups())
        if step == 0:
            raise SliceError(f"the step of {part!r} is zero")
        return slice(start, stop, step)
    raise SliceError(f"{part!r} in {text!r} is neither an integer, start:stop:step nor ...")


def format_slice(indices: Sequence[Index]) -> str:
    """Return indices as NumPy code, with brackets; "" where they take the whole array.

    Example:
        >>> format_slice((12, slice(None), slice(0, None, 2)))
        '[12, :, 0::2]'
    """
    if all(index == slice(None) for index in indices):
        return ""
    return f"[{', '.join(_format_index(index) for index in indices)}]"


def _format_index(index: Index) -> str:
    if not isinstance(index, slice):
        return str(index)
    start, stop = ("" if end is None else end for end in (index.start, index.stop))
    return f"{start}:{stop}" if index.step is None else f"{start}:{stop}:{index.step}"


def slice_to_two_axes(indices: Sequence[Index], shape: Sequence[int]) -> Indices:
    """Go on slicing until two axes are left: the two longest, later ones first; the middle of every other.

    Example:
        >>> slice_to_two_axes((slice(None),) * 3, (24, 128, 96))
        (12, slice(None, None, None), slice(None, None, None))
    """
    taken = [
        range(size)[index] if isinstance(index, slice) else None for index, size in zip(indices, shape, strict=True)
    ]
    free = [axis for axis, places in enumerate(taken) if places is not None]
    if any(places is not None and not len(places) for places in taken):
        return tuple(indices)
    shown = sorted(free, key=lambda axis: (len(taken[axis] or ()), axis))[-_SHOWN_AXES:]
    selected = list(indices)
    for axis in free:
        places = taken[axis]
        if axis not in shown and places is not None:
            selected[axis] = places[len(places) // 2]
    return tuple(selected)
