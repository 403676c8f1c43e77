"""What is odd in the cells of an ordinary table: a few of another kind than their column, keys that come twice, dates
in two orders, digits that are lost, names that are missing. `check` lists it with what detection doubts.

Cells are looked at by column, in columns of text alone, as all other columns were read without a doubt.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from ...columns import cell_address, column_letters
from ...dtypes import Array, Mask, Positions
from ...elements import SHEET_ERRORS, is_blank, is_missing_word, parse_string, strings_to_text
from ...errors import Finding, while_few
from ..cells import SHORT, Table, TypedColumn
from ..doubts import Doubt
from ..inferring import BOOLEAN, MOMENTS
from ..kinds import CODE, LIST, NUMBER, TYPED, kind_of
from ..numerals import GERMAN, GROUPED_COMMAS, WHITE
from ..numerals import NUMBER as PLAIN_NUMBER
from ..rows import TableRows

if TYPE_CHECKING:
    import polars as pl

_FEWEST = 4  # cells of a column that tell its kind
_FEW = 10  # one cell of so many may be of another kind, or one alone
_FEW_KEYS = 50  # one key of so many may come again, or one alone
_FEWEST_KEYS = 10
_SHOWN = 3  # cells in a message
_PIECE = 2**20  # texts
_MOST_LINTED = 2**22  # cells of a column that are looked at, four times as many as a worksheet has rows
_SAMPLE = 64  # cells that say what a column of text may be
_LONGEST = 24  # characters of a cell in a message
_DAY = r"([0-9]{1,2})[/.-]([0-9]{1,2})[/.-](?:[0-9]{4}|[0-9]{2})(?:[T ].*)?"  # 28/02/2024, the day or the month first
_CUT = r"-?[1-9](?:\.[0-9]+)?[eE]\+?[0-9]{1,2}"  # as a spreadsheet shows a long number
_KEY = re.compile(
    r"(?:.*[\W_])?(?:ids?|keys?|codes?|nr|no|uuid|guid|isbn|ean|sku|serial|e-?mail)|.*[a-z](?:Id|ID|Key|Code|Nr|No)"
)
_CORRECT = "correct {}, or na_values= reads {} as missing"
_LOST = "save the file anew with the number format 0, or type the digits again; dtype=str reads the text"
_RETYPED = "type it again in a cell whose format is that of {}"
_KINDS = {"number": (PLAIN_NUMBER, GERMAN.number, GROUPED_COMMAS), "date": (MOMENTS, _DAY), "truth": (BOOLEAN,)}


def lint_table(
    table: Table,
    rows: TableRows,
    selected: Mapping[str, int],
    arrays: Mapping[str, Array],
    doubts: Sequence[Doubt],
    findings: list[Finding],
    title: str | None,
) -> None:
    """Append findings about odd cells of a table to those about it, up to a thousand.

    `selected`: the numbers of the columns, by their names. `doubts`: of which the findings tell; rows that they are
    about are not told again. `title`: of the sheet, for addresses; None where there is only one.
    """
    told = _mark_told(rows, doubts)
    beyond = min((doubt.column for doubt in doubts if doubt.kind == "width" and doubt.column), default=None)
    mixed = {doubt.column for doubt in doubts if doubt.kind == "mixed marks"}  # which are told of all their cells
    columns = [_Column(name, number, rows, title) for name, number in selected.items() if arrays[name].ndim == 1]
    findings += while_few(
        (
            finding
            for column in columns
            if column.number not in mixed
            for finding in _lint_column(column, arrays[column.name], table, told, beyond, columns[0])
        ),
        findings,
    )


@dataclass(frozen=True)
class _Column:
    """A column of a table, which knows where its cells stand."""

    name: str
    number: int
    rows: TableRows
    title: str | None

    def locate(self, index: int) -> str:
        """Return the address of a cell."""
        return cell_address(self.rows.row(index), self.number)

    def tell(self, message: str, hint: str, location: str, index: int | None = None) -> Finding:
        """Make a finding about the column, or about one of its cells."""
        where = location if self.title is None else f"{self.title}!{location}"
        return Finding("warning", where, message, hint, array=self.name, index=None if index is None else (index,))

    def tell_cells(self, places: Positions, texts: Sequence[str], count: int, what: str, hint: str) -> Finding:
        """Return a finding about cells; `count`: of all cells that are not blank.

        `places`: the indices of these cells. `texts`: the first of them.
        """
        cells = [
            f"{self.locate(int(place))} {text[:_LONGEST] + '..' * (len(text) > _LONGEST)!r}"
            for place, text in zip(places[:_SHOWN], texts, strict=False)
        ]
        listed = ", ".join(cells) + (", .." if len(places) > _SHOWN else "")
        message = f'{len(places):,} of {count:,} cells of "{self.name}" {what}: {listed}'
        return self.tell(message, hint, self.locate(int(places[0])), int(places[0]))


def _mark_told(rows: TableRows, doubts: Sequence[Doubt]) -> Mask:
    """Return a mask of the rows of data that doubts are about: longer rows, and those below the table."""
    told = np.zeros(len(rows.data), np.bool_)
    for doubt in doubts:
        if doubt.row is not None and doubt.kind in ("again", "below", "width"):
            index = bisect_left(rows.data, rows.table.index_of(doubt.row))
            told[index : index + 1 if doubt.kind == "width" else None] = True
    return told


def _lint_column(
    column: _Column, array: Array, table: Table, told: Mask, beyond: int | None, first: _Column
) -> Iterator[Finding]:
    """Yield findings about odd cells of a column.

    `told`: a mask of rows that are told already. `beyond`: the first column that longer rows alone have, if there is
    one. `first`: the first column of the table.
    """
    import polars as pl

    is_name = column.name == column_letters(column.number) and column.rows.names and column is not first
    if is_name and (beyond is None or column.number < beyond):
        cells = table.columns[column.number].cells(column.rows.names)
        if all(map(is_blank, cells)):
            message = f"column {column.name} has no name, and is read as {column.name!r}"
            address = cell_address(column.rows.name_row, column.number)
            yield column.tell(message, "type a name above its cells", address)
    array, told = array[:_MOST_LINTED], told[:_MOST_LINTED]
    if array.dtype.kind in "UT":
        is_key = _KEY.fullmatch(column.name) is not None
        rest = array[~told] if told.any() else array
        if not is_key and _is_plain_text(rest):
            return
        if len(array) <= SHORT and _are_plain([text.strip(WHITE) for text in rest.tolist()], is_key=is_key):
            return
        texts = _strip_texts(array)
        held = (texts != "") & ~pl.Series(told, dtype=pl.Boolean)
        places: Positions = np.arange(len(array), dtype=np.int32)
        if not held.all():
            places, texts = places[held.to_numpy()], texts.filter(held)
        yield from _lint_texts(column, texts, places)
        yield from _find_repeated_keys(column, texts, lambda: places, is_first=column is first)
    elif array.dtype.kind in "iu":
        numbers = pl.Series(array[~told] if told.any() else array)
        yield from _find_repeated_keys(column, numbers, lambda: np.flatnonzero(~told), is_first=column is first)
    if array.dtype.kind in "UTiuf" and table.count_cells is None:
        yield from _find_other_types(column, array, table, told)


def _strip_texts(array: Array) -> pl.Series:
    """Return the texts of an array without white space around them, in pieces: each takes many times its memory."""
    import polars as pl

    pieces = [
        strings_to_text(np.ascontiguousarray(array[start : start + _PIECE])).str.strip_chars(WHITE)
        for start in range(0, max(len(array), 1), _PIECE)
    ]
    return pl.concat(pieces)


def _is_plain_text(array: Array) -> bool:
    """Return whether a long column is words and sentences, which are like anything: nothing in it can be odd.

    Cells that are spread over the column tell.
    """
    held = np.flatnonzero(array != "")
    if len(held) <= _SAMPLE**2:
        return False
    sample = [text.strip(WHITE) for text in array[held[:: max(1, len(held) // _SAMPLE)]].tolist()]
    return not any(not text or (kind := kind_of(text)) in (NUMBER, CODE) or kind in TYPED for text in sample)


def _are_plain(texts: list[str], *, is_key: bool) -> bool:
    """Return whether nothing can be odd in a short column: all its texts are the same, or words and sentences.

    `is_key`: whether the column is called a key, so that none of them may come twice.
    """
    held = [text for text in texts if text]
    return len(set(held)) <= 1 or not (is_key or _may_be_typed(held))


def _may_be_typed(texts: Sequence[str]) -> bool:
    """Return whether some texts seem to be numbers, codes, dates or the like: those spread over them tell."""
    kinds = [kind_of(text) for text in texts[:: max(1, len(texts) // _SAMPLE)]]
    return any(kind in (NUMBER, CODE) for kind in kinds) or 3 * sum(kind in TYPED for kind in kinds) >= len(kinds)


def _lint_texts(column: _Column, cells: pl.Series, places: Positions) -> Iterator[Finding]:
    """Yield what is odd in the cells of a column of text that are not blank; `places` are their indices."""
    count = len(cells)
    if count < _FEWEST:
        return
    sample = cells.gather_every(max(1, count // _SAMPLE)).to_list()
    kinds = [kind_of(cell) for cell in sample]
    if any(kind in (NUMBER, CODE) for kind in kinds) and (finding := _find_lost_digits(column, cells, places)):
        yield finding
        return
    if 3 * sum(kind in TYPED for kind in kinds) < len(kinds):
        return
    for kind, patterns in _KINDS.items():
        masks = [~cells.str.contains(f"^(?:{pattern})$") for pattern in patterns]
        strangers = min(masks, key=lambda mask: int(mask.sum()))
        at = strangers.arg_true().to_numpy()
        if kind == "date" and not len(at):
            yield from _lint_dates(column, cells, places)
        if not len(at):
            return
        texts = cells.filter(strangers)
        if all(kind_of(text) == LIST for text in texts.head(_SAMPLE)):
            return  # several codes in one cell
        if _are_few(len(at), count) or (2 * len(at) <= count and all(map(is_missing_word, texts.unique().to_list()))):
            is_one = len(at) == 1
            what = "error" if all(text in SHEET_ERRORS for text in texts.head(_SHOWN)) else "text"
            what = (
                ("is an error" if is_one else "are errors") if what == "error" else "is text" if is_one else "are text"
            )
            hint = _CORRECT.format(*("it", "it") if is_one else ("them", "them"))
            yield column.tell_cells(places[at], texts.head(_SHOWN).to_list(), count, what, hint)
            return


def _are_few(strangers: int, count: int) -> bool:
    return strangers == 1 or _FEW * strangers <= count


def _find_lost_digits(column: _Column, cells: pl.Series, places: Positions) -> Finding | None:
    """Return a finding if a few cells among codes have an exponent, or have fewer digits than all others."""
    count = len(cells)
    cut = cells.str.contains(f"^(?:{_CUT})$")
    codes = cells.str.contains("^[0-9A-Za-z_-]*[0-9][0-9A-Za-z_-]*$")
    plain = cells.str.contains(f"^(?:{PLAIN_NUMBER})$")
    if cut.any() and not (plain | ~codes).all() and _are_few(int(cut.sum()), count) and 2 * codes.sum() >= count:
        at = cut.arg_true().to_numpy()
        what = f"{'has' if len(at) == 1 else 'have'} an exponent: digits and leading zeros are lost"
        return column.tell_cells(places[at], cells.filter(cut).head(_SHOWN).to_list(), count, what, _LOST)
    if not cells.str.contains("^0[0-9]+$").any() or not cells.str.contains("^[0-9]+$").all():
        return None
    lengths = cells.str.len_bytes()
    longest = lengths.max()
    short = lengths < longest
    if not short.any() or not _are_few(int(short.sum()), count) or (cells.filter(short).str.starts_with("0")).any():
        return None
    at = short.arg_true().to_numpy()
    have = "has" if len(at) == 1 else "have"
    what = f"{have} fewer digits than the others: are leading zeros lost?"
    return column.tell_cells(places[at], cells.filter(short).head(_SHOWN).to_list(), count, what, _LOST)


def _lint_dates(column: _Column, cells: pl.Series, places: Positions) -> Iterator[Finding]:
    """Yield a finding about dates in two orders, day first and month first, or about dates that no calendar has."""
    import polars as pl

    numbers = [cells.str.extract(f"^{_DAY}$", group).cast(pl.Int64, strict=False) for group in (1, 2)]
    if numbers[0].null_count() < len(cells):
        firsts = [(number > 12).fill_null(value=False).arg_true().to_list() for number in numbers]
        if all(firsts):
            days, months = (f"{column.locate(int(places[at[0]]))} {cells[at[0]]!r}" for at in firsts)
            index = int(places[min(firsts, key=len)[0]])
            message = f'the dates of "{column.name}" are in two orders: {days} has the day first, {months} the month'
            yield column.tell(message, "type them alike; date_format= reads one order", column.locate(index), index)
        return
    dated = cells.filter(cells != "NaT")
    wrong = dated.str.slice(0, 10).str.to_date(strict=False).is_null()
    at = np.flatnonzero((cells != "NaT").to_numpy())[wrong.arg_true().to_numpy()]
    if len(at) > 0 and _are_few(len(at), len(cells)):
        what = "is a date that no calendar has" if len(at) == 1 else "are dates that no calendar has"
        hint = _CORRECT.format(*("it", "it") if len(at) == 1 else ("them", "them"))
        yield column.tell_cells(places[at], cells.gather(at[:_SHOWN]).to_list(), len(cells), what, hint)


def _find_repeated_keys(
    column: _Column, cells: pl.Series, places: Callable[[], Positions], *, is_first: bool
) -> Iterator[Finding]:
    """Yield a finding if the values of a column tell rows apart but for a few, and were meant to.

    They were meant to if the name says so, or in the first column, if they are codes or count the rows.
    """
    count = len(cells)
    is_key = _KEY.fullmatch(column.name) is not None
    if count < _FEWEST_KEYS or not (is_key or is_first):
        return
    if not is_key and cells.dtype.is_integer():
        if int(cells.max()) - int(cells.min()) >= 2 * count:  # type: ignore[arg-type]
            return
    elif not is_key and not all(kind_of(cell) == CODE for cell in cells.gather_every(max(1, count // _SAMPLE))):
        return
    again = np.flatnonzero(~cells.is_first_distinct().to_numpy())
    if not 0 < len(again) <= max(1, count // _FEW_KEYS):
        return
    value = cells[int(again[0])]
    index, before = (int(places()[place]) for place in (again[0], (cells == value).arg_true()[0]))
    more = f" ({len(again) - 1:,} other values come again, too)" if len(again) > 1 else ""
    message = f'{value!r} of "{column.name}" is in {column.locate(before)}, too{more}: is a row there twice?'
    yield column.tell(message, "delete the copy, or give it a key of its own", column.locate(index), index)


def _find_other_types(column: _Column, array: Array, table: Table, told: Mask) -> Iterator[Finding]:
    """Yield a finding if a few cells of a workbook are typed as text in a column of numbers, or as numbers among codes.

    Of other columns of text a number may well be a part, as of titles.
    """
    rows = column.rows.data
    raw = cast("TypedColumn", table.columns[column.number])
    if not (typed := raw.list_texts(rows)):
        return
    is_text = array.dtype.kind in "UT"
    if is_text and sum(kind_of(text) == CODE for text in typed[:_SAMPLE]) * _FEW < min(len(typed), _SAMPLE) * (
        _FEW - 1
    ):
        return
    if not is_text and not _are_few(len(typed), len(rows)):
        return
    cells = raw.cells(list(rows) if isinstance(rows, range) else rows.tolist())
    held = [
        index for index, cell in enumerate(cells) if not is_blank(cell) and not told[index] and cell not in SHEET_ERRORS
    ]
    strange = (int, float) if is_text else str
    at = [index for index in held if isinstance(cells[index], strange) and not isinstance(cells[index], bool)]
    if not at or len(held) < _FEWEST or not _are_few(len(at), len(held)):
        return
    listed = [parse_string(cells[index]) for index in at[:_SHOWN]]
    if is_text:
        what = "is a number among codes" if len(at) == 1 else "are numbers among codes"
        yield column.tell_cells(np.array(at), listed, len(held), what, _RETYPED.format("text"))
    else:
        what = "is a number typed as text" if len(at) == 1 else "are numbers typed as text"
        yield column.tell_cells(np.array(at), listed, len(held), what, _RETYPED.format("a number"))
