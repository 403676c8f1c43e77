"""append: rows at the end of arrays, or of an ordinary table; all of them, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import dtypes
from ..changes.elements import are_alike, cast_exactly
from ..changes.merged_groups import row_axis
from ..columns import ArrayInfo
from ..dtypes import Array
from ..errors import (
    NO_ARRAY,
    DTypeError,
    FormatError,
    LimitError,
    NotFoundError,
    check_kinds,
    has_same_names,
    quote_names,
)
from ..files import changing
from ..formats import Format, format_of, known_options, locate_place
from ..labels import DatasetLabels, LabelledArrays, describe_arrays
from ..linear.array import LinearArray
from ..linear.named import values_by_name
from ..renamed import option_error
from .accepting import refuse_unwritable
from .arrays import read, read_labelled, scan, write
from .targets import SourceOrTarget, list_written_sheets

_NO_TABLE = (
    "append takes tables in CSV and workbooks, and those that write_table put into Google Sheets; elsewhere write the "
    "whole table with write_table"
)


def append(
    target: SourceOrTarget,
    arrays: Any,
    *,
    sheet: str | int | None = None,
    table: str | None = None,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, int]:
    """Append rows to arrays, or to a table in CSV or a workbook. All rows arrive, or none.

    - Rows run along the first axis; of a column-major array along the last.
    - Arrays that share rows grow together: by their dimensions, or else those with as many rows in one sheet.
    - Values are cast where that loses nothing, such as `[4]` to float64.
    - Everything else stays as it is. In a workbook, headers, names, views, checksums and the guard become true. Edits
      that `check` names are still named afterwards, if the array has a guard and no view.
    - An ordinary CSV table grows in place, with its delimiter, decimal mark, quotes, line ends and encoding.
    - A table of a workbook grows too, and the range of its Excel Table; new cells have the formats of those above.

    Args:
        target: a path or a URL of a file that exists, or a URL of Google Sheets.
        arrays: the new rows: a mapping of names to arrays, a DataFrame (with its index), or a Dataset.
        sheet: the title of a sheet, or its index from 0; None for all arrays, or for the first table. If arrays of
            several sheets have one name, None means the only sheet that has all of the arrays, and `north!t` the array
            of a sheet by its title.
        table: the name of an Excel Table, whose rows they become; also where arrays stand in the workbook.
        format: the name of a format; None chooses it by the suffix.
        storage_options: options of the file system of a URL.
        **options: options of the format, as for `read`, such as `client`.

    Returns:
        The new number of rows of each array, or of each column of a table.

    Raises:
        NotFoundError: the target has no array of that name, or is in a format that is only read.
        DTypeError: an array cannot hold the new rows exactly. Nothing was written.
        LimitError: rows of another shape, or arrays are missing that share the rows. Nothing was written.
        FormatError: the target cannot be read. Nothing was written.

    Example:
        >>> import tempfile, pathlib
        >>> import numpy as np
        >>> from sheetarray import read, write
        >>> path = pathlib.Path(tempfile.mkdtemp(), "t.csv")
        >>> write(path, {"t": np.array([1.5, 2.5]), "n": np.array([1, 2])})
        >>> append(path, {"t": [3], "n": [3]})
        {'t': 3, 'n': 3}
        >>> read(path)["t"]
        array([1.5, 2.5, 3. ])
    """
    check_kinds(str | int | None, "the title of a sheet, or its index", sheet=sheet)
    check_kinds(str | None, "the name of an Excel Table", table=table)
    if sheet is not None:
        options["sheet"] = sheet
    place = locate_place(target, storage_options, format, options.get("client"))
    row = format_of(place, format)
    refuse_unwritable(row)
    for option in options:
        if option not in row.options("read"):
            own = ("sheet", "table", "format", "storage_options")
            raise option_error("append", option, [*dict.fromkeys((*own, *row.options("read")))], of=row.title)
    rows, is_labelled = _describe_rows(arrays)

    def read_standing(names: Sequence[str]) -> Mapping[str, Any]:
        return read(place, names, format=format, **known_options(place, format, options, "read"))

    fitting = _Fitting(rows, read_standing if is_labelled else None)
    with changing(place):
        append_rows, append_table = (_find(row, verb) for verb in ("append", "append_table"))
        of_table = (
            {} if append_table is None else known_options(place, format, {**options, "table": table}, append_table)
        )
        if table is not None and "table" not in of_table:
            raise TypeError(f"append has no option 'table' for {row.title}, whose tables have no names")
        if append_rows is not None and table is None:
            try:
                row.function("append")(place, rows, fit=fitting.fit, **known_options(place, format, options, "append"))
            except FormatError as error:
                if has_same_names(error.reason) and sheet is None:
                    return _append_to_sheet(place, row, rows, error, format, options)
                if error.reason != NO_ARRAY:
                    raise
                if append_table is None:
                    error.hint = _NO_TABLE
                    raise
            else:
                return fitting.lengths
        if append_table is not None:
            lengths = row.function("append_table")(place, rows, **of_table)
            if lengths is not None:
                return dict(lengths)
        try:
            infos = scan(place, format=format, **known_options(place, format, options, "scan"))
        except FormatError as error:
            if error.reason == NO_ARRAY:
                error.hint = _NO_TABLE
            raise
        if getattr(infos, "dialect", None) is not None:
            raise FormatError("the target holds an ordinary table, and no array", hint=_NO_TABLE)
        _rewrite(place, row, fitting.fit(infos), format, options)
    return fitting.lengths


def _append_to_sheet(
    place: Any,
    row: Format,
    rows: Mapping[str, Array],
    error: FormatError,
    format: str | None,
    options: Mapping[str, Any],
) -> dict[str, int]:
    """Append rows to the one sheet that has all of their arrays, by these names or with its title before them.

    `error`: is raised if there is no such sheet, or several.
    """
    fitting: dict[str, dict[str, str]] = {}  # by the titles of sheets the names there, by those of the rows
    for title in list_written_sheets(place, row):
        infos = scan(place, format=format, **known_options(place, format, {**options, "sheet": title}, "scan"))
        names = {name: name if name in infos else name.removeprefix(f"{title}!") for name in rows}
        if {*names.values()} <= {*infos} and len({*names.values()}) == len(names):
            fitting[title] = names
    if len(fitting) != 1:
        titles = " or ".join(f"sheet={title!r:.60}" for title in fitting or list_written_sheets(place, row)[:1])
        several = "several sheets have" if fitting else "no sheet has"
        error.hint = f"{several} all of these arrays: append to one sheet, {titles}" if titles else error.hint
        raise error
    ((title, names),) = fitting.items()
    of_sheet = _Fitting({names[name]: array for name, array in rows.items()})
    how = known_options(place, format, {**options, "sheet": title}, "append")
    row.function("append")(place, {names[name]: array for name, array in rows.items()}, fit=of_sheet.fit, **how)
    return {name: of_sheet.lengths[names[name]] for name in rows}


def _find(row: Format, verb: str) -> str | None:
    """Return a verb if the adapter of a format has it."""
    try:
        row.function(verb)
    except NotFoundError:
        return None
    return verb


class _Fitting:
    """New rows, which are made to fit the arrays that stand in a target.

    Attributes:
        lengths: the number of rows of each array afterwards, once `fit` was called.
    """

    def __init__(
        self, rows: Mapping[str, Array], read_standing: Callable[[Sequence[str]], Mapping[str, Any]] | None = None
    ) -> None:
        """Make rows fit; `read_standing`: reads arrays of the target, for rows that bring their coordinates."""
        self._rows, self._read_standing = rows, read_standing
        self.lengths: dict[str, int] = {}

    def fit(self, infos: Mapping[str, ArrayInfo]) -> dict[str, Array]:
        """Return the rows in the dtypes of their arrays, or refuse them."""
        fixed = self._find_fixed(infos)
        rows = {name: _fit(name, array, infos) for name, array in self._rows.items() if name not in fixed}
        _refuse_uneven(rows, infos)
        self.lengths = {
            name: infos[name].shape[_axis_of(infos[name])] + _count(array, infos[name]) for name, array in rows.items()
        }
        return rows

    def _find_fixed(self, infos: Mapping[str, ArrayInfo]) -> list[str]:
        """Return the arrays of a Dataset that do not grow, such as the coordinates of all dimensions but the rows'.

        Raises:
            LimitError: they hold other elements than in the target.
        """
        present = {name: infos[name] for name in self._rows if name in infos and infos[name].dims is not None}
        across = {dim for info in present.values() for dim in info.dims or () if info.dims and dim != _row_dim(info)}
        names = [name for name, info in present.items() if {*(info.dims or ())} <= across]
        if self._read_standing is None or not names:
            return []
        standing = self._read_standing(names)
        for name in names:
            array = np.asarray(standing[name])
            if (cast := cast_exactly(self._rows[name], array.dtype)) is None or not are_alike(array, cast):
                raise LimitError(f"{name}: its elements differ from those of the target, and it has no rows to append")
        return names


def _row_dim(info: ArrayInfo) -> str | None:
    """Return the dimension along which the rows of an array lie; None for an array without dimensions."""
    return info.dims[_axis_of(info)] if info.dims else None


def _describe_rows(arrays: Any) -> tuple[dict[str, Array], bool]:
    """Return new rows as arrays by name, the index of a frame among them, and whether they have labels."""
    described = describe_arrays(arrays)
    named = values_by_name(arrays) if described is None else described[0]
    rows: dict[str, Array] = {}
    for name, array in values_by_name(named).items():
        rows[name] = array.to_numpy() if isinstance(array, LinearArray) else np.asarray(array)
    return rows, described is not None


def _axis_of(info: ArrayInfo) -> int:
    """Return the axis along which the rows of an array lie: the one that varies slowest in its column."""
    return len(info.shape) - 1 if info.order == "column-major" else 0


def _count(array: Array, info: ArrayInfo) -> int:
    return int(array.shape[_axis_of(info)])


def _fit(name: str, array: Array, infos: Mapping[str, ArrayInfo]) -> Array:
    """Return new rows in the dtype of their array.

    Raises:
        NotFoundError: there is no such array.
        LimitError: the rows have another shape.
        DTypeError: the dtype does not hold them exactly.
    """
    if name not in infos:
        raise NotFoundError(f"no array {name!r:.80}; there is {quote_names(list(infos))}")
    info, axis = infos[name], _axis_of(infos[name])
    rest = info.shape[:axis] + info.shape[axis + 1 :]
    if not info.shape or array.ndim != len(info.shape) or array.shape[:axis] + array.shape[axis + 1 :] != rest:
        needed_shape = " x ".join(["rows" if number == axis else f"{size:,}" for number, size in enumerate(info.shape)])
        raise LimitError(f"{name}: new rows have the shape {needed_shape or 'of one value'}, not {array.shape}")
    dtype = dtypes.from_name(info.dtype)
    if dtype.kind == "generic":
        return array.astype(object)
    if dtype.kind == "string":
        if array.dtype.kind not in "UT":
            raise DTypeError(f"{name}: the array holds texts, and the new rows {array.dtype}")
        return array
    fitted = cast_exactly(array, dtype.numpy)
    if fitted is None:
        raise DTypeError(f"{name}: {info.dtype} does not hold the new rows of {array.dtype} exactly")
    return fitted


def _refuse_uneven(rows: Mapping[str, Array], infos: Mapping[str, ArrayInfo]) -> None:
    """Refuse rows of some of the arrays that share them, and different numbers of them."""
    groups: dict[Any, dict[str, int | None]] = {}
    for name, info in infos.items():
        for axis in range(len(info.shape)):
            grows = axis == _axis_of(info)
            if info.dims is None and not grows:
                continue
            title = info.data[0].title if info.data else info.location.rpartition("!")[0] or None
            key = ("dim", info.dims[axis]) if info.dims is not None else ("rows", title, info.shape[axis])
            groups.setdefault(key, {})[name] = _count(rows[name], info) if grows and name in rows else None
    for counts in groups.values():
        given = {name: count for name, count in counts.items() if count is not None}
        if not given:
            continue
        if missing := [name for name in counts if name not in given]:
            given_names = quote_names(list(given))
            share = "shares" if len(missing) == 1 else "share"
            raise LimitError(f"{quote_names(missing)} {share} the rows of {given_names}: append to all of them")
        if len({*given.values()}) > 1:
            listed = ", ".join(f"{name!r:.60} {count:,}" for name, count in given.items())
            raise LimitError(f"arrays that share rows take as many new ones: {listed}")


def _rewrite(
    place: Any, row: Format, rows: Mapping[str, Array], format: str | None, options: Mapping[str, Any]
) -> None:
    """Write a file again with the rows, and everything else in it as it is."""
    current = read_labelled(place, format=format, **known_options(place, format, options, "read"))
    for name, array in rows.items():
        before = current[name]
        joined = np.concatenate([before, array], axis=row_axis(before))
        current[name] = np.asfortranarray(joined) if row_axis(before) else joined
    grown = LabelledArrays(current, _resize_labels(current.labels, current))
    try:
        revise = row.function("revise")
    except NotFoundError:
        write(place, grown, format=format)
    else:
        revise(place, place, grown)


def _resize_labels(labels: DatasetLabels | None, arrays: Mapping[str, Any]) -> DatasetLabels | None:
    """Return labels with the shapes that arrays have now."""
    if labels is None:
        return None
    coords, data_vars = (
        {
            name: replace(variable, shape=np.shape(arrays[name])) if name in arrays else variable
            for name, variable in variables.items()
        }
        for variables in (labels.coords, labels.data_vars)
    )
    return replace(labels, coords=coords, data_vars=data_vars)
