"""A part of XML cut into blocks of whole elements, rows or strings, that are plain.

Plain text has no comments, no processing instructions, no CDATA and no namespaces of its own: there every `<` begins a
tag, and a search for bytes finds elements. Where a part is anything else, an XML parser writes the rest of it anew
(`rewriting`), so that whoever reads blocks has to know of nothing else.
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
from .rewriting import LONGEST, Rewriter, second_error

PAD = b" " * 64  # after each block, so that looking at bytes ahead never leaves it
_LONGEST_PROLOG = 2**24
_LONGEST_END = 256  # bytes of an end tag
_PIECE = 2**16  # bytes of a prolog that the parser gets at a time
_TAG = re.compile(rb"""<(?:[^"'>]++|"[^"]*+"|'[^']*+')*+>""")
_SEAM = len(b"xmlns") - 1


@dataclass(frozen=True)
class Scope:
    """The elements around those that are cut out.

    Attributes:
        names: of the elements that are open, from the outermost one on, with their prefixes.
        space: their namespace; empty if they have no namespace.
        prefix: of the last one, with the colon; empty if it has no prefix.
        declared: the namespaces by their prefixes, empty for the one without.
    """

    names: list[str]
    space: str
    prefix: str
    declared: dict[str, str]

    @property
    def local(self) -> str:
        """The name of the last one without its prefix."""
        return self.names[-1].removeprefix(self.prefix)

    @property
    def opening(self) -> bytes:
        """The tags that open them, with all namespaces."""
        spaces = (f" xmlns{prefix and ':'}{prefix}={quote_attribute(space)}" for prefix, space in self.declared.items())
        return f"<{self.names[0]}{''.join(spaces)}>{''.join(f'<{name}>' for name in self.names[1:])}".encode()

    @property
    def is_plain(self) -> bool:
        """Whether no other prefix stands for the same namespace."""
        return list(self.declared.values()).count(self.space) <= 1

    def plain(self, text: bytes) -> bytes | None:
        """Return the same without the prefix of the tags, and with line feeds as XML wants them; None for
        other tags.
        """
        if self.prefix:
            begin, end = b"<%s" % self.prefix.encode(), b"</%s" % self.prefix.encode()
            if text.count(begin) + text.count(end) != text.count(b"<"):
                return None
            text = text.replace(begin, b"<").replace(end, b"</")
        return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def split_elements(blocks: Iterator[bytes], name: str, *, around: bytes, tag: bytes) -> Iterator[bytes]:
    """Yield blocks of whole elements, each from the tag of one up to that of another, and some spaces.

    No tag has a prefix any more, and none is that of a comment, of a processing instruction or of CDATA.

    Args:
        blocks: the part, in UTF-8.
        name: of the part.
        around: the element that they stand in: the outermost one, or a child of it.
        tag: what they are.

    Raises:
        FormatError: no such part, no well-formed XML, a document type definition, or an element of more than 64 MiB.
    """
    scope, fresh, is_empty = _enter(blocks, name, around.decode())
    if is_empty:
        _check_rest(chain([fresh], blocks), name, scope)
        return
    fresh = fresh.lstrip()
    marks = [b"<%s%s%s" % (scope.prefix.encode(), tag, after) for after in (b" ", b">", b"/")]
    stop = b"</" + scope.names[-1].encode()
    kept: list[bytes] = []  # from the tag of an element on, of which the end has not been seen
    length = 0
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
    """Return the text that was kept and the fresh one up to an end, in one copy, and the spaces after it."""
    if end < 0:  # within what was kept
        return b"".join(kept)[:end] + PAD
    return b"".join((*kept, memoryview(fresh)[:end], PAD))


def _check_rest(blocks: Iterable[bytes], name: str, scope: Scope) -> None:
    """Go over what follows the elements, to its end, so that the checksum is compared.

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
    """Return the place of an end tag in `fresh`, negative if it began in the `seam` before; None if there is no tag."""
    overlap = (seam + fresh[:_LONGEST_END]).find(stop) - len(seam) if seam else 0
    if -len(seam) <= overlap < 0:
        return overlap
    position = fresh.find(stop) if holds_text(fresh, stop[1:]) else -1
    return None if position < 0 else position


def _is_plain(text: bytes) -> bool:
    """Return whether a search for bytes finds tags, and nothing that only looks like one."""
    return not any(holds_text(text, other) for other in (b"<!", b"<?", b"xmlns"))


def holds_pair(text: bytes, pair: bytes) -> bool:
    """Return whether two bytes stand side by side: quickly, also where each of them stands in every cell."""
    units = int.from_bytes(pair, "little")
    whole = len(text) // 2
    if (np.frombuffer(text, "<u2", whole) == units).any():
        return True
    return len(text) > 2 and bool((np.frombuffer(text, "<u2", (len(text) - 1) // 2, 1) == units).any())


def holds_text(text: bytes, wanted: bytes) -> bool:
    """Return whether a short text stands in another, of which single bytes, and pairs, are searched for quickly."""
    if not all(unit in text for unit in wanted):
        return False
    return len(wanted) == 1 or (holds_pair(text, wanted[:2]) and wanted in text)


class _EnteredError(Exception):
    """The tag has been parsed; the parser has done its work."""

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
        raise FormatError("the part has a document type definition, which no workbook has", location=name)

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
    return declared.get(tag.rpartition(":")[0], "")
