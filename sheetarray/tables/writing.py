"""Lays 1-D arrays out as an ordinary table, and finds out which columns do not come back the same.

A table is a layout whose headers are empty. Whether its columns come back is not predicted:
`find_changed_columns` compares the columns that were read back with those that were written. Arrays of several
dimensions have a row for each combination of their indices (`LabelledTable`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .. import dtypes
from ..columns import Layout, LayoutColumn, SheetRoom
from ..columns.refusals import check_cell_texts, check_names
from ..dtypes import Array, Mask
from ..errors import DTypeError, LimitError
from ..linear.array import LinearArray
from ..linear.named import linear_arrays
from .kinds import TYPED, kind_of
from .numerals import WHITE

_NULL = re.compile(
    r"(?![=+@]|-.*[^\W_])[^\s\d\"',;|\x00-\x1f\x7f-\x9f]+(?: [^\s\d\"',;|\x00-\x1f\x7f-\x9f]+)*", re.DOTALL
)
_FAMILIES = {"i": "integers", "u": "integers", "f": "floats", "c": "complex numbers", "b": "booleans", "U": "text"}
_FROM = {"D": ("h", "m", "s", "ms", "us", "ns"), "s": ("h", "m", "ms", "us", "ns"), "ms": ("us", "ns"), "us": ("ns",)}
_FAMILIES |= {"T": "text", "M": "dates", "m": "durations", "O": "values of several kinds"}


def lay_out_table(
    arrays: Mapping[str, LinearArray],
    room: SheetRoom,
    *,
    serials: bool = False,
    na_rep: str = "",
    labels: Collection[str] = (),
) -> Layout:
    """Place the columns of a table in a sheet: names in row 1, elements right below.

    `serials`: whether dates become the serial numbers that spreadsheets count, where those are exact. `na_rep`: the
    text of NaN and NaT; "" leaves their cells blank. `labels`: columns that tell rows apart, where these are spelled.

    Raises:
        ValueError: `na_rep` may be read as a value, or as several cells.
        DTypeError: an array that is no column, or that no cells hold; names it.
        LimitError: columns of different lengths, none, or too much for the container; before anything is written.
    """
    check_names(arrays)
    _check_null(na_rep)
    columns = []
    for name, array in arrays.items():
        if array.ndim != 1:
            raise DTypeError(
                f"{name}: {array.ndim} dimensions are not a column of a table: sheetarray.write keeps its shape"
            )
        entry, buffer = array.dtype_entry, np.ascontiguousarray(array.to_numpy())
        if array.dtype_entry.kind == "generic" and _is_text(buffer):  # marks would tell "1" from 1, and "" from None
            buffer = np.array(buffer.tolist(), np.dtypes.StringDType(na_object=None))
            entry = dtypes.from_name("string")
        if buffer.dtype.kind == "M":
            buffer = coarsen(buffer)
            entry = dtypes.from_numpy(buffer.dtype)
        if na_rep:
            _refuse_text(name, buffer, na_rep)
        nulls = None if name in labels else _find_nulls(buffer)
        columns.append(LayoutColumn(name, [], entry, buffer, serials=serials, nulls=nulls, null=na_rep))
    first = columns[0]
    for column in columns:
        if len(column.buffer) != len(first.buffer):
            raise LimitError(
                f"{column.name!r} has {len(column.buffer)} rows, and {first.name!r} has {len(first.buffer)}: "
                "the columns of a table are equally long"
            )
    if room.rows is not None and first.height + 1 > room.rows:
        raise LimitError(f"{first.height} rows and a row of names, but the sheet has only {room.rows} rows")
    if room.columns is not None and len(columns) > room.columns:
        raise LimitError(f"{len(columns)} columns, but the sheet has only {room.columns}")
    if room.characters is not None:
        check_cell_texts(arrays, room.characters)
    return Layout(columns if na_rep else _keep_rows(columns))


def _find_nulls(buffer: Array) -> Mask | None:
    """Return a mask of the elements that are NaN or NaT; None if no element is.

    Complex numbers of which a part is NaN are spelled out: a blank would not tell the other part.
    """
    if buffer.dtype.kind not in "fmM":
        return None
    nulls = np.isnan(buffer) if buffer.dtype.kind == "f" else np.isnat(buffer)
    return nulls if nulls.any() else None


def _check_null(na_rep: str) -> None:
    """Refuse a text of missing values that may be read as a value, as a formula, or as several cells.

    Raises:
        ValueError: it may.
    """
    if na_rep and (not _NULL.fullmatch(na_rep) or kind_of(na_rep) in TYPED):
        raise ValueError(f"na_rep is a word or a mark such as 'NaN', 'n/a' or '-', not {na_rep!r:.60}")


def _refuse_text(name: str, buffer: Array, na_rep: str) -> None:
    """Refuse a column that holds the same text as the one for missing values: nobody could tell the two apart.

    Raises:
        DTypeError: an element is that text.
    """
    if buffer.dtype.kind not in "OTU":
        return
    for index, value in enumerate(buffer.tolist()):
        if isinstance(value, str) and value.strip(WHITE) == na_rep.strip(WHITE):
            raise DTypeError(f"{name}[{index}]: {value!r:.60} would be read as missing: na_rep is another text")


def _keep_rows(columns: list[LayoutColumn]) -> list[LayoutColumn]:
    """Return columns without blank rows: a row that would be blank gets one NaN or NaT as text."""
    spelled = next((place for place, column in enumerate(columns) if column.nulls is not None), None)
    if spelled is None or any(column.nulls is None and column.buffer.dtype.kind not in "OTU" for column in columns):
        return columns
    bare = np.logical_and.reduce([column.nulls for column in columns if column.nulls is not None])
    for column in columns:
        if column.nulls is None and bare.any():
            bare &= np.array([value is None or value == "" for value in column.buffer.tolist()], np.bool_)
    if not bare.any():
        return columns
    first = columns[spelled]
    assert first.nulls is not None
    return [*columns[:spelled], replace(first, nulls=first.nulls & ~bare), *columns[spelled + 1 :]]


def count_blank_rows(columns: Mapping[str, Array]) -> int:
    """Return the number of rows at the end that hold only blank text or None.

    Example:
        >>> count_blank_rows({"a": np.array(["x", "", ""]), "b": np.array(["", "y", ""])})
        1
    """
    if not columns or any(column.dtype.kind not in "OTU" for column in columns.values()):
        return 0
    height = min(map(len, columns.values()))
    for row in reversed(range(height)):
        if any(column[row] is not None and column[row] != "" for column in columns.values()):
            return height - 1 - row
    return height


def _is_text(buffer: Array) -> bool:
    kinds = set(map(type, buffer.tolist()))
    return str in kinds and kinds <= {str, type(None)}


def coarsen(moments: Array) -> Array:
    """Return datetimes in days, seconds or the finer unit that they need, as other programs take dates."""
    own = np.datetime_data(moments.dtype)[0]
    for unit in ("D", "s", "ms", "us"):
        if own not in _FROM[unit]:
            continue
        coarse = moments.astype(f"M8[{unit}]")
        if np.array_equal(coarse.astype(moments.dtype).view(np.int64), moments.view(np.int64)):
            return coarse
    return moments


def find_changed_columns(table: Any, columns: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Compare a table that was written with the one that was read back; yield the name of each column that differs, and
    what it is now.

    A column is the same where it holds the same values of the same kind; integers and floats may be wider, and whole
    floats may be integers.
    """
    for name, array in linear_arrays(table).items():
        if name not in columns:
            yield name, "has no column of its name: header=True takes the first row as names"
        elif change := _describe_change(array.to_numpy(), columns[name]):
            yield name, change


