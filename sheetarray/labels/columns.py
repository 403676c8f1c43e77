"""Labels in a container: `write` adds the array that describes them, and reading takes it out again.

Only what describes the arrays beside it is taken out. Text that is damaged, or somebody's own array of that name, stays
an array like any other, with a warning; so does a description under another name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..columns import ArrayInfo
from ..errors import Finding, FormatError, LimitError, locating
from ..linear.array import LinearArray
from ..linear.header import NoteFinding
from ..linear.named import note_values, values_by_name
from ..values import Note, is_of
from .datasets import combine_labelled, describe_dataset, find_contradictions, fit_labels, holds_labelled
from .description import NAME, DatasetLabels, VariableLabels, description_error, is_description
from .frames import describe_frame


class LabelledArrays(dict[str, Any]):
    """Arrays that were read, with their labels; `write` takes both.

    `labels`: what is said of them; None for nothing.
    """

    def __init__(self, arrays: Mapping[str, Any], labels: DatasetLabels | None) -> None:
        super().__init__(arrays)
        self.labels = labels


@dataclass(slots=True)
class ReadLabels:
    """The labels that were read, or the error in their description."""

    labels: DatasetLabels | None = None  # the labels in the description; None if the source has none
    error: FormatError | None = None  # what is wrong with the description; None if nothing is

    def get(self) -> DatasetLabels | None:
        """Return the labels that were read; None if the source has no description."""
        if self.error is not None:
            raise self.error
        return self.labels


_reader: ContextVar[ReadLabels | None] = ContextVar("_reader", default=None)


@contextmanager
def reading_labels() -> Iterator[ReadLabels]:
    """Keep the description that `read` or `scan` take out of the arrays, for as long as the context lasts."""
    result = ReadLabels()
    token = _reader.set(result)
    try:
        yield result
    finally:
        _reader.reset(token)


def wants_labels() -> bool:
    """Return whether the caller has asked for the labels of what is being read."""
    return _reader.get() is not None


def has_labels(arrays: Any) -> bool:
    """Return whether the argument of `write` has labels, which plain arrays do not have."""
    if is_of(arrays, "xarray", "Dataset", "DataArray"):
        return True
    if isinstance(arrays, LabelledArrays):
        return arrays.labels is not None
    if is_of(arrays, "pandas", "DataFrame", "Series"):
        return describe_frame(arrays)[1] is not None
    return bool(note_values(arrays)) or holds_labelled(arrays)


def spread_labels(arrays: Any, *, limit: int) -> Any:
    """Return the argument of `write`, in which an array named `dataset.json` stands for the labels, if there are any.

    `arrays`: a Dataset, a DataArray, a DataFrame, a Series, `LabelledArrays`, or anything else. `limit`: how many
    characters a cell of the container holds.

    Raises:
        DTypeError: a variable or an attribute that is not kept; names it.
        LimitError: a variable has the name of the description, or the description is too large.
    """
    described = describe_arrays(arrays)
    if described is None:
        return arrays
    by_name, labels = described
    if labels is None or not by_name:
        return by_name
    if NAME in by_name and labels is not None:
        raise LimitError(f"two arrays would have the name {NAME!r}: rename the variable")
    return by_name | {NAME: labels.to_pieces(limit)}


def refuse_description(array: Any) -> None:
    """Refuse an array named `dataset.json` that describes arrays: reading would take it out."""
    pieces = values_by_name({NAME: array})[NAME]
    pieces = pieces.to_numpy() if isinstance(pieces, LinearArray) else pieces
    with suppress(FormatError):
        if is_description(pieces) and DatasetLabels.from_pieces(pieces):
            raise LimitError(
                f"{NAME!r} describes other arrays, and would be read as their labels: rename it, "
                "or write the Dataset or DataFrame that read_dataset or read_frame returns"
            )


def check_fit(labels: DatasetLabels, arrays: Mapping[str, Any]) -> None:
    """Refuse two arrays that have a dimension of the same name with different lengths."""
    shapes = {name: array for name, array in arrays.items() if hasattr(array, "strides")}
    for error in find_contradictions(shapes, labels):
        raise error


def describe_arrays(arrays: Any) -> tuple[dict[str, Any], DatasetLabels | None] | None:
    """Return arrays by name, and their labels; None for a value without labels.

    `arrays`: a Dataset, a DataArray, a DataFrame, a Series, `LabelledArrays`, a mapping that holds DataArrays, or
    anything else.

    Raises:
        DTypeError: a variable or an attribute that is not kept; names it.
        LimitError: two variables would have one name.
    """
    if is_of(arrays, "xarray", "Dataset", "DataArray"):
        return describe_dataset(arrays)
    if is_of(arrays, "pandas", "DataFrame", "Series"):
        return describe_frame(arrays)
    if isinstance(arrays, LabelledArrays):
        return dict(arrays), arrays.labels and fit_labels(arrays.labels, arrays)
    if holds_labelled(arrays) and (dataset := combine_labelled(arrays)) is not None:
        by_name, labels = describe_dataset(dataset)
        return values_by_name(arrays) | by_name, labels
    notes = note_values(arrays)
    return _describe_notes(arrays, notes) if notes else None


def _describe_notes(arrays: Any, notes: Mapping[str, Note]) -> tuple[dict[str, Any], DatasetLabels]:
    """Return arrays by name, and labels of those that have a note: the rows of a table lie along one dimension."""
    by_name, labels = values_by_name(arrays), DatasetLabels()
    plain = {name: array for name, array in by_name.items() if isinstance(array, np.ndarray)}
    is_table = not isinstance(arrays, Mapping) and len({array.shape[:1] for array in plain.values()}) == 1
    for name, array in plain.items():
        note = notes.get(name)
        if note is None and not is_table:
            continue
        dims = tuple(f"{name}_{axis}" for axis in range(array.ndim))
        dims = ("index", *dims[1:]) if is_table and array.ndim else dims
        kind, units = (note.kind, note.units) if note else ("", "")
        dtype = kind or ("object" if array.dtype.kind in "UTO" else str(array.dtype))
        labels.data_vars[name] = VariableLabels(dims, dtype, array.shape, {"units": units} if units else {})
    return by_name, labels


def parse_label_column(array: Any, note: NoteFinding, locate: Callable[[FormatError], None]) -> DatasetLabels | None:
    """Return the labels that an array named `dataset.json` holds; None if it is an ordinary array, or damaged.

    `note`: is called with a finding if the array holds no labels. `locate`: puts the address at which the description
    begins into an error.
    """
    reader = _reader.get()
    try:
        with locating(array=NAME):
            if not is_description(array):
                raise description_error("describes no arrays")
            labels = DatasetLabels.from_pieces(array)
    except FormatError as error:
        locate(error)
        if is_description(array):
            report_damage(error, note)
        else:
            note(replace(Finding.from_error(error), severity="warning", message=f"{NAME} {_NO_LABELS}", hint=_HINT))
        return None
    if reader is not None:
        reader.labels = labels
    return labels


def give_labels(labels: DatasetLabels) -> None:
    """Pass labels that a container keeps in its own form to the caller, if the caller asks for labels."""
    reader = _reader.get()
    if reader is not None:
        reader.labels = labels


_NO_LABELS = "is read as an ordinary array, because it does not describe labels"
_HINT = "rename it if it is an array of yours; if it held labels, these are lost"


def report_damage(error: FormatError, note: NoteFinding) -> None:
    """Keep the error in a description for a caller who asks for labels; otherwise note it as a finding."""
    reader = _reader.get()
    if reader is not None:
        reader.error = error
    else:
        finding = Finding.from_error(error)
        note(replace(finding, message=f"read as text, since it is damaged: {finding.message}"))


def find_renamed_description(arrays: Mapping[str, Any]) -> str | None:
    """Return the name of a description that was renamed from `dataset.json`; None without one."""
    for name, array in arrays.items():
        if is_description(array):
            text = "".join(map(str, array.reshape(-1).tolist()))
            if any(json.dumps(other) in text for other in arrays if other != name):
                return name
    return None


def name_infos(infos: Mapping[str, ArrayInfo], labels: DatasetLabels, note: NoteFinding) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays but the description, with the names of dimensions where these fit the shape.

    `note`: is called with a finding where it contradicts the arrays, unless the caller asks for labels, and gets an
    error.
    """
    named = {}
    for name, info in infos.items():
        description = labels.find(name)
        fits = description is not None and labels.has_array(name) and len(description.dims) == len(info.shape)
        if name != NAME:
            named[name] = replace(info, dims=description.dims) if fits and description is not None else info
    if not wants_labels():
        for error in find_contradictions(infos, labels):
            note(replace(Finding.from_error(error), location=infos[str(error.array)].location))
    return named


def check_labels(labels: DatasetLabels, infos: Mapping[str, ArrayInfo]) -> Iterator[Finding]:
    """Yield a finding for each statement of a description that contradicts the arrays.

    Dimensions whose lengths have changed since the description was written are no finding so long as all arrays agree:
    people add rows.

    `infos`: what the headers of the arrays say, and that of the description.
    """
    location = infos[NAME].location
    names = {*infos, *(name.removesuffix(".json") for name in infos)}  # columns of lists have their schema
    absent = [name for name in labels.variables if labels.has_array(name) and name not in names]
    for name in absent:
        yield Finding("warning", location, f"describes {name!r:.80}, which is missing or damaged", array=name)
    for error in find_contradictions(infos, labels):
        yield replace(Finding.from_error(error), location=infos[str(error.array)].location)
