"""A part of XML, inflated block by block and read element by element: rows, or shared strings.

The compiled loop reads elements of plain XML where they stand, and stops where it meets anything odd: comments, CDATA,
entities that are not XML's own, whatever is not well-formed. An XML parser gets all that the loop has not read, and so
sees a whole document without some elements. It is right on everything; where the loop is missing, it reads all.
"""

from __future__ import annotations

import codecs
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from itertools import chain
from typing import Any, Generic, TypeVar
from xml.parsers import expat

import numpy as np

from ....errors import FormatError
from ....files import fast_zlib
from ....loops import COMPILED
from ...workbooks import without_escapes
from ..package.parts import DOCTYPE_REFUSED, STORED, Member, Package
from .cells import LONGEST_TEXT

# A part of a package, inflated block by block, and threads that work ahead of whoever takes the blocks.
#
# Parts are inflated by isal where it is installed, which is about three times as fast as Python's zlib. The first
# blocks are small, so that looking at the first rows of a large sheet costs next to nothing.

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_FIRST_BLOCK, _BLOCK = 2**16, 2**22  # bytes
_FIRST_PIECE = 2**15  # compressed bytes that are inflated first
_LARGE_PIECE = 31 * 2**20  # bytes: from one of more than 32 MiB glibc learns nothing (`_keep_freed_memory`)
# Bytes that any part may have, and how many more for each compressed byte. One text over and over deflates to a
# thousandth of its size, rows of one number to a fifteenth
_INFLATED_ALWAYS, _INFLATED_TIMES = 2**28, 100
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_ENCODING = re.compile(rb"""\A(?:\xef\xbb\xbf)?<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)["']""")


def inflate_blocks(package: Package, name: str) -> Iterator[bytes]:
    """Yield the content of a part, in blocks that grow; its size and its CRC-32 are checked at the end.

    Raises:
        FormatError: the package has no such part, the part is damaged, or it inflates to so much more than its
            compressed bytes that it can only be meant to fill the memory.
    """
    member = package.member(name)
    limit = _INFLATED_ALWAYS + _INFLATED_TIMES * member.packed
    if member.size > limit:
        raise FormatError(
            f"the part inflates from {member.packed} bytes to {member.size}; at most {limit} are read",
            location=member.name,
            hint="if this is intended, save the workbook again",
        )
    inflater, crc32 = fast_zlib.decompressor(fast_zlib.RAW), fast_zlib.crc32()
    crc, left = 0, member.size
    blocks = package.iter_packed(name) if member.method == STORED else _inflate_member(package, member, inflater)
    for block in blocks:
        crc, left = crc32(block, crc), left - len(block)
        if left < 0:
            raise FormatError(f"the part inflates to more than its {member.size} bytes", location=member.name)
        yield block
    if left:
        raise FormatError(
            f"the part is {left} bytes shorter than the {member.size} bytes that the file states", location=member.name
        )
    if crc != member.crc:
        raise FormatError("the part is damaged: its checksum is wrong", location=member.name)


def _inflate_member(package: Package, member: Member, inflater: Any) -> Iterator[bytes]:
    """Yield the inflated bytes of a member in blocks that grow from `_FIRST_BLOCK` to `_BLOCK` bytes."""
    most = _FIRST_BLOCK
    for waiting in _packed_pieces(package, member.name):
        more = True
        while more and not inflater.eof:
            try:
                block = inflater.decompress(waiting, most)
            except fast_zlib.errors() as error:
                raise FormatError(f"the part is damaged ({error})", location=member.name) from error
            waiting = inflater.unconsumed_tail
            more = bool(waiting) or len(block) == most
            most = min(most * 4, _BLOCK)
            if block:
                yield block
    if not inflater.eof:
        raise FormatError("the part breaks off", location=member.name)


def _packed_pieces(package: Package, name: str) -> Iterator[bytes]:
    """Yield the compressed bytes of a member, the first ones in small pieces that grow."""
    blocks = package.iter_packed(name)
    first, start, size = next(blocks, b""), 0, _FIRST_PIECE
    while start < len(first):
        yield first[start : start + size]
        start, size = start + size, size * 4
    yield from blocks


