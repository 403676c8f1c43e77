"""A part of XML, inflated block by block, read element by element: rows, or shared strings.

Each element is read once. The compiled loop reads elements of plain XML, and stops where it meets anything odd:
comments, CDATA, processing instructions, namespaces, entities that are not XML's own, whatever is not well-formed. An
XML parser, which is right on everything, reads from that element to the end of the block; where the loop is missing, it
reads all. An element that a block cuts in two waits for the next block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeVar
from xml.parsers import expat

from ....errors import FormatError
from ....loops import COMPILED
from ..package.markup import quote_attribute
from ..package.parts import DOCTYPE_REFUSED

_Read = TypeVar("_Read")

_PATIENCE = 2**18  # bytes in which the compiled loop sees no whole element, before the XML parser looks at them
_LONGEST = 2**26  # bytes of one element
_LONGEST_PROLOG = 2**24  # bytes before the first of the elements
_PIECE = 2**16  # bytes of a prolog that the parser gets at a time
_TAG = re.compile(rb"""<(?:[^"'>]++|"[^"]*+"|'[^']*+')*+>""")


@dataclass
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

    @cached_property
    def opening(self) -> bytes:
        """The tags that open the elements, with all namespaces declared."""
        spaces = (f" xmlns{prefix and ':'}{prefix}={quote_attribute(space)}" for prefix, space in self.declared.items())
        return f"<{self.names[0]}{''.join(spaces)}>{''.join(f'<{name}>' for name in self.names[1:])}".encode()

    @property
    def prefixes(self) -> list[str]:
        """The prefixes that stand for the namespace of the elements; the empty one for the default namespace."""
        return [prefix for prefix, space in self.declared.items() if space == self.space] or [""]

    @property
    def is_plain(self) -> bool:
        """Whether no second prefix stands for the same namespace, so that its tags can be found by one prefix."""
        return len(self.prefixes) <= 1

    @cached_property
    def known(self) -> tuple[bytes, bytes]:
        """The prefix of the elements and all declared prefixes, as the compiled loops take them."""
        prefixes = [prefix for prefix in self.declared if prefix]
        return self.prefix.encode(), f":xml:{''.join(prefix + ':' for prefix in prefixes)}".encode()


def read_elements(
    blocks: Iterator[bytes],
    name: str,
    *,
    around: str,
    tag: str,
    scan: Callable[[bytes, Scope], tuple[_Read, int]],
    parse: Callable[[bytes, Scope], tuple[_Read, int, bool]],
) -> Iterator[_Read]:
    """Yield what two functions make of the elements of a part.

    `blocks`: the part, in UTF-8. `around`: the name of the element in which they stand: the outermost one, or a child
    of it. `scan`: reads elements by a compiled loop, from the first byte of a text on. It returns what it made of
    them, the byte after the last whole one, and why it stopped: one of the constants of this module. `parse`: reads
    elements by an XML parser. It returns what it made of them, the byte after the last whole one, and whether the tag
    that ends them all stands there.

    Raises:
        FormatError: the part is no well-formed XML, has a document type definition, or an element of more than 64 MiB.
    """
    scope, first, is_empty = _enter(blocks, name, around)
    if is_empty:
        _check_rest(chain([first], blocks), name, scope)
        return
    stop = b"</" + scope.names[-1].encode()
    text, waiting = b"", 0  # bytes that are not read yet, and how many there must be before it is tried again
    for block in chain([first], blocks, [None]):
        if block is not None:
            text = text + block if text else block
            if waiting and len(text) > _LONGEST:
                raise FormatError(f"one {tag} of more than {_LONGEST} bytes", location=name)
            if len(text) < waiting:
                continue
        end, has_ended, goes_on = 0, False, False
        if COMPILED and scope.is_plain:
            read, end = scan(text, scope)
            yield read
            has_ended = text.startswith(stop, end)
            goes_on = block is not None and (end > 0 or len(text) < _PATIENCE)
        if not has_ended and not goes_on:
            read, used, has_ended = parse(text[end:], scope)
            yield read
            end += used
        if has_ended:
            _check_rest(chain([text[end:]], blocks), name, scope)
            return
        text = text[end:].lstrip()
        waiting = 0 if end else 2 * len(text)
    raise FormatError(f"the part breaks off: its {around} does not end", location=name)


def _check_rest(blocks: Iterable[bytes], name: str, scope: Scope) -> None:
    """Go over the text after the elements, to the end of the part, so that the part's checksum is compared.

    Raises:
        FormatError: more elements follow, in another element of the same name, which Excel refuses too.
    """
    tags = [f"{prefix}:{scope.local}" if prefix else scope.local for prefix in scope.prefixes]
    opening, seam = re.compile(f"<(?:{'|'.join(map(re.escape, tags))})[\\s/>]".encode()), b""
    for block in blocks:
        text = seam + block
        if opening.search(text):
            raise FormatError(
                f"a second {scope.local} follows the first, which Excel refuses too",
                location=name,
                hint="move its cells into the first one: a part has no more than one",
            )
        seam = text[-max(map(len, tags)) :]


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
