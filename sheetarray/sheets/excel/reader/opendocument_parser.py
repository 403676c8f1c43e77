"""The XML parser of an OpenDocument spreadsheet's content, which hands elements over or passes them by."""

from __future__ import annotations

from collections.abc import Callable
from xml.parsers import expat

from ....errors import FormatError
from ..package.parts import DOCTYPE_REFUSED
from .events import MarkupBudget
from .opendocument_runs import ERROR_TYPE, OFFICE_SPACE, TABLE_SPACE, TEXT_SPACE

CONTENT = "content.xml"

_USUAL_PREFIXES = {"table": TABLE_SPACE, "office": OFFICE_SPACE, "text": TEXT_SPACE}


class ContentParser:
    """The XML parser of a document, and the namespaces that it has seen declared.

    `begin`: is called with the name and the attributes of each element, where it begins. `end`: is called with the
    name of each element, where it ends. `characters`: is called with the text between tags.
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
        """Parse a text, and call the functions that take its elements.

        `budget`: from which its elements are subtracted. `last`: whether the document ends with it.

        Raises:
            FormatError: the document is no well-formed XML, or has more elements than are left.
        """
        budget.spend_on(text, CONTENT)
        self._parse(text, last=last)

    def pass_by(self, rows: bytes) -> None:
        """Parse rows without handing over their elements, only to know that they are well-formed.

        Raises:
            FormatError: the document is no well-formed XML.
        """
        self._attach(None, None, None)
        self._parse(rows)
        self._attach(*self._handlers)

    def knows_prefixes(self, text: bytes) -> bool:
        """Return whether `table:`, `office:`, `text:` and `calcext:` stand for their usual namespaces in some rows."""
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
            space = ""  # the prefix stands for different namespaces in different places
        self._prefixes[prefix or ""] = space

    def _definition(self, *_: object) -> None:
        raise FormatError(DOCTYPE_REFUSED, location=CONTENT)
