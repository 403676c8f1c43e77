"""An ordinary table as a source of arrays: where a source holds no array of the exchange format, it has its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..changes.conflicts import Remark
from ..changes.formulas import (
    ColumnMoves,
    Formula,
    RowMoves,
    follow_columns,
    follow_rows,
    index_moves,
    mark_objects,
    put_elements,
    put_formulas,
)
from ..changes.rows import RowMap
from ..changes.wording import count_noun
from ..columns import ArrayInfo, DataCells, keeping_unreadable
from ..columns.beside import OtherCells, find_remarks, list_cell_texts
from ..columns.unreadable import Keeping
from ..dtypes import Array, Positions, from_numpy
from ..errors import DTypeError, Finding, FormatError, NotFoundError, OtherContentError, may_be_table
from ..formats import find_format, format_of, known_options
from ..renamed import option_error
from .shown import ArrayInfos

if TYPE_CHECKING:
    from ..linear.header import Order
    from ..tables import TableColumns

_PENDING = "a formula without a value"  # how the reason of an error ends
_MOST_RANGES = 10**6  # ranges of cells that infos list, of all columns
_OF_ONE_TABLE = frozenset(("shape", "header", "skip_rows", "skip_footer", "nrows", "range", "table"))  # options


@dataclass(frozen=True, slots=True)
class SheetColumns:
    """The columns of the table of one sheet.

    Attributes:
        columns: with the dtypes that are inferred.
        unreadable: the errors of cells that cannot be read, by column; of all other cells None.
        read_under: reads the table again; takes dtypes by the names of columns.
        list_cells: returns the formulas of the sheet by their cells; None where nobody knows them.
    """

    columns: TableColumns
    unreadable: Mapping[str, Array]
    read_under: Callable[[Mapping[str, Any]], TableColumns]
    list_cells: Callable[[], Mapping[tuple[int, int], Formula] | None] = lambda: None

    def list_formulas(self) -> dict[str, Array] | None:
        """Return the formulas of those columns that have some, None for other elements; None if nobody knows them."""
        cells = self.list_cells()
        if not cells:
            return None if cells is None else {}
        rows, formulas = self.columns.list_rows(), {}
        numbers = {column for _, column in cells}
        for name in self.columns:
            if (number := self.columns.column_of(name)) in numbers:
                column = np.full(len(rows), None, object)
                column[:] = [cells.get((row, number)) for row in rows]
                if mark_objects(column).any():
                    formulas[name] = column
        return formulas

    def list_outside(self) -> dict[str, str]:
        """Return the texts of the cells outside the table, by their addresses; of a formula the formula itself."""
        cells = self.columns.cells_outside
        formulas = (self.list_cells() or {}) if cells else {}
        shown = [(*place, formulas[place].text if place in formulas else cell) for place, cell in cells.items()]
        return list_cell_texts(shown, None)


class OrdinaryTable:
    """The columns of an ordinary table, or of the tables of several sheets.

    Attributes:
        sheets: those with a table.
        columns: with the dtypes that are inferred, by name. Before a name that stands in several sheets, the title of
            the sheet is put: `north!t`. `titles` may call some sheets by others than their own.
        unreadable: the errors of cells that cannot be read, by column; of all other cells None.
        findings: what is doubtful.
        dialect: what was assumed of the table; None if the container says it all, or of several sheets.
    """

    def __init__(
        self, sheets: Sequence[SheetColumns], repeated: Collection[str] = (), titles: Mapping[str, str] | None = None
    ) -> None:
        self.sheets = sheets
        titled = {*repeated, *self.find_repeated()}
        self._titles = [(titles or {}).get(title, title) for title in (str(sheet.columns.title) for sheet in sheets)]
        self._names = [
            {name: f"{title}!{name}" for name in sheet.columns if name in titled and sheet.columns.title}
            for sheet, title in zip(sheets, self._titles, strict=True)
        ]
        self.columns: dict[str, Array] = self._join([sheet.columns for sheet in sheets])
        self.unreadable: dict[str, Array] = self._join([sheet.unreadable for sheet in sheets])
        self.findings = [finding for sheet in sheets for finding in sheet.columns.findings]
        self.dialect = sheets[0].columns.dialect if len(sheets) == 1 else None

    def list_errors(self) -> Iterator[Finding]:
        """Yield a finding for each column and each reason why cells of it cannot be read, at the first such cell."""
        for errors in self.unreadable.values():
            by_reason: dict[str, list[FormatError]] = {}
            for error in errors.ravel().tolist():
                if error is not None:
                    by_reason.setdefault(error.reason, []).append(error)
            for alike in by_reason.values():
                finding = Finding.from_error(alike[0])
                if more := len(alike) - 1:
                    cells = f"{alike[0].element} and {count_noun(more, 'more cell')} of the column"
                    finding = replace(finding, message=f"{cells}: {alike[0].reason}")
                yield finding

    def find_repeated(self) -> list[str]:
        """Return the names of columns that stand in several sheets."""
        counts = Counter(name for sheet in self.sheets for name in sheet.columns)
        return [name for name, count in counts.items() if count > 1]

    def list_formulas(self) -> dict[str, Array] | None:
        """Return the formulas of the columns that have some, None for other elements; None if nobody knows them."""
        of_sheets = [sheet.list_formulas() for sheet in self.sheets]
        readable = [formulas for formulas in of_sheets if formulas is not None]
        return self._join(readable) if len(readable) == len(of_sheets) else None

    def naming(self, repeated: Collection[str], titles: Mapping[str, str]) -> OrdinaryTable:
        """Return the same table; before some names the title of the sheet is put.

        `titles`: by which some sheets are called instead of theirs.
        """
        return OrdinaryTable(self.sheets, repeated, titles) if repeated or titles else self

    def list_names(self) -> dict[str, dict[str, str]]:
        """Return for each sheet, by its title, the name in this table of each column, by its name in the sheet."""
        return {
            title: {name: named.get(name, name) for name in sheet.columns}
            for title, sheet, named in zip(self._titles, self.sheets, self._names, strict=True)
        }

    def list_short_names(self) -> dict[str, str]:
        """Return the plain names of the columns whose name has the title of their sheet before it."""
        return {now: name for named in self._names for name, now in named.items()}

    def list_sheets(self) -> dict[str, SheetColumns]:
        """Return the sheets by their titles, or by those by which they are called instead."""
        return dict(zip(self._titles, self.sheets, strict=True))

    def list_sources(self) -> list[tuple[TableColumns, dict[str, str]]]:
        """Return the columns of each sheet, and the names that they have here, by those in the sheet."""
        return [(sheet.columns, named) for sheet, named in zip(self.sheets, self._names, strict=True)]

    def read_keeping(self, dtypes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the columns under some dtypes, and the errors of the cells that these cannot mean, by column."""
        arrays: list[Mapping[str, Any]] = []
        errors: list[Mapping[str, Array]] = []
        for sheet, named in zip(self.sheets, self._names, strict=True):
            under = {name: dtypes[now] for name in sheet.columns if (now := named.get(name, name)) in dtypes}
            if not under:
                arrays.append(sheet.columns)
                errors.append(sheet.unreadable)
                continue
            with keeping_unreadable() as unreadable:
                arrays.append(sheet.read_under(under))
                errors.append(unreadable)
        return self._join(arrays), self._join(errors)

    def _join(self, by_sheet: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return {
            named.get(name, name): value
            for of_sheet, named in zip(by_sheet, self._names, strict=True)
            for name, value in of_sheet.items()
        }


def find_remarks_on_tables(before: OrdinaryTable, now: OrdinaryTable) -> list[Remark]:
    """Return a remark on each cell outside the tables of two files that holds another text than before."""
    remarks = []
    for _, ours, other in _pair_sheets(before, now):
        titles = ours.columns.title, other.columns.title
        is_one_format = (titles[0] is None) == (titles[1] is None)
        of_sheet = find_remarks(ours.list_outside(), other.list_outside(), is_one_format=is_one_format)
        mark = "" if titles[1] is None else f"{titles[1]}!"
        remarks += [replace(remark, cell=f"{mark}{remark.cell}") for remark in of_sheet]
    return remarks


def list_other_cells(source: Any, format: str | None, options: Mapping[str, Any]) -> OtherCells:
    """Return the texts of the cells of a source that belong to no array, and the titles of sheets without arrays."""
    try:
        list_cells = format_of(source, format, reading=True).function("list_other_cells")
    except NotFoundError:
        return {}, set()
    cells: OtherCells = list_cells(source, **known_options(source, format, options, "list_other_cells"))
    return cells


def find_remarks_on_sheets(
    before: OtherCells, now: OtherCells, where_before: str, *, is_one_format: bool
) -> list[Remark]:
    """Return a remark on each cell that belongs to no array and holds another text than before.

    Of a sheet without arrays it is one remark. `where_before`: says in it what it is compared with.
    """
    ordinary = now[1] if is_one_format else set()
    remarks, sheets = list[Remark](), dict[str, None]()
    for remark in find_remarks(before[0], now[0], is_one_format=is_one_format):
        title = remark.cell.rpartition("!")[0]
        if title in ordinary:
            sheets[title] = None
        else:
            remarks.append(remark)
    return remarks + [Remark(title, f"the sheet is another than {where_before}") for title in sheets]


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


def holds_tables(source: Any) -> bool:
    """Return whether the format of a source has ordinary tables."""
    return has_table_option(source, "range")


def without_table_options(
    verb: str, source: Any, format: str | None, options: Mapping[str, Any]
) -> tuple[Mapping[str, Any], bool]:
    """Return the options that a verb has for arrays, and whether others are for an ordinary table.

    An option for neither stays, so that the verb refuses it.
    """
    names = format_of(source, format, reading=True).options(verb) if options else []
    left = [name for name in options if name not in names]
    if not left or not all(has_table_option(source, name, format) for name in left):
        return options, False
    return {name: value for name, value in options.items() if name in names}, True


def refuse_unknown(
    verb: str, places: Iterable[tuple[Any, str | None]], options: Iterable[str], own: Sequence[str] = ()
) -> None:
    """Refuse an option that none of some sources has, for arrays or for ordinary tables; the error names all.

    `places`: the sources, each with the name of its format. `own`: options of the verb itself.
    """
    if not options:
        return
    names, titles = dict.fromkeys(own), dict[str, None]()
    for place, format_name in places:
        row = format_of(place, format_name, reading=True)
        titles[row.title] = None
        names |= dict.fromkeys(row.options("read"))
        with suppress(NotFoundError):  # the format has no ordinary tables
            names |= dict.fromkeys(sorted(table_option_names(place, format_name)))
    for option in options:
        if option not in names:
            raise option_error(verb, option, [*names], of=" and ".join(titles) or "arrays")


def warn_of_table(table: OrdinaryTable, label: str) -> None:
    """Issue warnings about cells of a table that may be misread. `label`: the name of its source."""
    from ..tables import warn_of

    warn_of(table.findings, label)


def find_table(
    source: Any,
    place: int | None,
    format: str | None,
    options: Mapping[str, Any],
    *,
    keeps_errors: bool = False,
    is_checked: bool = False,
    is_split: bool = False,
) -> OrdinaryTable | None:
    """Return the ordinary table of a source without arrays; None if it holds none.

    `place`: where an open file stood. `options`: of `read` and of `read_columns`. `keeps_errors`: cells with an error
    such as `#DIV/0!` cannot be read; otherwise they are missing values. `is_checked`: what is odd in
    the cells is listed, too. `is_split`: of several recorded tables in one sheet, each is read by itself.

    Raises:
        OtherContentError: the source is of another kind than its name says.
    """
    from ..tables import CheckedOptions, SearchOptions, SplitOptions, TableColumns

    given = {name: value for name, value in options.items() if value is not None}
    is_of_one = bool(_OF_ONE_TABLE & given.keys()) or isinstance(given.get("dtype"), Mapping)

    def read(dtypes: Mapping[str, Any], *, splits: bool = False, **selected: Any) -> Any:
        if place is not None:
            source.seek(place)
        how = {**table_options(source, format, options), **selected}
        kind = SplitOptions if splits else CheckedOptions if is_checked else SearchOptions
        how["table"] = kind.of(how["table"])
        if dtypes:
            dtype = how["table"].dtype
            before = dtype if isinstance(dtype, Mapping) else {}
            how["table"] = replace(how["table"], dtype={**dtypes, **before})
        return find_format("read_columns", source, format, how).function("read_columns")(source, **how)

    def read_sheet(dtypes: Mapping[str, Any], **selected: Any) -> TableColumns:
        columns = read(dtypes, **selected)
        return columns if isinstance(columns, TableColumns) else TableColumns(columns)

    keeping: Keeping = "all" if keeps_errors else "no errors"

    def list_cells(**sheet: Any) -> Mapping[tuple[int, int], Formula] | None:
        if place is not None:
            source.seek(place)
        try:
            list_formulas = format_of(source, format, reading=True).function("list_formulas")
        except NotFoundError:
            return None
        formulas: Mapping[tuple[int, int], Formula] | None = list_formulas(source, **sheet)
        return formulas

    def of_sheet(table: TableColumns, unreadable: Mapping[str, Array], **selected: Any) -> SheetColumns:
        how = {} if table.title is None else {"sheet": table.title}
        list_formulas = table.list_formulas or cache(partial(list_cells, **how))
        return SheetColumns(table, unreadable, partial(read_sheet, **selected), list_formulas)

    def read_first() -> OrdinaryTable:
        with keeping_unreadable(keeping) as unreadable:
            columns = read_sheet({})
        return OrdinaryTable([of_sheet(columns, unreadable)])

    try:
        if is_of_one or "sheet" not in format_of(source, format, reading=True).options("read_columns"):
            return read_first()
        if "sheet" in given and not is_split:
            return read_first()
        with keeping_unreadable(keeping) as unreadable:
            tables = read({}, splits=is_split, **({} if "sheet" in given else {"sheet": None}))
        if isinstance(tables, TableColumns):  # the place itself names a sheet, such as a URL of one worksheet
            return OrdinaryTable([of_sheet(tables, unreadable)])
        filled = [table for table in tables.values() if isinstance(table, TableColumns) and table]
        counts = Counter(table.title for table in filled)
        sheets = []
        for table in filled:
            selected = {"splits": True, "columns": [*table]} if counts[table.title] > 1 else {}
            sheets.append(of_sheet(table, table.unreadable, sheet=table.title, **selected))
        return OrdinaryTable(sheets) if sheets else read_first()
    except OtherContentError:
        raise
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
        TypeError: it holds arrays, and an option is for tables.
    """
    place = find_place(source)
    of_arrays, asks_for_table = options, False
    if options:
        of_arrays, asks_for_table = without_table_options("scan", source, format, options)
    try:
        infos = ArrayInfos(find_format("scan", source, format, of_arrays).function("scan")(source, **of_arrays))
        if asks_for_table:
            find_format("scan", source, format, options)  # refuses them
        return infos, None
    except FormatError as error:
        table = None
        if may_be_table(error.reason):
            how, keeps = (options, False) if of_table is None else (of_table, True)
            table = find_table(source, place, format, how, keeps_errors=keeps)
        if table is None:
            raise
    infos = ArrayInfos(describe_columns(table))
    infos.dialect = table.dialect
    return infos, table


def describe_columns(table: OrdinaryTable) -> dict[str, ArrayInfo]:
    """Return the infos of the columns of a table, by name."""
    sources = table.list_sources()
    is_listed = sum(len(columns) * len(columns.runs) for columns, _ in sources) <= _MOST_RANGES
    return {
        named.get(name, name): _info_of(array, columns.data_cells(name), is_listed)
        for columns, named in sources
        for name, array in columns.items()
    }


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
        if isinstance(before, OrdinaryTable) and _is_unknown(a):
            under[0][name] = _given_dtype(b)
        elif isinstance(after, OrdinaryTable):
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
    """Return the number of cells that cannot mean a dtype; a formula without a value may mean any."""
    return sum(error is not None and not error.reason.endswith(_PENDING) for error in errors.ravel().tolist())


def _are_alike_kinds(a: Array, b: Array) -> bool:
    """Return whether elements of two arrays can be compared as they are."""
    families = dict.fromkeys("iufc", "number") | dict.fromkeys("UT", "text")
    kinds = [families.get(array.dtype.kind, array.dtype.kind) for array in (a, b)]
    return kinds[0] == kinds[1]


def _is_unknown(column: Array) -> bool:
    """Return whether a column has no value, such as one of formulas that no program has computed."""
    return column.dtype.kind == "O" and not mark_objects(column).any()


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


def pair_formulas(
    tables: tuple[OrdinaryTable, OrdinaryTable],
    common: Sequence[str],
    arrays: Sequence[Mapping[str, Any]],
    unreadable: Sequence[dict[str, Array]],
) -> dict[str, tuple[Any, Any]]:
    """Return by name the columns of both tables where either has formulas; formulas replace their results.

    `unreadable`: loses the errors of formulas, whose results are not compared.
    """
    listed = (table.list_formulas() for table in tables)
    formulas = [of_columns for of_columns in listed if of_columns is not None]
    if len(formulas) < len(tables):  # nobody knows those of a table
        return {}
    pairs: dict[str, tuple[Any, Any]] = {}
    for name in common:
        columns = []
        for of_side, of_columns, errors in zip(arrays, formulas, unreadable, strict=True):
            if name in formulas[0].keys() | formulas[1].keys():
                column = of_side[name]
                of_column = of_columns.get(name)
                of_column = np.full(len(column), None, object) if of_column is None else of_column
                columns.append(put_formulas(column, of_column, errors.get(name)))
                if name in errors:
                    errors[name] = np.where(mark_objects(of_column), np.array(None), errors[name])
                    if not mark_objects(errors[name]).any():
                        del errors[name]
        if columns:
            pairs[name] = columns[0], columns[1]
    if pairs:
        _follow_moved_columns(pairs, *tables)
    return pairs


def _follow_moved_columns(formulas: dict[str, tuple[Any, Any]], before: OrdinaryTable, now: OrdinaryTable) -> None:
    """Replace formulas that differ only since columns moved by the formulas as they were.

    `formulas`: columns of both tables.
    """
    sheets = _pair_sheets(before, now)
    moves = map_columns((ours, theirs, {}, [*theirs.columns]) for _, ours, theirs in sheets)
    names = before.list_names()
    for title, ours, theirs in sheets if moves is not None else ():
        for name, named in names[title].items():
            if moves is not None and named in formulas and name in theirs.columns:
                places = ours.columns.column_of(name), theirs.columns.column_of(name)
                titles = str(ours.columns.title), str(theirs.columns.title)
                forth_and_back = index_moves(moves[0], titles[0]), index_moves(moves[1], titles[1])
                column, column_now = formulas[named]
                column_now = follow_columns(column, column_now, places, forth_and_back, keeps_text=True)
                formulas[named] = column, column_now


def map_columns(
    sheets: Iterable[tuple[SheetColumns, SheetColumns, Mapping[str, str], Sequence[str]]],
) -> tuple[dict[str, ColumnMoves], dict[str, ColumnMoves]] | None:
    """Return where the columns of sheets stand in another file, by the title of the sheet, and the way back by the
    title there; None if all stand where they stood.

    `sheets`: the table of each sheet before and now, the names now of columns that have another one, and the names of
    new columns, which go to the right.
    """
    forth, back = dict[str, dict[int, int | None]](), dict[str, dict[int, int | None]]()
    titles: dict[str, str] = {}
    for ours, theirs, renamed, names in sheets:
        fresh = [name for name in names if name not in ours.columns and name not in renamed.values()]
        places = ours.columns.place_columns(fresh if ours.columns.name_row >= 0 else [])
        title, title_now = str(ours.columns.title), str(theirs.columns.title)
        titles[title] = title_now
        for name, place in places.items():
            now = renamed.get(name, name)
            place_now = theirs.columns.column_of(now) if now in theirs.columns else None
            if name in ours.columns:
                forth.setdefault(title, {})[place] = place_now
            if place_now is not None:
                back.setdefault(title_now, {})[place_now] = place
    moves = (
        {title: ColumnMoves(columns, titles[title]) for title, columns in forth.items()},
        {now: ColumnMoves(back.get(now, {}), title) for title, now in titles.items()},
    )
    return moves if any(not of_sheet.is_none for way in moves for of_sheet in way.values()) else None


def follow_moved_rows(
    formulas: dict[str, tuple[Any, Any]],
    maps: Mapping[str, Sequence[RowMap]],
    before: OrdinaryTable,
    now: OrdinaryTable,
) -> None:
    """Replace formulas that differ only since their rows moved by the formulas as they were.

    `formulas`: columns of both tables, as `pair_formulas` returns them. `maps`: which row is which, by column.
    """
    is_several = any(len(table.list_sheets()) < len(table.sheets) for table in (before, now))
    if not formulas or is_several:  # several tables of one sheet: their rows move together
        return
    moves: dict[str, RowMoves] = {}
    columns: dict[str, tuple[str, Positions]] = {}
    names = before.list_names()
    for title, sheet, sheet_now in _pair_sheets(before, now):
        rows, rows_now = sheet.columns.list_rows(), sheet_now.columns.list_rows()
        row_map = next((maps[name][0] for name in names[title].values() if maps.get(name)), None)
        sources = np.arange(len(rows)) if row_map is None else row_map.sources
        if len(sources) == len(rows_now):
            own = str(sheet.columns.title)
            moves[own] = RowMoves(rows, rows_now, sources, str(sheet_now.columns.title))
            columns |= dict.fromkeys(names[title].values(), (own, sources))
    if all(of_sheet.is_none and of_sheet.title == title for title, of_sheet in moves.items()):
        return
    for name, (column, column_now) in formulas.items():
        if name in columns:
            own, sources = columns[name]
            followed = follow_rows(column, column_now, sources, index_moves(moves, own))
            formulas[name] = column, put_elements(column_now, {row: formula for row, (formula, _) in followed.items()})


def _pair_sheets(before: OrdinaryTable, now: OrdinaryTable) -> list[tuple[str, SheetColumns, SheetColumns]]:
    """Return the sheets that two tables both have, by the title that the first one has for them."""
    ours, theirs = before.list_sheets(), now.list_sheets()
    if len(ours) == len(theirs) == 1:
        return [(*next(iter(ours.items())), next(iter(theirs.values())))]
    return [(title, sheet, theirs[title]) for title, sheet in ours.items() if title in theirs]
