"""A part of XML, inflated block by block, cut anew into blocks of whole elements: rows, or shared strings.

Plain text has no comments, no processing instructions, no CDATA and no namespaces of its own: there every `<` begins a
tag, and a search for bytes finds elements. Where a part is not plain, an XML parser writes the rest of it anew as plain
text (`rewriting`), so that whoever reads the blocks needs to know plain text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from xml.parsers import expat

import numpy as np

from ....errors import FormatError
from ..package.markup import quote_attribute
from ..package.parts import DOCTYPE_REFUSED
from .rewriting import LONGEST, Rewriter, second_error

PAD = b" " * 64  # after each block, so that whoever looks at bytes ahead never leaves it
_LONGEST_PROLOG = 2**24  # bytes before the first of the elements
_LONGEST_END = 256  # bytes of an end tag
_PIECE = 2**16  # bytes of a prolog that the parser gets at a time
_TAG = re.compile(rb"""<(?:[^"'>]++|"[^"]*+"|'[^']*+')*+>""")
_SEAM = len(b"xmlns") - 1  # bytes of the longest sign of XML that is not plain which may stand before a block's end


@dataclass(frozen=True)
class Scope:
    """The open elements around those that are cut out, such as `worksheet` and `sheetData` around rows.

    Attributes:
        names: of the open elements from the outermost one on, with their prefixes.
        space: the namespace of the elements; empty if they have no namespace.
        prefix: of the innermost open element, with the colon; empty if it has no prefix.
        declared: the declared namespaces by their prefixes; the empty prefix is that of the default namespace.
    """

    names: list[str]
    space: str
    prefix: str
    declared: dict[str, str]

    @property
    def local(self) -> str:
        """The name of the innermost open element without its prefix."""
        return self.names[-1].removeprefix(self.prefix)

    @property
    def opening(self) -> bytes:
        """The tags that open the elements, with all namespaces declared."""
        spaces = (f" xmlns{prefix and ':'}{prefix}={quote_attribute(space)}" for prefix, space in self.declared.items())
        return f"<{self.names[0]}{''.join(spaces)}>{''.join(f'<{name}>' for name in self.names[1:])}".encode()

    @property
    def is_plain(self) -> bool:
        """Whether no second prefix stands for the same namespace, so that its tags can be found by one prefix."""
        return list(self.declared.values()).count(self.space) <= 1

    def plain(self, text: bytes) -> bytes | None:
        """Return a text without the prefix of its tags, and with line ends as XML wants them.

        None if a tag has another prefix.
        """
        if self.prefix:
            begin, end = b"<%s" % self.prefix.encode(), b"</%s" % self.prefix.encode()
            if text.count(begin) + text.count(end) != text.count(b"<"):
                return None
            text = text.replace(begin, b"<").replace(end, b"</")
        return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def split_elements(blocks: Iterator[bytes], name: str, *, around: bytes, tag: bytes) -> Iterator[bytes]:
    """Yield blocks of whole elements: each begins with the tag of an element, and ends with `PAD`.

    Tags have no prefix, and there are no comments, processing instructions and CDATA in the blocks.

    Args:
        blocks: the part, in UTF-8.
        name: of the part, for messages.
        around: the name of the element in which they stand: the outermost one, or a child of it.
        tag: the name of the elements.

    Raises:
        FormatError: the part is no well-formed XML, has a document type definition, or an element of more than 64 MiB.
    """
    scope, fresh, is_empty = _enter(blocks, name, around.decode())
    if is_empty:
        _check_rest(chain([fresh], blocks), name, scope)
        return
    fresh = fresh.lstrip()
    marks = [b"<%s%s%s" % (scope.prefix.encode(), tag, after) for after in (b" ", b">", b"/")]
    stop = b"</" + scope.names[-1].encode()
    kept: list[bytes] = []  # text from the tag of an element on whose end has not come yet
    length = 0  # bytes of it
    while True:
        seam = kept[-1][-_LONGEST_END:] if kept else b""
        end = _end(seam, fresh, stop)
        seen = fresh if end is None else fresh[: max(end, 0)]
        cut = 0
        text: bytes | None = b""
        if not scope.is_plain or not _is_plain(seam[-_SEAM:] + seen[:_SEAM]) or not _is_plain(seen):
            text = None
        elif end is not None:
            text = scope.plain(_join(kept, fresh, end)) if length + end else b""
        elif (cut := next((place for mark in marks if (place := fresh.rfind(mark)) > 0), 0)) > 0:
            text = scope.plain(_join(kept, fresh, cut))
        if text is None:
            yield from Rewriter(scope, name, tag.decode()).blocks(chain(kept, [fresh], blocks), PAD)
            return
        if text:
            yield text
            kept, length = [], 0
        if end is not None:
            _check_rest(chain([(seam + fresh)[len(seam) + end :]], blocks), name, scope)
            return
        kept.append(fresh[cut:])
        length += len(fresh) - cut
        fresh = next(blocks, b"")
        if not fresh:
            raise FormatError(f"the part breaks off: its {around.decode()} does not end", location=name)
        if length > LONGEST:
            raise FormatError(f"one {tag.decode()} of more than {LONGEST} bytes", location=name)


def _join(kept: list[bytes], fresh: bytes, end: int) -> bytes:
    """Return the kept texts and the fresh one up to `end`, in one copy, and `PAD` after them."""
    if end < 0:  # counted back from the end of the kept texts
        return b"".join(kept)[:end] + PAD
    return b"".join((*kept, memoryview(fresh)[:end], PAD))


def _check_rest(blocks: Iterable[bytes], name: str, scope: Scope) -> None:
    """Go over the text after the elements, to the end of the part, so that the part's checksum is compared.

    Raises:
        FormatError: more elements follow, in another element of the same name, which Excel refuses too.
    """
    tag = b"<" + scope.names[-1].encode()
    opening, seam = re.compile(re.escape(tag) + rb"[\s/>]"), b""
    for block in blocks:
        text = seam + block
        if opening.search(text):
            raise second_error(scope, name)
        seam = text[-len(tag) :]


def _end(seam: bytes, fresh: bytes, stop: bytes) -> int | None:
    """Return the byte of `fresh` where an end tag begins, negative if it began in the `seam`; None if it is in neither.

    Args:
        seam: the last bytes before `fresh`.
        fresh: the text to search.
        stop: the end tag, without its `>`.
    """
    overlap = (seam + fresh[:_LONGEST_END]).find(stop) - len(seam) if seam else 0
    if -len(seam) <= overlap < 0:
        return overlap
    position = fresh.find(stop) if holds_text(fresh, stop[1:]) else -1
    return None if position < 0 else position


def _is_plain(text: bytes) -> bool:
    """Return whether a text has no comment, CDATA, processing instruction or namespace, which could look like tags."""
    return not any(holds_text(text, other) for other in (b"<!", b"<?", b"xmlns"))


def holds_pair(text: bytes, pair: bytes) -> bool:
    """Return whether two bytes stand side by side in a text.

    Pairs are compared as numbers of 16 bits, which is quick even where each of the two bytes stands in every cell.
    """
    units = int.from_bytes(pair, "little")
    whole = len(text) // 2
    if (np.frombuffer(text, "<u2", whole) == units).any():
        return True
    return len(text) > 2 and bool((np.frombuffer(text, "<u2", (len(text) - 1) // 2, 1) == units).any())


def holds_text(text: bytes, wanted: bytes) -> bool:
    """Return whether a short text stands in another: asked first of its bytes and its first two, which is quick."""
    if not all(unit in text for unit in wanted):
        return False
    return len(wanted) == 1 or (holds_pair(text, wanted[:2]) and wanted in text)


class _EnteredError(Exception):
    """Raised by a handler to stop the parser: it has come to the tag around the elements, at the byte `start`."""

    def __init__(self, start: int) -> None:
        super().__init__()
        self.start = start


def _enter(blocks: Iterator[bytes], name: str, around: str) -> tuple[Scope, bytes, bool]:
    """Return the scope around the elements, the text after the tag around them, and whether that tag is empty."""
    parser = expat.ParserCreate("utf-8")
    scopes: list[tuple[str, dict[str, str]]] = []  # of the elements that are open
    text = b""

    def begin(tag: str, attributes: dict[str, str]) -> None:
        declared = {key[6:]: value for key, value in attributes.items() if key == "xmlns" or key.startswith("xmlns:")}
        scopes.append((tag, {**(scopes[-1][1] if scopes else {}), **declared}))
        if len(scopes) <= 2 and tag.rpartition(":")[2] == around and _space(*scopes[-1]) == _space(*scopes[0]):
            raise _EnteredError(parser.CurrentByteIndex)

    def definition(*_: object) -> None:
        raise FormatError(DOCTYPE_REFUSED, location=name)

    parser.StartElementHandler, parser.StartDoctypeDeclHandler = begin, definition
    parser.EndElementHandler = lambda _: scopes.pop()
    try:
        for block in blocks:
            text += block
            if len(text) > _LONGEST_PROLOG:
                break
            for start in range(0, len(block), _PIECE):
                parser.Parse(block[start : start + _PIECE])
        else:
            parser.Parse(b"", True)
    except _EnteredError as entered:
        tag = _TAG.match(text, entered.start)
        assert tag is not None, "the parser took it for a tag"
        inner, declared = scopes[-1]
        names = [tag for tag, _ in scopes]
        scope = Scope(names, _space(inner, declared), inner[: -len(around)], declared)
        return scope, text[tag.end() :], tag[0].endswith(b"/>")
    except expat.ExpatError as error:
        raise FormatError(f"the part is no well-formed XML ({expat.ErrorString(error.code)})", location=name) from error
    raise FormatError(f"the part has no {around}", location=name)


def _space(tag: str, declared: dict[str, str]) -> str:
    """Return the namespace of a tag, by its prefix; empty if it has no namespace."""
    return declared.get(tag.rpartition(":")[0], "")
