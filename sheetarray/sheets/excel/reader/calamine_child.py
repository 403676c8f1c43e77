"""The program of a process in which python-calamine reads an old workbook; `legacy` starts it and checks its answers.

It runs alone, as `python -I -S`, and imports little, so that it starts quickly. Standard input: the size of the file,
the file, then numbers of sheets. Standard output: messages, each a letter, a size and that many bytes. `R`: ready. `T`:
the titles of the worksheets. `B`: a block of the sheet that was asked for. `.`: its end. `E`: an error, then the end.
"""

from __future__ import annotations

import faulthandler
import struct
import sys
from io import BytesIO

TYPE_CHECKING = False
if TYPE_CHECKING:  # without a module that starts slowly
    from collections.abc import Iterator, Sequence
    from typing import Any

MESSAGE, BLOCK, NUMBER = struct.Struct("=cQ"), struct.Struct("=5Q"), struct.Struct("=Q")
MIXED = 255  # in the place of one kind for all cells of a line
_HEAD = 32  # rows of the first block: below them, the cells of a column are of one kind in most sheets
_CELLS_A_BLOCK = 2**15
_LONGEST_REASON = 300  # characters
# Of each Python type, the kind of cell that `cells` names
_KINDS = {"float": 1, "int": 1, "str": 2, "bool": 3, "date": 4, "datetime": 4, "time": 4, "timedelta": 6}
_DAY_ZERO = 693_594  # the ordinal of the day that stands for the number 0, from March 1900 on
_SECONDS_A_DAY = 86_400


def serve(library: str, memory: int, seconds: int, text: int) -> None:
    """Answer requests until the input ends or an error is sent.

    `library`: the folder with python_calamine. `memory`, `seconds`: that this process may take, where the system knows
    limits. Three times `seconds` may pass until an answer. `text`: bytes of text that a sheet may have.
    """
    sys.path.append(library)
    _limit(memory, seconds)
    import python_calamine

    _send(b"R")
    try:
        (size,) = NUMBER.unpack(sys.stdin.buffer.read(NUMBER.size))
        faulthandler.dump_traceback_later(3 * seconds, exit=True)  # which waits for no code of the library
        book: Any = python_calamine.load_workbook(BytesIO(sys.stdin.buffer.read(size)))
        sheets = [(index, sheet.name) for index, sheet in enumerate(book.sheets_metadata) if "Work" in str(sheet.typ)]
        _send(b"T", _join([*[title for _, title in sheets], ""]))
        faulthandler.cancel_dump_traceback_later()
        while request := sys.stdin.buffer.read(NUMBER.size):
            faulthandler.dump_traceback_later(3 * seconds, exit=True)
            for block in _pack_sheet(book.get_sheet_by_index(sheets[NUMBER.unpack(request)[0]][0]), text):
                _send(b"B", block)
            _send(b".")
            faulthandler.cancel_dump_traceback_later()
    except BaseException as error:  # panics of Rust are no `Exception`
        _send(b"E", f"{type(error).__name__}: {error}"[:_LONGEST_REASON].encode("utf-8", "replace"))


def _limit(memory: int, seconds: int) -> None:
    """Bound the memory and the time of this process, and let it write no files."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = [(resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0)]
    for limit, value in [(getattr(resource, "RLIMIT_AS", resource.RLIMIT_DATA), memory), *limits]:
        try:
            hard = resource.getrlimit(limit)[1]
            resource.setrlimit(
                limit, (value, value + 1) if hard == resource.RLIM_INFINITY else (min(value, hard), hard)
            )
        except (ValueError, OSError):  # a system that knows the limit by its name alone
            continue


def _send(letter: bytes, content: bytes = b"") -> None:
    sys.stdout.buffer.write(MESSAGE.pack(letter, len(content)) + content)
    sys.stdout.buffer.flush()


def _pack_sheet(sheet: Any, most_text: int) -> Iterator[bytes]:
    """Yield the cells of a sheet, some rows at a time.

    After `BLOCK` (the first row and column, the numbers of rows and columns, the bytes of text) come a byte for each
    line, its kind or `MIXED`; a byte for each cell of lines that are mixed; a double for each cell that is no text; and
    the texts, of which "" stands for a blank. Lines are columns, or rows where these are longer.
    """
    rows = sheet.to_python() if sheet.start is not None else []
    width = len(rows[0]) if rows else 0
    first = size = 0
    while width and first < len(rows):
        block = rows[first : first + (max(1, _CELLS_A_BLOCK // width) if first else _HEAD)]
        packed, texts = _pack_lines(list(zip(*block, strict=True)) if width <= len(block) else block)
        text = _join(texts)
        size += len(text)
        if size > most_text:
            raise MemoryError(f"more than {most_text:,} bytes of text")
        yield BLOCK.pack(sheet.start[0] + first, sheet.start[1], len(block), width, len(text)) + packed + text
        first += len(block)


def _pack_lines(lines: Sequence[Sequence[Any]]) -> tuple[bytes, list[str]]:
    """Return the kinds and the numbers of cells, line by line; and their texts."""
    alike, mixed, numbers, texts = bytearray(), list[bytes](), list[bytes](), list[str]()
    for line in lines:
        types = set(map(type, line))
        kinds = {kind: _KINDS[kind.__name__] for kind in types}
        if len({*kinds.values()}) == 1:
            alike.append(kinds[types.pop()])
        else:
            alike.append(MIXED)
            mixed.append(bytes(map(kinds.__getitem__, map(type, line))))
        if str in kinds:
            texts += line if len(kinds) == 1 else [value for value in line if type(value) is str]
            line = [value for value in line if type(value) is not str] if len(kinds) > 1 else ()
        values = line if kinds.keys() <= {float, int, bool, str} else list(map(_to_number, line))
        numbers.append(struct.pack(f"={len(values)}d", *values))
    return b"".join([alike, *mixed, *numbers]), texts


def _to_number(value: Any) -> float:
    """Return a date, a time of day or a duration as a number of days."""
    name = type(value).__name__
    if name == "timedelta":
        days, seconds, micros = value.days, value.seconds, value.microseconds
    elif name in ("date", "datetime", "time"):
        days = value.toordinal() - _DAY_ZERO if name != "time" else 0
        days -= name != "time" and days <= 60  # the 29th of February 1900 counts, though no calendar has it
        hours = 0 if name == "date" else value.hour * 3600 + value.minute * 60 + value.second
        seconds, micros = hours, 0 if name == "date" else value.microsecond
    else:
        return float(value)
    return float(((days * _SECONDS_A_DAY + seconds) * 10**6 + micros) / (_SECONDS_A_DAY * 10**6))


def _join(texts: Sequence[str]) -> bytes:
    """Return texts in UTF-8, with NUL between them."""
    joined = "\0".join(texts)
    if joined.count("\0") >= max(len(texts), 1):
        number = next(number for number, text in enumerate(texts, 1) if "\0" in text)
        raise ValueError(f"text {number} of the sheet holds a NUL character")
    return joined.encode()


if __name__ == "__main__":
    serve(sys.argv[1], *map(int, sys.argv[2:]))
