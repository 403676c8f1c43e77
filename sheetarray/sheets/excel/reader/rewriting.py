"""Writes elements of XML that is not plain (`cutting`) anew in plain XML, by a parser that knows namespaces.

Comments, processing instructions and elements of other namespaces are left out; CDATA becomes text; tags lose their
prefixes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from xml.parsers import expat
from xml.sax.saxutils import escape

from ....errors import FormatError

if TYPE_CHECKING:
    from .cutting import Scope

LONGEST = 2**26  # bytes of one element
_LONGEST_TAG = 2**23  # bytes: the parser keeps a tag in memory until its end comes
_DEEPEST = 64  # elements, one within another
_MOST_ELEMENTS = 1_000_000  # of a part
_PIECE, _BLOCK = 2**20, 2**20  # bytes that the parser gets at a time, and characters that a block has at least
_IN_TEXT = {"\r": "&#13;"}
_IN_ATTRIBUTES = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_KEPT = {"http://www.w3.org/XML/1998/namespace space": "xml:space"}  # of the attributes that have a namespace


def second_error(scope: Scope, name: str) -> FormatError:
    """Return the error for a part in which elements follow after those that belong there, where nobody reads them.

    Args:
        scope: the elements around them.
        name: of the part, for messages.
    """
    return FormatError(
        f"a second {scope.local} follows the first, which Excel refuses too",
        location=name,
        hint="move its cells into the first one: a part has no more than one",
    )


class Rewriter:
    """Writes the elements of a part anew.

    Args:
        scope: the elements around them.
        name: of the part, for messages.
        tag: the name of the elements.
    """

    def __init__(self, scope: Scope, name: str, tag: str) -> None:
        self._scope, self._name, self._tag = scope, name, tag
        self._space = f"{scope.space} " if scope.space else ""
        self._depth = -len(scope.names)  # of the parser; 0 between the elements that are written
        self._aside = 0  # the depth of an element that is left out; otherwise 0
        self._open: list[str] = []
        self._pieces: list[str] = []  # of the text that is written
        self._length = self._whole = 0  # characters of the pieces, and of those of them that make whole elements
        self._ended = 0  # the number of pieces that make whole elements
        self._count = 0  # elements so far
        self._over = False  # whether the element around them has ended
        self._parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler, self._parser.EndElementHandler = self._begin, self._end
        self._parser.CharacterDataHandler = self._characters

    def blocks(self, texts: Iterable[bytes], pad: bytes) -> Iterator[bytes]:
        """Yield blocks of whole elements, `pad` after each.

        Args:
            texts: from the first element on, to the end of the part.
            pad: some spaces.

        Raises:
            FormatError: the part is no well-formed XML, or has too many elements, or one or a tag that is too long.
        """
        self._parse(self._scope.opening)
        fed = len(self._scope.opening)
        for text in texts:
            for start in range(0, len(text), _PIECE):
                piece = text[start : start + _PIECE]
                self._parse(piece)
                fed += len(piece)
                if fed - self._parser.CurrentByteIndex > _LONGEST_TAG:
                    raise FormatError(f"a tag of more than {_LONGEST_TAG} bytes", location=self._name)
                if self._length - self._whole > LONGEST:
                    raise FormatError(f"one {self._tag} of more than {LONGEST} bytes", location=self._name)
                if self._whole >= _BLOCK:
                    yield self._take() + pad
        self._parse(b"", last=True)
        if self._ended:
            yield self._take() + pad

    def _take(self) -> bytes:
        """Return the whole elements so far, and keep the pieces after them."""
        text = "".join(self._pieces[: self._ended]).encode()
        self._pieces = self._pieces[self._ended :]
        self._length, self._whole, self._ended = self._length - self._whole, 0, 0
        return text

    def _parse(self, text: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(text, last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise FormatError(f"the part is no well-formed XML ({reason})", location=self._name) from error

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > _MOST_ELEMENTS:
            raise FormatError(
                f"more than {_MOST_ELEMENTS} elements of unusual XML",
                location=self._name,
                hint="save the workbook anew in a spreadsheet program",
            )
        self._depth += 1
        if self._over and self._depth == 0 and name == self._space + self._scope.local:
            raise second_error(self._scope, self._name)
        if self._aside or self._over or self._depth <= 0:
            return
        space, _, local = name.rpartition(" ")
        if space != self._scope.space or (self._depth == 1 and local != self._tag):
            self._aside = self._depth
            return
        if self._depth > _DEEPEST:
            raise FormatError("elements within elements, more than a sheet has", location=self._name)
        texts = [f"<{local}"]
        for key, value in attributes.items():
            if (known := _KEPT.get(key, key)) and " " not in known:
                texts.append(f' {known}="{escape(value, _IN_ATTRIBUTES)}"')
        self._put("".join(texts) + ">")
        self._open.append(local)

    def _end(self, _: str) -> None:
        self._depth -= 1
        if self._depth == -1:
            self._over = True  # what follows is only to be well-formed
        if self._aside:
            self._aside = 0 if self._depth < self._aside else self._aside
        elif self._open:
            self._put(f"</{self._open.pop()}>")
            if not self._open:
                self._whole, self._ended = self._length, len(self._pieces)

    def _characters(self, text: str) -> None:
        if self._open and not self._aside:
            self._put(escape(text, _IN_TEXT))

    def _put(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)
