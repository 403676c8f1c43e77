"""The JSON objects in the text dataset.json <-> the labels of one array, and what only pandas knows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import DTypeError, FormatError
from .attributes import from_json, to_json

NAME = "dataset.json"
_LONGEST_FREQUENCY = 64  # characters of the frequency of dates, such as "2h"
PANDAS = "pandas"
_VARIABLE_KEYS = ("dims", "attrs", "dtype", "shape", "encoding", "data")
_FRAME_KEYS = ("index", "labels", "categories", "freq", "range", "columns", "indexed")


@dataclass(frozen=True, slots=True)
class VariableLabels:
    """The labels of one array.

    Attributes:
        dims: names of its dimensions.
        dtype: of the array that was written, as NumPy or pandas calls it.
        shape: of the array that was written.
        attrs: attributes by name.
    """

    dims: tuple[str, ...]
    dtype: str
    shape: tuple[int, ...]
    attrs: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class FrameLabels:
    """The properties of some arrays that only pandas knows; each attribute that is a dict has names for keys.

    Attributes:
        index: for a dimension whose index has several levels, or levels with names of their own: the names of the
            arrays that are its levels.
        labels: the label of a column, level or dimension, where that is not text, or not the name of the array.
        categories: the categories of a categorical array, and whether they are in order.
        freqs: the frequency of an array of dates.
        ranges: names of levels that count in equal steps.
        columns: the name of the columns' index. The name "", which no array has, stands for that index in categories,
            freqs and ranges.
        indexed: coordinates that have an index though no dimension has their name (True), or none though one has
            (False).
    """

    index: dict[str, tuple[str, ...]] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)
    categories: dict[str, tuple[np.ndarray[Any, Any], bool]] = field(default_factory=dict)
    freqs: dict[str, str] = field(default_factory=dict)
    ranges: tuple[str, ...] = ()
    columns: Any = None
    indexed: dict[str, bool] = field(default_factory=dict)


def description_error(reason: str, *path: str) -> FormatError:
    """Return an error that says what is damaged in a description, and by the path of keys where in it."""
    return FormatError(reason, location=", ".join((NAME, *(f"{step:.200}" for step in path))))


def write_attrs(attrs: Mapping[Any, Any], path: str) -> dict[str, Any]:
    """Return attributes as JSON; a value that would not come back is refused by its path."""
    for key in attrs:
        if type(key) is not str:
            raise DTypeError(f"{path}: {key!r:.60} as the name of an attribute: names are text")
    return {key: to_json(value, f"{path}[{key!r:.60}]") for key, value in attrs.items()}


def write_variable(name: str, variable: VariableLabels) -> dict[str, Any]:
    """Return the labels of one array as a JSON object."""
    return {
        "dims": list(variable.dims),
        "attrs": write_attrs(variable.attrs, f"{name}.attrs"),
        "dtype": variable.dtype,
        "shape": list(variable.shape),
    }


def write_frame(frame: FrameLabels) -> dict[str, Any]:
    """Return the labels that only pandas knows as a JSON object, without empty ones."""
    note: dict[str, Any] = {
        "index": {dim: list(levels) for dim, levels in frame.index.items()},
        "labels": {name: to_json(label, f"the label of {name!r}") for name, label in frame.labels.items()},
        "categories": {
            name: {"values": to_json(values, f"the categories of {name!r}"), "ordered": ordered}
            for name, (values, ordered) in frame.categories.items()
        },
        "freq": dict(frame.freqs),
        "range": list(frame.ranges),
        "columns": to_json(frame.columns, "the name of the columns"),
        "indexed": dict(frame.indexed),
    }
    return {key: value for key, value in note.items() if value not in ({}, [], None)}


def object_at(tree: Any, *path: str) -> dict[str, Any]:
    """Return an object of a tree; an empty one if it has none."""
    for step in path:
        tree = tree.get(step, {}) if isinstance(tree, dict) else None
    if not isinstance(tree, dict):
        raise description_error("expected an object", *path)
    return tree


def check_keys(tree: Mapping[str, Any], known: Sequence[str], *path: str) -> None:
    """Refuse an object with a key that says nothing: it was another one, and what it said would be lost."""
    for key in tree:
        if key not in known:
            raise description_error(f"the key {key!r:.80} is not known here", *path)


def _read_attrs(attrs: dict[str, Any], *path: str) -> dict[str, Any]:
    values = {}
    for key, value in attrs.items():
        try:
            values[key] = from_json(value, f"{'.'.join(path)}[{key!r:.60}]")
        except FormatError as error:
            raise description_error(error.reason, *path) from error
    return values


def read_dataset_attrs(attrs: dict[str, Any]) -> tuple[dict[str, Any], FrameLabels]:
    """Return the attributes of a dataset, and what pandas has noted among them."""
    notes = {key for key, value in attrs.items() if isinstance(value, dict) and list(value) == ["frame"]}
    frame = FrameLabels()
    for key in notes:
        frame = _read_frame(object_at(attrs, key, "frame"))
    return _read_attrs({key: value for key, value in attrs.items() if key not in notes}, "attrs"), frame


def read_variables(tree: Any, kind: str) -> Iterator[tuple[str, VariableLabels]]:
    """Yield the names of arrays and their labels, of `coords` or of `data_vars`."""
    if kind not in object_at(tree):
        raise description_error("expected an object", kind)
    for name, variable in object_at(tree, kind).items():
        path = (kind, name)
        check_keys(object_at(variable), _VARIABLE_KEYS, *path)
        dims = variable.get("dims")
        shape, dtype = variable.get("shape"), variable.get("dtype")
        if not isinstance(dims, list) or not all(type(dim) is str for dim in dims):
            raise description_error("names of dimensions are a list of text", *path)
        if len({*dims}) < len(dims):
            raise description_error("a dimension stands twice", *path)
        if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
            raise description_error("a shape is a list of sizes", *path)
        if len(shape) != len(dims):
            raise description_error(f"{len(dims)} dimensions, and a shape of {len(shape)} sizes", *path)
        if type(dtype) is not str:
            raise description_error("a dtype is text", *path)
        attrs = _read_attrs(object_at(variable, "attrs"), *path, "attrs")
        yield name, VariableLabels(tuple(dims), dtype, tuple(shape), attrs)


def _read_frame(note: dict[str, Any]) -> FrameLabels:
    frame = FrameLabels()
    check_keys(note, _FRAME_KEYS, "attrs", PANDAS)
    for dim, levels in object_at(note, "index").items():
        if not isinstance(levels, list) or not levels or not all(type(level) is str for level in levels):
            raise description_error("the levels of an index are a list of text", "attrs", PANDAS, dim)
        frame.index[dim] = tuple(levels)
    frame.labels = _read_attrs(object_at(note, "labels"), "attrs", PANDAS, "labels")
    for name in object_at(note, "categories"):
        category = object_at(note, "categories", name)
        values = _read_attrs({"values": category.get("values")}, "attrs", PANDAS, "categories")["values"]
        if not isinstance(values, np.ndarray) or values.ndim != 1:
            raise description_error("categories are an array of one dimension", "attrs", PANDAS, name)
        frame.categories[name] = values, category.get("ordered") is True
    for name, freq in object_at(note, "freq").items():
        if type(freq) is not str or len(freq) > _LONGEST_FREQUENCY:
            raise description_error("a frequency is a short text", "attrs", PANDAS, name)
        frame.freqs[name] = freq
    ranges = note.get("range", [])
    if not isinstance(ranges, list) or not all(type(name) is str for name in ranges):
        raise description_error("expected a list of text", "attrs", PANDAS, "range")
    frame.ranges = tuple(ranges)
    frame.columns = _read_attrs({"columns": note.get("columns")}, "attrs", PANDAS)["columns"]
    for name, indexed in object_at(note, "indexed").items():
        if type(indexed) is not bool:
            raise description_error("expected true or false", "attrs", PANDAS, "indexed")
        frame.indexed[name] = indexed
    return frame
