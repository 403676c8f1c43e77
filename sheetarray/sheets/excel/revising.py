"""Puts other elements into the cells of arrays of a workbook; everything else in it stays as it is.

The cells are spliced into the rows of their worksheets. Headers, names, fingerprints, views and guards then become true
as when the workbook is adopted.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...adapters import CELL_CHARACTERS
from ...arrays import linear_arrays
from ...cells import buffer_to_typed
from ...columns import ElementEdits, cell_address, column_letters, find_element_edits, find_header_edits, read_sheets
from ...composite import read_resized_arrays, spread
from ...dtypes import Buffer, DType
from ...elements import Cell
from ...errors import FormatError, LimitError, locating
from ...files import Readable, Source, Writable, name_part, replacing
from ...labels import find_notes
from ...linear import LinearArray
from ...views.description import View, can_be_shown
from ...views.geometry import check_views
from ..workbooks import EXACT_INTEGER
from .adapter import write_excel
from .adopting import adopt_workbook
from .append import changed_parts
from .cell_xml import cells_xml, format_number, format_text
from .checking import open_snapshots
from .guard.snapshot import SnapshotHeader
from .open_workbook import OpenWorkbook
from .package.packing import PackageWriter
from .package.parts import Package
from .skeleton import CONTENT_TYPES, suffix_of
from .workbook import Workbook
from .writing import SheetOptions, SheetWrite, lay_out_arrays, write_sheets

_NAME = rb"(?:[A-Za-z_][\w.-]*:)?"
_ROW = re.compile(rb"<(" + _NAME + rb"row)((?:\s[^<>]*?)?)(?:/>|>(.*?)</\1\s*>)", re.DOTALL)
_CELL = re.compile(rb"<(" + _NAME + rb"c)((?:\s[^<>]*?)?)(?:/>|>(.*?)</\1\s*>)", re.DOTALL)
_DATA = re.compile(rb"<(" + _NAME + rb")sheetData\s*(/?)>")
_FORMULA = re.compile(rb"<" + _NAME + rb"f(\s[^<>]*?)?(?:/>|>(.*?)</" + _NAME + rb"f\s*>)", re.DOTALL)
_VALUE = re.compile(rb"<" + _NAME + rb"v[\s>/]")
_DIMENSION = re.compile(rb"(<" + _NAME + rb"""dimension\s[^<>]*?ref=["'])([A-Z]+)([0-9]+)(?::([A-Z]+)([0-9]+))?""")
_PLAIN = re.compile(r"(?:'((?:[^']|'')+)'|([^\s'!()+*/&^<>=,;\"-]+))!\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_FORMULA_HERE = b"\0"
_SAVE_ANEW = "save the workbook anew in a spreadsheet program, or write to a .csv"


@dataclass(frozen=True, slots=True)
class _NewCell:
    """What a cell is to hold.

    Attributes:
        plain: the XML after the reference; None for a blank.
        serial: the same of a date as a serial number, for a cell that holds one.
        model: the row (from 0) of the cell above whose style an added one takes; None for a cell that is there.
    """

    plain: str | None
    serial: str | None = None
    model: int | None = None


_SheetEdits = dict[tuple[int, int], _NewCell]  # by row and column, counted from 0


def revise_excel(source: Readable, target: Writable, arrays: Any) -> None:
    """Write a workbook in which arrays hold other elements; everything else in it stays as it is.

    New arrays go to a sheet of their own. Headers, defined names, fingerprints, views and the guard become true.

    Args:
        source: a path or an open file: .xlsx or .xlsm.
        target: a path, which may be the source, replaced as a whole; or an open file.
        arrays: what it is to hold, as for `write_excel`; arrays that are not named stay.

    Raises:
        FormatError: as `read_excel`, or the cells cannot be changed in place.
        LimitError: the workbook is signed or shared; or there is no room for rows.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file, revised = io.BytesIO(), io.BytesIO()
        >>> write_excel(file, {"t": np.array([1.5, 2.5])})
        >>> revise_excel(io.BytesIO(file.getvalue()), revised, {"t": np.array([1.5, 7.5, 8.5])})
        >>> from .adapter import read_excel
        >>> read_excel(io.BytesIO(revised.getvalue()))
        {'t': array([1.5, 7.5, 8.5])}
    """
    columns = linear_arrays(spread(arrays, limit=CELL_CHARACTERS))
    with tempfile.TemporaryDirectory(prefix="sheetarray-") as folder:
        path = Path(folder, f"revised{suffix_of(target)}")
        with Source(source) as opened, locating(source=opened.name):
            fresh = _write_revised(opened, path, columns)
        if fresh:
            with Source(path) as opened:
                titles = {sheet.title.casefold() for sheet in OpenWorkbook(Package(opened.ranges())).sheets}
            numbers = ("" if number == 1 else f" {number}" for number in range(1, len(titles) + 2))
            title = next(f"new arrays{number}" for number in numbers if f"new arrays{number}" not in titles)
            write_excel(path, fresh, sheet=title, mode="a")
        _compare(path, columns)
        adopt_workbook(path, target, anew=True)


def _write_revised(opened: Source, path: Path, columns: Mapping[str, LinearArray]) -> dict[str, LinearArray]:
    """Write the workbook with its new cells, and return the arrays for which it has none."""
    package = Package(opened.ranges())
    book = OpenWorkbook(package)
    book.check_changeable()
    edits: dict[str, _SheetEdits] = {}
    with Workbook(opened, reads_numbers=True) as reading:
        sheets = reading.plain_sheets()
        present = read_resized_arrays(sheets)
        for name, column in columns.items():
            change = find_element_edits(name, present[name], column) if name in present else None
            if change is not None:
                _collect(change, edits)
        for header in find_header_edits(sheets, {name: present[name] for name in columns if name in present}):
            edits.setdefault(header.title or "", {})[header.row, header.column] = _NewCell(format_number(header.value))
    parts = {sheet.title: sheet.part for sheet in book.sheets}
    splices = {title: _Splice(title, some) for title, some in edits.items()}
    replaced: dict[str, bytes] = {}
    lost = False
    while splices:
        title, splice = splices.popitem()
        part = parts[title]
        replaced[part] = splice.change(replaced.get(part) or package.read(part))
        lost |= splice.lost_formula
        for other, cells in splice.followed.items():
            known = next((each for each in parts if each.casefold() == other.casefold()), None)
            if known is None:
                raise FormatError(f"formulas refer to a sheet {other!r:.80}, which is not there", location=title)
            splices.setdefault(known, _Splice(known, {})).edits.update(cells)
    chain = book.relations.present_target("calcChain")
    dropped = {chain} if lost and chain else set()
    for gone in dropped:
        book.relations.drop(gone)
        book.types.drop(gone)
    replaced |= changed_parts(book, [])
    with replacing(path, binary=True) as sink:
        writer = PackageWriter(sink)
        for name in package.names():
            if name in replaced:
                writer.write_part(name, replaced[name])
            elif name not in dropped:
                writer.copy_part(package, name)
        writer.finish()
    return {name: column for name, column in columns.items() if name not in present}


def _compare(path: Path, columns: Mapping[str, LinearArray]) -> None:
    """Refuse what does not come back as it should: the workbook was written in a way that nobody knows here."""
    with Source(path) as opened, Workbook(opened, reads_numbers=True) as reading:
        present = read_resized_arrays(reading.plain_sheets())
    for name, column in columns.items():
        array = present.get(name)
        if array is None or not column.has_elements(array.column.header, array.buffer):
            raise FormatError(f"{name}: the cells of this workbook cannot be changed in place", hint=_SAVE_ANEW)


def _collect(change: ElementEdits, edits: dict[str, _SheetEdits]) -> None:
    """Put the new cells of an array among those of their sheets."""
    model = change.place(change.before - 1)[1] if change.before and not change.head else None
    plain, serial = _elements_xml(change.buffer[change.changed], change.dtype)
    for index, cell, date in zip(change.changed.tolist(), plain, serial, strict=True):
        title, row, column = change.place(index)
        added = index >= change.before and not change.head
        edits.setdefault(title or "", {})[row, column] = _NewCell(cell, date, model if added else None)
    for index in change.removed:
        title, row, column = change.place(index)
        edits.setdefault(title or "", {})[row, column] = _NewCell(None)
    for index, word in enumerate(change.head):
        title, row, column = change.place_head(index)
        edits.setdefault(title or "", {})[row, column] = _NewCell(_word_xml(word))


def _elements_xml(buffer: Buffer, dtype: DType) -> tuple[Sequence[str | None], Sequence[str | None]]:
    """Return the XML of elements after their references, and with dates as serial numbers."""
    made = cells_xml(buffer_to_typed(buffer, dtype, exact=EXACT_INTEGER))
    if dtype.kind != "datetime":
        return made, [None] * len(made)
    return made, cells_xml(buffer_to_typed(buffer, dtype, exact=EXACT_INTEGER, serials=True))


def _word_xml(word: Cell) -> str:
    return format_number(word) if isinstance(word, int) else format_text(str(word))


@dataclass(slots=True)
class _Splice:
    """Cells that are put into the XML of a worksheet.

    Attributes:
        title: of the sheet.
        edits: the new cells.
        lost_formula: whether a formula was replaced by a value.
        followed: for formulas that only repeat a cell of another sheet, which stay: the new cells of that sheet.
    """

    title: str
    edits: _SheetEdits
    lost_formula: bool = False
    followed: dict[str, _SheetEdits] = field(default_factory=dict)
    _models: dict[tuple[int, int], tuple[bytes, bool]] = field(default_factory=dict)

    def change(self, content: bytes) -> bytes:
        """Return the worksheet with the new cells.

        Raises:
            FormatError: cells or rows are not written with their addresses.
            LimitError: a cell that is needed holds something else.
        """
        begin = _DATA.search(content)
        if content.startswith((b"\xff\xfe", b"\xfe\xff")) or begin is None:
            raise FormatError(
                "the cells of this worksheet cannot be changed in place", location=self.title, hint=_SAVE_ANEW
            )
        prefix = begin[1]
        finish = content.find(b"</%bsheetData" % prefix, begin.end()) if not begin[2] else begin.end()
        touched: dict[int, dict[int, _NewCell]] = {}
        for (row, column), cell in self.edits.items():
            touched.setdefault(row, {})[column] = cell
        watched = {(cell.model, column) for (_, column), cell in self.edits.items() if cell.model is not None}
        rows = {row for row, _ in watched} | touched.keys()
        waiting = iter([*sorted(touched), None])
        following = next(waiting)
        pieces, at, number = [b"<%bsheetData>" % prefix], begin.end(), -1
        for match in _ROW.finditer(content, begin.end(), finish):
            number = self._number(match[2], number)
            while following is not None and following < number:
                pieces += [content[at : match.start()], self._make_row(prefix, following, b"", b"", touched[following])]
                at, following = match.start(), next(waiting)
            if number in rows:
                made = self._make_row(prefix, number, match[2], match[3] or b"", touched.get(number, {}), watched)
                if following == number:
                    pieces += [content[at : match.start()], made]
                    at, following = match.end(), next(waiting)
        pieces.append(content[at:finish])
        while following is not None:
            pieces.append(self._make_row(prefix, following, b"", b"", touched[following]))
            following = next(waiting)
        tail = content[finish:] if not begin[2] else b"</%bsheetData>" % prefix + content[finish:]
        return b"".join([self._widen(content[: begin.start()]), *pieces, tail])

    def _number(self, attributes: bytes, last: int) -> int:
        found = re.search(rb"""\sr\s*=\s*["']([0-9]{1,7})["']""", attributes)
        return int(found[1]) - 1 if found else last + 1

    def _make_row(
        self,
        prefix: bytes,
        number: int,
        attributes: bytes,
        content: bytes,
        new: Mapping[int, _NewCell],
        watched: Collection[tuple[int | None, int]] = (),
    ) -> bytes:
        """Return a row with its new cells, and remember the cells whose styles others take."""
        cells: list[tuple[int, bytes]] = []
        for match in _CELL.finditer(content):
            column = self._column(match[2], number)
            if (number, column) in watched:
                self._models[number, column] = _style_of(match[2]), _is_number(match[2], match[3])
            if column in new:
                cells.append((column, self._replace(match, number, column, new[column])))
            else:
                cells.append((column, match[0]))
        present = {column for column, _ in cells}
        for column, cell in new.items():
            if column not in present and cell.plain is not None:
                model = -1 if cell.model is None else cell.model
                style, number_like = self._models.get((model, column), (b"", False))
                cells.append((column, self._cell(prefix, number, column, style, cell, serial=number_like)))
        if not content and not cells:
            return b"<%brow%b/>" % (prefix, attributes or b' r="%d"' % (number + 1))
        cells.sort(key=lambda entry: entry[0])
        attributes = re.sub(rb"""\sspans\s*=\s*(?:"[^"]*"|'[^']*')""", b"", attributes) or b' r="%d"' % (number + 1)
        return b"<%brow%b>%b</%brow>" % (prefix, attributes, b"".join(cell for _, cell in cells), prefix)

    def _column(self, attributes: bytes, row: int) -> int:
        found = re.search(rb"""\sr\s*=\s*["']([A-Z]{1,3})[0-9]{1,7}["']""", attributes)
        if found is None:
            where = f"{self.title}!{cell_address(row, 0)}"
            raise FormatError("a cell of this row is written without its address", location=where, hint=_SAVE_ANEW)
        return _column_of(found[1].decode())

    def _replace(self, match: re.Match[bytes], row: int, column: int, new: _NewCell) -> bytes:
        """Return a cell that is there with its new content."""
        where = f"{self.title}!{cell_address(row, column)}"
        held = match[3] or b""
        if new.model is not None and (_VALUE.search(held) or b"is>" in held or _FORMULA.search(held)):
            raise LimitError(f"{where}: the row that is added needs this cell, which holds something else: move it")
        formula = _FORMULA.search(held)
        prefix = match[1][:-1]
        style, number_like = _style_of(match[2]), _is_number(match[2], match[3])
        if formula is None:
            if new.model is not None:
                style, number_like = self._models.get((new.model, column), (style, number_like))
            return self._cell(prefix, row, column, style, new, serial=number_like)
        text = _unescape(formula[2] or b"")
        plain = _PLAIN.fullmatch(text)
        if plain is not None and new.plain is not None:  # the element stands in a view for editing
            title = (plain[1] or plain[2]).replace("''", "'")
            cells = self.followed.setdefault(title, {})
            cells[int(plain[4]) - 1, _column_of(plain[3])] = new
            return self._cell(prefix, row, column, style, new, serial=number_like, formula=formula[0])
        if formula[1] and (b"shared" in formula[1] or b"array" in formula[1]) and b"ref" in formula[1]:
            raise LimitError(f"{where}: other cells share this formula: make it a value of its own in all copies")
        self.lost_formula = True
        return self._cell(prefix, row, column, style, new, serial=number_like)

    def _cell(
        self, prefix: bytes, row: int, column: int, style: bytes, new: _NewCell, *, serial: bool, formula: bytes = b""
    ) -> bytes:
        start = b'<%bc r="%b"%b' % (prefix, cell_address(row, column).encode(), style)
        text = new.serial if serial and new.serial is not None else new.plain
        if text is None:
            return start + b"/>"
        made = _as_result(text).encode() if formula else text.encode()
        if prefix:
            made = re.sub(rb"<(/?)(?=[a-z])", rb"<\1" + prefix, made)
        return start + made.replace(_FORMULA_HERE, formula, 1)

    def _widen(self, head: bytes) -> bytes:
        """Return what stands before the rows, with a larger range of cells in use where it has to be."""
        found = _DIMENSION.search(head)
        if found is None or not self.edits:
            return head
        last = max(int(found[5] or found[3]), 1 + max(row for row, _ in self.edits))
        right = max(_column_of((found[4] or found[2]).decode()), max(column for _, column in self.edits))
        corner = b"%b%b%b:%b%d" % (found[1], found[2], found[3], column_letters(right).encode(), last)
        return head[: found.start()] + corner + head[found.end() :]


def _style_of(attributes: bytes) -> bytes:
    found = re.search(rb"""\ss\s*=\s*["']([0-9]{1,6})["']""", attributes)
    return b"" if found is None else b' s="%b"' % found[1]


def _is_number(attributes: bytes, content: bytes | None) -> bool:
    """Return whether a cell holds a number."""
    kind = re.search(rb"""\st\s*=\s*["'](\w+)["']""", attributes)
    return content is not None and (kind is None or kind[1] == b"n") and _VALUE.search(content) is not None


def _as_result(made: str) -> str:
    """Return the XML after the reference of a cell whose formula, which is still to be put there, has a value."""
    here = _FORMULA_HERE.decode()
    text = re.fullmatch(' t="inlineStr"><is><t(?: xml:space="preserve")?>(.*)</t></is></c>', made, re.DOTALL)
    if text is not None:
        return f' t="str">{here}<v>{text[1]}</v></c>'
    return made.replace("><v>", f">{here}<v>", 1)


def _column_of(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _unescape(text: bytes) -> str:
    from html import unescape

    return unescape(text.decode("utf-8", "replace")).strip()


# Writes the arrays of a workbook anew from its guard: as they were written, or with edits and all else exact.
def restore_excel(source: Readable, target: Writable, *, keep_edits: bool = False) -> list[str]:
    """Write the arrays of a workbook anew from its guard, each to the sheet where it stood, with guard and views again.

    Args:
        source: a path or an open file: .xlsx, .xlsm, .xlsb, .xls, .ods.
        target: an .xlsx, .xlsm, .xltx or .xltm, replaced as a whole, or an open file.
        keep_edits: whether elements that people have edited, and rows that they have added or deleted, stay; all other
            elements are exact.

    Returns:
        The names of the arrays.

    Raises:
        FormatError: no guard, or a snapshot of it is damaged; with `keep_edits` also as `read_excel`.
        LimitError: a target that is not a workbook; nothing is written.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from .adapter import write_excel
        >>> file, restored = io.BytesIO(), io.BytesIO()
        >>> write_excel(file, {"t": np.array([0.1 + 0.2])}, guard=True)
        >>> restore_excel(io.BytesIO(file.getvalue()), restored)
        ['t']
    """
    if isinstance(target, (str, os.PathLike)) and not name_part(target).lower().endswith((*CONTENT_TYPES,)):
        raise LimitError(f"what is restored is a workbook: name a target that ends in {' or '.join(CONTENT_TYPES)}")
    with Source(source) as opened, locating(source=opened.name), Workbook(opened, reads_numbers=True) as book:
        groups = _restore_arrays(book, keep_edits=keep_edits)
        asked = book.views.asked
    with tempfile.TemporaryDirectory(prefix="sheetarray-") as folder:
        path = Path(folder, f"restored{suffix_of(target)}")
        for snapshot, arrays in groups.values():
            layouts = lay_out_arrays(arrays)
            options = SheetOptions(
                snapshot.sheet,
                as_text=snapshot.cells == "text",
                real_dates=snapshot.dates == "real",
                guard=True,
                views=select_views(asked, arrays),
                notes=find_notes(arrays),
            )
            write_sheets(path, [SheetWrite(arrays, layouts, options)], mode="a", if_sheet_exists="error")
        with replacing(target, binary=True) as sink, path.open("rb") as file:
            shutil.copyfileobj(file, sink)
    return [name for _, arrays in groups.values() for name in arrays]


def select_views(asked: Mapping[str, View], arrays: Mapping[str, LinearArray]) -> dict[str, View]:
    """Return the views that arrays had; the usual one where the record names dimensions that an array does not have."""
    views: dict[str, View] = {}
    for name, view in asked.items():
        if name in arrays and can_be_shown(arrays[name]):
            try:
                check_views({name: view}, arrays)
                views[name] = view
            except LimitError:
                views[name] = View()
    return views


def _restore_arrays(book: Workbook, *, keep_edits: bool) -> dict[str, tuple[SnapshotHeader, dict[str, LinearArray]]]:
    """Return, by the titles of sheets, the header of a snapshot, which says how the sheet was written, and its arrays.

    Raises:
        FormatError: the workbook has no guard, or a snapshot is damaged.
    """
    snapshots = open_snapshots(book)
    groups: dict[str, tuple[SnapshotHeader, dict[str, LinearArray]]] = {}
    for one in snapshots:
        snapshot = one.header
        _, arrays = groups.setdefault(snapshot.sheet, (snapshot, {}))
        buffer = snapshots.decode(one, 0)
        if buffer is not None:
            header = snapshot.header
            arrays[snapshot.name] = LinearArray(
                header.dtype.name, header.shape, header.strides, header.offset, header.order, buffer
            )
    for finding in (*snapshots.findings, *book.find_lost_guards()):
        raise FormatError(finding.message, location=finding.location, hint=finding.hint if not groups else None)
    if not groups:
        raise FormatError("the workbook has no guard", hint="write it with guard=True; copies of the file may have one")
    if keep_edits:
        read = read_sheets(book.plain_sheets(), restore=snapshots, resize=True)
        kept = {name: LinearArray.from_numpy(array, base=True) for name, array in read.items()}
        today = {other: name for name, other in snapshots.others.items() if other not in kept}
        for title, (snapshot, arrays) in groups.items():
            names = [today.get(name, name) for name in arrays]
            pairs = zip(names, arrays.values(), strict=True)
            groups[title] = snapshot, {name: kept.pop(name, array) for name, array in pairs}
        next(iter(groups.values()))[1].update(kept)
    return groups
