"""The text `dataset.json`: dimension names, coordinates and attributes of the arrays beside it.

It is the dictionary that `xarray.Dataset.to_dict(data=False)` gives: `coords` and `data_vars` say of each array its
`dims`, `attrs`, `dtype` and `shape`; `attrs` and `dims` are the dataset's. `attributes` has the values of attributes.
What only pandas knows (which coordinates are the levels of an index, categories, labels that are no text) is one more
attribute of the dataset, `pandas`, an object with the one key `frame`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..columns import DESCRIPTION
from ..errors import FormatError, LimitError
from ..linear.array import LinearArray
from ..linear.json_text import count_values, cut_json, parse_json
from .attributes import attribute_to_json, read_items_by_name, write_attrs

NAME = DESCRIPTION
_LONGEST_FREQUENCY = 64  # characters of the frequency of dates, such as "2h"
PANDAS = "pandas"
_VARIABLE_KEYS = ("dims", "attrs", "dtype", "shape", "encoding", "data")
# Names of dimensions, and standard names and units of coordinates by the CF conventions, 4.1 and 4.2
LATITUDE = ("lat", "latitude", "degrees_north", "degree_north", "degree_n", "degrees_n", "degreen", "degreesn")
LONGITUDE = ("lon", "longitude", "degrees_east", "degree_east", "degree_e", "degrees_e", "degreee", "degreese")
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


def is_coordinate(name: str, attrs: Mapping[str, Any], words: Collection[str]) -> bool:
    """Return whether a name is one of some words, or the units or the standard name that attributes say.

    Example:
        >>> is_coordinate("y", {"units": "degrees_north"}, LATITUDE)
        True
    """
    said = (name, attrs.get("units"), attrs.get("standard_name"))
    return any(isinstance(word, str) and word.strip().casefold() in words for word in said)


@dataclass(frozen=True, slots=True)
class Categories:
    """The categories of a categorical array."""

    values: np.ndarray[Any, Any]  # as an array
    ordered: bool = False  # whether they are in order
    dtype: str = ""  # the name of the dtype from which they are made again; "" for that of the array


@dataclass(slots=True)
class FrameLabels:
    """The properties of some arrays that only pandas knows; each attribute that is a dict has names for keys.

    Attributes:
        index: for a dimension whose index has several levels, or levels with names of their own: the names of the
            arrays that are its levels.
        labels: the label of a column, level or dimension, where that is not text, or not the name of the array.
        categories: of a categorical array.
        freqs: the frequency of an array of dates.
        ranges: names of levels that count in equal steps.
        columns: the name of the columns' index; of one with several levels, a tuple of their names. The name "", which
            no array has, stands for that index in categories, freqs and ranges.
        indexed: coordinates that have an index though no dimension has their name (True), or none though one has
            (False).
    """

    index: dict[str, tuple[str, ...]] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)
    categories: dict[str, Categories] = field(default_factory=dict)
    freqs: dict[str, str] = field(default_factory=dict)
    ranges: tuple[str, ...] = ()
    columns: Any = None
    indexed: dict[str, bool] = field(default_factory=dict)


def description_error(reason: str, *path: str) -> FormatError:
    """Return an error that says what is damaged in a description, and at which path of keys."""
    return FormatError(reason, location=", ".join((NAME, *(f"{step:.200}" for step in path))))


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
        "labels": {name: attribute_to_json(label, f"the label of {name!r}") for name, label in frame.labels.items()},
        "categories": {
            name: {
                "values": attribute_to_json(categories.values, f"the categories of {name!r}"),
                "ordered": categories.ordered,
            }
            | ({"dtype": categories.dtype} if categories.dtype else {})
            for name, categories in frame.categories.items()
        },
        "freq": dict(frame.freqs),
        "range": list(frame.ranges),
        "columns": attribute_to_json(frame.columns, "the name of the columns"),
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


def check_label_keys(tree: Mapping[str, Any], known: Sequence[str], *path: str) -> None:
    """Refuse an object with a key that says nothing: it was another one, and what it said would be lost."""
    for key in tree:
        if key not in known:
            raise description_error(f"the key {key!r:.80} is unknown", *path)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is str for item in value)


def _check(is_so: bool, reason: str, *path: str) -> None:
    """Raise the error of a description unless something is as it has to be."""
    if not is_so:
        raise description_error(reason, *path)


def _read_attrs(attrs: dict[str, Any], *path: str) -> dict[str, Any]:
    try:
        return read_items_by_name(attrs, ".".join(path))
    except FormatError as error:
        raise description_error(error.reason, *path) from error


def read_variables(tree: Any, kind: str) -> Iterator[tuple[str, VariableLabels]]:
    """Yield the names of arrays and their labels, of `coords` or of `data_vars`."""
    if kind not in object_at(tree):
        raise description_error("expected an object", kind)
    for name, variable in object_at(tree, kind).items():
        path = (kind, name)
        check_label_keys(object_at(variable), _VARIABLE_KEYS, *path)
        dims, shape, dtype = variable.get("dims"), variable.get("shape"), variable.get("dtype")
        _check(_is_texts(dims), "the names of dimensions must be a list of texts", *path)
        _check(len({*dims}) == len(dims), "a dimension occurs twice", *path)
        sizes = isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
        _check(sizes, "a shape must be a list of sizes", *path)
        _check(len(shape) == len(dims), f"{len(dims)} dimensions, and a shape of {len(shape)} sizes", *path)
        _check(type(dtype) is str, "a dtype must be text", *path)
        attrs = _read_attrs(object_at(variable, "attrs"), *path, "attrs")
        yield name, VariableLabels(tuple(dims), dtype, tuple(shape), attrs)


def _read_frame(note: dict[str, Any]) -> FrameLabels:
    frame, place = FrameLabels(), ("attrs", PANDAS)
    check_label_keys(note, _FRAME_KEYS, *place)
    for dim, levels in object_at(note, "index").items():
        _check(_is_texts(levels) and levels, "the levels of an index must be a list of texts", *place, dim)
        frame.index[dim] = tuple(levels)
    frame.labels = _read_attrs(object_at(note, "labels"), *place, "labels")
    for name in object_at(note, "categories"):
        category = object_at(note, "categories", name)
        values = _read_attrs({"values": category.get("values")}, *place, "categories")["values"]
        is_line = isinstance(values, np.ndarray) and values.ndim == 1
        _check(is_line, "categories must be an array of one dimension", *place, name)
        dtype = category.get("dtype", "")
        _check(type(dtype) is str, "a dtype must be text", *place, name)
        frame.categories[name] = Categories(values, category.get("ordered") is True, dtype)
    for name, freq in object_at(note, "freq").items():
        _check(type(freq) is str and len(freq) <= _LONGEST_FREQUENCY, "a frequency must be a short text", *place, name)
        frame.freqs[name] = freq
    ranges = note.get("range", [])
    _check(_is_texts(ranges), "expected a list of text", *place, "range")
    frame.ranges = tuple(ranges)
    frame.columns = _read_attrs({"columns": note.get("columns")}, *place)["columns"]
    for name, indexed in object_at(note, "indexed").items():
        _check(type(indexed) is bool, "expected true or false", *place, "indexed")
        frame.indexed[name] = indexed
    return frame


MOST_BYTES = 2**24  # of the text
MOST_VALUES = 1_000_000  # objects, lists and what is in them
_MOST_PIECES = 10_000  # cells of the text; a longer array only happens to have its name
_KEYS = ("coords", "attrs", "dims", "data_vars", "encoding")
DEEPEST_JSON = 200  # objects and lists within each other; more than any attribute that is written needs


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
        """Every array that has labels, coordinates first."""
        return self.coords | self.data_vars

    def find(self, name: str) -> VariableLabels | None:
        """Return the labels of an array; None if it has none."""
        return self.coords.get(name) or self.data_vars.get(name)

    def get(self, name: str) -> VariableLabels:
        """Return the labels of an array that is known to have some; KeyError otherwise."""
        return self.coords[name] if name in self.coords else self.data_vars[name]

    def has_array(self, name: str) -> bool:
        """Return whether a name in the description belongs to an array, not to an index of several levels."""
        return self.frame.index.get(name, (name,)) == (name,)

    def name_anew(self, title: str, names: Mapping[str, str]) -> DatasetLabels:
        """Return the labels of one sheet among those of others: dimensions and attributes have its title before them.

        `names`: the new names of arrays. A dimension that is called as an array is called so afterwards.
        """

        renamed = self.rename(names, lambda dim: names.get(dim, f"{title}!{dim}"))
        return replace(renamed, attrs={f"{title}!{key}": value for key, value in self.attrs.items()})

    def rename(self, names: Mapping[str, str], name_dim: Callable[[str], str]) -> DatasetLabels:
        """Return the labels under other names.

        `names`: the new names of arrays. `name_dim`: returns the new name of a dimension.
        """

        def rename(variables: Mapping[str, VariableLabels]) -> dict[str, VariableLabels]:
            return {
                names.get(name, name): replace(variable, dims=tuple(map(name_dim, variable.dims)))
                for name, variable in variables.items()
            }

        by_name: dict[str, Any] = {
            field: {names.get(name, name): value for name, value in getattr(self.frame, field).items()}
            for field in ("labels", "categories", "freqs", "indexed")
        }
        index = {
            name_dim(dim): tuple(names.get(level, level) for level in levels)
            for dim, levels in self.frame.index.items()
        }
        ranges = tuple(names.get(name, name) for name in self.frame.ranges)
        frame = replace(self.frame, index=index, ranges=ranges, **by_name)
        return DatasetLabels(rename(self.coords), rename(self.data_vars), self.attrs, frame)

    @classmethod
    def join(cls, sheets: Mapping[str, DatasetLabels]) -> DatasetLabels:
        """Return the labels of several sheets, whose names differ, as those of one dataset; `sheets`: by their titles.

        Example:
            >>> DatasetLabels.join({"north": DatasetLabels(attrs={"north!year": 1})}).attrs
            {'north!year': 1}
        """
        joined = cls()
        for labels in sheets.values():
            joined.coords |= labels.coords
            joined.data_vars |= labels.data_vars
            joined.attrs |= labels.attrs
            for entry in ("index", "labels", "categories", "freqs", "indexed"):
                getattr(joined.frame, entry).update(getattr(labels.frame, entry))
            joined.frame.ranges += labels.frame.ranges
        joined.frame.columns = [labels.frame.columns for labels in sheets.values()]
        return joined

    def sizes(self) -> dict[str, int]:
        """Return the size of each dimension, as the shapes have it.

        Raises:
            FormatError: two arrays disagree.
        """
        sizes: dict[str, int] = {}
        for name, variable in self.variables.items():
            for dim, size in zip(variable.dims, variable.shape, strict=True):
                if sizes.setdefault(dim, size) != size:
                    raise description_error(f"the dimension {dim!r:.80} has {sizes[dim]}, and {size} in {name!r:.80}")
        return sizes

    def to_texts(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the labels of each array, and each attribute of the dataset, as texts to be compared.

        Raises:
            DTypeError: an attribute that would not come back; names it.
        """
        variables = {name: write_variable(name, variable) for name, variable in self.variables.items()}
        for name, said in variables.items():
            said |= {"shape": None, "coordinate": name in self.coords, "levels": self.frame.index.get(name)}
        attrs = write_attrs(self.attrs, "attrs")
        return (
            {name: json.dumps(said, sort_keys=True) for name, said in variables.items()},
            {key: json.dumps(value, sort_keys=True) for key, value in attrs.items()},
        )

    def to_pieces(self, limit: int) -> np.ndarray[Any, Any]:
        """Return the text as an array without dimensions, or of pieces where it does not fit into one cell.

        `limit`: characters that a cell holds.

        Raises:
            DTypeError: an attribute that would not come back; names it.
            LimitError: more than `from_pieces` reads, or a name longer than a cell.
        """
        attrs = write_attrs(self.attrs, "attrs")
        if note := write_frame(self.frame):
            key = PANDAS
            while key in attrs:
                key += "_"
            attrs[key] = {"frame": note}
        tree = {
            "coords": {name: write_variable(name, variable) for name, variable in self.coords.items()},
            "attrs": attrs,
            "dims": self.sizes(),
            "data_vars": {name: write_variable(name, variable) for name, variable in self.data_vars.items()},
        }
        text = json.dumps(
            tree, ensure_ascii=True, allow_nan=False, separators=(",", ":")
        )  # a cell may begin after a comma
        if len(text) > MOST_BYTES or count_values(text.encode("ascii")) > MOST_VALUES:
            raise LimitError(
                f"{NAME}: attributes of {len(text):,} characters; at most {MOST_BYTES:,}, and {MOST_VALUES:,} values, "
                "are read again: write large ones as arrays"
            )
        pieces = cut_json(text, limit, NAME)
        # without dimensions the text stands one row higher: beside a header, not in a row that people delete or sort
        return np.array(pieces if len(pieces) > 1 else pieces[0])

    @classmethod
    def from_pieces(cls, pieces: np.ndarray[Any, Any]) -> DatasetLabels:
        """Return the labels that a description holds, whose text is given in pieces.

        Raises:
            FormatError: no such description, or one that contradicts itself; `.location` begins with its name.
        """
        texts = pieces.reshape(-1).tolist()
        if blank := [number for number, piece in enumerate(texts) if not isinstance(piece, str) or not piece.strip()]:
            raise description_error(f"piece {blank[0] + 1} of {len(texts)} is blank")
        text = "".join(texts).encode("utf-8", "surrogatepass")
        try:
            tree = parse_json(
                text, "a description", most_bytes=MOST_BYTES, most_values=MOST_VALUES, deepest=DEEPEST_JSON
            )
        except FormatError as error:
            raise description_error(error.reason, *([error.location] if error.location else [])) from error
        check_label_keys(object_at(tree), _KEYS)
        attrs, frame = object_at(tree, "attrs"), FrameLabels()
        for key in [key for key, value in attrs.items() if isinstance(value, dict) and list(value) == ["frame"]]:
            frame = _read_frame(object_at(attrs.pop(key), "frame"))
        coords = dict(read_variables(tree, "coords"))
        data_vars = dict(read_variables(tree, "data_vars"))
        for name in coords.keys() & data_vars.keys():
            raise description_error("is both among the coordinates and among the other arrays", name)
        labels = cls(coords, data_vars, _read_attrs(attrs, "attrs"), frame)
        sizes, said = labels.sizes(), object_at(tree, "dims")
        for dim, size in said.items():
            if sizes.get(dim, size) != size:
                raise description_error(
                    f"the dimension {dim!r:.80} has the size {size!r:.40}, but {sizes[dim]} in its arrays"
                )
        if "dims" in tree and (other := sizes.keys() ^ said.keys()):
            raise description_error(f"the dimension {min(other)!r:.80} is not both here and in the arrays", "dims")
        _check_index(labels)
        return labels


