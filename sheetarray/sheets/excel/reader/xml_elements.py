"""Reads the elements of a part one after the other: rows, or shared strings.

The compiled loop reads elements of plain XML where they stand, and stops where it meets anything odd: comments, CDATA,
entities that are not XML's own, whatever is not well-formed. An XML parser gets all that the loop has not read, and so
sees a whole document without some elements. It is right on everything; where the loop is missing, it reads all.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, Generic, TypeVar
from xml.parsers import expat

from ....errors import FormatError
from ....loops import COMPILED
from ...workbooks import without_escapes
from ..package.package import DOCTYPE_REFUSED
from .cells import LONGEST_TEXT

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
