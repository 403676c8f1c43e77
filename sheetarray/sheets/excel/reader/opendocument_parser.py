"""The XML parser of an OpenDocument spreadsheet's content: it hands its elements over, or lets them go by unseen."""

from __future__ import annotations

from collections.abc import Callable
from xml.parsers import expat

from ....errors import FormatError
from .events import MarkupBudget
from .opendocument_runs import ERROR_TYPE, OFFICE_SPACE, TABLE_SPACE, TEXT_SPACE

CONTENT = "content.xml"

_USUAL_PREFIXES = {"table": TABLE_SPACE, "office": OFFICE_SPACE, "text": TEXT_SPACE}


class ContentParser:
    """The parser, and what it has learnt of prefixes.

    Args:
        begin: gets the name and the attributes of each element.
        end: gets its name.
        characters: gets the text between tags.
    """

    def __init__(
        self,
        begin: Callable[[str, dict[str, str]], None],
        end: Callable[[str], None],
        characters: Callable[[str], None],
    ) -> None:
        self._handlers = begin, end, characters
        self._prefixes: dict[str, str] = {}
        self._parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        self._parser.StartNamespaceDeclHandler = self._declaration
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._definition
        self._attach(*self._handlers)

    def hand_over(self, text: bytes, budget: MarkupBudget, *, last: bool = False) -> None:
        """Hand over the elements of a text, which a budget is to allow.

        Raises:
            FormatError: no well-formed XML, or more elements than are left.
        """
        budget.spend_on(text, CONTENT)
        self._parse(text, last=last)

    def pass_by(self, rows: bytes) -> None:
        """Parse rows of which nobody sees anything.

        Raises:
            FormatError: no well-formed XML.
        """
        self._attach(None, None, None)
        self._parse(rows)
        self._attach(*self._handlers)

    def knows_prefixes(self, text: bytes) -> bool:
        """Return whether the prefixes of names in some rows mean what they usually mean."""
        known = all(f"{self._prefixes.get(prefix)} " == space for prefix, space in _USUAL_PREFIXES.items())
        extended = self._prefixes.get("calcext")
        return known and (b"calcext:" not in text or f"{extended} value-type" == ERROR_TYPE)

    def _attach(
        self,
        begin: Callable[[str, dict[str, str]], None] | None,
        end: Callable[[str], None] | None,
        characters: Callable[[str], None] | None,
    ) -> None:
        self._parser.StartElementHandler, self._parser.EndElementHandler = begin, end
        self._parser.CharacterDataHandler = characters

    def _parse(self, text: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(text, last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise FormatError(f"the part is no well-formed XML ({reason})", location=CONTENT) from error

    def _declaration(self, prefix: str | None, space: str) -> None:
        if prefix in self._prefixes and self._prefixes[prefix] != space:
            space = ""  # it is not the same everywhere
        self._prefixes[prefix or ""] = space

    def _definition(self, *_: object) -> None:
        raise FormatError("the part has a document type definition, which no workbook has", location=CONTENT)