def parse_labels(arrays: Mapping[str, LinearArray]) -> DatasetLabels | None:
    """Return the labels of arrays that stand together; None if no description, or a damaged one, stands among them."""
    description = arrays.get(NAME)
    if description is None or not is_description(pieces := description.to_numpy()):
        return None
    try:
        return DatasetLabels.from_pieces(pieces)
    except FormatError:
        return None  # an array that only has the name


_LONGEST_NOTE = 1_000  # characters of an attribute in a note


def find_notes(arrays: Mapping[str, LinearArray]) -> dict[str, str]:
    """Return what people read beside the name of an array: its `long_name` and its `units`, where labels say them.

    Example:
        >>> find_notes({"t": LinearArray.from_numpy(np.zeros(2))})
        {}
    """
    labels = parse_labels(arrays)
    return {} if labels is None else notes_of_variables(labels.variables)


def notes_of_variables(variables: Mapping[str, VariableLabels]) -> dict[str, str]:
    """Return the `long_name` and the `units` of each variable that has any, a line for each."""
    notes = {}
    for name, variable in variables.items():
        said = {key: variable.attrs.get(key) for key in ("long_name", "units")}
        texts = {key: text.strip()[:_LONGEST_NOTE] for key, text in said.items() if isinstance(text, str)}
        lines = [texts.get("long_name", ""), f"units: {texts['units']}" if texts.get("units") else ""]
        if any(lines):
            notes[name] = "\n".join(line for line in lines if line)
    return notes


def is_description(array: Any) -> bool:
    """Return whether an array is a description of others, perhaps a damaged one, by the words that stand in it."""
    if not isinstance(array, np.ndarray) or array.ndim > 1 or array.dtype.kind not in "UTO":
        return False
    if not 0 < array.size <= _MOST_PIECES:
        return False
    pieces = array.reshape(-1).tolist()
    return may_describe(
        "".join(pieces if array.dtype.kind == "U" else [piece for piece in pieces if isinstance(piece, str)])
    )


def may_describe(text: str | None) -> bool:
    """Return whether a text has the words of a description; None is a text that nobody has seen."""
    return text is None or '"data_vars"' in text or '"coords"' in text


def _check_index(labels: DatasetLabels) -> None:
    """Check that the levels of each index are coordinates along its dimension."""
    for dim, levels in labels.frame.index.items():
        for level in levels:
            if level not in labels.coords or labels.coords[level].dims != (dim,):
                raise description_error(
                    f"{level!r:.80} is not a coordinate along {dim!r:.80}", "attrs", PANDAS, "index"
                )
        if len({*levels}) < len(levels):
            raise description_error("a level occurs twice", "attrs", PANDAS, "index")
