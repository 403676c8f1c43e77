"""The text `dataset.json`: dimension names, coordinates and attributes of the arrays beside it.

It is the dictionary that `xarray.Dataset.to_dict(data=False)` gives: `coords` and `data_vars` say of each array its
`dims`, `attrs`, `dtype` and `shape`; `attrs` and `dims` are the dataset's. `attributes` has the values of attributes.
What only pandas knows (which coordinates are the levels of an index, categories, labels that are no text) is one more
attribute of the dataset, `pandas`, an object with the one key `frame`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import FormatError, LimitError
from ..json_text import count_values, cut_json, parse_json
from ..linear import LinearArray
from .description_tree import (
    NAME,
    PANDAS,
    FrameLabels,
    VariableLabels,
    check_keys,
    description_error,
    object_at,
    read_dataset_attrs,
    read_variables,
    write_attrs,
    write_frame,
    write_variable,
)

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
        """Every array of which something is said, coordinates first."""
        return self.coords | self.data_vars

    def find(self, name: str) -> VariableLabels | None:
        """Return the labels of an array; None if it has none."""
        return self.coords.get(name) or self.data_vars.get(name)

    def get(self, name: str) -> VariableLabels:
        """Return the labels of an array that is known to have some; KeyError otherwise."""
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
        """Return the text as an array of text, of which each element fits into a cell.

        Args:
            limit: characters that a cell holds.

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
        return np.array(cut_json(text, limit, NAME))

    @classmethod
    def from_pieces(cls, pieces: np.ndarray[Any, Any]) -> DatasetLabels:
        """Return the labels that a description holds, whose text is given in pieces.

        Raises:
            FormatError: no such description, or one that contradicts itself; `.location` begins with its name.
        """
        texts = pieces.tolist()
        if blank := [number for number, piece in enumerate(texts) if not isinstance(piece, str) or not piece.strip()]:
            raise description_error(f"piece {blank[0] + 1} of {len(texts)} is blank")
        text = "".join(texts).encode("utf-8", "surrogatepass")
        try:
            tree = parse_json(
                text, "a description", most_bytes=MOST_BYTES, most_values=MOST_VALUES, deepest=DEEPEST_JSON
            )
        except FormatError as error:
            raise description_error(error.reason, *([error.location] if error.location else [])) from error
        check_keys(object_at(tree), _KEYS)
        attrs, frame = read_dataset_attrs(object_at(tree, "attrs"))
        coords = dict(read_variables(tree, "coords"))
        data_vars = dict(read_variables(tree, "data_vars"))
        for name in coords.keys() & data_vars.keys():
            raise description_error("stands both among the coordinates and among the other arrays", name)
        labels = cls(coords, data_vars, attrs, frame)
        sizes, said = labels.sizes(), object_at(tree, "dims")
        for dim, size in said.items():
            if sizes.get(dim, size) != size:
                raise description_error(f"the dimension {dim!r:.80} has {size!r:.40}, and {sizes[dim]} in its arrays")
        if "dims" in tree and (other := sizes.keys() ^ said.keys()):
            raise description_error(f"{min(other)!r:.80} is not a dimension both of its arrays and of all", "dims")
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


def is_description(array: Any) -> bool:
    """Return whether an array is a description of others, perhaps a damaged one, by the words that stand in it."""
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "UTO":
        return False
    if not 0 < array.size <= _MOST_PIECES:
        return False
    text = "".join(piece for piece in array.tolist() if isinstance(piece, str))
    return '"data_vars"' in text or '"coords"' in text


def _check_index(labels: DatasetLabels) -> None:
    """Check that the levels of each index are coordinates along its dimension."""
    for dim, levels in labels.frame.index.items():
        for level in levels:
            if level not in labels.coords or labels.coords[level].dims != (dim,):
                raise description_error(f"{level!r:.80} is no coordinate along {dim!r:.80}", "attrs", PANDAS, "index")
        if len({*levels}) < len(levels):
            raise description_error("a level stands twice", "attrs", PANDAS, "index")
