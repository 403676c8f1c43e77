"""An ordinary table as a source of arrays: where a source holds no array of the exchange format, it has its columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..columns import ArrayInfo, DataCells, keeping_unreadable
from ..dtypes import Array, from_numpy
from ..errors import DTypeError, FormatError, NotFoundError, may_be_table
from ..formats import find_format, format_of
from .shown import ArrayInfos

if TYPE_CHECKING:
    from ..linear.header import Order
    from ..tables import TableColumns

_MOST_RANGES = 10**6  # ranges of cells that infos list, of all columns


@dataclass(frozen=True, slots=True)
class OrdinaryTable:
    """The columns of an ordinary table.

    Attributes:
        columns: with the dtypes that are inferred.
        unreadable: the errors of cells that cannot be read, by column; of all other cells None.
        read_under: reads the table again; takes dtypes by the names of columns.
    """

    columns: TableColumns
    unreadable: Mapping[str, Array]
    read_under: Callable[[Mapping[str, Any]], TableColumns]

    def read_keeping(self, dtypes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the columns under some dtypes, and the errors of the cells that these cannot mean, by column."""
        if not dtypes:
            return dict(self.columns), dict(self.unreadable)
        with keeping_unreadable() as unreadable:
            return dict(self.read_under(dtypes)), unreadable


def find_place(source: Any) -> int | None:
    """Return the place at which an open file stands; None for anything else."""
    try:
        return int(source.tell())
    except (AttributeError, OSError, ValueError, TypeError):
        return None


