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
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np

from ....dtypes import Mask, Positions
from ....errors import FormatError, MissingDependencyError
from ....files import BytesLike
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from ..package.package import Package
from .calamine_child import BLOCK, MESSAGE, MIXED
from .calamine_child import NUMBER as REQUEST
from .cells import (
    ALL_ROWS,
    BOOLEAN,
    DURATION,
    LARGE,
    NUMBER,
    SERIAL,
    TEXT,
    CellRun,
    WorkbookReader,
    are_exact_doubles,
    encrypted_error,
    put_at,
)
from .columns.gathering import LONG_COLUMN
from .raw_cells import position_error
from .titles import place_sheets

_HINT = "open it in a spreadsheet program, and save it as .xlsx"
_PROGRAM = Path(__file__).with_name("calamine_child.py")
_MOST_MEMORY = 3 * 2**28  # bytes that the process may take
_MOST_SECONDS = 10  # of the processor; three times as many until an answer, while other programs are busy
_MOST_TEXT = 2**26  # bytes of text that the cells of a sheet may hold
_MOST_CELLS = 4_000_000  # of a sheet
_MOST_BYTES = 2**27  # of a message
_KNOWN: Mask = np.isin(np.arange(256), (NUMBER, TEXT, BOOLEAN, SERIAL, DURATION))
_Parsed = TypeVar("_Parsed")


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
        self.titles = list(place_sheets((title, str(number)) for number, title in enumerate(self._child.titles)))
        self._last: tuple[str, list[CellRun]] | None = None  # the sheet that was last asked for

    def _runs(self, title: str) -> list[CellRun]:
        if self._last is None or self._last[0] != title:
            self._last = title, self._child.read_sheet(self.titles.index(title))
        return self._last[1]

    def blocks(
        self,
        title: str,
        *,
        spans: Sequence[tuple[int, int]] = ALL_ROWS,  # noqa: ARG002  (that of a number is made of it)
        numbers_alone: bool = False,  # noqa: ARG002  (all cells are kept)
    ) -> Generator[CellRun]:
        """Yield the cells of a worksheet: runs of texts, and runs of numbers."""
        yield from self._runs(title)

    def look_up(self, block: CellRun, places: Positions | None = None, bare: Mask | None = None) -> CellRun:
        """Return some cells with their texts. Calamine keeps none of numbers: the shortest ones are made."""
        import polars as pl

        run = block if places is None or len(places) == len(block) else block.gather(places)
        bare = bare if bare is None or run is block else bare[places]
        if run.values is not None or (bare is not None and bare.all()):
            return run
        exact, shortest = are_exact_doubles(run.numbers), pl.Series(run.numbers).cast(pl.String)
        shortest = shortest.str.strip_suffix(".0").zip_with(pl.Series(exact), shortest)
        if bare is not None and bare.any():
            shortest = put_at(shortest.filter(pl.Series(~bare)), np.flatnonzero(~bare), len(run))
        return replace(run, values=shortest)