@contextmanager
def helper(name: str, count: int = 1) -> Iterator[Executor]:
    """Yield an executor of one thread, or of `count` threads, whose names begin with `sheetarray-` and a name.

    On leaving, nobody waits for the threads to end. A generator that was not run to its end may be cleared away within
    a thread that is just starting, and a thread that waits there for others would wait for ever.
    """
    threads = ThreadPoolExecutor(count, f"sheetarray-{name}")
    try:
        yield threads
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


@cache
def _keep_freed_memory() -> None:
    """Let the C library keep what blocks free for the blocks that follow.

    glibc gives a large piece of memory back at once until it has seen a larger one freed; then the system has to clear
    the same pages for every block, which took a fifth of the time.
    """
    np.empty(_LARGE_PIECE, np.uint8)


def run_ahead(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same blocks, each made in a second thread while the caller is busy with the one before."""
    _keep_freed_memory()
    with helper("inflate") as thread:
        waiting = thread.submit(next, blocks, None)
        while (block := waiting.result()) is not None:
            waiting = thread.submit(next, blocks, None)
            yield block


def blocks_to_utf8(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Yield blocks of XML in UTF-8, without a byte order mark.

    `blocks`: the XML as it stands in the package, in UTF-8 or UTF-16.

    Raises:
        FormatError: the part is in another encoding.
    """
    first = next(blocks, b"")
    if first.startswith(_UTF16):
        decoder = codecs.getincrementaldecoder("utf-16")("strict")
        try:
            yield decoder.decode(first).encode()
            for block in blocks:
                yield decoder.decode(block).encode()
            yield decoder.decode(b"", final=True).encode()
        except UnicodeError:
            raise FormatError("the part is not UTF-16", location=name) from None
        return
    declared = _ENCODING.match(first)
    if declared and declared[1].lower() not in (b"utf-8", b"utf8", b"us-ascii"):
        raise FormatError(
            f"the part is in {declared[1].decode('ascii', 'replace')!r:.40}: UTF-8 and UTF-16 are read", location=name
        )
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    for block in chain([first.removeprefix(codecs.BOM_UTF8)], blocks):
        try:
            if not block.isascii() or decoder.getstate()[0]:
                decoder.decode(block)
        except UnicodeError:
            raise FormatError("the part is not UTF-8", location=name) from None
        yield block


def part_blocks(package: Package, name: str, short: int) -> Iterator[bytes]:
    """Return the blocks of a part in UTF-8, inflated ahead of the caller if it has more than `short` bytes."""
    if name in package and package.member(name).size > short:
        return run_ahead(blocks_to_utf8(inflate_blocks(package, name), name))
    return blocks_to_utf8(iter([package.read(name, limit=short)]), name)


# Elements: rows, or shared strings.

_Read = TypeVar("_Read")
# Reads elements by a compiled loop, in a text from a place on, with the prefix of the elements and all prefixes that
# are declared. It returns what it made of them, and the byte after the last whole one.
Scan = Callable[[bytes, int, bytes, bytes], tuple[_Read, int]]

_PIECE = 2**20  # bytes that the parser gets at a time
_ODD = 2**14  # bytes, at least, that the parser reads where the loop met something odd
_LONGEST = 2**26  # bytes of one element
_LONGEST_TAG = 2**23  # bytes: the parser keeps a tag in memory until its end comes
_DEEPEST = 256  # elements, one within another
_WHITE = re.compile(rb"[ \t\r\n]*")
_XML_SPACE = "http://www.w3.org/XML/1998/namespace space"


class Handlers(ABC, Generic[_Read]):
    """Takes the elements that the XML parser has read; elements that nobody asks for are passed by with their content.

    Attributes:
        tag: the name of the elements that the loop may read, without its prefix.
        open: the names of the open elements, from the outermost one on, with their namespaces.
        space: the namespace of the elements; None if it is not known yet.
        aside: the number of open elements down to the one that is passed by; otherwise 0.
    """

    tag: str

    def __init__(self) -> None:
        self.open: list[str] = []
        self.space: str | None = None
        self.aside = 0
        self._spaces: dict[str, str | None] = {}  # by their prefixes, as declared around this place
        self._outer: list[tuple[str, bool, str | None]] = []  # what each of those prefixes stood for before
        self.in_cdata = False

    @abstractmethod
    def begin(self, name: str, attributes: dict[str, str]) -> bool:
        """Take the tag with which an element begins; return whether the element is wanted. It is in `open` already."""

    @abstractmethod
    def characters(self, text: str) -> None:
        """Take some characters between tags; the parser may hand over one text in several pieces."""

    @abstractmethod
    def end(self, name: str) -> None:
        """Take the tag with which a wanted element ends; it is in `open` no longer."""

    @abstractmethod
    def are_between(self) -> bool:
        """Return whether an element that the loop may read can begin here."""

    @abstractmethod
    def take(self) -> _Read | None:
        """Return what was read since the last call, whole elements alone; None if nothing was."""

    def attach(self, parser: expat.XMLParserType, name: str) -> None:
        """Let a parser call these methods; `name`: of the part, for messages."""

        def begin(tag: str, attributes: dict[str, str]) -> None:
            self.open.append(tag)
            if len(self.open) > _DEEPEST:
                raise FormatError("elements are nested more deeply than in any sheet", location=name)
            if not self.aside and not self.begin(tag, attributes):
                self.aside = len(self.open)

        def end(tag: str) -> None:
            is_aside = self.aside > 0
            self.aside = 0 if self.aside == len(self.open) else self.aside
            self.open.pop()
            if not is_aside:
                self.end(tag)

        def characters(text: str) -> None:
            if not self.aside:
                self.characters(text)

        def declaration(prefix: str | None, space: str | None) -> None:
            key = prefix or ""
            self._outer.append((key, key in self._spaces, self._spaces.get(key)))
            self._spaces[key] = space

        def end_of_declaration(_: str | None) -> None:
            key, stood_for_another, before = self._outer.pop()
            self._spaces[key] = before
            if not stood_for_another:
                del self._spaces[key]

        def definition(*_: object) -> None:
            raise FormatError(DOCTYPE_REFUSED, location=name)

        def cdata(*, begins: bool) -> None:
            self.in_cdata = begins

        parser.StartCdataSectionHandler = partial(cdata, begins=True)
        parser.EndCdataSectionHandler = partial(cdata, begins=False)
        parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, characters
        parser.StartNamespaceDeclHandler, parser.EndNamespaceDeclHandler = declaration, end_of_declaration
        parser.StartDoctypeDeclHandler = definition

    def prefix(self) -> str | None:
        """Return the prefix of the elements with its colon; None where the loop may not read them."""
        if self.space is None:
            return None
        prefixes = [prefix for prefix, known in self._spaces.items() if (known or "") == self.space]
        prefixes += [""] * (not self.space and "" not in self._spaces)
        return prefixes[0] and f"{prefixes[0]}:" if len(prefixes) == 1 else None

    def declared(self) -> bytes:
        """Return the prefixes of attributes, as the compiled loops take them: none before one that it ends with.

        Two prefixes of one namespace are left out: attributes with those could be one attribute, twice.
        """
        spaces = Counter(space for prefix, space in self._spaces.items() if prefix)
        usable = {prefix for prefix, space in self._spaces.items() if prefix and spaces[space] == 1}
        prefixes = sorted({"xml", *usable}, key=len)
        return "".join(f" {prefix}:" for prefix in prefixes).encode()


def read_xml_elements(
    blocks: Iterator[bytes], name: str, handlers: Handlers[_Read], scan: Scan[_Read], *, most: int
) -> Iterator[_Read]:
    """Yield what the loop and the XML parser make of the elements of a part.

    `blocks`: the part, in UTF-8. `name`: of the part, for messages. `most`: elements that the parser may read where the
    loop could have read them.

    Raises:
        FormatError: the part is not well-formed XML, has a document type definition, or so many elements of odd XML.
    """
    parser = expat.ParserCreate("utf-8", namespace_separator=" ")
    parser.buffer_text = True
    handlers.attach(parser, name)
    text, at, fed, taken, left = b"", 0, 0, 0, most
    near = False  # the loop was stopped soon after it had begun
    for block in chain(blocks, [None]):
        text, at = text[at:] + block if block else text[at:], 0
        while at < len(text):
            prefix = handlers.prefix() if COMPILED else None
            opening = f"<{prefix or ''}{handlers.tag}".encode()
            end = min(at + (_ODD if COMPILED else _PIECE), len(text))
            white: Any = _WHITE.match(text, at)
            between = handlers.are_between() and not handlers.aside and not handlers.in_cdata
            between = between and parser.CurrentByteIndex == fed
            if prefix is not None and between and text.startswith(opening, white.end()):
                if (collected := handlers.take()) is not None:
                    yield collected
                taken, at = fed, white.end()
                read, stop = scan(text, at, prefix.encode(), handlers.declared())
                if stop > at:
                    yield read
                    at, near = stop, stop - at < _ODD
                    continue
                closing = b"</" + opening[1:]
                if (stop := text.find(closing, at + _ODD)) < 0 and (stop := text.rfind(closing, at)) < 0:
                    if len(text) - at > _LONGEST:
                        raise FormatError(f"one {handlers.tag} has more than {_LONGEST} bytes", location=name)
                    if block is not None:
                        break  # the element goes on in the next block
                    end = len(text)
                else:
                    end = text.find(b">", stop) + 1 or len(text)
            elif near:
                near = False
            elif COMPILED and (stop := text.find(opening, at + 1, end)) > 0:
                end = stop
            piece = text[at:end]
            left -= piece.count(b"<") - piece.count(b"</") if COMPILED else 0
            if left < 0:
                reason = "very many elements of unusual XML"
                raise FormatError(reason, location=name, hint="save the workbook again in a spreadsheet program")
            _parse(parser, piece, name)
            at, fed = end, fed + len(piece)
            if fed - parser.CurrentByteIndex > _LONGEST_TAG:
                raise FormatError(f"a tag has more than {_LONGEST_TAG} bytes", location=name)
            if fed - taken >= _PIECE:
                if (collected := handlers.take()) is not None:
                    yield collected
                if collected is not None or handlers.are_between() or handlers.aside:
                    taken = fed
                elif fed - taken > _LONGEST:
                    raise FormatError(f"one {handlers.tag} has more than {_LONGEST} bytes", location=name)
    _parse(parser, b"", name, last=True)
    if (collected := handlers.take()) is not None:
        yield collected


def _parse(parser: expat.XMLParserType, text: bytes, name: str, *, last: bool = False) -> None:
    try:
        parser.Parse(text, last)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise FormatError(f"the part is not well-formed XML ({reason})", location=name) from error


class StringItem:
    """Collects the text of a string item or of an inline string, from its `t` elements or those of its runs.

    How Japanese text is pronounced (`rPh`) is not a part of it.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._text: list[str] = []
        self._keeps_space = False
        self._length = 0

    def begin(self, around: str, local: str, attributes: dict[str, str]) -> bool:
        """Take the tag with which an element begins; return whether the element is wanted.

        `around`: the name of the element in which it stands.
        """
        if local == "t" and around in ("si", "is", "r"):
            self._text, self._keeps_space = [], attributes.get(_XML_SPACE) == "preserve"
            return True
        return local == "r" and around in ("si", "is")

    def characters(self, around: str, text: str) -> None:
        """Take some characters that stand in the element `around`.

        Raises:
            FormatError: the text has more characters than a cell may have.
        """
        if around == "t":
            self._length += len(text)
            if self._length > LONGEST_TEXT:
                raise FormatError(f"a cell has more than {LONGEST_TEXT} characters")
            self._text.append(text)

    def end(self, local: str) -> None:
        """Take the tag with which a wanted element ends."""
        if local == "t":
            text = "".join(self._text)
            self._pieces.append(without_escapes(text if self._keeps_space else text.strip(" \t\n\r")))

    def text(self) -> str:
        """Return the text."""
        return "".join(self._pieces)
