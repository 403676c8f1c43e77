"""Texts through an XML parser: string items of which the vectorised rules do not know, and what `row_events` needs.

The blocks are plain (`cutting`): a tag with a prefix is one of another namespace.

Source: ECMA-376 part 1, 18.4.8 (si), 18.4.12 (t).
"""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from ....errors import FormatError
from .texts import WHITE, without_escapes

_AROUND_TEXT = ("si", "is", "r")
_DEEPEST = 64
_LONGEST_TEXT = 2**20
MOST_IN_STRINGS = 3_200_000  # elements of a part
_PIECE = 2**20  # bytes that the parser gets at a time
_LONGEST_TAG = 2**23  # bytes; the parser keeps what it has of a tag


class MarkupBudget:
    """The number of elements that the parser may still read: of unusual XML, which takes a hundred times as long.

    Args:
        elements: that are left.

    Attributes:
        spent: how many were taken off.
    """

    def __init__(self, elements: int) -> None:
        self.left = elements
        self.spent = 0

    def spend(self, elements: int, name: str) -> None:
        """Take some off.

        Raises:
            FormatError: there are none left.
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
        """Take off as many as begin in a text.

        Raises:
            FormatError: there are none left.
        """
        self.spend(text.count(b"<") - text.count(b"</"), name)


def parse_strings(content: bytes, *, name: str, budget: MarkupBudget | None = None) -> list[str]:
    """Return the texts of some string items, runs of rich text put together.

    Args:
        content: whole `si` elements, in UTF-8.
        name: of the part, for messages.
        budget: of the part.

    Raises:
        FormatError: no well-formed XML, or more elements than are left.
    """
    reader = _Items()
    parse_events(b"<sst>", content, b"</sst>", reader=reader, name=name, budget=budget or MarkupBudget(MOST_IN_STRINGS))
    return reader.texts


class TextReader:
    """The text of a string item, or of an inline string: of its own or of its runs, but not how it is pronounced."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self._pieces: list[str] = []
        self._text: list[str] | None = None
        self._keeps_space = False
        self._length = 0  # of the text that goes by

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Take the tag with which an element begins.

        Raises:
            FormatError: it is within too many others.
        """
        if len(self.open) > _DEEPEST:
            raise FormatError("elements within elements, more than a sheet has")
        if name == "t" and self.open and self.open[-1] in _AROUND_TEXT and "rPh" not in self.open:
            self._text = []
            self._keeps_space = attributes.get("xml:space") == "preserve"
        self.open.append(name)

    def characters(self, text: str) -> None:
        """Take some characters between tags, which the text of a cell may have several times."""
        if self._text is not None:
            self._text.append(self.check_length(text))

    def check_length(self, text: str) -> str:
        """Return characters of a cell's text, after adding their number to what the cell has so far.

        Raises:
            FormatError: the cell has more characters than a cell may have.
        """
        self._length += len(text)
        if self._length > _LONGEST_TEXT:
            raise FormatError(f"a cell of more than {_LONGEST_TEXT} characters")
        return text

    def end(self, name: str) -> None:
        """Take the tag with which an element ends."""
        self.open.pop()
        if self._text is not None and name == "t" and self.open[-1] in _AROUND_TEXT:
            text = "".join(self._text)
            self._pieces.append(without_escapes(text if self._keeps_space else text.strip(WHITE)))
            self._text = None

    def take_text(self) -> str:
        """Return the text so far; the next one begins empty."""
        text, self._pieces, self._length = "".join(self._pieces), [], 0
        return text


class _Items(TextReader):
    """String items."""

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
        pieces: one well-formed text together.
        reader: gets the tags and the characters.
        name: of the part, for messages.
        budget: of the part.

    Raises:
        FormatError: no well-formed XML, a tag without end, or more elements than are left.
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
