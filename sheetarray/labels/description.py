"""The text `dataset.json`: dimension names, coordinates and attributes of the arrays beside it.

It is the dictionary that `xarray.Dataset.to_dict(data=False)` gives: `coords` and `data_vars` say of each array its
`dims`, `attrs`, `dtype` and `shape`; `attrs` and `dims` are the dataset's. `attributes` has the values of attributes.
What only pandas knows (which coordinates are the levels of an index, categories, labels that are no text) is one more
attribute of the dataset, `pandas`, an object with the one key `frame`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import DTypeError, FormatError, LimitError
from ..json_text import count_values, cut_json, parse_json
from ..linear import LinearArray
from .attributes import from_json, to_json

NAME = "dataset.json"

MOST_BYTES = 2**24  # of the text
MOST_VALUES = 1_000_000  # objects, lists and what is in them
DEEPEST_JSON = 200  # objects and lists within each other; more than any attribute that is written needs
_LONGEST_FREQUENCY = 64  # characters of the frequency of dates, such as "2h"
_PANDAS = "pandas"


@dataclass(frozen=True, slots=True)
class VariableLabels:
    """The labels of one array.

    Attributes:
        dims: names of its dimensions.
        dtype: of the array that was written, as NumPy or pandas calls it.
        shape: likewise.
        attrs: attributes by name.
    """

    dims: tuple[str, ...]
    dtype: str
    shape: tuple[int, ...]
    attrs: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class FrameLabels:
    """The properties of some arrays that only pandas knows.

    Attributes:
        index: of a dimension with an index of several levels, or of levels with names of their own: the arrays that are
            its levels.
        labels: of a column or level, where it is not the array's name.
        categories: of a categorical array, and whether they are in order.
        freqs: of dates, their frequency.
        ranges: names of levels that count in equal steps.
        columns: what the labels of the columns are called.
    """

    index: dict[str, tuple[str, ...]] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)
    categories: dict[str, tuple[np.ndarray[Any, Any], bool]] = field(default_factory=dict)
    freqs: dict[str, str] = field(default_factory=dict)
    ranges: tuple[str, ...] = ()
    columns: Any = None


@dataclass(slots=True)
class DatasetLabels:
    """The labels of all arrays of a container: the content of the description.

    Attributes:
        coords: the arrays that are coordinates, and the names of indexes of several levels.
        data_vars: all other arrays.
        attrs: attributes of the dataset.
        frame: what only pandas knows.
    """

    coords: dict[str, VariableLabels] = field(default_factory=dict)
    data_vars: dict[str, VariableLabels] = field(default_factory=dict)
    attrs: dict[str, Any] = field(default_factory=dict)
    frame: FrameLabels = field(default_factory=FrameLabels)

    @property
    def variables(self) -> Mapping[str, VariableLabels]:
        """Every array of which something is said, coordinates first."""
        return self.coords | self.data_vars

    def find(self, name: str) -> VariableLabels | None:
        """Return the labels of an array; None if it has none."""
        return self.coords.get(name) or self.data_vars.get(name)

    def get(self, name: str) -> VariableLabels:
        """Return the labels of an array that has some."""
        return self.coords[name] if name in self.coords else self.data_vars[name]

    def has_array(self, name: str) -> bool:
        """Return whether a described name is an array's, and not that of an index of several levels."""
        return self.frame.index.get(name, (name,)) == (name,)

    def sizes(self) -> dict[str, int]:
        """Return the size of each dimension, as the shapes have it.

        Raises:
            FormatError: two arrays disagree.
        """
        sizes: dict[str, int] = {}
        for name, variable in self.variables.items():
            for dim, size in zip(variable.dims, variable.shape, strict=True):
                if sizes.setdefault(dim, size) != size:
                    raise _error(f"the dimension {dim!r:.80} has {sizes[dim]}, and {size} in {name!r:.80}")
        return sizes

    def to_texts(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the labels of each array, and each attribute of the dataset, as texts to be compared.

        Raises:
            DTypeError: an attribute that would not come back; names it.
        """
        variables = {name: _write_variable(name, variable) for name, variable in self.variables.items()}
        for name, said in variables.items():
            said |= {"shape": None, "coordinate": name in self.coords, "levels": self.frame.index.get(name)}
        attrs = _write_attrs(self.attrs, "attrs")
        return (
            {name: json.dumps(said, sort_keys=True) for name, said in variables.items()},
            {key: json.dumps(value, sort_keys=True) for key, value in attrs.items()},
        )

    def to_pieces(self, limit: int) -> np.ndarray[Any, Any]:
        """Return the text as an array of text, of which each element fits into a cell.

        Args:
            limit: characters that a cell holds.

        Raises:
            DTypeError: an attribute that would not come back; names it.
            LimitError: more than `from_pieces` reads, or a name longer than a cell.
        """
        attrs = _write_attrs(self.attrs, "attrs")
        if note := _write_frame(self.frame):
            key = _PANDAS
            while key in attrs:
                key += "_"
            attrs[key] = {"frame": note}
        tree = {
            "coords": {name: _write_variable(name, variable) for name, variable in self.coords.items()},
            "attrs": attrs,
            "dims": self.sizes(),
            "data_vars": {name: _write_variable(name, variable) for name, variable in self.data_vars.items()},
        }
        text = json.dumps(
            tree, ensure_ascii=True, allow_nan=False, separators=(",", ":")
        )  # a cell may begin after a comma
        if len(text) > MOST_BYTES or count_values(text.encode("ascii")) > MOST_VALUES:
            raise LimitError(
                f"{NAME}: attributes of {len(text):,} characters; at most {MOST_BYTES:,}, and {MOST_VALUES:,} values, "
                "are read again: write large ones as arrays"
            )
        return np.array(cut_json(text, limit, NAME))

    @classmethod
    def from_pieces(cls, pieces: np.ndarray[Any, Any]) -> DatasetLabels:
        """Return the labels that a description holds, whose text is given in pieces.

        Raises:
            FormatError: no such description, or one that contradicts itself; `.location` begins with its name.
        """
        text = "".join(pieces.tolist()).encode("utf-8", "surrogatepass")
        try:
            tree = parse_json(
                text, "a description", most_bytes=MOST_BYTES, most_values=MOST_VALUES, deepest=DEEPEST_JSON
            )
        except FormatError as error:
            raise _error(error.reason, *([error.location] if error.location else [])) from error
        attrs, frame = _read_dataset_attrs(_object(tree, "attrs"))
        coords = dict(_read_variables(tree, "coords"))
        data_vars = dict(_read_variables(tree, "data_vars"))
        for name in coords.keys() & data_vars.keys():
            raise _error("is a coordinate and none", name)
        labels = cls(coords, data_vars, attrs, frame)
        sizes = labels.sizes()
        for dim, size in _object(tree, "dims").items():
            if sizes.get(dim, size) != size:
                raise _error(f"the dimension {dim!r:.80} has {size!r:.40}, and {sizes[dim]} in its arrays")
        _check_index(labels)
        return labels


def parse_labels(arrays: Mapping[str, LinearArray]) -> DatasetLabels | None:
    """Return the labels of arrays that stand together; None if no description, or a damaged one, stands among them."""
    description = arrays.get(NAME)
    if description is None or not is_description(NAME, pieces := description.to_numpy()):
        return None
    try:
        return DatasetLabels.from_pieces(pieces)
    except FormatError:
        return None  # an array that only has the name


def is_description(name: str, array: Any) -> bool:
    """Return whether an array is the description of those beside it, by its name and its beginning."""
    if name != NAME or not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "UTO":
        return False
    pieces = array.tolist()
    if not pieces or not all(isinstance(piece, str) for piece in pieces):
        return False
    return pieces[0].lstrip().startswith("{") and '"data_vars"' in "".join(pieces)


def _error(reason: str, *path: str) -> FormatError:
    return FormatError(reason, location=", ".join((NAME, *(f"{step:.200}" for step in path))))


# Writing -----------------------------------------------------------------------------------------------------


def _write_attrs(attrs: Mapping[Any, Any], path: str) -> dict[str, Any]:
    for key in attrs:
        if type(key) is not str:
            raise DTypeError(f"{path}: {key!r:.60} as the name of an attribute: names are text")
    return {key: to_json(value, f"{path}[{key!r:.60}]") for key, value in attrs.items()}


def _write_variable(name: str, variable: VariableLabels) -> dict[str, Any]:
    return {
        "dims": list(variable.dims),
        "attrs": _write_attrs(variable.attrs, f"{name}.attrs"),
        "dtype": variable.dtype,
        "shape": list(variable.shape),
    }


def _write_frame(frame: FrameLabels) -> dict[str, Any]:
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
    }
    return {key: value for key, value in note.items() if value not in ({}, [], None)}


# Reading -----------------------------------------------------------------------------------------------------


def _object(tree: Any, *path: str) -> dict[str, Any]:
    """Return an object of a tree; an empty one if it has none."""
    for step in path:
        tree = tree.get(step, {}) if isinstance(tree, dict) else None
    if not isinstance(tree, dict):
        raise _error("expected an object", *path)
    return tree


def _read_attrs(attrs: dict[str, Any], *path: str) -> dict[str, Any]:
    values = {}
    for key, value in attrs.items():
        try:
            values[key] = from_json(value, f"{'.'.join(path)}[{key!r:.60}]")
        except FormatError as error:
            raise _error(error.reason, *path) from error
    return values


def _read_dataset_attrs(attrs: dict[str, Any]) -> tuple[dict[str, Any], FrameLabels]:
    """Return the attributes of a dataset, and what pandas has noted among them."""
    notes = {key for key, value in attrs.items() if isinstance(value, dict) and list(value) == ["frame"]}
    frame = FrameLabels()
    for key in notes:
        frame = _read_frame(_object(attrs, key, "frame"))
    return _read_attrs({key: value for key, value in attrs.items() if key not in notes}, "attrs"), frame


def _read_variables(tree: Any, kind: str) -> Iterator[tuple[str, VariableLabels]]:
    if kind not in _object(tree):
        raise _error("expected an object", kind)
    for name, variable in _object(tree, kind).items():
        path = (kind, name)
        dims = _object(variable).get("dims")
        shape, dtype = variable.get("shape"), variable.get("dtype")
        if not isinstance(dims, list) or not all(type(dim) is str for dim in dims):
            raise _error("names of dimensions are a list of text", *path)
        if len({*dims}) < len(dims):
            raise _error("a dimension stands twice", *path)
        if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
            raise _error("a shape is a list of sizes", *path)
        if len(shape) != len(dims):
            raise _error(f"{len(dims)} dimensions, and a shape of {len(shape)} sizes", *path)
        if type(dtype) is not str:
            raise _error("a dtype is text", *path)
        attrs = _read_attrs(_object(variable, "attrs"), *path, "attrs")
        yield name, VariableLabels(tuple(dims), dtype, tuple(shape), attrs)


def _read_frame(note: dict[str, Any]) -> FrameLabels:
    frame = FrameLabels()
    for dim, levels in _object(note, "index").items():
        if not isinstance(levels, list) or not levels or not all(type(level) is str for level in levels):
            raise _error("the levels of an index are a list of text", "attrs", _PANDAS, dim)
        frame.index[dim] = tuple(levels)
    frame.labels = _read_attrs(_object(note, "labels"), "attrs", _PANDAS, "labels")
    for name in _object(note, "categories"):
        category = _object(note, "categories", name)
        values = _read_attrs({"values": category.get("values")}, "attrs", _PANDAS, "categories")["values"]
        if not isinstance(values, np.ndarray) or values.ndim != 1:
            raise _error("categories are an array of one dimension", "attrs", _PANDAS, name)
        frame.categories[name] = values, category.get("ordered") is True
    for name, freq in _object(note, "freq").items():
        if type(freq) is not str or len(freq) > _LONGEST_FREQUENCY:
            raise _error("a frequency is a short text", "attrs", _PANDAS, name)
        frame.freqs[name] = freq
    ranges = note.get("range", [])
    if not isinstance(ranges, list) or not all(type(name) is str for name in ranges):
        raise _error("expected a list of text", "attrs", _PANDAS, "range")
    frame.ranges = tuple(ranges)
    frame.columns = _read_attrs({"columns": note.get("columns")}, "attrs", _PANDAS)["columns"]
    return frame


def _check_index(labels: DatasetLabels) -> None:
    """Check that the levels of each index are coordinates along its dimension."""
    for dim, levels in labels.frame.index.items():
        for level in levels:
            if level not in labels.coords or labels.coords[level].dims != (dim,):
                raise _error(f"{level!r:.80} is no coordinate along {dim!r:.80}", "attrs", _PANDAS, "index")
        if len({*levels}) < len(levels):
            raise _error("a level stands twice", "attrs", _PANDAS, "index")
