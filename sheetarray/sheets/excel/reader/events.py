"""Elements of a part that an XML parser reads: the plain way beside the compiled loop (`cutting`).

Shared strings are read here, and `row_events` reads rows.

Source: ECMA-376 part 1, 18.4.8 (si), 18.4.12 (t).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any
from xml.parsers import expat

from ....errors import FormatError
from ...workbooks import without_escapes
from .cells import LONGEST_TEXT
from .cutting import Scope
from .texts import WHITE

_AROUND_TEXT = ("si", "is", "r")  # elements whose `t` is the text of a cell
_XML_SPACE = "http://www.w3.org/XML/1998/namespace space"
_DEEPEST = 64  # elements, one within another
MOST_IN_STRINGS = 3_200_000  # elements of a part
NO_END = 2**62  # the budget where this parser reads all elements, and not those alone that the compiled loop refuses
_PIECE = 2**20  # bytes that the parser gets at a time
_LONGEST_TAG = 2**23  # bytes: the parser keeps a tag in memory until its end comes


class MarkupBudget:
    """The number of elements that the XML parser may still read: they take a hundred times as long as vectorised rules.

    `elements`: the number that may be read in all.

    Attributes:
        left: the number that may still be read.
        spent: the number that has been read.
    """

    def __init__(self, elements: int) -> None:
        self.left = elements
        self.spent = 0

    def spend(self, elements: int, name: str) -> None:
        """Subtract a number of elements.

        Raises:
            FormatError: fewer are left.
        """
        self.left -= elements
        self.spent += elements
        if self.left < 0:
            raise FormatError(
                "very many elements of unusual XML",
                location=name,
                hint="save the workbook anew in a spreadsheet program",
            )

    def spend_on(self, text: bytes, name: str) -> None:
        """Subtract the number of elements that begin in a text.

        Raises:
            FormatError: fewer are left.
        """
        self.spend(text.count(b"<") - text.count(b"</"), name)


class TextReader(ABC):
    """Collects the text of a string item or of an inline string, from its `t` elements or those of its runs.

    Text in `rPh` elements is left out: it says how Japanese text is pronounced.

    `around`: the name of the element in which all others stand.

    Attributes:
        open: the names of the open elements, from that one on.
    """

    def __init__(self, around: str) -> None:
        self.open = [around]
        self._pieces: list[str] = []
        self._text: list[str] | None = None
        self._keeps_space = False
        self._length = 0  # characters of the cell so far

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Take the tag with which an element begins.

        Raises:
            FormatError: the element stands within too many others.
        """
        if len(self.open) > _DEEPEST:
            raise FormatError("elements within elements, more than a sheet has")
        if name == "t" and self.open and self.open[-1] in _AROUND_TEXT and "rPh" not in self.open:
            self._text = []
            self._keeps_space = attributes.get(_XML_SPACE) == "preserve"
        self.open.append(name)

    @abstractmethod
    def mark(self) -> None:
        """Remember that all elements so far are whole, and that the next one begins."""

    def characters(self, text: str) -> None:
        """Take some characters between tags; the parser may hand over one text in several pieces."""
        if self._text is not None:
            self._text.append(self.check_length(text))

    def check_length(self, text: str) -> str:
        """Return characters of a cell's text, after adding their number to what the cell has so far.

        Raises:
            FormatError: the cell has more characters than a cell may have.
        """
        self._length += len(text)
        if self._length > LONGEST_TEXT:
            raise FormatError(f"a cell of more than {LONGEST_TEXT} characters")
        return text

    def end(self, name: str) -> None:
        """Take the tag with which an element ends."""
        self.open.pop()
        if self._text is not None and name == "t" and self.open[-1] in _AROUND_TEXT:
            text = "".join(self._text)
            self._pieces.append(without_escapes(text if self._keeps_space else text.strip(WHITE)))
            self._text = None

    def take_text(self) -> str:
        """Return the text collected so far, and begin the next one."""
        text, self._pieces, self._length = "".join(self._pieces), [], 0
        return text


class StringReader(TextReader):
    """Collects the texts of string items.

    Attributes:
        texts: of the items.
        whole: the number of texts before the last `mark`.
    """

    def __init__(self) -> None:
        super().__init__("sst")
        self.texts: list[str] = []
        self.whole = 0

    def mark(self) -> None:
        """Remember that all texts so far are whole."""
        self.whole = len(self.texts)

    def end(self, name: str) -> None:
        """Take the tag with which an element ends."""
        if name == "t":
            super().end(name)
            return
        self.open.pop()
        if len(self.open) == 1 and name == "si":
            self.texts.append(self.take_text())


class _EndedError(Exception):
    """Raised by a handler to stop the parser: the element around all others ends, at the byte `place`."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place


class _Handlers:
    """Hands the elements of one namespace over to a reader, without their prefixes; all others are left out."""

    def __init__(self, parser: expat.XMLParserType, reader: TextReader, scope: Scope, tag: str, text: bytes) -> None:
        self._parser, self._reader, self._tag, self._text = parser, reader, tag, text
        self._space = f"{scope.space} " if scope.space else ""
        self._before = len(scope.opening)
        self._aside = 0  # elements that are open and left out
        self.whole = 0  # the bytes of whole elements

    @property
    def _place(self) -> int:
        return self._parser.CurrentByteIndex - self._before

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        local = name[len(self._space) :]
        if self._aside or not name.startswith(self._space) or " " in local:
            self._aside += 1
            return
        if len(self._reader.open) == 1:
            if local != self._tag:
                self._aside = 1
                return
            self.whole = self._place
            self._reader.mark()
        self._reader.begin(local, attributes)

    def end(self, name: str) -> None:
        if self._aside:
            self._aside -= 1
        elif len(self._reader.open) == 1:
            self._reader.mark()
            raise _EndedError(self._place)
        else:
            self._reader.end(name[len(self._space) :])
            if len(self._reader.open) == 1 and self._text.startswith(b"</", place := self._place):
                self.whole = self._text.index(b">", place) + 1
                self._reader.mark()

    def characters(self, text: str) -> None:
        if not self._aside:
            self._reader.characters(text)


def parse_elements(
    text: bytes, scope: Scope, reader: TextReader, *, tag: str, name: str, budget: MarkupBudget
) -> tuple[int, bool]:
    """Run a reader over elements; return the byte after the last whole one, and whether the end of all follows.

    `text`: from an element on; it may break off. `reader`: whose methods get the tags and the characters. `budget`:
    the elements that may still be read of the part.

    Raises:
        FormatError: the text is no well-formed XML, has a tag of more than 8 MiB, or more elements than are left.
    """
    parser = expat.ParserCreate("utf-8", namespace_separator=" ")
    parser.buffer_text = True
    handlers = _Handlers(parser, reader, scope, tag, text)
    try:
        parser.Parse(scope.opening)
        fed = len(scope.opening)
        parser.StartElementHandler, parser.EndElementHandler = handlers.begin, handlers.end
        parser.CharacterDataHandler = handlers.characters
        for start in range(0, len(text), _PIECE):
            part = text[start : start + _PIECE]
            budget.spend_on(part, name)
            parser.Parse(part)
            fed += len(part)
            if fed - parser.CurrentByteIndex > _LONGEST_TAG:
                raise FormatError(f"a tag of more than {_LONGEST_TAG} bytes", location=name)
    except _EndedError as ended:
        return ended.place, True
    except expat.ExpatError as error:
        reason: Any = expat.ErrorString(error.code)
        raise FormatError(f"the part is no well-formed XML ({reason})", location=name) from error
    return handlers.whole, False
