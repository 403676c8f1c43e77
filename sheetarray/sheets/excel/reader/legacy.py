"""Old workbooks: `.xls` of Excel 5 to 2003, read by xlrd, and `.xlsb`, read by calamine: containers.

`legacy_records` looks at every record first, and hands on what is bounded and complete. Whatever a library raises all
the same is a `FormatError`. docs/formats.md says what each of the two libraries keeps.
"""

from __future__ import annotations

import io
import struct
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, compress
from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import Positions
from ....errors import FormatError, MissingDependencyError, SheetArrayError, is_panic
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from ..package.parts import Package
from ..package.relations import Relations
from . import legacy_records as r
from .cells import (
    BOOLEAN,
    FAULT,
    LARGE,
    NUMBER,
    SERIAL,
    TEXT,
    CellRun,
    Kinds,
    Titles,
    repeated_cell_error,
    row_width,
)
from .formats import Doubles, Formats, are_exact_doubles, kind_of_format

if TYPE_CHECKING:
    import polars as pl

_ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}
_ROWS = 2**12  # of a sheet that make a run
_NONE = 0  # the kind of a blank
_SETTINGS, _SHEET, _FORMAT, _STYLE, _BEGIN_STYLES, _END_STYLES = 153, 156, 44, 47, 617, 618
_MOST_BYTES = 2**27  # of a part, and of all worksheets
_U16, _U32 = struct.Struct("<H"), struct.Struct("<I")
_KINDS = {float: NUMBER, int: NUMBER, bool: BOOLEAN, str: TEXT}
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


class _LegacyBook(ABC):
    """A workbook that a library reads; `cells.WorkbookReader` says what each method is for."""

    titles: list[str]
    max_rows: int
    from_1904: bool

    def __init__(self) -> None:
        self._known: tuple[str, list[CellRun]] | None = None  # of the sheet that was last read to its end

    @abstractmethod
    def _read_sheet(self, title: str) -> Iterator[CellRun]:
        """Yield the cells of a worksheet."""

    def cells(self, title: str, *, numeric: bool, first: int = 0) -> Generator[CellRun]:  # noqa: ARG002  (all may come as text)
        """Yield the cells of a worksheet."""
        if self._known is not None and self._known[0] == title:
            yield from self._known[1]
            return
        runs = []
        for run in self._read_sheet(title):
            runs.append(run)
            yield run
        self._known = title, runs

    def cells_of_table(self, title: str) -> Generator[CellRun]:
        """Yield the cells of a worksheet."""
        return self.cells(title, numeric=False)

    def close(self) -> None:
        """Forget the cells that are kept."""
        self._known = None


