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
from ...xml_texts import without_escapes
from ..package.package import DOCTYPE_REFUSED
from .cells import LONGEST_TEXT

_Read = TypeVar("_Read")
Scan = Callable[[bytes, int, bytes, bytes], tuple[_Read, int]]  # as `PartParser.scan`

_PIECE = 2**20  # bytes that the parser gets at a time
_ODD = 2**14  # bytes, at least, that the parser reads where the loop met something odd
_LONGEST = 2**26  # bytes of one element
_LONGEST_TAG = 2**23  # bytes: the parser keeps a tag in memory until its end comes
_DEEPEST = 256  # elements, one within another
_WHITE = re.compile(rb"[ \t\r\n]*")
_XML_SPACE = "http://www.w3.org/XML/1998/namespace space"


class PartParser(ABC, Generic[_Read]):
    """The XML parser of a part, and what takes its elements; those that nobody wants are passed by with their content.

    Attributes:
        tag: the name of the elements that the loop may read, without its prefix.
        open: the names of the open elements, from the outermost one on, with their namespaces.
        space: the namespace of the elements; None if it is not known yet.
        aside: the number of open elements down to the one that is passed by; otherwise 0.
        scan_plainly: what reads elements in place of the compiled loop, where there is none; None for the parser alone.
    """

    tag: str
    scan_plainly: Scan[Any] | None = None

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
    def scan(self, text: bytes, start: int, prefix: bytes, prefixes: bytes) -> tuple[_Read, int]:
        """Return what the compiled loop makes of whole elements from a place on, and the byte after the last of them.

        `prefix`: of the elements. `prefixes`: all that are declared.
        """

    @abstractmethod
    def take(self) -> _Read | None:
        """Return what was read since the last call, whole elements alone; None if nothing was."""

    def read(self, blocks: Iterator[bytes], name: str, *, most: int) -> Iterator[_Read]:
        """Yield what the loop and the XML parser make of the elements of a part.

        `blocks`: the part, in UTF-8. `name`: of the part, for messages. `most`: elements that the parser may read where
        the loop could have read them.

        Raises:
            FormatError: the part is not well-formed XML, has a document type definition, or so many elements of odd
                XML.
        """
        self._name, self._elements_left = name, most
        loop, parser = self.scan if COMPILED else self.scan_plainly, self._make_parser()
        text, at = b"", 0  # what has not been read begins at `at`
        stopped_soon = False  # the loop, after it had begun: then the parser reads more than one element
        least = 0  # bytes that the parser reads where the loop stops: of the first odd element, no others behind it
        for block in chain(blocks, [None]):
            text, at = text[at:] + (block or b""), 0
            while at < len(text):
                prefix = self.prefix() if loop is not None else None
                opening = f"<{prefix or ''}{self.tag}".encode()
                white: Any = _WHITE.match(text, at)
                begin = white.end()
                is_outside = self.are_between() and not self.aside and not self.in_cdata
                is_outside = is_outside and parser.CurrentByteIndex == self._fed  # and not within a tag
                if loop is not None and prefix is not None and is_outside and text.startswith(opening, begin):
                    yield from self._collect()
                    read, stop = loop(text, begin, prefix.encode(), self.declared())
                    at = max(begin, stop)
                    if stop > begin:
                        yield read
                        stopped_soon = stop - begin < _ODD
                        continue
                    end = _end_of_odd_element(text, begin, b"</" + opening[1:], least)
                    if end is None and len(text) - begin > _LONGEST:
                        raise self._too_long_error()
                    if end is None and block is not None:
                        break  # the element goes on in the next block
                    least = _ODD
                else:  # up to the next element, if it is near
                    end = min(at + (_PIECE if loop is None else _ODD), len(text))
                    following = text.find(opening, at + 1, end) if loop is not None and not stopped_soon else -1
                    end, stopped_soon = following if following > 0 else end, False
                self.feed(text[at:end])
                at = len(text) if end is None else end
                yield from self._collect(_PIECE)
        self.feed(b"", last=True)
        yield from self._collect()

    def _make_parser(self) -> expat.XMLParserType:
        """Return the parser of a part, which gets piece by piece what the loop has not read."""
        self._parser = parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        self._fed = self._taken = 0  # bytes that the parser got, and bytes of them whose elements were taken
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._begin_tag, self._end_tag
        parser.CharacterDataHandler = self._add_characters
        parser.StartNamespaceDeclHandler, parser.EndNamespaceDeclHandler = self._declare, self._end_declaration
        parser.StartCdataSectionHandler = partial(self._mark_cdata, begins=True)
        parser.EndCdataSectionHandler = partial(self._mark_cdata, begins=False)
        parser.StartDoctypeDeclHandler = self._refuse_definition
        return parser

    def _begin_tag(self, tag: str, attributes: dict[str, str]) -> None:
        self.open.append(tag)
        if len(self.open) > _DEEPEST:
            raise FormatError("elements are nested more deeply than in any sheet", location=self._name)
        if not self.aside and not self.begin(tag, attributes):
            self.aside = len(self.open)

    def _end_tag(self, tag: str) -> None:
        is_aside = self.aside > 0
        self.aside = 0 if self.aside == len(self.open) else self.aside
        self.open.pop()
        if not is_aside:
            self.end(tag)

    def _add_characters(self, text: str) -> None:
        if not self.aside:
            self.characters(text)

    def _declare(self, prefix: str | None, space: str | None) -> None:
        key = prefix or ""
        self._outer.append((key, key in self._spaces, self._spaces.get(key)))
        self._spaces[key] = space

    def _end_declaration(self, _: str | None) -> None:
        key, stood_for_another, before = self._outer.pop()
        self._spaces[key] = before
        if not stood_for_another:
            del self._spaces[key]

    def _mark_cdata(self, *, begins: bool) -> None:
        self.in_cdata = begins

    def _refuse_definition(self, *_: object) -> None:
        raise FormatError(DOCTYPE_REFUSED, location=self._name)

    def feed(self, piece: bytes, *, last: bool = False) -> None:
        """Read the next bytes; `last`: the part ends behind them."""
        self._elements_left -= piece.count(b"<") - piece.count(b"</") if COMPILED else 0
        if self._elements_left < 0:
            reason = "very many elements of unusual XML"
            raise FormatError(reason, location=self._name, hint="save the workbook again in a spreadsheet program")
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise FormatError(f"the part is not well-formed XML ({reason})", location=self._name) from error
        self._fed += len(piece)
        if self._fed - self._parser.CurrentByteIndex > _LONGEST_TAG:
            raise FormatError(f"a tag has more than {_LONGEST_TAG} bytes", location=self._name)

    def _collect(self, least: int = 0) -> list[_Read]:
        """Return what was made of the elements since the last call: one item, or none. An endless element is refused.

        `least`: the bytes that the parser has got since, at least; nothing is taken of fewer.
        """
        waiting = self._fed - self._taken
        if waiting < least:
            return []
        collected = self.take()
        if least and collected is None and not self.are_between() and not self.aside:  # within an element
            if waiting > _LONGEST:
                raise self._too_long_error()
        else:
            self._taken = self._fed
        return [] if collected is None else [collected]

    def _too_long_error(self) -> FormatError:
        """Return the error to raise for an element that is longer than any may be."""
        return FormatError(f"one {self.tag} has more than {_LONGEST} bytes", location=self._name)

    def prefix(self) -> str | None:
        """Return the prefix of the elements with its colon; None where the loop may not read them."""
        if self.space is None:
            return None
        prefixes = [prefix for prefix, namespace in self._spaces.items() if (namespace or "") == self.space]
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


def _end_of_odd_element(text: bytes, begin: int, closing: bytes, least: int) -> int | None:
    """Return the end of an element at which the loop has stopped, or of others behind it; None if none ends here.

    `closing`: the beginning of the tag with which such an element ends. `least`: the bytes before that tag.
    """
    stop = text.find(closing, begin + least)
    stop = text.rfind(closing, begin) if stop < 0 else stop
    return None if stop < 0 else text.find(b">", stop) + 1 or len(text)


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
