"""Arrays with labels <-> the columns of one table: coordinates first, a row for each combination of their labels.

With `columns=` one dimension goes to the right: a column for each of its labels, as people type such tables. Rows may
be sorted, and appended: reading places each row by its coordinates.

What the cells do not say (dtypes, attributes, dimensions of smaller arrays) is a note, which workbooks keep:

    labels     the text of `dataset.json`
    dtypes     of each column
    axes       the column that tells the places along a dimension, by dimension
    by_value   the dimensions whose labels are counted by their values, though their rows stand the other way round:
               latitudes that ascend, with north up
    rows       how many there are below the names
    beside     for `columns=`: the dimension, the flat list of each of its coordinates, and for each column the name of
               its array and the place along that dimension
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..dtypes import Array, find_missing_value
from ..errors import DTypeError, FormatError, LimitError, NotFoundError, quote_names, warn_caller
from ..linear.array import from_linear, to_linear
from ..linear.named import linear_arrays
from ..tables import LabelledTable, coarsen
from ..values import DEFAULT_NAME, is_of
from .columns import LabelledArrays, describe_arrays
from .datasets import name_dimensions
from .description import DatasetLabels, VariableLabels, notes_of_variables
from .north import find_north

_MOST_CHARACTERS = 2**24
_MOST_ABSENT, _MOST_TIMES = 2**20, 64  # combinations of labels of a table, and for each row of it, if some have no row


@dataclass(slots=True)
class TableNote:
    """The labels of a table's arrays that its cells do not show."""

    labels: DatasetLabels  # of the arrays
    dtypes: dict[str, str] = field(default_factory=dict)  # the dtype name of each column
    # the column that tells the places along a dimension, by dimension; without one, rows are counted
    axes: dict[str, str] = field(default_factory=dict)
    beside: str = ""  # the dimension whose labels are names of columns; "" for none
    coords_beside: dict[str, Array] = field(default_factory=dict)  # the coordinates along that dimension
    # for each column that is a part of an array: the name of the array, and the place along that dimension
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)  # of the arrays, in the order in which they were written
    by_columns: list[str] = field(default_factory=list)  # those that are column-major
    texts: list[str] = field(default_factory=list)  # the generic columns that hold text and None alone
    by_value: list[str] = field(default_factory=list)  # the dimensions whose labels ascend, but not from row to row
    rows: int | None = None  # how many there were; None in files of earlier versions
    blank_rows: int = 0  # how many of the last rows hold nothing but blank text
    ends_in_totals: bool = False  # whether the last row has a word such as "total"
    na_rep: str = ""  # the text of missing values; "" if their cells are blank
    table: str = ""  # the name of the Excel Table, where it is known
    old_names: dict[str, str] = field(default_factory=dict)  # of columns that people have renamed, by the names now
    old_coords_beside: dict[str, Array] = field(default_factory=dict)  # those whose labels were renamed, as they were
    gone: list[str] = field(default_factory=list)  # columns that people have deleted
    original: TableNote | None = None  # the note as it was recorded, where columns were renamed or deleted

    @classmethod
    def of_plain(cls, dtypes: Mapping[str, str], rows: int) -> TableNote:
        """Return the note of columns without labels."""
        return cls(DatasetLabels(), dict(dtypes), names=list(dtypes), rows=rows)

    @property
    def is_labelled(self) -> bool:
        """Whether the arrays had labels."""
        return bool(self.labels.variables)

    def list_columns(self, names: Collection[str]) -> list[str]:
        """Return the columns that some arrays take, and those that tell the places along their dimensions."""
        meant = {*names, *self.axes.values()}
        return [name for name in self.dtypes if name in meant or self.places.get(name, (name, 0))[0] in meant]

    def rename_columns(self, names: Mapping[str, str]) -> TableNote:
        """Return the note of a table in which people have renamed columns.

        An array has the name of its column, and so has the dimension whose coordinate it is. If the column is named
        after a label, the label is another one, unless the new name is no label of that dtype.

        `names`: the names now, by those that were written.
        """
        arrays = {name: now for name, now in names.items() if name not in self.places}
        dims = {dim: names[column] for dim, column in self.axes.items() if column == dim in names}
        labels = self.labels.rename(arrays, lambda dim: dims.get(dim, dim))
        for name in arrays.values():
            labels.frame.labels.pop(name, None)
        coordinates = dict(self.coords_beside)
        if self.beside in coordinates:
            coordinates[self.beside] = self._rename_labels(coordinates[self.beside], names)
        return replace(
            self,
            labels=labels,
            dtypes={names.get(name, name): dtype for name, dtype in self.dtypes.items()},
            axes={dims.get(dim, dim): names.get(name, name) for dim, name in self.axes.items()},
            coords_beside=coordinates,
            places={names.get(name, name): place for name, place in self.places.items()},
            names=[arrays.get(name, name) for name in self.names],
            by_columns=[arrays.get(name, name) for name in self.by_columns],
            texts=[names.get(name, name) for name in self.texts],
            by_value=[dims.get(dim, dim) for dim in self.by_value],
            old_names={now: name for name, now in names.items()},
            old_coords_beside={
                name: array for name, array in self.coords_beside.items() if coordinates[name] is not array
            },
        )

    def _rename_labels(self, labels: Array, names: Mapping[str, str]) -> Array:
        """Return labels that are names of columns, with the names that renamed columns have now."""
        columns, is_text = Counter(at for _, at in self.places.values()), labels.dtype.kind == "U"
        width = max([labels.dtype.itemsize // 4, *map(len, names.values())]) if is_text else 0
        renamed = labels.astype(f"U{width}") if is_text else labels.copy()
        changed = []
        for name, now in names.items():
            array, at = self.places.get(name, ("", -1))
            if columns[at] != 1:  # other columns have the label still
                continue
            prefix = f"{array} "
            text = now.removeprefix(prefix) if name.startswith(prefix) else now
            with suppress(ValueError, TypeError, OverflowError):
                renamed[at] = np.array([text]).astype(renamed.dtype)[0]
                changed.append(at)
        counts = Counter(renamed.tolist())
        for at in changed:
            if counts[renamed[at].item() if isinstance(renamed[at], np.generic) else renamed[at]] > 1:
                renamed[at] = labels[at]
        if not changed or (renamed == labels).all():
            return labels
        return renamed.astype(f"U{max(1, *map(len, renamed.tolist()))}") if is_text else renamed

    def leave_out(self, gone: Sequence[str]) -> TableNote:
        """Return the note without arrays whose columns people have deleted; what labels and parts need stays."""
        needed = {*self.axes.values(), *self.places}
        lost, old = {name for name in gone if name not in needed}, self.labels
        index = {dim: levels for dim, levels in old.frame.index.items() if not lost & {*levels}}
        without = lost | {dim for dim in old.frame.index if dim not in index}
        labels = replace(
            old,
            coords={name: variable for name, variable in old.coords.items() if name not in without},
            data_vars={name: variable for name, variable in old.data_vars.items() if name not in without},
            frame=replace(old.frame, index=index),
        )
        return replace(
            self,
            labels=labels,
            dtypes={name: dtype for name, dtype in self.dtypes.items() if name not in lost},
            names=[name for name in self.names if name not in lost],
            by_columns=[name for name in self.by_columns if name not in lost],
            texts=[name for name in self.texts if name not in lost],
            gone=list(gone),
        )

    def as_written(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """Return arrays in the order in which they were written, each with its elements in the order that it had."""
        names = dict.fromkeys([*filter(arrays.__contains__, self.names), *arrays])
        return {name: np.asfortranarray(arrays[name]) if name in self.by_columns else arrays[name] for name in names}

    def to_json(self) -> dict[str, Any]:
        """Return the note as a JSON object; an empty one, with a warning, for labels that are not kept."""
        try:
            text = str(self.labels.to_pieces(_MOST_CHARACTERS)) if self.is_labelled else ""
            coordinates = {name: to_linear(array) for name, array in self.coords_beside.items()}
        except (DTypeError, LimitError) as error:
            warn_caller(f"the table is written without its labels: {error}")
            return {}
        beside = {"dim": self.beside, "kept": coordinates, "places": self.places} if self.beside else None
        note: dict[str, Any] = {"labels": text, "dtypes": self.dtypes, "axes": self.axes, "beside": beside}
        if self.names != list(self.dtypes):
            note["names"] = self.names
        if self.rows is not None:
            note["rows"] = self.rows
        if self.blank_rows:
            note["blank_rows"] = self.blank_rows
        if self.ends_in_totals:
            note["ends_in_totals"] = True
        if self.na_rep:
            note["na_rep"] = self.na_rep
        if self.by_value:
            note["by_value"] = self.by_value
        if self.texts:
            note["texts"] = self.texts
        return note | ({"by_columns": self.by_columns} if self.by_columns else {})

    @classmethod
    def from_json(cls, tree: Any) -> TableNote | None:
        """Return the note in a JSON object; None if there is none, with a warning if it is damaged."""
        if not tree:
            return None
        try:
            labels = tree["labels"]
            note = cls(DatasetLabels.from_pieces(np.array([labels])) if labels else DatasetLabels())
            note.dtypes = {str(name): str(dtype) for name, dtype in dict(tree["dtypes"]).items()}
            note.axes = {str(dim): str(name) for dim, name in dict(tree["axes"]).items()}
            if beside := tree["beside"]:
                note.beside = str(beside["dim"])
                note.coords_beside = {str(name): from_linear(cells) for name, cells in dict(beside["kept"]).items()}
                note.places = {str(n): (str(array), int(at)) for n, (array, at) in dict(beside["places"]).items()}
            note.names = [str(name) for name in tree.get("names", note.dtypes)]
            note.by_columns = [str(name) for name in tree.get("by_columns", [])]
            note.by_value = [str(dim) for dim in tree.get("by_value", [])]
            note.texts = [str(name) for name in tree.get("texts", [])]
            note.na_rep = str(tree.get("na_rep", ""))
            note.blank_rows = int(tree.get("blank_rows", 0))
            note.ends_in_totals = bool(tree.get("ends_in_totals", False))
            note.rows = int(tree["rows"]) if "rows" in tree else None
            return note
        except (FormatError, KeyError, TypeError, ValueError, AttributeError) as error:
            warn_caller(f"the labels of the table are damaged, and not used: {error!s:.200}")
            return None


_passes_over: ContextVar[bool] = ContextVar("_passes_over", default=False)


@contextmanager
def passing_over_tables() -> Iterator[None]:
    """Read recorded tables as ordinary ones while the context lasts."""
    token = _passes_over.set(True)
    try:
        yield
    finally:
        _passes_over.reset(token)


def takes_recorded_tables() -> bool:
    """Return whether recorded tables are read as the arrays that they are."""
    return not _passes_over.get()


def lay_out_labels(table: Any, columns: str | None = None, *, north_up: bool = False) -> Any:
    """Return the columns of arrays with labels, each made when it is needed; any other table as it is.

    `columns`: the dimension whose labels become the names of columns; None gives each array one column. `north_up`:
    begin with the north where a dimension is a latitude; only for containers that record it, so that reading gives the
    elements their own order again.

    Raises:
        DTypeError: a variable that no array holds; names it.
        LimitError: two columns of one name.
        ValueError: `columns` for a table without dimensions.
        NotFoundError: no such dimension.
    """
    is_dataset = is_of(table, "xarray", "Dataset", "DataArray") or isinstance(table, LabelledArrays)
    if not is_dataset and not is_of(table, "pandas", "DataFrame", "Series"):
        if columns is not None:
            raise ValueError("columns= is for arrays with labels: a Dataset, a DataArray, or what a read returned")
        return table
    arrays, labels = describe_arrays(table) or ({}, None)
    if not arrays or (labels is None and not isinstance(table, LabelledArrays)):
        return table
    if lists := [name for name, array in arrays.items() if is_of(array, "awkward")]:
        raise DTypeError(f"{lists[0]}: a column of a table cannot hold lists: sheetarray.write keeps them")
    written = linear_arrays(arrays)
    linear = {name: array.to_numpy() for name, array in written.items()}
    note = TableNote(labels or DatasetLabels())
    note.names = list(written)
    note.by_columns = [name for name, array in written.items() if array.order == "column-major"]
    dims = name_dimensions(linear, note.labels)
    sizes: dict[str, int] = {}
    for name in sorted(linear, key=lambda name: -linear[name].ndim):  # the largest array says their order
        sizes |= {dim: size for dim, size in zip(dims[name], linear[name].shape, strict=True) if dim not in sizes}
    for name in [name for name in linear if note.labels.find(name) is None]:
        note.labels.data_vars[name] = VariableLabels(dims[name], str(linear[name].dtype), linear[name].shape)
    if columns is not None:
        _spread_columns(columns, linear, dims, sizes, note)
    if len(sizes) > 1 or is_dataset:
        _add_axes(linear, dims, sizes, note)
    if north_up:
        _turn_latitudes(linear, dims, note)
    first = [*note.axes.values(), *note.labels.coords]
    order = {name: linear[name] for name in [*dict.fromkeys(first), *linear] if name in linear}
    note.dtypes = {name: array.dtype for name, array in linear_arrays(order).items()}
    note.rows = math.prod(sizes.values())
    notes = notes_of_variables(note.labels.variables)
    shown = {name: notes[own] for name in order if (own := note.places.get(name, (name, 0))[0]) in notes}
    return LabelledTable(order, dims, sizes, note.to_json, shown)


def _spread_columns(
    dim: str, arrays: dict[str, Array], dims: dict[str, tuple[str, ...]], sizes: dict[str, int], note: TableNote
) -> None:
    """Put a column for each label of a dimension in the place of the arrays along it."""
    if dim not in sizes:
        raise NotFoundError(f"no dimension {dim!r}; there is {quote_names(list(sizes), 20)}")
    note.beside = dim
    note.coords_beside = {
        name: arrays.pop(name) for name in list(arrays) if dims[name] == (dim,) and name in note.labels.coords
    }
    if lost := [name for name in note.coords_beside if name != dim]:
        warn_caller(f"{quote_names(lost)} cannot be in the cells, because the labels of {dim!r} become columns")
    labels = _label_texts(note.coords_beside.get(dim, np.arange(sizes.pop(dim))))
    sizes.pop(dim, None)
    spread = [name for name in arrays if dim in dims[name]]
    alone = len(spread) == 1 and not {*labels} & {*arrays, *sizes} and len({*labels}) == len(labels)
    for name in spread:
        array, own = arrays.pop(name), dims[name]
        for place, label in enumerate(labels):
            column = label if alone else f"{name} {label}"
            if column in arrays:
                raise LimitError(f"two columns would have the name {column!r:.80}: labels along {dim!r} are alike")
            arrays[column] = np.take(array, place, axis=own.index(dim))
            dims[column] = tuple(other for other in own if other != dim)
            note.places[column] = (name, place)


def _add_axes(
    arrays: dict[str, Array], dims: dict[str, tuple[str, ...]], sizes: Mapping[str, int], note: TableNote
) -> None:
    """Find the column that tells the places along each dimension; add one that counts if there is no coordinate."""
    for dim, size in sizes.items():
        if dims.get(dim) == (dim,) and dim in arrays:
            note.axes[dim] = dim
        elif len(sizes) > 1 or note.beside:
            name = dim
            while name in arrays:
                name += "_"
            arrays[name], dims[name] = np.arange(size), (dim,)
            note.axes[dim] = name


def _turn_latitudes(arrays: dict[str, Array], dims: Mapping[str, tuple[str, ...]], note: TableNote) -> None:
    """Reverse the arrays along each latitude that ascends, so that the rows of a table begin in the north."""
    coords = {dim: note.labels.coords[dim] for dim, name in note.axes.items() if name == dim in note.labels.coords}
    note.by_value = [dim for dim, label in coords.items() if find_north(arrays[dim], dim, label.attrs) == "last"]
    for name in arrays if note.by_value else ():
        turned = [axis for axis, dim in enumerate(dims[name]) if dim in note.by_value]
        arrays[name] = np.flip(arrays[name], tuple(turned)) if turned else arrays[name]


def _label_texts(labels: Array) -> list[str]:
    """Return the names of columns for labels: dates without a time of midnight, numbers with all digits."""
    if labels.dtype.kind == "M":
        return list(np.datetime_as_string(coarsen(labels)).tolist())
    return [("TRUE" if value else "FALSE") if isinstance(value, bool) else str(value) for value in labels.tolist()]


_PUT_BACK = "put it back, or take the columns as they are with read_columns"
Infer = Callable[[list[str]], Array]
"""A function that returns the array that some texts are, as a column of them would be read."""


def stack_labels(
    columns: Mapping[str, Array],
    dims: Sequence[str] | None,
    beside: str | None,
    note: TableNote | None,
    infer: Infer,
    written: Mapping[str, Array] | None = None,
    *,
    may_differ: bool = False,
    names: Collection[str] | None = None,
) -> tuple[dict[str, Array], DatasetLabels]:
    """Return the arrays in the columns of a table, and their labels.

    `columns`: by name. `dims`: the columns whose values are the labels of dimensions; None for those of the note, or
    for rows that are counted. `beside`: the name of the dimension whose labels are the names of all other columns;
    None for none. `written`: the columns as they were, whose labels keep their order; None where that is not known.
    `may_differ`: whether rows that repeat an element may differ; one of them counts then. `names`: of the arrays whose
    columns are given; None for all.

    With a note, elements whose labels have no row are missing values: NaN, NaT, "" or None.

    Raises:
        FormatError: two rows of the same labels, labels without a row, or other columns than the note says.
        NotFoundError: a column does not exist.
    """
    if note is not None and (dims is not None or beside is not None):
        given, recorded = (
            {*(dims or ()), *([beside] if beside else ())},
            {*note.axes, *([note.beside] * (note.beside > ""))},
        )
        note = note if given == recorded else None
    axes, counted = ({name: name for name in dims or ()}, []) if note is None else _find_axes(note)
    if absent := [name for name in axes.values() if name and name not in columns]:
        if note is not None:
            what = f"no column {quote_names(absent, 20)} any more, whose labels say which elements stand in a row"
            raise FormatError(what, hint=_PUT_BACK)
        raise NotFoundError(f"no column {quote_names(absent, 20)}; there is {quote_names(list(columns), 20)}")
    rows = len(next(iter(columns.values()), ()))
    if note is None and dims is None:
        axes = {"row": ""}
    sizes, positions = _place_rows(columns, axes, rows, counted, written or {}, may_lack=note is not None)
    own = {name: (dim,) for dim, name in axes.items() if name}
    arrays: dict[str, Array] = {}
    wide: dict[str, list[tuple[int, Array]]] = {}
    labels = DatasetLabels() if note is None else replace(note.labels, data_vars={**note.labels.data_vars})
    places = _find_places(columns, axes, beside) if note is None else note.places
    dims_of: dict[str, tuple[str, ...]] = {}
    for name, column in columns.items():
        array, place = places.get(name, (name, None))
        described = labels.find(array) if labels.has_array(array) else None
        along = own.get(name) or (tuple(sizes) if described is None else described.dims)
        along = tuple(dim for dim in along if place is None or dim != (note.beside if note else beside))
        labelled = {dim: columns[axes[dim]] for dim in axes if axes[dim]}
        folded = _fold(name, column, along, sizes, positions, labelled, may_differ=may_differ)
        if place is None:
            if note is None or described is not None or name not in own:
                arrays[name], dims_of[name] = folded, along
            if note is not None and described is None and name not in own:  # somebody has added the column
                labels.data_vars[name] = VariableLabels(along, str(folded.dtype), folded.shape)
        else:
            wide.setdefault(array, []).append((place, folded))
            dims_of[array] = along
    if note is not None:
        _check_places(columns, note, names)
        arrays |= note.coords_beside
    for name, parts in wide.items():
        dim = note.beside if note is not None else str(beside)
        described = labels.find(name)
        if len({part.shape for _, part in parts}) > 1 or (described is not None and dim not in described.dims):
            raise FormatError(f"the record of {name!r:.80} is damaged: its columns do not fit together", hint=_HINT)
        stacked = np.stack([part for _, part in sorted(parts, key=lambda part: part[0])], axis=-1)
        goal = described.dims if described is not None else (*dims_of[name], dim)
        arrays[name] = np.moveaxis(stacked, -1, goal.index(dim)) if described is not None else stacked
        dims_of[name] = goal
    if note is None and beside is not None:
        arrays[beside] = infer(list(places))
        own[beside], dims_of[beside] = (beside,), (beside,)
    if note is None:
        for name, values in arrays.items():
            variable = VariableLabels(dims_of[name], str(values.dtype), values.shape)
            (labels.coords if name in own else labels.data_vars)[name] = variable
    return _in_order(arrays, labels), labels


def _find_axes(note: TableNote) -> tuple[dict[str, str], list[str]]:
    """Return the column that tells the places along each dimension, "" for the number of the row, and the dimensions
    whose numbers tell the order, however the rows are sorted.
    """
    axes = dict(note.axes)
    if not axes and not note.beside:
        axes = {next((dim for variable in note.labels.variables.values() for dim in variable.dims), "row"): ""}
    return axes, [dim for dim, name in axes.items() if dim in note.by_value or note.labels.find(name) is None]


class ElementRows:
    """Finds the row of a recorded table in which an element of its arrays stands.

    `columns`: of the table, by name. `written`: as for `stack_labels`.
    """

    def __init__(self, columns: Mapping[str, Array], note: TableNote, written: Mapping[str, Array] | None) -> None:
        self._note, rows = note, len(next(iter(columns.values()), ()))
        axes, counted = _find_axes(note)
        sizes, positions = _place_rows(columns, axes, rows, counted, written or {}, may_lack=True)
        grid = np.unravel_index(positions, list(sizes.values())) if sizes and rows else [positions] * len(sizes)
        self._sizes, self._along = sizes, dict(zip(sizes, grid, strict=True))
        self._first_rows: dict[tuple[str, ...], tuple[Array, Array]] = {}

    def find(self, name: str, index: Sequence[int]) -> tuple[str, int] | None:
        """Return the column, and the first row, in which an element of an array stands; None if it stands nowhere."""
        variable = self._note.labels.find(name)
        dims = tuple(self._along)[:1] if variable is None else variable.dims
        column, beside = name, {dim: at for dim, at in zip(dims, index, strict=False) if dim == self._note.beside}
        if beside:
            place = name, beside[self._note.beside]
            column = next((own for own, meant in self._note.places.items() if tuple(meant) == place), "")
        along = {dim: at for dim, at in zip(dims, index, strict=False) if dim in self._along}
        row = self._find_first_row(along) if all(at < self._sizes[dim] for dim, at in along.items()) else None
        return (column, row) if column and row is not None else None

    def _find_first_row(self, along: Mapping[str, int]) -> int | None:
        """Return the first row that has some places along dimensions; None if there is none."""
        if not along:
            return 0
        dims, shape = tuple(along), [self._sizes[dim] for dim in along]
        if dims not in self._first_rows:
            places = np.ravel_multi_index([self._along[dim] for dim in dims], shape)
            self._first_rows[dims] = np.unique(places, return_index=True)
        places, rows = self._first_rows[dims]
        place = int(np.ravel_multi_index([*along.values()], shape))
        number = int(np.searchsorted(places, place))
        return int(rows[number]) if number < len(places) and places[number] == place else None

    @property
    def are_counted(self) -> bool:
        """Whether each row of the table is an element of every array."""
        return len(self._along) == 1 and not self._note.beside and not self._note.by_value


def _in_order(arrays: dict[str, Array], labels: DatasetLabels) -> dict[str, Array]:
    return {name: arrays[name] for name in [*labels.variables, *arrays] if name in arrays}


def _find_places(
    columns: Mapping[str, Array], axes: Mapping[str, str], beside: str | None
) -> dict[str, tuple[str, int]]:
    """Return the place of each column whose name is a label; of no column without a dimension of labels."""
    names = [name for name in columns if name not in axes.values()] if beside is not None else []
    return {name: (DEFAULT_NAME, place) for place, name in enumerate(names)}


def _check_places(columns: Mapping[str, Array], note: TableNote, names: Collection[str] | None) -> None:
    needed = [name for name in note.labels.variables if note.labels.has_array(name) and name not in note.coords_beside]
    spread = {array for array, _ in note.places.values()}
    needed = [name for name in needed if name not in spread] + list(note.places)
    if names is not None:
        needed = [name for name in needed if note.places.get(name, (name, 0))[0] in names]
    if absent := [name for name in needed if name not in columns]:
        raise FormatError(
            f"no column {quote_names(absent, 20)} any more, but the table was written with it",
            hint=_PUT_BACK,
        )


def _place_rows(
    columns: Mapping[str, Array],
    axes: Mapping[str, str],
    rows: int,
    counted: Sequence[str],
    written: Mapping[str, Array],
    *,
    may_lack: bool,
) -> tuple[dict[str, int], np.ndarray[Any, Any]]:
    """Return the size of each dimension, and the place of each row in the grid of all labels.

    `counted`: the dimensions whose columns tell the order by their numbers, also of sorted rows: those without
    coordinates, and latitudes that stand with north up.
    `may_lack`: whether labels may have no row.
    """
    codes = {
        dim: _number_beside(columns[name], written.get(name), is_count=dim in counted)
        for dim, name in axes.items()
        if name
    }
    if len(axes) == 1:  # labels may be alike
        (dim,) = axes
        positions = np.arange(rows)
        if dim in counted and dim in codes:
            positions[np.argsort(codes[dim], kind="stable")] = np.arange(rows)
        return {dim: rows}, positions
    sizes = {dim: int(code.max()) + 1 if rows else 0 for dim, code in codes.items()}
    total = math.prod(sizes.values())
    labels = ", ".join(map(repr, axes))
    if total > (max(_MOST_ABSENT, _MOST_TIMES * rows) if may_lack else 2**62):
        raise FormatError(f"only {rows:,} rows for {total:,} combinations of {labels:.200}", hint=_HINT)
    positions = np.zeros(rows, np.int64)
    for dim, code in codes.items():
        positions = positions * sizes[dim] + code
    filled, counts = np.unique(positions, return_counts=True)
    if len(filled) < rows:
        place = int(np.argmax(counts > 1))
        first, second = np.flatnonzero(positions == filled[place])[:2].tolist()
        raise FormatError(f"rows {first + 1} and {second + 1} of the table have the same {labels:.200}", hint=_HINT)
    if rows < total and not may_lack:
        labels_of = {dim: (columns[name], codes[dim]) for dim, name in axes.items()}
        first = _name_first_absent(filled, sizes, labels_of)
        raise FormatError(
            f"{total - rows:,} of {total:,} combinations of labels have no row; the first is {first}", hint=_HINT
        )
    return sizes, positions


def _name_first_absent(filled: Array, sizes: Mapping[str, int], labels: Mapping[str, tuple[Array, Array]]) -> str:
    """Return the labels of the first place in a grid that no row fills.

    `filled`: the places that rows fill, sorted. `labels`: by dimension the column of its labels, and their places.
    """
    differs = np.flatnonzero(filled != np.arange(len(filled)))
    place = int(differs[0]) if len(differs) else len(filled)
    at = np.unravel_index(place, list(sizes.values()))
    texts = []
    for dim, index in zip(sizes, at, strict=True):
        column, codes = labels[dim]
        texts.append(f"{dim}={column[int(np.argmax(codes == index))]!s:.40}")
    return ", ".join(texts)


_HINT = "pass dims= with all columns that tell rows apart, or read the rows as they are with read_columns"


def _number_beside(column: Array, written: Array | None, *, is_count: bool) -> np.ndarray[Any, Any]:
    """Return the number of each element among the distinct ones: those that were written first, in their order."""
    if written is None or is_count or written.dtype.kind != column.dtype.kind:
        return _number(column, is_count=is_count)
    numbers = _number(np.concatenate([written, column]))[len(written) :]
    return np.unique(numbers, return_inverse=True)[1].reshape(-1)


def _number(column: Array, *, is_count: bool = False) -> np.ndarray[Any, Any]:
    """Return the number of each element among the distinct ones, in the order in which they first come.

    `is_count`: numbers stand in their own order.
    """
    if column.dtype.kind in "OT":
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(value, len(numbers)) for value in column.tolist()], np.int64)
    _, firsts, codes = np.unique(column, return_index=True, return_inverse=True)
    if is_count and column.dtype.kind in "iuf":
        return codes.reshape(-1)
    order = np.empty(len(firsts), np.int64)
    order[np.argsort(firsts)] = np.arange(len(firsts))
    return order[codes.reshape(-1)]


def _fold(
    name: str,
    column: Array,
    dims: tuple[str, ...],
    sizes: Mapping[str, int],
    positions: np.ndarray[Any, Any],
    labelled: Mapping[str, Array],
    *,
    may_differ: bool,
) -> Array:
    """Return the array of a column, which repeats it along all other dimensions; missing values where no row is.

    `labelled`: by dimension the column of its labels. `may_differ`: as for `stack_labels`.
    """
    if unknown := [dim for dim in dims if dim not in sizes]:
        raise FormatError(
            f"{name!r:.80} lies along {quote_names(unknown)}, but the table has no such column", hint=_HINT
        )
    along = np.unravel_index(positions, list(sizes.values())) if len(positions) and sizes else [positions] * len(sizes)
    own = [along[list(sizes).index(dim)] for dim in dims]
    shape = tuple(sizes[dim] for dim in dims)
    places = np.ravel_multi_index(own, shape) if dims and len(column) else np.zeros(len(column), np.int64)
    array = np.empty(math.prod(shape), column.dtype)
    filled = np.zeros(array.shape, np.bool_)
    array[places], filled[places] = column, True
    if not filled.all():
        missing = find_missing_value(column.dtype)
        if missing is None and column.dtype.kind != "O":
            labels = {dim: (labelled[dim], codes) for dim, codes in zip(dims, own, strict=True) if dim in labelled}
            named = {dim: sizes[dim] for dim in dims}
            is_named = len(labels) == len(dims) > 0 and len(column) > 0
            first = _name_first_absent(np.flatnonzero(filled), named, labels) if is_named else ""
            raise FormatError(
                f"{name!r:.80}: {np.count_nonzero(~filled):,} of {len(filled):,} combinations of labels have no row"
                f"{first and f'; the first is {first}'}; {column.dtype} has no missing value",
                hint="type these rows, or read the table with read_columns",
            )
        array[~filled] = missing
    if len(dims) < len(sizes) and not may_differ and not _same(array[places], column):
        raise FormatError(
            f"{name!r:.80} has several values for the same {quote_names(list(dims)) or 'table'}",
            hint="type the same value in all of these rows, or read the table with read_columns",
        )
    return array.reshape(shape)


def _same(one: Array, other: Array) -> bool:
    if one.dtype.kind in "mM":
        return bool((one.view(np.int64) == other.view(np.int64)).all())
    return bool(((one == other) | ((one != one) & (other != other))).all())