class Excel97Book(_LegacyBook):
    """A workbook of Excel 5 to 2003, read by xlrd.

    `stream`: the bytes of the stream `Workbook` or `Book` in the compound file.

    Raises:
        FormatError: the workbook is of another version, encrypted or damaged, or holds too much.
        MissingDependencyError: xlrd is not installed.
    """

    def __init__(self, stream: bytes) -> None:
        super().__init__()
        self._stream = looked = r.Stream97(stream)
        self.max_rows = 65_536 if looked.version == 0x0600 else 16_384
        with _reading("xlrd", "Workbook"):
            import xlrd  # type: ignore[import-untyped]

            # With the formats, since without them a duration is a date; rows end with their last cell
            how = {"formatting_info": True, "on_demand": True, "ragged_rows": True, "logfile": io.StringIO()}
            self._book = xlrd.open_workbook(file_contents=looked.content, **how)
            names = self._book.sheet_names()
        listed = Titles()
        for number, title in enumerate(names):
            listed.add(title, str(number))
        self._sheets = dict(zip(listed.places, looked.sheets, strict=True))
        self.titles = list(listed.places)
        self.from_1904 = self._book.datemode == 1

    def _read_sheet(self, title: str) -> Iterator[CellRun]:
        number = self.titles.index(title)
        looked = self._sheets[title]
        formulas, found = np.unique(np.array(looked.formulas, np.int64)), 0
        with _reading("xlrd", f"sheet {title}"):
            sheet = self._book.sheet_by_index(number)
            self._book.unload_sheet(number)
        for first in range(0, sheet.nrows, _ROWS):
            numbers = range(first, min(first + _ROWS, sheet.nrows))
            kinds = [np.frombuffer(sheet.row_types(row), np.uint8) for row in numbers]
            widths = np.array([len(of_row) for of_row in kinds], np.int64)
            values = list(chain.from_iterable(map(sheet.row_values, numbers)))
            run = _make_run(
                np.repeat(np.array(numbers, np.int64), widths),
                np.arange(len(values)) - np.repeat(np.cumsum(widths) - widths, widths),
                self._kinds(sheet, first, kinds),
                values,
                formulas,
            )
            found += len(run)
            if len(run):
                yield run
        if found != looked.cells:
            if place := self._stream.find_repeated(number):
                raise repeated_cell_error(place)
            raise FormatError(f"the sheet claims {looked.cells} cells, and holds {found}", location=f"sheet {title}")

    def _kinds(self, sheet: Any, first: int, kinds: Sequence[Kinds]) -> Kinds:
        """Return the kinds of the cells of some rows, of which xlrd knows those in `kinds`."""
        import xlrd

        known = {
            xlrd.XL_CELL_NUMBER: NUMBER,
            xlrd.XL_CELL_TEXT: TEXT,
            xlrd.XL_CELL_DATE: SERIAL,
            xlrd.XL_CELL_BOOLEAN: BOOLEAN,
            xlrd.XL_CELL_ERROR: FAULT,
        }
        ours = np.zeros(256, np.uint8)
        ours[list(known)] = list(known.values())
        result: Kinds = ours[np.concatenate([np.zeros(0, np.uint8), *kinds])]
        at = 0
        for row, of_row in enumerate(kinds, first):
            for column in np.flatnonzero(of_row == xlrd.XL_CELL_DATE).tolist():
                result[at + column] = self._kind_of_style(sheet.cell_xf_index(row, column))
            at += len(of_row)
        return result

    def _kind_of_style(self, style: int) -> int:
        """Return what a style that xlrd takes for one of dates shows: SERIAL or DURATION."""
        if style not in self._shown:
            code = self._book.format_map[self._book.xf_list[style].format_key].format_str
            self._shown[style] = max(kind_of_format(code or ""), SERIAL)  # East Asian dates have no code
        return self._shown[style]

    @cached_property
    def _shown(self) -> dict[int, int]:
        return {}


