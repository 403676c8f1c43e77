"""Puts new cells into the XML of a worksheet; every other cell, row and part of it keeps its bytes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape, unescape

from ...columns import cell_address, column_letters
from ...columns.grid import column_number
from ...errors import FormatError, LimitError
from ..formula_texts import TRUTHS, extend_ranges, move_rows

_NAME = rb"(?:[A-Za-z_][\w.-]*:)?"
_ROW = re.compile(rb"<(" + _NAME + rb"row)((?:\s[^<>]*?)?)(?:/>|>(.*?)</\1\s*>)", re.DOTALL)
_CELL = re.compile(rb"<(" + _NAME + rb"c)((?:\s[^<>]*?)?)(?:/>|>(.*?)</\1\s*>)", re.DOTALL)
_DATA = re.compile(rb"<(" + _NAME + rb")sheetData\s*(/?)>")
_FORMULA = re.compile(rb"<" + _NAME + rb"f(\s[^<>]*?)?(?:/>|>(.*?)</" + _NAME + rb"f\s*>)", re.DOTALL)
_VALUE = re.compile(rb"<" + _NAME + rb"v[\s>/]")
_DIMENSION = re.compile(rb"(<" + _NAME + rb"""dimension\s[^<>]*?ref=["'])([A-Z]+)([0-9]+)(?::([A-Z]+)([0-9]+))?""")
_PLAIN = re.compile(r"(?:'((?:[^']|'')+)'|([^\s'!()+*/&^<>=,;\"-]+))!\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_ROW_NUMBER = re.compile(rb"""\sr\s*=\s*["']([0-9]{1,7})["']""")
_COLUMN = re.compile(rb"""\sr\s*=\s*["']([A-Z]{1,3})[0-9]{1,7}["']""")
_STYLE = re.compile(rb"""\ss\s*=\s*["']([0-9]{1,6})["']""")
_TYPE = re.compile(rb"""\st\s*=\s*["'](\w+)["']""")
_SPANS = re.compile(rb"""\sspans\s*=\s*(?:"[^"]*"|'[^']*')""")
_FORMULA_HERE = "\0"
SAVE_ANEW = "save the workbook again in a spreadsheet program, or write to a .csv"


@dataclass(frozen=True, slots=True)
class NewCell:
    """The new content of a cell."""

    plain: str | None  # the XML after the reference; None for a blank
    serial: str | None = None  # the same of a date as a serial number, for a cell that holds one
    # the row (from 0) of the cell above whose style an added one takes; None for a cell that is there
    model: int | None = None
    header: int | None = None  # the number of a cell of a header, which may not be a formula; None for any other cell
    keeps_formula: bool = False  # whether a formula in the cell stays, with the content as its value
    fills: bool = False  # whether an added cell takes the formula of the one above it
    formula: str | None = None  # the formula that the cell gets, with the content as its value; None for no new one
    drops_result: bool = False  # whether the formula loses its value, which nobody knows any more
    keeps_result: bool = False  # whether the value of the formula that gets another text stays
    frees: bool = False  # whether the cells that share the formula of the cell have their own formulas now


@dataclass(frozen=True, slots=True)
class _Model:
    """What added cells take from the cell above them."""

    style: bytes = b""
    holds_number: bool = False
    is_blank: bool = True
    formula: str = ""


_NO_MODEL = _Model()
NewCells = dict[tuple[int, int], NewCell]  # by row and column, counted from 0


@dataclass(frozen=True, slots=True)
class MovedRow:
    """Cells of a row, such as totals, that stand further down afterwards."""

    row: int  # counted from 0
    columns: range
    by: int  # how many rows it moves
    last: int  # the last row that it sums up, counted from 1


@dataclass(slots=True)
class Splice:
    """Cells that are put into the XML of a worksheet."""

    title: str  # of the sheet
    cells: NewCells  # the new cells
    moved: MovedRow | None = None  # the row that makes room for others
    lost_formula: bool = False  # whether a formula was replaced by a value, or moved
    unfilled: set[int] = field(default_factory=set)  # columns that were to be filled down, and hold no formula
    typed: set[int] = field(default_factory=set)  # columns of formulas below which values were added
    # for formulas that only repeat a cell of another sheet, which stay: the new cells of that sheet
    followed: dict[str, NewCells] = field(default_factory=dict)
    _models: dict[tuple[int | None, int], _Model] = field(default_factory=dict)
    _moving: dict[int, bytes] = field(default_factory=dict)  # the moved cells, by their columns

    def change(self, content: bytes) -> bytes:
        """Return the worksheet with the new cells.

        Raises:
            FormatError: cells or rows are not written in their order and with their addresses.
            LimitError: a cell that is needed holds something else.
        """
        begin = _DATA.search(content)
        if content.startswith((b"\xff\xfe", b"\xfe\xff")) or begin is None:
            raise self._error("the cells of this worksheet cannot be changed in place")
        prefix, end = begin[1], begin.end()
        finish = end if begin[2] else content.find(b"</%bsheetData" % prefix, end)
        new: defaultdict[int, dict[int, NewCell]] = defaultdict(dict)
        for (row, column), cell in self.cells.items():
            new[row][column] = cell
        if self.moved is not None:
            for row in (self.moved.row, self.moved.row + self.moved.by):
                new.setdefault(row, {})
        self._models = {(cell.model, column): _NO_MODEL for (_, column), cell in self.cells.items()}
        looked_at = new.keys() | {row for row, _ in self._models}
        left = sorted(new, reverse=True)
        pieces, at = [self._widen(content[: begin.start()]), b"<%bsheetData>" % prefix], end
        for number, start in self._find_rows(content, prefix, end, finish):
            while left and left[-1] < number:
                row = left.pop()
                pieces += [content[at:start], self._make_row(prefix, row, b"", b"", new[row])]
                at = start
            if number in looked_at:
                match = _ROW.match(content, start, finish)
                if match is None:
                    raise self._error("a row of this worksheet does not end")
                row_xml = self._make_row(prefix, number, match[2], match[3] or b"", new.get(number, {}))
                if left and left[-1] == number:
                    left.pop()
                    pieces += [content[at:start], row_xml]
                    at = match.end()
        pieces.append(content[at:finish])
        pieces += [self._make_row(prefix, row, b"", b"", new[row]) for row in reversed(left)]
        return b"".join([*pieces, b"</%bsheetData>" % prefix if begin[2] else b"", content[finish:]])

    def _find_rows(self, content: bytes, prefix: bytes, begin: int, finish: int) -> Iterator[tuple[int, int]]:
        """Yield the number of each row, from 0, and where its tag begins: tags alone are looked at."""
        number = -1
        tag = re.compile(rb"<%brow(?=[\s/>])(?: r=\"([0-9]{1,7})\"|[^<>]*>)" % re.escape(prefix))
        for match in tag.finditer(content, begin, finish):
            digits = match[1]
            if digits is None and (attribute := _ROW_NUMBER.search(match[0])):
                digits = attribute[1]
            last, number = number, number + 1 if digits is None else int(digits) - 1
            if number <= last:
                raise self._error("the rows of this worksheet are not in order")
            yield number, match.start()

    def is_blank(self, row: int, column: int) -> bool:
        """Return whether a cell held nothing whose style added ones have taken; after `change`."""
        return self._models[row, column].is_blank

    def _error(self, reason: str, location: str = "") -> FormatError:
        return FormatError(reason, location=location or self.title, hint=SAVE_ANEW)

    def _make_row(
        self, prefix: bytes, number: int, attributes: bytes, content: bytes, new: dict[int, NewCell]
    ) -> bytes:
        """Return a row with its new cells, and remember the cells whose styles others take."""
        cells: dict[int, bytes] = {}
        for match in _CELL.finditer(content):
            letters = _COLUMN.search(match[2])
            if letters is None:
                where = f"{self.title}!{cell_address(number, 0)}"
                raise self._error("a cell of this row is written without its address", where)
            column = column_number(letters[1].decode())
            if (number, column) in self._models:
                self._models[number, column] = self._model_of(match)
            if self.moved is not None and number == self.moved.row and column in self.moved.columns:
                self._moving[column] = self._move(prefix, match, column)
                continue
            cells[column] = self._replace(match, number, column, new[column]) if column in new else match[0]
        for column, cell in new.items():
            if column not in cells and (cell.plain is not None or cell.fills or cell.formula is not None):
                model = self._models[cell.model, column] if cell.model is not None else _NO_MODEL
                cells[column] = self._add(prefix, number, column, cell, model)
        if self.moved is not None and number == self.moved.row + self.moved.by:
            if taken := [column for column in self._moving if _holds_content(cells.get(column, b""))]:
                where = f"{self.title}!{cell_address(number, taken[0])}"
                raise LimitError(f"{where}: the row of totals needs this cell, which is not empty: move its content")
            cells |= self._moving
        attributes = _SPANS.sub(b"", attributes) or b' r="%d"' % (number + 1)
        if not cells:
            return b"<%brow%b/>" % (prefix, attributes)
        row_cells = b"".join(cell for _, cell in sorted(cells.items()))
        return b"<%brow%b>%b</%brow>" % (prefix, attributes, row_cells, prefix)

    def _add(self, prefix: bytes, row: int, column: int, new: NewCell, model: _Model) -> bytes:
        """Return a cell that follows the one above it."""
        if new.fills:
            if not model.formula:
                self.unfilled.add(column)
                return b""
            self.lost_formula = True  # the chain of formulas does not know this one
            formula = escape(move_rows(model.formula, row - (new.model or 0)), quote=False).encode()
            place = prefix, cell_address(row, column).encode(), model.style, prefix, formula, prefix, prefix
            return b'<%bc r="%b"%b><%bf>%b</%bf></%bc>' % place
        if new.formula is not None:
            return self._with_formula(prefix, row, column, model.style, new, model.holds_number)
        if model.formula:
            self.typed.add(column)
        return self._cell(prefix, row, column, model.style, new, serial=model.holds_number)

    def _move(self, prefix: bytes, match: re.Match[bytes], column: int) -> bytes:
        """Return a cell of the row that moves, with its address there; ranges down to the row above it grow."""
        assert self.moved is not None
        address = cell_address(self.moved.row + self.moved.by, column).encode()
        attributes = _COLUMN.sub(b' r="%b"' % address, match[2], count=1)
        content, formula = match[3] or b"", _FORMULA.search(match[3] or b"")
        if formula is not None:
            self.lost_formula = True
            if formula[1] and _TYPE.search(formula[1]):
                where = f"{self.title}!{cell_address(self.moved.row, column)}"
                raise LimitError(f"{where}: the row of totals has a formula of several cells: move it by hand")
            before = unescape((formula[2] or b"").decode("utf-8", "replace"))
            now = escape(extend_ranges(before, self.moved.last, self.moved.by), quote=False).encode()
            content = content[: formula.start(2)] + now + content[formula.end(2) : formula.end()]  # the value is stale
            attributes = _TYPE.sub(b"", attributes)
        return b"<%bc%b>%b</%bc>" % (prefix, attributes, content, prefix)

    def _model_of(self, match: re.Match[bytes]) -> _Model:
        """Return what added cells take from a cell."""
        held = match[3] or b""
        formula = _find_formula(held)
        text = "" if formula is None else unescape((formula[2] or b"").decode("utf-8", "replace"))
        return _Model(_style_of(match[2]), _is_number(match[2], match[3]), not _holds_content(held), text)

    def _replace(self, match: re.Match[bytes], row: int, column: int, new: NewCell) -> bytes:
        """Return a cell that is there with its new content."""
        where, held, prefix = f"{self.title}!{cell_address(row, column)}", match[3] or b"", match[1][:-1]
        formula = _find_formula(held)
        self.lost_formula |= formula is None and _FORMULA.search(held) is not None
        style, holds_number = _style_of(match[2]), _is_number(match[2], match[3])
        if new.model is not None:
            if _holds_content(held):
                raise LimitError(f"{where}: a new row needs this cell, which is not empty: move its content")
            return self._add(prefix, row, column, new, self._models[new.model, column])
        if new.formula is not None:
            if new.keeps_result and formula is not None:
                element = b"<%bf>%b</%bf>" % (prefix, escape(new.formula, quote=False).encode(), prefix)
                return match[0].replace(formula[0], element, 1)
            self._refuse_shared(where, formula, new)
            return self._with_formula(prefix, row, column, style, new, holds_number)
        if formula is None:
            return self._cell(prefix, row, column, style, new, serial=holds_number)
        if new.header is not None:
            hint = f"type {new.header} into it, then accept the file"
            raise FormatError("this cell of a header is a formula", location=where, hint=hint)
        if new.keeps_formula and new.drops_result:
            start = b'<%bc r="%b"%b>' % (prefix, cell_address(row, column).encode(), style)
            return b"%b%b</%bc>" % (start, formula[0], prefix)
        if new.keeps_formula and new.plain is not None:
            return self._cell(prefix, row, column, style, new, serial=holds_number, formula=formula[0])
        plain = _PLAIN.fullmatch(unescape((formula[2] or b"").decode("utf-8", "replace")).strip())
        if plain is not None and new.plain is not None:  # the element stands in a view for editing
            cells = self.followed.setdefault((plain[1] or plain[2]).replace("''", "'"), {})
            cells[int(plain[4]) - 1, column_number(plain[3])] = new
            return self._cell(prefix, row, column, style, new, serial=holds_number, formula=formula[0])
        self._refuse_shared(where, formula, new)
        self.lost_formula = True
        return self._cell(prefix, row, column, style, new, serial=holds_number)

    @staticmethod
    def _refuse_shared(where: str, formula: re.Match[bytes] | None, new: NewCell) -> None:
        """Refuse to replace a formula that other cells share, unless these have their own now."""
        attributes = b"" if formula is None else formula[1] or b""
        is_shared = b"array" in attributes or (b"shared" in attributes and not new.frees)
        if is_shared and b"ref" in attributes:
            raise LimitError(
                f"{where}: other cells share the formula of this cell: make it a value in every copy of the file"
            )

    def _with_formula(
        self, prefix: bytes, row: int, column: int, style: bytes, new: NewCell, holds_number: bool
    ) -> bytes:
        """Return a cell with another formula, and its value if that is known."""
        self.lost_formula = True  # the chain of formulas does not know this one
        element = b"<%bf>%b</%bf>" % (prefix, escape(new.formula or "", quote=False).encode(), prefix)
        if new.plain is None or new.drops_result:
            return b'<%bc r="%b"%b>%b</%bc>' % (prefix, cell_address(row, column).encode(), style, element, prefix)
        return self._cell(prefix, row, column, style, new, serial=holds_number, formula=element)

    def _cell(
        self, prefix: bytes, row: int, column: int, style: bytes, new: NewCell, *, serial: bool, formula: bytes = b""
    ) -> bytes:
        start = b'<%bc r="%b"%b' % (prefix, cell_address(row, column).encode(), style)
        text = new.serial if serial and new.serial is not None else new.plain
        if text is None:
            return start + b"/>"
        cell_xml = (_as_result(text) if formula else text).encode()
        if prefix:
            cell_xml = re.sub(rb"<(/?)(?=[a-z])", rb"<\1" + prefix, cell_xml)
        return start + (cell_xml.replace(_FORMULA_HERE.encode(), formula, 1) if formula else cell_xml)

    def _widen(self, head: bytes) -> bytes:
        """Return the XML before the rows, with the range of used cells enlarged where needed."""
        dimension = _DIMENSION.search(head)
        if dimension is None or not self.cells:
            return head
        bottom = max(row for row, _ in self.cells) + (self.moved is not None)
        last = max(int(dimension[5] or dimension[3]), 1 + bottom)
        right = max(column_number((dimension[4] or dimension[2]).decode()), max(column for _, column in self.cells))
        corner = b"%b%b%b:%b%d" % (dimension[1], dimension[2], dimension[3], column_letters(right).encode(), last)
        return head[: dimension.start()] + corner + head[dimension.end() :]


def _find_formula(cell: bytes) -> re.Match[bytes] | None:
    """Return the formula in the XML of a cell; None without one, and for `TRUE()`, as LibreOffice writes a boolean."""
    formula = _FORMULA.search(cell)
    is_own = formula is not None and b"shared" not in (formula[1] or b"") and b"array" not in (formula[1] or b"")
    return None if is_own and formula is not None and (formula[2] or b"").decode("latin-1") in TRUTHS else formula


def _holds_content(cell: bytes) -> bool:
    """Return whether the XML of a cell holds a value, a text or a formula."""
    return bool(_VALUE.search(cell) or b"is>" in cell or _FORMULA.search(cell))


def _style_of(attributes: bytes) -> bytes:
    style = _STYLE.search(attributes)
    return b"" if style is None else b' s="%b"' % style[1]


def _is_number(attributes: bytes, content: bytes | None) -> bool:
    """Return whether a cell holds a number."""
    kind = _TYPE.search(attributes)
    return content is not None and (kind is None or kind[1] == b"n") and _VALUE.search(content) is not None


def _as_result(made: str) -> str:
    """Return the XML after the reference of a cell whose formula, which is still to be put there, has a value."""
    text = re.fullmatch(' t="inlineStr"><is><t(?: xml:space="preserve")?>(.*)</t></is></c>', made, re.DOTALL)
    if text is not None:
        return f' t="str">{_FORMULA_HERE}<v>{text[1]}</v></c>'
    return made.replace("><v>", f">{_FORMULA_HERE}<v>", 1)
