"""Reads a part of a package that is XML, and changes it so that everything but the changes keeps its bytes.

`parse_tree` reads. `Markup` changes: an XML parser finds the bytes where each element stands, and a change replaces
some of them. Nothing else is written anew: namespaces, `mc:AlternateContent`, extension lists and white space stay as
their program wrote them. A document type definition, with which entities could be declared, is refused: no part of a
workbook has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat

from ....errors import FormatError
from ...xml_texts import quote_attribute
from .package import DOCTYPE_REFUSED

if TYPE_CHECKING:
    from xml.etree import ElementTree

_MOST_BYTES = 2**24  # of a part, unless another limit is given
_MOST_ELEMENTS = 200_000  # of a part
_TAG = re.compile(rb"""<(?:[^"'>]++|"[^"]*+"|'[^']*+')*+>""")
_ATTRIBUTE = re.compile(rb"""\s([^\s=]++)\s*+=\s*+("[^"]*"|'[^']*')""")
_BLOCK = 2**18  # bytes that the parser is given at once
HEAD = 2**16  # bytes of a part, in which its first elements stand
_NARROW = ("utf-8", "utf8", "us-ascii")  # encodings whose bytes are UTF-8
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"
_DECLARED = re.compile(rb"""<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)["']""")
_BEFORE_ROOT = re.compile(rb"(?:\s|<\?.*?\?>|<!--.*?-->)*+", re.DOTALL)


def parse_tree(content: bytes, *, location: str, most: int = _MOST_ELEMENTS) -> ElementTree.Element:
    """Return the root element of a part; each name has its namespace in braces before it.

    `content`: of the part, in UTF-8 or UTF-16; `Package.read` limits its bytes. `most`: the elements that it may have.

    Raises:
        FormatError: the part is not well-formed XML, has a document type definition, or more elements.

    Example:
        >>> root = parse_tree(b"<a xmlns='urn:x'><b c='1'/></a>", location="a.xml")
        >>> root.tag, children_named(root, "b")[0].get("c")
        ('{urn:x}a', '1')
    """
    from xml.etree import ElementTree

    content = content if content.startswith(b"<") else _utf8(content, location)
    if content.count(b"<") - content.count(b"</") > most:
        raise FormatError(f"the part has more than {most} elements", location=location)
    if (declared := _DECLARED.match(content)) and (encoding := declared[1].decode("latin-1")).lower() not in _NARROW:
        raise _encoding_error(encoding, location)
    before = _BEFORE_ROOT.match(content) if b"<!DOCTYPE" in content else None
    if before and content.startswith(b"<!DOCTYPE", before.end()):
        raise FormatError(DOCTYPE_REFUSED, location=location)
    parser = ElementTree.XMLParser(encoding="utf-8")  # noqa: S314  (without a definition there are no entities)
    try:
        parser.feed(content)
        root: ElementTree.Element = parser.close()
    except ElementTree.ParseError as error:
        raise _malformed_error(error.code, error.position[0], location) from error
    return root


def children_named(element: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """Return the children of a name in the element's own namespace."""
    return element.findall(element.tag[: element.tag.rfind("}") + 1] + name)


def local_name(element: ElementTree.Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag[element.tag.rfind("}") + 1 :]


def _malformed_error(code: int, line: int, location: str) -> FormatError:
    reason = f"the part is not well-formed XML ({expat.ErrorString(code)})"
    return FormatError(reason, location=f"{location}, line {line}")


def _encoding_error(encoding: str, location: str) -> FormatError:
    return FormatError(f"the part is in {encoding!r:.40}: UTF-8 and UTF-16 are read", location=location)


@dataclass(slots=True)
class Element:
    """An element of XML, and the bytes where it stands."""

    prefix: str  # of its name, with the colon; empty if it has no prefix
    name: str  # without the prefix
    space: str  # the URI of its namespace
    attributes: dict[str, str]  # as they are written, prefixes included
    start: int  # the position of its first byte
    inner: int  # the position after its start tag
    # the namespaces that hold in it, by prefix with the colon; those that it declares itself come first
    scope: dict[str, str]
    close: int = 0  # the position of its end tag; equal to `inner` if it is an empty-element tag, such as `<b/>`
    end: int = 0  # the position after its end tag
    text: str = ""  # the character data directly in it
    children: list[Element] = field(default_factory=list)  # in their order; empty below the depth that was asked for

    def get(self, name: str, default: str = "") -> str:
        """Return the value of an attribute without a namespace, or a default."""
        return self.attributes.get(name, default)

    def get_in(self, spaces: frozenset[str], name: str) -> str:
        """Return the value of an attribute in one of some namespaces; empty if the element lacks it."""
        for key, value in self.attributes.items():
            prefix, colon, local = key.rpartition(":")
            if local == name and colon and self.scope.get(prefix + colon) in spaces:
                return value
        return ""

    def children_named(self, name: str) -> Iterator[Element]:
        """Return the children of a name in the element's own namespace."""
        return iter([child for child in self.children if child.name == name and child.space == self.space])

    def child_named(self, name: str) -> Element | None:
        """Return the first child of a name in the element's own namespace; None if the element has no such child."""
        return next(self.children_named(name), None)


class Markup:
    """A part of a package that is XML, with the changes that are to be made to it.

    `content`: of the part, in UTF-8 or UTF-16. `depth`: the levels of elements that are kept; the root alone is 1.
    `limit`: the bytes that the part may have.

    Attributes:
        root: the outermost element.

    Raises:
        FormatError: the part is not well-formed XML, has a document type definition, more bytes than the limit, or more
            than 200,000 elements.

    Example:
        >>> part = Markup(b"<a><b c='1'/></a>", location="a.xml")
        >>> part.insert(part.root.close, "<d/>")
        >>> part.to_bytes()
        b"<a><b c='1'/><d/></a>"
    """

    def __init__(self, content: bytes, *, location: str, depth: int = 4, limit: int = _MOST_BYTES) -> None:
        if len(content) > limit:
            raise FormatError(f"the part has {len(content)} bytes; at most {limit} are read", location=location)
        self._content = _utf8(content, location)
        self._changes: list[tuple[int, int, bytes]] = []
        self._appended: dict[int, tuple[Element, list[str]]] = {}
        self.root = _Elements(self._content, location, depth).roots[0]

    def copy(self) -> Markup:
        """Return the same part without changes, which can be changed by itself."""
        markup = copy(self)
        markup._changes, markup._appended = [], {}
        return markup

    def insert(self, at: int, text: str) -> None:
        """Insert text at a position, in bytes."""
        self.replace(at, at, text)

    def replace(self, start: int, end: int, text: str) -> None:
        """Replace the bytes from one position up to another by text; changes may not overlap."""
        self._changes.append((start, end, text.encode()))

    def append(self, element: Element, text: str) -> None:
        """Insert text at the end of an element's content; an empty-element tag becomes a start and an end tag."""
        self._appended.setdefault(element.start, (element, []))[1].append(text)

    def remove(self, element: Element) -> None:
        """Remove an element of XML, with everything in it."""
        self.replace(element.start, element.end, "")

    def set(self, element: Element, name: str, value: str) -> None:
        """Give an element an attribute without a namespace, or another value of it."""
        begin = element.start + 1 + len((element.prefix + element.name).encode())
        for match in _ATTRIBUTE.finditer(self._content, begin, element.inner):
            if match[1] == name.encode():
                self.replace(match.start(2), match.end(2), quote_attribute(value))
                return
        self.insert(begin, f" {name}={quote_attribute(value)}")

    def to_bytes(self) -> bytes:
        """Return the part with all changes."""
        for element, texts in self._appended.values():
            appended = "".join(texts)
            if element.inner < element.end:
                self.insert(element.close, appended)
            else:
                slash = self._content.rindex(b"/", element.start, element.end)
                self.replace(slash, element.end, f">{appended}</{element.prefix}{element.name}>")
        self._appended.clear()
        pieces: list[bytes] = []
        at = 0
        for start, end, text in sorted(self._changes, key=lambda change: change[:2]):
            pieces += [self._content[at:start], text]
            at = end
        return b"".join([*pieces, self._content[at:]])


def _utf8(content: bytes, location: str) -> bytes:
    """Return XML in UTF-8 without a byte order mark, made of XML in UTF-16 or UTF-8."""
    if content.startswith(_UTF16):
        try:
            text = content.decode("utf-16")
        except UnicodeDecodeError:
            raise FormatError("the part is not UTF-16", location=location) from None
        return re.sub(r"\A<\?xml[^>]*\?>", '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>', text).encode(
            "utf-8", "surrogatepass"
        )
    return content.removeprefix(_BOM)


def read_tags(content: bytes, *, location: str, final: bool = True) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the elements of a part, without their prefixes, and their attributes, one after the other.

    `content`: of the part, in UTF-8 or UTF-16. `final`: whether this is the whole part, and not only its beginning.

    Raises:
        FormatError: the part is not well-formed XML, or has a document type definition.
    """
    parser, elements = _parser(location), []
    parser.StartElementHandler = lambda name, attributes: elements.append((name.rpartition(":")[2], attributes))
    for start in range(0, len(content), _BLOCK):
        last = final and start + _BLOCK >= len(content)
        _parse(parser, content[start : start + _BLOCK], location, last)
        yield from elements
        elements.clear()


def read_first_tag(head: bytes, name: str, *, location: str) -> dict[str, str]:
    """Return the attributes of the first element of a name at the beginning of a part; none if it has none."""
    elements = read_tags(head, location=location, final=False)
    return next((attributes for tag, attributes in elements if tag == name), {})


class _Elements:
    """The elements of some XML down to a depth, as its parser meets them."""

    def __init__(self, content: bytes, location: str, depth: int) -> None:
        self._content, self._location, self._depth = content, location, depth
        self._level = self._count = 0
        self._open: list[tuple[Element, list[str]]] = []
        self.roots: list[Element] = []
        self._parser = parser = _parser(location, "utf-8")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._begin, self._finish
        parser.CharacterDataHandler = self._add_text
        _parse(parser, content, location, True)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._level, self._count = self._level + 1, self._count + 1
        if self._count > _MOST_ELEMENTS:
            raise FormatError(f"the part has more than {_MOST_ELEMENTS} elements", location=self._location)
        if self._level > self._depth:
            return
        prefix, colon, local = name.rpartition(":")
        start = self._parser.CurrentByteIndex
        tag = _TAG.match(self._content, start)
        assert tag is not None, "the parser read it as a tag"
        scope = self._open[-1][0].scope if self._open else {}
        if b"xmlns" in tag[0]:
            names = [key for key in attributes if key == "xmlns" or key.startswith("xmlns:")]
            declared = {key[6:] and f"{key[6:]}:": attributes[key] for key in names}
            scope = {**declared, **scope, **declared}
        space = scope.get(prefix + colon, "")
        element = Element(prefix + colon, local, space, attributes, start, tag.end(), scope)
        (self._open[-1][0].children if self._open else self.roots).append(element)
        self._open.append((element, []))

    def _finish(self, _: str) -> None:
        if self._level <= self._depth:
            element, texts = self._open.pop()
            element.text = "".join(texts)
            if self._content[element.inner - 2 : element.inner] == b"/>":
                element.close = element.end = element.inner
            else:
                element.close = self._parser.CurrentByteIndex
                element.end = self._content.index(b">", element.close) + 1
        self._level -= 1

    def _add_text(self, text: str) -> None:
        if self._level <= self._depth:
            self._open[-1][1].append(text)


def _parser(location: str, encoding: str | None = None) -> expat.XMLParserType:
    """Return a parser that refuses document type definitions, and encodings that OPC does not allow."""
    allowed = _NARROW if encoding else (*_NARROW, "utf-16")

    def definition(*_: object) -> None:
        raise FormatError(DOCTYPE_REFUSED, location=location)

    def declaration(_: str, declared: str | None, __: int) -> None:
        if declared and declared.lower() not in allowed:
            raise _encoding_error(declared, location)

    parser = expat.ParserCreate(encoding)
    parser.StartDoctypeDeclHandler, parser.XmlDeclHandler = definition, declaration
    return parser


def _parse(parser: expat.XMLParserType, content: bytes, location: str, final: bool) -> None:
    try:
        parser.Parse(content, final)
    except expat.ExpatError as error:
        raise _malformed_error(error.code, error.lineno, location) from error
    except FormatError:
        raise
    except (ValueError, LookupError) as error:
        raise FormatError("the part is not well-formed XML in its encoding", location=location) from error