class XlsbBook(_LegacyBook):
    """A binary workbook in a zip package, read by calamine.

    Raises:
        FormatError: the part is not a workbook, or a damaged one.
    """

    max_rows = MOST_ROWS

    def __init__(self, package: Package, part: str) -> None:
        super().__init__()
        self._package, self._part = package, part
        self._tally = r.Tally()
        self._relations = Relations(package, part)
        self.from_1904 = False
        targets = {relation.id: relation for relation in self._relations.entries}
        titles = Titles(part)
        content = self._read(part)
        for kind, at, after in r.iter_records(content, part, self._tally):
            if kind == _SETTINGS and after > at:
                self.from_1904 = bool(content[at] & 1)
            elif kind == _SHEET:
                id_, named = _text(content, at + 8, after, part)
                titles.add_related(_text(content, named, after, part)[0], id_, targets)
        self._parts = titles.places
        self.titles = list(self._parts)

    def _read(self, part: str) -> bytes:
        return self._package.read(part, limit=_MOST_BYTES)

    @cached_property
    def _kinds_of_styles(self) -> list[int]:
        """What each style shows numbers as; the last one stands for all others."""
        codes: dict[int, str] = {}
        used: list[int] = []
        part = self._relations.present_target("styles")
        content = b"" if part is None else self._read(part)
        among_styles = False
        for kind, at, after in r.iter_records(content, part or "", self._tally):
            if kind in (_BEGIN_STYLES, _END_STYLES):
                among_styles = kind == _BEGIN_STYLES
            elif kind == _FORMAT or (kind == _STYLE and among_styles):
                if after - at < 4:
                    raise FormatError("a record is shorter than its kind", location=part)
                if kind == _STYLE:
                    used.append(_U16.unpack_from(content, at + 2)[0])
                else:
                    codes[_U16.unpack_from(content, at)[0]] = _text(content, at + 2, after, part or "")[0]
        styles = np.arange(len(used) + 1)
        return Formats(used, codes).kinds_as_shown(np.full(len(styles), NUMBER, np.uint8), styles).tolist()

    @cached_property
    def _opened(self) -> tuple[Any, dict[str, r.LegacySheet]]:
        """The workbook as calamine has it, and what the records of each sheet tell."""
        part = self._relations.present_target("sharedStrings")
        strings = r.look_at_strings(b"" if part is None else self._read(part), part or "", self._tally)
        looked, total = {}, 0
        for title, place in self._parts.items():
            content = self._read(place)
            total += len(content)
            if total > _MOST_BYTES:
                raise FormatError(f"more than {_MOST_BYTES:,} bytes of cells", location=place, hint=r.SAVE_ANEW)
            looked[title] = r.look_at_sheet(content, place, self._kinds_of_styles, self._tally)
        with _reading("python-calamine", self._part):
            import python_calamine

            made = _bare_package([sheet.content for sheet in looked.values()], strings)
            return python_calamine.load_workbook(io.BytesIO(made)), looked

    def _read_sheet(self, title: str) -> Iterator[CellRun]:
        book, sheets = self._opened
        looked = sheets[title]
        if not looked.content:
            return
        formulas = np.array(looked.formulas, np.int64)
        faults, shown = (
            (np.array(list(marks), np.int64), np.array(list(marks.values()), np.uint8))
            for marks in (looked.faults, looked.shown)
        )
        with _reading("python-calamine", self._parts[title]):
            sheet = book.get_sheet_by_index(self.titles.index(title))
            top, left = sheet.start
            width = sheet.end[1] + 1 - left
            rows = sheet.to_python(skip_empty_area=True)
            del sheet
        for at in range(0, len(rows), _ROWS):
            some, first = rows[at : at + _ROWS], top + at
            values = list(chain.from_iterable(some))
            numbers = np.repeat(np.arange(first, first + len(some)), width)
            columns = np.tile(np.arange(left, left + width), len(some))
            kinds = np.fromiter(map(_KINDS.__getitem__, map(type, values)), np.uint8, len(values))
            texts = np.flatnonzero(kinds == TEXT)
            kinds[texts[[not values[place] for place in texts.tolist()]]] = _NONE
            start, end = first * MOST_COLUMNS, (first + len(some)) * MOST_COLUMNS
            for places, marks in (faults, shown):
                low, high = np.searchsorted(places, (start, end)).tolist()
                row, column = np.divmod(places[low:high] - start, MOST_COLUMNS)
                cells = row * width + column - left
                if marks is shown[1]:
                    kinds[cells] = marks[low:high]
                    continue
                kinds[cells] = FAULT
                for cell, code in zip(cells.tolist(), marks[low:high].tolist(), strict=True):
                    values[cell] = code
            run = _make_run(numbers, columns, kinds, values, formulas)
            if len(run):
                yield run

    def close(self) -> None:
        """Forget the cells that are kept, and what calamine holds."""
        super().close()
        self.__dict__.pop("_opened", None)


def _text(part: bytes, at: int, after: int, location: str) -> tuple[str, int]:
    """Return the text that begins at a byte of a record, and the byte after it."""
    end = r.text_end(part, at, after, location)
    return part[at + 4 : end].decode("utf-16-le", "replace"), end