def _describe_change(array: Array, column: Array) -> str | None:
    """Return a sentence on how a column that was read back differs from the one written; None if they are equal."""
    if len(array) != len(column):
        if len(column) < len(array) and array.dtype.kind in "OUT" and not any(array[len(column) :].tolist()):
            return f"has {len(column)} {_rows(len(column))}, not {len(array)}: blanks at the end are not rows"
        return f"has {len(column)} {_rows(len(column))}, not {len(array)}"
    if array.dtype.kind == "f" and column.dtype.kind in "iu":
        column = _to_same_floats(column, array.dtype)
    family = _FAMILIES.get(array.dtype.kind, "")
    if family != _FAMILIES.get(column.dtype.kind):
        return f"is {_name_of(column)}, not {_name_of(array)}{_describe_nulls(array, column)}"
    if family == "dates":
        same = (array == column) | (np.isnat(array) & np.isnat(column))
    elif family == "floats":
        with np.errstate(over="ignore"):
            again = column.astype(array.dtype)
        nan = np.isnan(array) & np.isnan(again)
        same = ((array == again) & (np.signbit(array) == np.signbit(again))) | nan
    else:
        pairs = zip(array.tolist(), column.tolist(), strict=True)
        same = np.array([type(a) is type(b) and (a == b or a != a) for a, b in pairs], np.bool_)
    changed = np.flatnonzero(~same)
    if not len(changed):
        return None
    index = int(changed[0])
    value = column[index : index + 1].tolist()[0]
    return f"has other values in {len(changed)} {_rows(len(changed))}, the first in row {index + 2}: {value!r:.60}"


def _to_same_floats(integers: Array, dtype: np.dtype[Any]) -> Array:
    """Return integers as floats where all of them are exact; else as they are."""
    floats = integers.astype(dtype)
    return floats if floats.tolist() == integers.tolist() else integers


def _describe_nulls(array: Array, column: Array) -> str:
    """Return the end of a sentence that says what nulls were read back as; empty if they still are nulls."""
    if array.dtype.kind != "O":
        return ""
    nulls = [index for index, value in enumerate(array.tolist()) if value is None]
    if not nulls or column[nulls[0]] is None:
        return ""
    count = "a null" if len(nulls) == 1 else f"{len(nulls)} nulls"
    value = column[nulls[0]].item() if isinstance(column[nulls[0]], np.generic) else column[nulls[0]]
    return f", and {count}, the first in row {nulls[0] + 2}, came back as {value!r:.60}"


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"


def _name_of(array: Array) -> str:
    if array.dtype.kind == "O" and _is_text(array):
        return "text with nulls"
    return "text" if array.dtype.kind in "UT" else array.dtype.name