def table_options(source: Any, format: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the options that `read_columns` takes, for the function of the format.

    Raises:
        NotFoundError: the format has no ordinary tables.
        ValueError: an option has a value that it cannot have.
    """
    from ..tables import TableOptions

    of_table = {field.name for field in fields(TableOptions)}
    of_format = table_option_names(source, format) - of_table
    described = {name: value for name, value in options.items() if name in of_table}
    given = {name: value for name, value in options.items() if name in of_format and (name, value) != ("sheet", None)}
    return {**given, "table": TableOptions(**described)}


def table_option_names(source: Any, format: str | None) -> set[str]:
    """Return the names of the options that `read_columns` has for a source.

    Raises:
        NotFoundError: the format has no ordinary tables.
    """
    from ..tables import TableOptions

    row = format_of(source, format, reading=True)
    return {*row.options("read_columns")} | {field.name for field in fields(TableOptions)}


def has_table_option(source: Any, option: str, format: str | None = None) -> bool:
    """Return whether an option is one for the ordinary tables of a source."""
    try:
        return option in table_option_names(source, format)
    except NotFoundError:  # the format has no ordinary tables
        return False


def warn_of_table(table: OrdinaryTable, label: str) -> None:
    """Warn of what is doubtful in a table; `label` is the name of its source."""
    from ..tables import warn_of

    warn_of(table.columns.findings, label)


def find_table(
    source: Any,
    place: int | None,
    format: str | None,
    options: Mapping[str, Any],
    *,
    keeps_errors: bool = False,
    is_checked: bool = False,
) -> OrdinaryTable | None:
    """Return the ordinary table of a source without arrays; None if it holds none.

    `place`: where an open file stood. `options`: of `read` and of `read_columns`. `keeps_errors`: cells that cannot be
    read, such as `#DIV/0!`, are errors of the table; otherwise they are missing values. `is_checked`: what is odd in
    the cells is listed, too.
    """
    from ..tables import CheckedOptions, TableColumns

    def read_under(dtypes: Mapping[str, Any]) -> TableColumns:
        if place is not None:
            source.seek(place)
        how = table_options(source, format, options)
        if is_checked:
            how["table"] = CheckedOptions.of(how["table"])
        if dtypes:
            given = how["table"].dtype
            before = given if isinstance(given, Mapping) else {}
            how["table"] = replace(how["table"], dtype={**dtypes, **before})
        columns = find_format("read_columns", source, format, how).function("read_columns")(source, **how)
        return columns if isinstance(columns, TableColumns) else TableColumns(columns)

    try:
        nothing: AbstractContextManager[dict[str, Array]] = nullcontext({})
        with keeping_unreadable() if keeps_errors else nothing as unreadable:
            return OrdinaryTable(read_under({}), unreadable, read_under)
    except (FormatError, NotFoundError, TypeError):
        return None


def scan_or_find_table(
    source: Any, format: str | None, options: Mapping[str, Any], of_table: Mapping[str, Any] | None = None
) -> tuple[ArrayInfos, OrdinaryTable | None]:
    """Return the infos of all arrays of a source, and None; or those of the columns of its table, and the table.

    `options`: for `scan`. `of_table`: options of the table, whose unreadable cells are then kept; None for those of
    `scan`.

    Raises:
        FormatError: the source holds neither.
    """
    place = find_place(source)
    try:
        return ArrayInfos(find_format("scan", source, format, options).function("scan")(source, **options)), None
    except FormatError as error:
        table = None
        if may_be_table(error.reason):
            how, keeps = (options, False) if of_table is None else (of_table, True)
            table = find_table(source, place, format, how, keeps_errors=keeps)
        if table is None:
            raise
    infos = ArrayInfos(describe_columns(table.columns))
    infos.dialect = table.columns.dialect
    return infos, table


def describe_columns(columns: TableColumns) -> dict[str, ArrayInfo]:
    """Return the infos of the columns of a table, by name."""
    is_listed = len(columns) * len(columns.runs) <= _MOST_RANGES
    return {name: _info_of(array, columns.data_cells(name), is_listed) for name, array in columns.items()}


def _info_of(column: Array, cells: Sequence[DataCells], is_listed: bool) -> ArrayInfo:
    try:
        name = from_numpy(column.dtype).name
    except DTypeError:
        name = "generic"
    location = cells[0].address(0) if cells else ""
    strides = tuple(step // column.itemsize for step in column.strides)
    order: Order = "column-major" if column.ndim > 1 and column.flags.f_contiguous else "row-major"
    data = tuple(cells) if is_listed else ()
    return ArrayInfo(column.shape, name, order, strides, location, column.size, 0, column.size, data=data)


def unify_columns(
    before: OrdinaryTable | Mapping[str, Any],
    after: OrdinaryTable | Mapping[str, Any],
    texts: Collection[str] = (),
) -> tuple[tuple[dict[str, Any], dict[str, Array]], tuple[dict[str, Any], dict[str, Array]]]:
    """Return the arrays of two sources, of which one at least is a table, in dtypes that can be compared.

    The dtype of a table is only inferred, so that of arrays counts; of two tables that of the first. Cells that this
    dtype cannot mean are errors, by array, in the second mapping of each source. `texts`: columns of tables that are
    read as text.
    """
    sides = [side.columns if isinstance(side, OrdinaryTable) else side for side in (before, after)]
    common = [name for name in sides[0] if name in sides[1]]
    under: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    for columns, dtypes in zip(sides, under, strict=True):
        dtypes.update(dict.fromkeys((name for name in texts if name in columns), "string"))
    for name in common:
        a, b = sides[0][name], sides[1][name]
        if name in texts or not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or _are_alike_kinds(a, b):
            continue
        if isinstance(after, OrdinaryTable):
            under[1][name] = _given_dtype(a)
        elif isinstance(before, OrdinaryTable):
            under[0][name] = _given_dtype(b)
    results: list[tuple[dict[str, Any], dict[str, Array]]] = []
    for side, dtypes in zip((before, after), under, strict=True):
        arrays, unreadable = _read_side(side, dtypes)
        results.append((arrays, unreadable))
    hopeless = [name for name, errors in results[1][1].items() if _count(errors) * 2 > errors.size > 0]
    if hopeless and isinstance(before, OrdinaryTable) and isinstance(after, OrdinaryTable):
        for place, (side, dtypes) in enumerate(zip((before, after), under, strict=True)):
            results[place] = _read_side(side, {**dtypes, **dict.fromkeys(hopeless, "string")})
    for name in common:
        pair = results[0][0][name], results[1][0][name]
        results[0][0][name], results[1][0][name] = to_common_dtype(*pair)
    return results[0], results[1]


def _read_side(
    side: OrdinaryTable | Mapping[str, Any], dtypes: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Array]]:
    if not isinstance(side, OrdinaryTable):
        return dict(side), {}
    return side.read_keeping(dtypes)


def _count(errors: Array) -> int:
    return sum(error is not None for error in errors.ravel().tolist())


def _are_alike_kinds(a: Array, b: Array) -> bool:
    """Return whether elements of two arrays can be compared as they are."""
    families = dict.fromkeys("iufc", "number") | dict.fromkeys("UT", "text")
    kinds = [families.get(array.dtype.kind, array.dtype.kind) for array in (a, b)]
    return kinds[0] == kinds[1]


def _given_dtype(array: Array) -> str:
    """Return the dtype under which cells are read to be compared with an array."""
    if array.dtype.kind == "O" or array.dtype.kind in "UT":
        return "string"
    return from_numpy(array.dtype).name


def to_common_dtype(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two arrays of numbers, dates or text in one dtype, where that loses nothing; others as they are."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.dtype == b.dtype:
        return a, b
    kinds = {a.dtype.kind, b.dtype.kind}
    if "O" in kinds:
        return _to_objects(a), _to_objects(b)
    if len(kinds) == 1 and kinds <= set("mM"):
        unit = np.promote_types(a.dtype, b.dtype)
        return a.astype(unit), b.astype(unit)
    if kinds <= set("iufc"):
        common = np.promote_types(a.dtype, b.dtype)
        casts = [array.astype(common) for array in (a, b)]
        if all(_is_kept(array, cast) for array, cast in zip((a, b), casts, strict=True)):
            return casts[0], casts[1]
    return a, b


def _to_objects(array: Array) -> Array:
    """Return an array of objects; blanks of text are None, as in a column of other kinds."""
    if array.dtype.kind == "O":
        return array
    cast = array.astype(object)
    if array.dtype.kind in "UT":
        cast[array == ""] = None
    return cast


def _is_kept(array: Array, cast: Array) -> bool:
    """Return whether integers are the same as doubles; other numbers are."""
    return array.dtype.kind not in "iu" or cast.dtype.kind in "iu" or bool((np.abs(cast) <= 2.0**53).all())