def _bare_package(sheets: Sequence[bytes], strings: bytes) -> bytes:
    """Return a workbook of nothing but sheets, titled by their numbers, and shared strings."""
    listed, relations = b"", ""
    for number, _ in enumerate(sheets):
        id_ = f"r{number}"
        texts = b"".join(_U32.pack(len(text)) + text.encode("utf-16-le") for text in (id_, str(number)))
        listed += r.make_record(_SHEET, struct.pack("<2I", 0, number + 1) + texts)
        relations += f'<Relationship Id="{id_}" Type="{_RELATION}/worksheet" Target="worksheets/{number}.bin"/>'
    book = r.make_record(131) + r.make_record(143) + listed + r.make_record(144) + r.make_record(132)
    members: dict[str, str | bytes] = {
        "xl/workbook.bin": book,
        "xl/_rels/workbook.bin.rels": "<Relationships "
        f'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relations}</Relationships>',
        "xl/sharedStrings.bin": strings,
        **{f"xl/worksheets/{number}.bin": sheet for number, sheet in enumerate(sheets)},
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


@contextmanager
def _reading(library: str, location: str) -> Iterator[None]:
    """Make a FormatError of whatever a library raises while it reads, panics of Rust among them."""
    try:
        yield
    except SheetArrayError:
        raise
    except ImportError as error:
        raise MissingDependencyError(
            f"old workbooks (.xls, .xlsb) need {library}: pip install 'sheetarray[legacy]'", name=error.name
        ) from error
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        reason = f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
        message = f"the workbook is damaged: {library} cannot read it ({reason:.200})"
        raise FormatError(message, location=location, hint=r.SAVE_ANEW) from error


# Runs -------------------------------------------------------------------------------------------------------------


def _make_run(rows: Positions, columns: Positions, kinds: Kinds, values: list[Any], formulas: Positions) -> CellRun:
    """Return the cells of some rows that are no blanks, as a run.

    `kinds`: of each cell; `_NONE` for blanks. `values`: of each cell: numbers, text, booleans, codes of errors.
    `formulas`: the places of all cells of the sheet that are formulas, ascending.
    """
    import polars as pl

    kept = kinds != _NONE
    rows, columns, some = rows[kept], columns[kept], list(compress(values, kept.tolist()))
    kinds = kinds[kept]
    textual = np.isin(kinds, (TEXT, BOOLEAN, FAULT))
    numbers = np.array(list(compress(some, (~textual).tolist())), np.float64)
    kinds[np.flatnonzero(~textual)[~are_exact_doubles(numbers) & (kinds[~textual] == NUMBER)]] = LARGE
    texts = [
        value if kind == TEXT else ("1" if value else "0") if kind == BOOLEAN else _name_error(value)
        for value, kind in zip(compress(some, textual.tolist()), kinds[textual].tolist(), strict=True)
    ]
    result = _format_numbers(numbers)
    if texts:
        order = np.argsort(np.concatenate([np.flatnonzero(~textual), np.flatnonzero(textual)]))
        result = pl.concat([result, pl.Series(texts, dtype=pl.String)]).gather(order)
    marks = None
    if len(rows) and len(formulas):
        places = rows * MOST_COLUMNS + columns
        low, high = np.searchsorted(formulas, (places[0], places[-1] + 1)).tolist()
        marks = np.isin(places, formulas[low:high]) if high > low else None
    return CellRun(rows, columns, kinds, result, row_width(rows, columns) if len(rows) else 0, marks)


def _name_error(code: int) -> str:
    return _ERRORS.get(code, f"of the code {code}")


def _format_numbers(numbers: Doubles) -> pl.Series:
    """Return the numerals that read back to some doubles; integers without a point, where each double is one integer.

    Example:
        >>> _format_numbers(np.array([1.0, -0.0, 0.1, 2.0**53])).to_list()
        ['1', '-0.0', '0.1', '9007199254740992.0']
    """
    import polars as pl

    exact = are_exact_doubles(numbers)
    with np.errstate(invalid="ignore"):
        whole = exact & (numbers == np.trunc(numbers)) & ~((numbers == 0) & np.signbit(numbers))
    if whole.all():
        return pl.Series(numbers.astype(np.int64)).cast(pl.String)
    texts = pl.Series(numbers).cast(pl.String)
    places = np.flatnonzero(whole)
    if len(places):
        texts = texts.scatter(places, pl.Series(numbers[places].astype(np.int64)).cast(pl.String))
    large = np.flatnonzero(~exact)
    return texts.scatter(large, list(map(repr, numbers[large].tolist()))) if len(large) else texts
