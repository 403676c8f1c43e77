"""The text of an ordinary table without its debris: bytes that programs leave behind, and that are no cells.

What is certain is put right without a word: `sep=;` in the first line, a final 0x1A, CR CR LF in every line. All else
is told. Rows keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import FormatError, check_kinds
from ...files import BytesLike
from ...tables import WHITESPACE, Doubt, Marks, Sample, TableOptions
from .encodings import canonical_encoding, find_encoding, find_encoding_by_nuls
from .plain_records import decode_text

_SEP = re.compile(rb'"?sep=(.)"?[ \t,;]*\r?\n', re.IGNORECASE)
_MARK = b"\xef\xbb\xbf"
_CONFLICT = b"\n<<<<<<< "
_DOS_END = b"\x1a"
_CONTROL = bytes({*range(1, 9), 11, 12, *range(14, 32), 127})
_KEPT = bytes(byte for byte in range(256) if byte not in _CONTROL)
_WESTERN_CONTROL = re.compile(rb"\xc2[\x80-\x84\x86-\x9f]")  # U+0085 is white space
_ENDS = rb"\S[ \t]*\r\n", rb"[^\s][ \t]*\n"  # of rows that hold something
_FAST = 2**17  # bytes that stay in the caches of a processor
_MOST_SEARCHED = 2**22  # bytes that are searched for control characters; of larger texts, the beginning
_FIRST, _LATER = 2**14, 2**13  # bytes of the beginning, of the middle and of the end that tell the marks, at least
_LEAST_LINES, _MOST_BYTES = 8, 2**21  # lines of each that are looked at, however long they are; bytes, at most


@dataclass
class TidyText:
    """A text without debris.

    Attributes:
        content: the text in UTF-8.
        encoding: of the file, if it is not UTF-8.
        delimiter: that the first line names; None if it names none.
        first: the first row that may belong to the table, counted from 0.
        doubts: what was left out.
        is_ascii: whether all characters are ASCII.
    """

    content: BytesLike
    encoding: str | None = None
    delimiter: str | None = None
    first: int = 0
    doubts: list[Doubt] = field(default_factory=list)
    is_ascii: bool = True


def tidy_text(raw: BytesLike, encoding: str | None) -> TidyText:
    """Return a text in UTF-8 without its debris.

    `encoding`: that the caller names; None finds it.

    Raises:
        FormatError: the text is not of the encoding.
    """
    if encoding is None and raw.find(b"\0") < 0 and bytes(raw).isascii():
        text = TidyText(raw)
    else:
        text = _decode(raw, encoding)
        _remove_nuls(text)
    if bytes(text.content[-64:]).rstrip(b"\r\n \t").endswith(_DOS_END):
        text.content = bytes(text.content[: text.content.rfind(_DOS_END)]).rstrip(_DOS_END)
    if text.content.find(b"\r") >= 0:
        text.content = _unify_line_ends(text.content, text.doubts)
    raw_bytes = bytes(text.content)
    text.is_ascii = raw_bytes.isascii()
    if not text.is_ascii and (place := raw_bytes.find(_MARK)) >= 0:
        text.content = _leave_out_marks(raw_bytes, place, text.doubts)
    if (place := raw_bytes.find(_CONFLICT)) >= 0:
        row = raw_bytes.count(b"\n", 0, place) + 1
        doubt = f"row {row + 1} is a mark of a conflict, as git writes it: both versions of the rows below are read"
        text.doubts.append(Doubt("conflict", doubt, row, 0, "resolve it in the file, and read that"))
    if (sep_line := _SEP.match(bytes(text.content[:64]))) is not None and not sep_line[1].isalnum():
        text.delimiter, text.first = sep_line[1].decode("latin-1"), 1
    return text


def _leave_out_marks(raw: bytes, place: int, doubts: list[Doubt]) -> bytes:
    """Return a text without the byte order marks that begin its cells; `place`: of the first mark."""
    content = re.sub(rb'(?:^|(?<=[\n\r,;\t|"]))(?:' + _MARK + rb")+", b"", raw)
    if len(content) < len(raw):
        row = raw.count(b"\n", 0, place)
        doubts.append(Doubt("mark", "a byte order mark inside the text was left out", row))
    return content


def _decode(raw: BytesLike, encoding: str | None) -> TidyText:
    """Return a text in UTF-8."""
    name, mark = find_encoding(bytes(raw[:4]))
    by_nuls = None if mark else find_encoding_by_nuls(bytes(raw[:4096]))
    if encoding is not None:
        codec = canonical_encoding(encoding)
        if codec in ("utf-16", "utf-32") and by_nuls is not None and by_nuls.startswith(codec):
            codec = by_nuls
        mark = mark if codec == name else 0
        if codec == "utf-8" and not mark:
            decode_text(bytes(raw), codec)
            return TidyText(raw)
        text = decode_text(bytes(raw[mark:]), codec).removeprefix("\ufeff")
        return TidyText(text.encode("utf-8", "surrogatepass"), codec)
    if mark and name == "utf-8":
        raw = raw[mark:]
    elif mark or by_nuls is not None:
        name = by_nuls or name
        return TidyText(decode_text(bytes(raw[mark:]), name).encode("utf-8", "surrogatepass"), name)
    content = bytes(raw)
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        if mark:
            decode_text(content, "utf-8")
        return _decode_western(content, error)
    return TidyText(raw)


def _decode_western(content: bytes, error: UnicodeDecodeError) -> TidyText:
    """Return a text that is not UTF-8 as cp1252, if each byte is valid in it."""
    is_ascii = bytes(content[: error.start]).isascii()
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError as other:
        reason = f"not text in utf-8, nor in cp1252: byte {content[other.start]:#04x}"
        row = content.count(b"\n", 0, other.start)
        hint = "name the encoding, for example encoding='mac_roman' or encoding='shift_jis'"
        if not is_ascii:
            hint = "what stands above is UTF-8: is a character cut? mend it, or name the encoding, encoding="
        raise FormatError(reason, location=f"line {row + 1}", hint=hint) from error
    row = content.count(b"\n", 0, error.start)
    character = content[error.start : error.start + 1].decode("cp1252")
    above = "" if is_ascii else ", although what stands above is UTF-8"
    message = f"not UTF-8, read as cp1252{above}: byte {content[error.start]:#04x} is {character!r}"
    doubt = Doubt("encoding", message, row, 0, "encoding= names another one, such as 'cp1250' or 'latin-1'")
    return TidyText(text.encode(), "cp1252", doubts=[doubt])


def _remove_nuls(text: TidyText) -> None:
    """Leave out NUL bytes, which a logger writes when its power fails."""
    place = text.content.find(b"\0")
    if place < 0:
        return
    content = bytes(text.content)
    count, row = content.count(b"\0"), content.count(b"\n", 0, place)
    text.content = content.replace(b"\0", b"")
    text.doubts.append(Doubt("nul", f"{count:,} NUL bytes were left out, from row {row + 1} on", row))


def _unify_line_ends(content: BytesLike, doubts: list[Doubt]) -> BytesLike:
    """Return a text whose lines end with LF or CR LF, and note if they end in different ways."""
    raw = bytes(content)
    if (twice := raw.count(b"\r\r\n")) > 0:
        if twice < (rows := raw.count(b"\n")):
            doubts.append(Doubt("line ends", f"{twice:,} of {rows:,} rows end with CR CR LF", 0))
        raw = raw.replace(b"\r\r\n", b"\r\n")
    raw = raw[:-1] if raw.endswith(b"\r") and raw.count(b"\n") else raw
    both, returns, feeds = raw.count(b"\r\n"), raw.count(b"\r"), raw.count(b"\n")
    if not feeds:
        return raw.replace(b"\r", b"\n")
    alone = returns - both  # lines that end with CR
    quoted = b'"' in raw  # line ends inside a cell may be others
    if alone or (both and feeds > both and not quoted and all(map(re.search, _ENDS, (raw, raw)))):
        counts = {"CR LF": both, "LF": feeds - both, "CR": alone}
        kinds = ", ".join(f"{count:,} with {kind}" for kind, count in counts.items() if count)
        doubts.append(Doubt("line ends", f"rows end in different ways: {kinds}", 0))
    return re.sub(rb"\r(?!\n)", b"\n", raw) if alone else raw


def iter_signs(content: BytesLike, size: int) -> Iterator[np.ndarray[Any, np.dtype[np.uint8]]]:
    """Yield the first bytes of a text as numbers, in blocks that stay in the caches of a processor."""
    for first in range(0, size, _FAST):
        yield np.frombuffer(content, np.uint8, min(_FAST, size - first), first)


def tell_control_characters(text: TidyText, delimiter: bytes) -> None:
    """Note the first control character in a text. Unless it is the delimiter, it is part of its cell."""
    content = text.content if isinstance(text.content, bytes) else bytes(text.content[:_MOST_SEARCHED])
    size = min(len(content), _MOST_SEARCHED)
    if not text.is_ascii and (match := _WESTERN_CONTROL.search(content, 0, size)) is not None:
        row, sign = content.count(b"\n", 0, match.start()), match[0][1:]
        message = f"a control character, U+{sign[0]:04X}, stands in a cell of row {row + 1}"
        if western := sign.decode("cp1252", "ignore"):
            message += f": byte {sign[0]:#04x} is {western!r} in cp1252, and was read in another encoding once"
        text.doubts.append(Doubt("control", message, row))
    usual = [sign for sign in b"\n\r\t" if content.find(sign, 0, size) >= 0]
    blocks = iter_signs(content, size)
    are_usual = all(
        np.count_nonzero(block < ord(" ")) == sum(np.count_nonzero(block == sign) for sign in usual) for block in blocks
    )
    if are_usual and content.find(b"\x7f", 0, size) < 0:
        return
    if signs := content[:size].translate(None, _KEPT + delimiter):
        place = content.find(signs[:1])
        row = content.count(b"\n", 0, place)
        message = f"a control character, {signs[0]:#04x}, stands in a cell of row {row + 1}"
        text.doubts.append(Doubt("control", message, row))


def take_sample(text: TidyText, options: TableOptions) -> Sample:
    """Return the lines of the beginning, the middle and the end that tell the marks, without rows that are skipped."""
    content = text.content
    start = content.find(b"\n") + 1 if text.first else 0
    if len(content) - start <= _FIRST:
        pieces = [_decode_piece(content, start, len(content))]
        is_whole = True
    else:
        start = _pass_blank_rows(content, start)
        pieces, is_whole = _take_pieces(content, start)
    if start == 0 and (rows := {*options.skipped_rows} or range(options.skipped_above)):
        pieces[0] = "\n".join([line for row, line in enumerate(pieces[0].split("\n")) if row not in rows])
    if options.comment is not None:
        lines = [line for line in pieces[0].split("\n") if not line.lstrip().startswith(options.comment)]
        pieces[0] = "\n".join(lines)
    return Sample(pieces, is_whole)


def _pass_blank_rows(content: BytesLike, start: int) -> int:
    """Return the place at which the first row begins that holds something, if very many blank rows stand above it."""
    top = bytes(content[start : start + _FIRST])
    if not top.strip(b"\r\n\t ,;|") and (match := re.search(rb"[^\s,;|]", bytes(content[start:]))) is not None:
        return max(content.rfind(b"\n", start, start + match.start()) + 1, start)
    return start


def _take_pieces(content: BytesLike, start: int) -> tuple[list[str], bool]:
    """Return lines of the beginning, the middle and the end of a text, and whether these are all."""
    first, later = _size_pieces(content, start)
    if len(content) - start <= first + 2 * later:
        return [_decode_piece(content, start, len(content))], True
    pieces = [_decode_piece(content, start, start + first)]
    for place in (max(len(content) // 2, start + first), len(content) - later):
        begin = content.find(b"\n", place, place + later) + 1
        if begin:
            begin = _leave_quotes(content, start, begin, begin + later)
            pieces.append(_decode_piece(content, begin, max(begin + later, _end_lines(content, begin)[0])))
    return pieces, False


def _leave_quotes(content: BytesLike, start: int, begin: int, end: int) -> int:
    """Return the place of the first line, from a place on, that does not begin in a cell in quotes; that place itself
    if there is no such line.
    """
    if content.find(b'"', begin, end) < 0 or bytes(content[start:begin]).count(b'"') % 2 == 0:
        return begin
    is_open = True
    for match in re.finditer(rb'["\n]', bytes(content[begin:end])):
        if match[0] == b'"':
            is_open = not is_open
        elif not is_open:
            return begin + match.end()
    return begin


def _size_pieces(content: BytesLike, start: int) -> tuple[int, int]:
    """Return the bytes of the beginning, and of middle and end, that are looked at: more where rows are long."""
    end, longest = _end_lines(content, start)
    return max(_FIRST, end - start), max(_LATER, min(_LEAST_LINES * longest, _MOST_BYTES // 4))


def _end_lines(content: BytesLike, start: int) -> tuple[int, int]:
    """Return where the fewest lines that are looked at end, and the bytes of the longest."""
    end, longest = start, 0
    for _ in range(_LEAST_LINES):
        after = content.find(b"\n", end, start + _MOST_BYTES) + 1
        if not after:
            break
        end, longest = after, max(longest, after - end)
    return end, longest


def _decode_piece(content: BytesLike, start: int, end: int) -> str:
    return bytes(content[start:end]).decode("utf-8", "replace")


def check_table_marks(marks: Marks, decimal: str | None) -> None:
    """Refuse marks of a caller if two of them are the same character.

    Raises:
        ValueError: they cannot.
    """
    check_kinds(str, "the text between cells", delimiter=marks.delimiter)
    check_kinds(str, 'one character, or ""', quotechar=marks.quotechar, escapechar=marks.escapechar)
    delimiter = marks.delimiter
    has_sign = any(sign.isalnum() or sign in "\r\n\"'\0" for sign in delimiter)
    if not delimiter or (has_sign and delimiter != WHITESPACE):
        raise ValueError(
            f"the delimiter {delimiter!r} cannot be told from a cell's content; take one such as , ; | or a tab"
        )
    for name in ("quotechar", "escapechar"):
        mark = getattr(marks, name)
        if len(mark) > 1 or (mark and (mark.isalnum() or mark in "\r\n\0" or mark == delimiter)):
            raise ValueError(f'{name} is one character that is not the delimiter, or "" for none, not {mark!r}')
    if decimal is not None and delimiter == decimal:
        raise ValueError(f"delimiter and decimal mark are both {decimal!r}: take delimiter=';'")
