"""Old workbooks, `.xls` and `.xlsb`: python-calamine reads them in a process of bounded memory, time and output.

The library trusts what a file claims, so a file may end that process, or keep it busy until it is ended: that is a
`FormatError`. What the process gives is checked before it is used. `calamine_child` says what passes between the two;
docs/formats.md says what calamine keeps.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ....dtypes import Mask, Positions
from ....errors import FormatError, MissingDependencyError
from ....files import BytesLike
from ....loops import Doubles
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from ..package.parts import Package
from .calamine_child import BLOCK, HEAD, MESSAGE, MIXED
from .calamine_child import NUMBER as REQUEST
from .cells import (
    BOOLEAN,
    DURATION,
    LARGE,
    LONG,
    LONGEST_EXACT,
    NUMBER,
    SERIAL,
    TEXT,
    CellRun,
    Kinds,
    Titles,
    WorkbookReader,
    are_exact_doubles,
    encrypted_error,
    mark_plain_doubles,
    position_error,
    row_width,
)

if TYPE_CHECKING:
    import polars as pl

_HINT = "open it in a spreadsheet program, and save it as .xlsx"
_PROGRAM = Path(__file__).with_name("calamine_child.py")
_MOST_MEMORY = 3 * 2**28  # bytes that the process may take
_MOST_SECONDS, _PATIENCE = 10, 30  # of the processor, and until an answer, while other programs are busy
_MOST_TEXT = 2**26  # bytes of text that the cells of a sheet may hold
_MOST_CELLS = 4_000_000  # of a sheet
_MOST_BYTES = 2**27  # of a message


class LegacyBook(WorkbookReader):
    """An old workbook; `cells.WorkbookReader` says what each method is for.

    `content`: the bytes of the file. `package`: the zip package that an `.xlsb` is.

    Raises:
        FormatError: the file is encrypted, damaged, too large, or ends the process.
        MissingDependencyError: python-calamine is not installed, or this program can start no Python.
    """

    def __init__(self, content: BytesLike, package: Package | None = None) -> None:
        self.package = package
        self.max_rows = 65_536 if package is None else MOST_ROWS
        self._child = _Child(content)
        titles = Titles()
        for number, title in enumerate(self._child.titles):
            titles.add(title, str(number))
        self.titles = list(titles.places)
        self._last: tuple[str, list[_Block]] | None = None  # the sheet that was last asked for

    def _blocks(self, title: str) -> list[_Block]:
        if self._last is None or self._last[0] != title:
            self._last = title, self._child.read_sheet(self.titles.index(title))
        return self._last[1]

    def cells(self, title: str, *, numeric: bool, first: int = 0) -> Generator[CellRun]:  # noqa: ARG002  (all come)
        """Yield the cells of a worksheet."""
        for block in self._blocks(title):
            yield block.doubles() if numeric else block.texts_of(np.arange(len(block.rows)))

    def cells_of_table(self, title: str) -> Generator[CellRun]:
        """Yield the cells of a worksheet for an ordinary table: numbers that are plain doubles as such."""
        for block in self._blocks(title):
            plain = (block.kinds != TEXT) & mark_plain_doubles(block.numbers)
            if len(places := np.flatnonzero(~plain)):
                yield block.texts_of(places)
            if len(places := np.flatnonzero(plain)):
                yield block.plain_doubles(places)

    def cells_of_rows(self, title: str, spans: Sequence[tuple[int, int]]) -> Generator[CellRun]:
        """Yield the cells of some rows as text."""
        starts, ends = np.array(spans, np.int64).T
        for block in self._blocks(title):
            index = np.searchsorted(starts, block.rows, side="right") - 1
            places = np.flatnonzero((index >= 0) & (block.rows < ends[index]))
            if len(places):
                yield block.texts_of(places)

    def cells_with(self, title: str, texts: Sequence[str]) -> Generator[CellRun]:  # noqa: ARG002  (all texts come)
        """Yield the cells that hold text."""
        for block in self._blocks(title):
            if len(places := np.flatnonzero(block.kinds == TEXT)):
                yield block.texts_of(places)


@dataclass(frozen=True)
class _Block:
    """Some cells of a sheet, row by row, none of them blank.

    `rows`, `columns`, `kinds`, `numbers`: of each cell; the number of a text is NaN. `texts`: of the cells that hold
    text, in the order of the cells.
    """

    rows: Positions
    columns: Positions
    kinds: Kinds
    numbers: Doubles
    texts: pl.Series

    def texts_of(self, places: Positions) -> CellRun:
        """Return some cells, by their indices, with values of text."""
        import polars as pl

        rows, columns, kinds = self.rows[places], self.columns[places], self.kinds[places]
        textual = np.flatnonzero(kinds == TEXT)
        texts = self.texts
        if len(textual) < len(texts):
            texts = texts.gather((np.cumsum(self.kinds == TEXT) - 1)[places[textual]])
        if len(textual) == len(places):
            return CellRun(rows, columns, kinds, texts, row_width(rows, columns))
        numbers, kinds = self.numbers[places], _mark_large(self.numbers[places], kinds)
        shortest = pl.Series(numbers).cast(pl.String)
        made = shortest.str.strip_suffix(".0").zip_with(pl.Series(are_exact_doubles(numbers)), shortest)
        made = made.scatter(textual, texts) if len(textual) else made
        return CellRun(rows, columns, kinds, made, row_width(rows, columns))

    def plain_doubles(self, places: Positions) -> CellRun:
        """Return some cells that hold no text, by their indices, with values of Float64."""
        import polars as pl

        whole = len(places) == len(self.rows)
        rows, columns = (self.rows, self.columns) if whole else (self.rows[places], self.columns[places])
        numbers, kinds = (self.numbers, self.kinds) if whole else (self.numbers[places], self.kinds[places])
        return CellRun(rows, columns, kinds, pl.Series(numbers), row_width(rows, columns))

    def doubles(self) -> CellRun:
        """Return all cells with values of Float64, null for text that is no numeral."""
        import polars as pl

        values, kinds = pl.Series(self.numbers), _mark_large(self.numbers, self.kinds)
        if len(textual := np.flatnonzero(kinds == TEXT)):
            values = values.scatter(textual, self.texts.cast(pl.Float64, strict=False))
            kinds[textual[self.texts.str.len_bytes().to_numpy() > LONGEST_EXACT]] = LONG
        return CellRun(self.rows, self.columns, kinds, values, row_width(self.rows, self.columns))


def _mark_large(numbers: Doubles, kinds: Kinds) -> Kinds:
    """Return kinds in which numbers that may stand for several integers are LARGE."""
    return np.where((kinds == NUMBER) & ~are_exact_doubles(numbers), np.uint8(LARGE), kinds)


class _Child:
    """The process that has one workbook open; it ends when nobody holds this object.

    Attributes:
        titles: of the worksheets.
    """

    def __init__(self, content: BytesLike) -> None:
        self._is_late = False
        self._process = process = _start()
        weakref.finalize(self, _end, process)
        assert process.stdin is not None
        if self._answer(REQUEST.pack(len(content)), content)[0] != b"R":
            reason = f"it does not start as a process of {sys.executable}"
            raise MissingDependencyError(f"old workbooks (.xls, .xlsb) need python-calamine, and {reason}")
        letter, titles = self._answer()
        if letter != b"T":
            raise self._error(letter, titles)
        with self._checking():
            self.titles = titles.decode().split("\0")[:-1]

    def read_sheet(self, number: int) -> list[_Block]:
        """Return the cells of a sheet, by its number among the worksheets."""
        blocks, count = list[_Block](), 0
        letter, content = self._answer(REQUEST.pack(number))
        while letter == b"B":
            with self._checking():
                block = _parse_block(content)
            count += len(block.rows)
            if count > _MOST_CELLS:
                raise FormatError(f"more than {_MOST_CELLS:,} cells in a sheet of an old workbook", hint=_HINT)
            blocks += [block] if len(block.rows) else []
            letter, content = self._answer()
        if letter != b".":
            raise self._error(letter, content)
        return blocks

    def _answer(self, *request: BytesLike) -> tuple[bytes, bytes]:
        """Send a request, if any, and return the letter and the content of the next message; no letter at the end."""
        sent, received = self._process.stdin, self._process.stdout
        assert sent is not None
        assert received is not None
        timer = threading.Timer(_PATIENCE, self._stop)
        timer.daemon = True
        timer.start()
        try:
            with suppress(BrokenPipeError, ConnectionError):  # the process has ended, which its output tells
                for piece in request:
                    sent.write(piece)
                sent.flush()
            head = received.read(MESSAGE.size)
            if len(head) < MESSAGE.size:
                return b"", b""
            letter, size = MESSAGE.unpack(head)
            if size > _MOST_BYTES:
                return b"", b""
            content = received.read(size)
            return (letter, content) if len(content) == size else (b"", b"")
        except OSError:
            return b"", b""
        finally:
            timer.cancel()

    def _stop(self) -> None:
        self._is_late = True
        self._process.kill()

    def _error(self, letter: bytes, content: bytes) -> FormatError:
        """Return the error for a message that is no answer, or for the end of the process."""
        reason = content.decode("utf-8", "replace")
        if letter == b"E" and reason.startswith("PasswordError"):
            return encrypted_error()
        if letter != b"E":
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
            code = self._process.returncode
            is_late = self._is_late or code in (1, -24)  # its own watch, SIGXCPU
            taken = f"more than {_MOST_SECONDS} seconds" if is_late else f"its process ended with status {code}"
            reason = f"{taken}; at most {_MOST_MEMORY >> 20} MiB are given to it"
        _end(self._process)
        message = f"the workbook is damaged or too large: python-calamine cannot read it ({reason!r:.300})"
        return FormatError(message, hint=_HINT)

    @contextmanager
    def _checking(self) -> Iterator[None]:
        """Make a FormatError of whatever does not fit in a message."""
        try:
            yield
        except FormatError:
            raise
        except (struct.error, ValueError, IndexError) as error:
            raise self._error(b"E", b"its answer does not fit together") from error


def _start() -> subprocess.Popen[bytes]:
    """Return the process, which waits for a workbook."""
    spec = find_spec("python_calamine")
    places = spec.submodule_search_locations if spec is not None else None
    if not places:
        reason = "old workbooks (.xls, .xlsb) need python-calamine: pip install 'sheetarray[legacy]'"
        raise MissingDependencyError(reason, name="python_calamine")
    if not sys.executable or getattr(sys, "frozen", False):  # which would start this very program again
        reason = (
            "old workbooks (.xls, .xlsb) are read in a process of Python's own, and this program has no interpreter"
        )
        raise MissingDependencyError(f"{reason}: save them as .xlsx first")
    bounds = map(str, (_MOST_MEMORY, _MOST_SECONDS, _MOST_TEXT))
    command = [sys.executable, "-I", "-S", str(_PROGRAM), os.path.dirname(places[0]), *bounds]
    pipe, window = subprocess.PIPE, getattr(subprocess, "CREATE_NO_WINDOW", 0)
    # In a session of its own: Ctrl-C is for this process alone
    return subprocess.Popen(  # noqa: S603  (the command is of fixed words and numbers)
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True, creationflags=window
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process, if it has not ended."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr]
    process.wait()


def _parse_block(content: bytes) -> _Block:
    """Return the cells of a block.

    Raises:
        FormatError: a cell lies beyond a sheet.
        ValueError: the block does not fit together.
    """
    import polars as pl

    top, left, height, width, size = BLOCK.unpack_from(content)
    if top + height > MOST_ROWS or left + width > MOST_COLUMNS:
        raise position_error(top + height - 1, left + width - 1)
    if not height or not width or height * width > _MOST_BYTES:
        raise ValueError("a block without cells, or of too many")
    are_columns = width <= height
    lines, length = (width, height) if are_columns else (height, width)
    kinds, at = _parse_kinds(content, lines, length)
    is_text = kinds == TEXT
    end = at + 8 * int(np.count_nonzero(~is_text))
    if end + size != len(content):
        raise ValueError("a message of another size")
    numbers = np.full(lines * length, np.nan)
    numbers[~is_text] = np.frombuffer(content[at:end])
    if are_columns:
        kinds, numbers = (array.reshape(lines, length).T.ravel() for array in (kinds, numbers))
    is_text = kinds == TEXT
    texts = pl.Series([], dtype=pl.String)
    if is_text.any():
        texts = pl.Series([content[end:].decode()]).str.split("\0").explode()
        blank = np.zeros(len(kinds), np.bool_)
        blank[is_text] = (texts.str.len_bytes() == 0).to_numpy()
        if blank.any():
            texts, places = texts.filter(texts.str.len_bytes() > 0), np.flatnonzero(~blank)
            rows, columns = np.divmod(places, width)
            return _Block(rows + top, columns + left, kinds[places], numbers[places], texts)
    rows, columns = np.divmod(np.arange(len(kinds)), width)
    return _Block(rows + top, columns + left, kinds, numbers, texts)


def _parse_kinds(content: bytes, lines: int, length: int) -> tuple[Kinds, int]:
    """Return the kinds of the cells of a block, line by line, and the byte after them."""
    start = BLOCK.size
    alike = np.frombuffer(content, np.uint8, 2 * lines, start)
    lengths = np.tile([min(HEAD, length), max(length - HEAD, 0)], lines)
    kinds = np.repeat(alike, lengths)
    mixed = kinds == MIXED
    end = start + 2 * lines + int(np.count_nonzero(mixed))
    kinds[mixed] = np.frombuffer(content[start + 2 * lines : end], np.uint8)
    if not _KNOWN[kinds].all():
        raise ValueError("a cell of an unknown kind")
    return kinds, end


_KNOWN: Mask = np.isin(np.arange(256), (NUMBER, TEXT, BOOLEAN, SERIAL, DURATION))
