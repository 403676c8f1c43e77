"""Shared strings that the vectorised rules do not know, read by an XML parser; `row_events` reads rows in the same way.

The XML is plain (`cutting`), so a tag with a prefix belongs to another namespace.

Source: ECMA-376 part 1, 18.4.8 (si), 18.4.12 (t).
"""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from ....errors import FormatError
from .cells import LONGEST_TEXT
from .texts import WHITE, without_escapes

_AROUND_TEXT = ("si", "is", "r")  # elements whose `t` is the text of a cell
_DEEPEST = 64  # elements, one within another
MOST_IN_STRINGS = 3_200_000  # elements of a part
_PIECE = 2**20  # bytes that the parser gets at a time
_LONGEST_TAG = 2**23  # bytes: the parser keeps a tag in memory until its end comes


class MarkupBudget:
    """The number of elements that the XML parser may still read: they take a hundred times as long as vectorised rules.

    Args:
        elements: the number that may be read in all.

    Attributes:
        left: the number that may still be read.
        spent: the number that has been read.
    """

    def __init__(self, elements: int) -> None:
        self.left = elements
        self.spent = 0

    def spend(self, elements: int, name: str) -> None:
        """Subtract a number of elements.

        Args:
            elements: the number.
            name: of the part, for messages.

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


def parse_strings(content: bytes, *, name: str, budget: MarkupBudget | None = None) -> list[str]:
    """Return the texts of some string items; the runs of a rich text are joined.

    Args:
        content: whole `si` elements, in UTF-8.
        name: of the part, for messages.
        budget: the elements that may still be read of the part.

    Raises:
        FormatError: the content is no well-formed XML, or has more elements than are left.
    """
    reader = _Items()
    parse_events(b"<sst>", content, b"</sst>", reader=reader, name=name, budget=budget or MarkupBudget(MOST_IN_STRINGS))
    return reader.texts


class TextReader:
    """Collects the text of a string item or of an inline string, from its `t` elements or those of its runs.

    Text in `rPh` elements is left out: it says how Japanese text is pronounced.

    Attributes:
        open: the names of the open elements, from the outermost one on.
    """

    def __init__(self) -> None:
        self.open: list[str] = []
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
            self._keeps_space = attributes.get("xml:space") == "preserve"
        self.open.append(name)

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


class _Items(TextReader):
    """Collects the texts of string items."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def end(self, name: str) -> None:
        if name == "t":
            super().end(name)
            return
        self.open.pop()
        if len(self.open) == 1 and name == "si":
            self.texts.append(self.take_text())


def parse_events(*pieces: bytes, reader: TextReader, name: str, budget: MarkupBudget) -> None:
    """Run a reader over some XML.

    Args:
        pieces: texts that make well-formed XML when joined.
        reader: whose methods get the tags and the characters.
        name: of the part, for messages.
        budget: the elements that may still be read of the part.

    Raises:
        FormatError: the text is no well-formed XML, has a tag of more than 8 MiB, or more elements than are left.
    """
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.begin, reader.end
    parser.CharacterDataHandler = reader.characters
    try:
        fed = 0
        for piece in pieces:
            for start in range(0, len(piece), _PIECE):
                part = piece[start : start + _PIECE]
                budget.spend_on(part, name)
                parser.Parse(part)
                fed += len(part)
                if fed - parser.CurrentByteIndex > _LONGEST_TAG:
                    raise FormatError(f"a tag of more than {_LONGEST_TAG} bytes", location=name)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason: Any = expat.ErrorString(error.code)
        raise FormatError(f"the part is no well-formed XML ({reason})", location=name) from error
