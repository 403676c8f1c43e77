"""Slices of arrays: `[:, :, 3]` and `time=2026-07,lat=47.5` parsed, a slice chosen to look at, blocks cut."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

import numpy as np

from ..api import format_shape
from ..dtypes import Array
from ..elements import label_text

Index = int | slice
Indices = tuple[Index, ...]

_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_RANGE = re.compile(r"([+-]?\d{1,18})?\s*+:\s*+([+-]?\d{1,18})?\s*+(?::\s*+([+-]?\d{1,18})?)?", re.ASCII)
_SHOWN_AXES = 2
_NEXT = re.compile(r",(?=[^,=]*=)")  # a comma that ends a label: what follows is the name of a dimension
_SUGGESTED = 3


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


def split_labels(text: str, dims: Sequence[str] | None) -> dict[str, str] | None:
    """Return the label of each dimension that a slice names, or None if it has none and is one as NumPy has it.

    `text`: the slice, such as `time=2026-07, lat=47.5`. `dims`: of the array; None where they have no names.

    Raises:
        SliceError: the array has no such dimension.

    Example:
        >>> split_labels("time=2026-07, place=Bern, Kirchenfeld", ("time", "place"))
        {'time': '2026-07', 'place': 'Bern, Kirchenfeld'}
    """
    if "=" not in text:
        return None
    if not dims:
        raise SliceError(f"{text!r} names dimensions, but those of the array have no names")
    labels: dict[str, str] = {}
    for part in _NEXT.split(text.strip().removeprefix("[").removesuffix("]")):
        dim, _, label = (piece.strip() for piece in part.partition("="))
        if dim not in dims:
            raise SliceError(f"there is no dimension {dim!r}; there is {', '.join(map(repr, dims))}")
        if dim in labels:
            raise SliceError(f"{text!r} names the dimension {dim!r} twice")
        labels[dim] = label
    return labels


def find_indices(labels: Mapping[str, str], dims: Sequence[str], coordinates: Mapping[str, Array]) -> Indices:
    """Return the indices at which the labels of some dimensions stand; all others are taken whole.

    `coordinates`: the arrays that label its dimensions, by name.

    Raises:
        SliceError: no such label (the message names near ones), or several equal ones that are not side by side.

    Example:
        >>> find_indices({"x": "20"}, ("y", "x"), {"x": np.array([10, 20])})
        (slice(None, None, None), 1)
    """
    indices: list[int | slice] = []
    for dim in dims:
        if dim not in labels:
            indices.append(slice(None))
            continue
        if dim not in coordinates or coordinates[dim].ndim != 1:
            raise SliceError(f"the dimension {dim!r} has no labels: --slice takes indices, such as [0, :]")
        positions = np.flatnonzero(_match(coordinates[dim], labels[dim], dim))
        if not positions.size:
            raise SliceError(f"no label {labels[dim]!r} along {dim!r}: {_suggest(coordinates[dim], labels[dim])}")
        first, last = int(positions[0]), int(positions[-1])
        if last - first + 1 != positions.size:
            raise SliceError(
                f"{positions.size} elements along {dim!r} have the label {labels[dim]!r}, but are not side by side"
            )
        indices.append(first if first == last else slice(first, last + 1))
    return tuple(indices)


def _match(coordinate: Array, label: str, dim: str) -> Array:
    """Return the indices at which a coordinate has a label; a date may end early: `2026-07` is the whole month."""
    kind = coordinate.dtype.kind
    try:
        if kind == "M":
            if label.strip().lower() == "nat":
                return np.isnat(coordinate)
            moment = np.datetime64(label)
            return np.asarray(coordinate.astype(moment.dtype) == moment)
        if kind == "b":
            return np.asarray(coordinate == {"true": True, "false": False}[label.lower()])
        if kind in "iu" and re.fullmatch(r"[+-]?\d{1,25}", label):
            return np.asarray(coordinate.astype(object) == int(label))
        if kind in "iuf":
            number = float(label)
            return np.isnan(coordinate) if number != number else np.asarray(coordinate == coordinate.dtype.type(number))
    except (ValueError, KeyError, OverflowError):
        raise SliceError(f"{label!r} is not a label along {dim!r}, {_suggest(coordinate, None)}") from None
    return np.array([str(value) == label for value in coordinate.tolist()], dtype=bool)


def _suggest(coordinate: Array, label: str | None) -> str:
    """Return a hint that names the labels near one that is missing, or the first ones."""
    if not coordinate.size:
        return "there are none"
    texts = list(map(label_text, coordinate if coordinate.dtype.kind in "Mm" else coordinate.tolist()))
    near: list[str] = []
    if label is not None and coordinate.dtype.kind in "iufM":
        sought = np.datetime64(label) if coordinate.dtype.kind == "M" else float(label)
        present = np.flatnonzero(coordinate == coordinate)  # neither NaN nor NaT
        order = np.argsort(np.abs(coordinate[present] - sought), kind="stable")
        near = [texts[position] for position in present[order[:_SUGGESTED]]]
    elif label is not None:
        near = difflib.get_close_matches(label, texts[:10_000], _SUGGESTED)
    return f"near are {', '.join(near)}" if near else f"the first are {', '.join(texts[:_SUGGESTED])}"
