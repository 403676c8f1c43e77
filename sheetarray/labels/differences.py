"""The differences between the labels of two files, as sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .description import DatasetLabels


def compare_labels(pair: Sequence[DatasetLabels | None], files: Sequence[str]) -> list[str]:
    """Return sentences on the differences between the labels of two files, given their names.

    Example:
        >>> compare_labels([DatasetLabels(attrs={"title": "a"}), DatasetLabels()], ["run.csv", "back.csv"])
        ["attribute title: 'a' -> none"]
    """
    first, second = pair
    if first is None or second is None:
        return [] if first is second else [f"dimension names and attributes only in {files[first is None]}"]
    texts = [f"attribute {text}" for text in _compare_attrs(first.attrs, second.attrs)]
    for name in [name for name in first.variables if name in second.variables]:
        variable, other = first.variables[name], second.variables[name]
        if variable.dims != other.dims:
            texts.append(f"{name}: dimensions {', '.join(variable.dims)} -> {', '.join(other.dims)}")
        if (name in first.coords) != (name in second.coords):
            texts.append(f"{name}: a coordinate only in {files[name not in first.coords]}")
        texts += [f"{name}: attribute {text}" for text in _compare_attrs(variable.attrs, other.attrs)]
    if repr(first.frame) != repr(second.frame):
        texts.append("the index, its names or categories differ")
    return texts


def _compare_attrs(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    texts = []
    for key in dict.fromkeys([*first, *second]):
        pair = [f"{attrs[key]!r:.60}" if key in attrs else "none" for attrs in (first, second)]
        if repr(first.get(key, ...)) != repr(second.get(key, ...)):
            texts.append(f"{key}: {' -> '.join(pair)}")
    return texts