class _Child:
    """The process that has one workbook open; it ends when nobody holds this object.

    Attributes:
        titles: of the worksheets.
    """

    def __init__(self, content: BytesLike) -> None:
        self._process = process = _start()
        weakref.finalize(self, _end, process)
        self._send(REQUEST.pack(len(content)), content)
        try:
            self._receive(b"R")
        except FormatError as error:
            reason = f"it does not start as a process of {sys.executable}"
            message = f"old workbooks (.xls, .xlsb) need python-calamine, and {reason}"
            raise MissingDependencyError(message) from error
        self.titles: list[str] = self._parse(self._receive(b"T")[1], lambda titles: titles.decode().split("\0")[:-1])

    def read_sheet(self, number: int) -> list[CellRun]:
        """Return the cells of a sheet, by its number among the worksheets: runs of texts, and runs of numbers."""
        runs = list[CellRun]()
        self._send(REQUEST.pack(number))
        letter, content = self._receive(b"B.")
        while letter != b".":
            runs += self._parse(content, _parse_block)
            if sum(map(len, runs)) > _MOST_CELLS:
                raise FormatError(f"more than {_MOST_CELLS:,} cells in a sheet of an old workbook", hint=_HINT)
            letter, content = self._receive(b"B.")
        return runs

    def _send(self, *request: BytesLike) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # the process has ended, which its output tells
            for piece in request:
                self._process.stdin.write(piece)
            self._process.stdin.flush()

    def _receive(self, letters: bytes) -> tuple[bytes, bytes]:
        """Return the letter and the content of the next message, which must be one of some letters."""
        assert self._process.stdout is not None
        head = self._process.stdout.read(MESSAGE.size)
        letter, size = MESSAGE.unpack(head) if len(head) == MESSAGE.size else (b"", 0)
        content = self._process.stdout.read(size) if size <= _MOST_BYTES else b""
        if not letter or letter not in letters or len(content) < size:
            raise self._error(content if letter == b"E" else None)
        return letter, content

    def _parse(self, content: bytes, parse: Callable[[bytes], _Parsed]) -> _Parsed:
        try:
            return parse(content)
        except FormatError:
            raise
        except (struct.error, ValueError, IndexError) as error:
            raise self._error(b"its answer does not fit together") from error

    def _error(self, told: bytes | None) -> FormatError:
        """Return the error for a message of the child process; None if the process has died, or has to be killed."""
        if told is not None and told.startswith(b"PasswordError"):
            return encrypted_error()
        reason = (told or b"").decode("utf-8", "replace")
        if told is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
            code = self._process.returncode
            is_late = code in (1, -24)  # its own watch, SIGXCPU
            taken = f"more than {_MOST_SECONDS} seconds" if is_late else f"its process ended with status {code}"
            reason = f"{taken}; at most {_MOST_MEMORY >> 20} MiB are given to it"
        _end(self._process)
        message = f"the workbook is damaged or too large: python-calamine cannot read it ({reason!r:.300})"
        return FormatError(message, hint=_HINT)


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
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=window,
        pipesize=2**20,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process, if it has not ended."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr]
    process.wait()


def _parse_block(content: bytes) -> list[CellRun]:
    """Return the cells of a block: those that hold text, and those that hold numbers, of tall blocks by column; runs
    that begin further up come first.

    Raises:
        FormatError: a cell lies beyond a sheet.
        ValueError: the block does not fit together.
    """
    import polars as pl

    top, left, height, width, size = BLOCK.unpack_from(content)
    if top + height > MOST_ROWS or left + width > MOST_COLUMNS:
        raise position_error(top + height - 1, left + width - 1)
    if not 0 < height * width <= _MOST_BYTES:
        raise ValueError("a block without cells, or of too many")
    count, length = (width, height) if width <= height else (height, width)
    across, along = (left, top) if width <= height else (top, left)
    alike = np.frombuffer(content, np.uint8, count, BLOCK.size)
    start = BLOCK.size + count + length * int(np.count_nonzero(alike == MIXED))
    mixed = np.frombuffer(content[BLOCK.size + count : start], np.uint8)
    kinds = np.repeat(alike, length)
    if len(mixed):
        kinds[kinds == MIXED] = mixed
    is_text = kinds == TEXT
    textual, numeric = np.flatnonzero(is_text), np.flatnonzero(~is_text)
    end = start + 8 * len(numeric)
    if not (_KNOWN[alike] | (alike == MIXED)).all() or not _KNOWN[mixed].all() or end + size != len(content):
        raise ValueError("cells of an unknown kind, or of another size")
    lines = np.repeat(np.arange(across, across + count), length)
    places = np.tile(np.arange(along, along + length), count)
    rows, columns = (places, lines) if width <= height else (lines, places)
    numbers = np.full(len(kinds), np.nan)
    numbers[numeric] = np.frombuffer(content[start:end])
    kinds[(kinds == NUMBER) & ~are_exact_doubles(numbers)] = LARGE
    texts = pl.Series([], dtype=pl.String)
    if len(textual):
        texts = pl.Series([content[end:].decode()]).str.split("\0").explode()
        filled = texts.str.len_bytes() > 0
        textual, texts = textual[filled.to_numpy()], texts.filter(filled)
    runs = list[CellRun]()
    for cells, values in ((textual, texts), (numeric, None)):
        with_content = slice(None) if len(cells) == len(kinds) else cells
        run = CellRun(rows[with_content], columns[with_content], kinds[with_content], numbers[with_content], values)
        if len(cells) < LONG_COLUMN * count or width > height:
            runs += [run] if len(cells) else []
            continue
        for start, end in pairwise(np.searchsorted(run.columns, np.arange(left, left + count + 1)).tolist()):
            runs += [replace(run.gather(np.arange(start, end)), width=1)] if end > start else []
    return sorted(runs, key=lambda run: int(run.rows[0] if run.width else run.rows.min()))
