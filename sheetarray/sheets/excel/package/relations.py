"""The small parts of a workbook that others refer to: relationships, document properties, and styles."""

from __future__ import annotations

import base64
import json
import posixpath
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote
from xml.sax.saxutils import quoteattr

from ....errors import NEWER, FormatError, LimitError
from ....files import fast_zlib
from ...workbooks import MOST_ROWS
from .markup import Markup, children_named, local_name, parse_tree
from .parts import Package

if TYPE_CHECKING:
    from xml.etree import ElementTree

# Reads and changes the references from parts of a package to others (relationships), and the types of the parts.
#
# Source: ECMA-376 part 2 (relationships, content types), part 1 and 4 (their types, in transitional and in strict
# OOXML). Strict OOXML is read, and not written.

DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'  # with which each part of XML begins
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"  # the namespace of workbooks and sheets
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPES = "[Content_Types].xml"
STRICT = "http://purl.oclc.org/ooxml/"
# With these the types of relationships begin: in transitional OOXML, in strict OOXML, and in any package
_KINDS = (
    f"{RELATIONS}/",
    STRICT + "officeDocument/relationships/",
    f"{PACKAGE}/relationships/",
)
_STRICT_KINDS = {"customProperties": "custom-properties", "extendedProperties": "extended-properties"}
RELATION_SPACES = frozenset(space.rstrip("/") for space in _KINDS[:2])
_RELATIONSHIPS = DECLARED + f'<Relationships xmlns="{PACKAGE}/relationships">{{}}</Relationships>'
_MOST_BYTES = 2**24  # of a part that is read here
_MOST_BYTES_IN_ALL = 2**26  # of all relationships of a package


@dataclass(frozen=True, slots=True)
class Relation:
    """A reference from one part to another."""

    id: str  # the text by which the XML of the referring part names it
    # the last word of its type, as transitional OOXML has it (`worksheet`); of a type that OOXML does not define, the
    # whole of it
    kind: str
    target: str | None  # the name of the part; None for something outside of the package
    attributes: Mapping[str, str]  # as the package has them


class Relations:
    """The references from one part to others.

    `part`: the name of the referring part; empty for the package itself.

    Attributes:
        name: of the part that holds the relationships; the package may lack it.
        entries: the relationships, in their order.
        is_changed: whether a reference was added or dropped.

    Raises:
        FormatError: the relationships are damaged.
    """

    def __init__(self, package: Package, part: str) -> None:
        self._folder = posixpath.dirname(part)
        self._package = package
        self.name = relations_part(part)
        self.entries: list[Relation] = []
        self.is_changed = False
        if (member := package.find(self.name)) is not None:
            self.name = member.name
            root = parse_tree(package.read(self.name, limit=_MOST_BYTES), location=self.name)
            self.entries = [_relation(package, self._folder, entry) for entry in children_named(root, "Relationship")]

    def target(self, kind: str) -> str | None:
        """Return the name of the first part that is referred to as of a kind; None if no part is."""
        for relation in self.entries:
            if relation.kind == kind and relation.target is not None:
                return relation.target
        return None

    def present_targets(self, kind: str) -> list[str]:
        """Return the names of the parts in the package that are referred to as of a kind."""
        targets = [relation.target for relation in self.entries if relation.kind == kind]
        return [target for target in targets if target is not None and target in self._package]

    def present_target(self, kind: str) -> str | None:
        """Return the same as `target`, but None also if the package lacks that part."""
        part = self.target(kind)
        return part if part is not None and part in self._package else None

    def add(self, kind: str, part: str) -> str:
        """Add a reference to a part, and return its id.

        Raises:
            FormatError: the package lacks the part that holds the relationships.
        """
        self._package.member(self.name)
        id_ = next(self._free_ids)
        target = quote(posixpath.relpath(part, self._folder) if self._folder else part, safe=_PLAIN_IN_URIS)
        attributes = {"Id": id_, "Type": f"{RELATIONS}/{kind}", "Target": target}
        self.entries.append(Relation(id_, kind, part, attributes))
        self.is_changed = True
        return id_

    def drop(self, part: str) -> None:
        """Remove the references to a part."""
        self.entries = [relation for relation in self.entries if relation.target != part]
        self.is_changed = True

    def to_bytes(self) -> bytes:
        """Return the part that holds the relationships."""
        texts = (
            " ".join([f"{name}={quoteattr(value)}" for name, value in relation.attributes.items()])
            for relation in self.entries
        )
        return _RELATIONSHIPS.format("".join([f"<Relationship {text}/>" for text in texts])).encode()

    @cached_property
    def _free_ids(self) -> Iterator[str]:
        used = {relation.id for relation in self.entries}
        return (id_ for id_ in map("rId{}".format, count(1)) if id_ not in used)


def relations_xml(targets: Iterable[tuple[str, str]]) -> bytes:
    """Return the part of relationships, given as types and targets; their ids are rId1, rId2 and so on."""
    listed = [
        f'<Relationship Id="rId{number}" Type="{type_}" Target="{target}"/>'
        for number, (type_, target) in enumerate(targets, 1)
    ]
    return _RELATIONSHIPS.format("".join(listed)).encode()


def relations_part(part: str) -> str:
    """Return the name of the part that holds the relationships of a part."""
    folder, base = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{base}.rels")


def _relation(package: Package, folder: str, entry: ElementTree.Element) -> Relation:
    type_ = entry.get("Type", "")
    space = next((space for space in _KINDS if type_.startswith(space)), None)
    kind = type_ if space is None else _STRICT_KINDS.get(type_.removeprefix(space), type_.removeprefix(space))
    path = posixpath.normpath(posixpath.join("/", folder, entry.get("Target", ""))).lstrip("/")
    member = package.find(path) or package.find(unquote(path))
    target = path if member is None else member.name  # as the package spells it
    target_inside = None if entry.get("TargetMode") == "External" else target
    return Relation(entry.get("Id", ""), kind, target_inside, entry.attrib)


def parts_only_reached_through(package: Package, parts: Collection[str]) -> set[str]:
    """Return the parts that can be reached only through the given parts, so that nothing needs them without these.

    The relationships of these parts, and of the given ones, are among them.

    Raises:
        FormatError: relationships are damaged, or have more than 64 MiB in all.
    """
    lists = [name for name in package.names() if name.lower().endswith(".rels")]
    if sum(package.member(name).size for name in lists) > _MOST_BYTES_IN_ALL:
        raise FormatError(f"the package has more than {_MOST_BYTES_IN_ALL} bytes of relationships")

    @cache
    def targets(part: str) -> set[str]:
        names = {relation.target for relation in Relations(package, part).entries}
        return {name for name in names if name is not None and name in package and name not in (TYPES, *lists)}

    def reachable(without: Collection[str]) -> set[str]:
        """Return the parts that can be reached; references of some parts are not followed."""
        reached, waiting = {""}, [""]
        while waiting:
            part = waiting.pop()
            fresh = set() if part in without else targets(part) - reached
            reached |= fresh
            waiting += fresh
        return reached

    lost = (reachable([]) - reachable(parts)).difference(parts)
    names = lost.union(map(relations_part, lost.union(parts)))
    return {package.member(name).name for name in names if name in package}


class ContentTypes:
    """The part that lists the types of all parts.

    `suffixes`: the types of parts by the suffixes of their names. `types`: of single parts, by their names.
    """

    def __init__(self, suffixes: Mapping[str, str], types: Iterable[tuple[str, str]]) -> None:
        self._suffixes = dict(suffixes)
        self._types = {_part_key(part): (part, type_) for part, type_ in types}
        self.is_changed = False

    @classmethod
    def of_package(cls, package: Package) -> ContentTypes:
        """Return the types of the parts of a package.

        Raises:
            FormatError: the package has no list of types, or it is damaged.
        """
        if TYPES not in package:
            raise FormatError(f"the package has no part {TYPES!r}: it is not a workbook")
        root = parse_tree(package.read(TYPES, limit=_MOST_BYTES), location=TYPES)
        defaults, overrides = children_named(root, "Default"), children_named(root, "Override")
        return cls(
            {one.get("Extension", ""): one.get("ContentType", "") for one in defaults},
            [(one.get("PartName", ""), one.get("ContentType", "")) for one in overrides],
        )

    def type_of(self, part: str) -> str:
        """Return the type of a part; empty if the list does not say it."""
        if (known := self._types.get(_part_key(part))) is not None:
            return known[1]
        suffix = part.rpartition(".")[2].lower()
        return next((type_ for one, type_ in self._suffixes.items() if one.lower() == suffix), "")

    def __contains__(self, part: str) -> bool:
        return _part_key(part) in self._types

    def add(self, part: str, type_: str) -> None:
        """Add a part to the list."""
        self._types[_part_key(part)] = "/" + quote(part, safe=_PLAIN_IN_URIS), type_
        self.is_changed = True

    def add_suffix(self, suffix: str, type_: str) -> None:
        """Add the type of all parts of a suffix to the list, unless it is there."""
        if suffix not in map(str.lower, self._suffixes):
            self._suffixes[suffix] = type_
            self.is_changed = True

    def drop(self, part: str) -> None:
        """Remove a part from the list, if it is listed."""
        self.is_changed |= self._types.pop(_part_key(part), None) is not None

    def to_bytes(self) -> bytes:
        """Return the part that lists the types."""
        texts = [
            f"<Default Extension={quoteattr(one)} ContentType={quoteattr(type_)}/>"
            for one, type_ in self._suffixes.items()
        ]
        texts += [
            f"<Override PartName={quoteattr(part)} ContentType={quoteattr(type_)}/>"
            for part, type_ in self._types.values()
        ]
        return f'{DECLARED}<Types xmlns="{PACKAGE}/content-types">{"".join(texts)}</Types>'.encode()


_PLAIN_IN_URIS = "/%!$&'()*+,;=:@~"  # characters that a URI need not escape


def _part_key(part: str) -> str:
    """Return one key for all spellings of a part's name: escaped or not, of any case, with a leading slash or not."""
    return unquote(part).lstrip("/").lower()


# Custom document properties, in which a workbook keeps a record of the arrays that were written into it.
#
# The record is a JSON object, which is compressed (zlib), made text (base64), and cut into properties of at most
# 255 characters, as many as Excel takes: `sheetarray 1`, `sheetarray 2` and so on. Spreadsheet programs keep such
# properties when they save a file again, but each escapes quotes, underscores and line ends in its own way, so the
# text has none of these. Records of older versions are the JSON itself; they are read too, also where SheetJS wrote
# `_x0022_` for quotes. Source: ECMA-376 part 1, 22.3 (custom properties); OpenDocument 1.3 part 3, 4.3.3
# (`meta:user-defined`).
#
#     {"sheets": {"arrays": {...}, ...}, ...}    what is known of each sheet that this package wrote, by its title
#     {"version": 2, ...}                         of the record, without checksums and guards; 1 where it is missing

PREFIX = "sheetarray "
PROPERTIES = "docProps/custom.xml"
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.custom-properties+xml"
_LONGEST = 255  # characters of a property
_MOST = 2**24  # characters of the JSON of a record
MOST_BYTES = 2**26  # of the part; a record may take twice its characters there
_FMTID = "{D5CDD505-2E9C-101B-9397-08002B2CF9AE}"  # the format of custom properties, the same in all workbooks
_VERSION = 1  # of records
_OURS = re.compile(PREFIX + "[1-9][0-9]{0,5}")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")  # the JSON of records never has an underscore before an x
_SPACE = "http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"
_VALUE_SPACE = "http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"
_TEXTS = ("lpwstr", "lpstr", "bstr")  # elements that hold text, and neither a number nor a date nor a boolean
_META = "urn:oasis:names:tc:opendocument:xmlns:meta:1.0"


def pack(record: Mapping[str, Any]) -> dict[str, str]:
    """Return a record as the properties that hold it.

    Raises:
        LimitError: the JSON of the record takes more than 16 Mi characters.

    Example:
        >>> list(pack({"sheets": {}})), unpack(pack({"sheets": {}}))
        (['sheetarray 1'], {'sheets': {}})
    """
    text = json.dumps(record, separators=(",", ":"))
    if len(text) > _MOST:
        raise LimitError(
            f"the record of the arrays takes {len(text)} characters, and a workbook "
            f"holds {_MOST}: write them to several workbooks"
        )
    packed = base64.b64encode(fast_zlib.compress(text.encode())).decode()
    return {
        f"{PREFIX}{number}": packed[start : start + _LONGEST]
        for number, start in enumerate(range(0, len(packed), _LONGEST), 1)
    }


def unpack(properties: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the record that properties hold; None if they hold no record.

    `properties`: the texts of custom properties, also of others than those of a record, by their names.

    Raises:
        FormatError: one of the properties that hold the record is missing or was edited, or a newer version of this
            package has made it.

    Example:
        >>> unpack({"sheetarray 1": '{"sheets"', "Client": "ann", "sheetarray 2": ':{}}'})
        {'sheets': {}}
    """
    last = sum(1 for name in properties if _OURS.fullmatch(name))
    ours = [f"{PREFIX}{number}" for number in range(1, last + 1)]
    if (absent := next((name for name in ours if name not in properties), None)) is not None:
        raise FormatError(f"the document property {absent} is missing", location="custom properties")
    if not ours:
        return None
    text = "".join([properties[name] for name in ours])
    try:
        record: Any = json.loads(_unpack(text), parse_constant=_refuse) if len(text) <= 2 * _MOST else None
    except (ValueError, RecursionError, zlib.error):
        record = None
    sheets = record.get("sheets", {}) if isinstance(record, dict) else None
    if (
        not isinstance(record, dict)
        or not isinstance(sheets, dict)
        or not all(isinstance(sheet, dict) for sheet in sheets.values())
    ):
        raise FormatError(
            f"the document properties {PREFIX}1 to {last} are not a record of arrays", location="custom properties"
        )
    version = record.get("version", _VERSION)
    if isinstance(version, int) and version > _VERSION:
        reason = f"the record of the workbook is of version {version!s:.20}; this reader knows version {_VERSION}"
        raise FormatError(reason, location="custom properties", hint=NEWER)
    return record


def _unpack(text: str) -> str:
    """Return the JSON of a record, given the texts of its properties joined together."""
    if text.startswith(("{", "_x007B_", "_x007b_")):
        return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    inflater = zlib.decompressobj()
    content = inflater.decompress(base64.b64decode("".join(text.split()), validate=True), _MOST)
    if not inflater.eof:
        raise ValueError("too long, or cut short")
    return content.decode()


def read_record(package: Package) -> dict[str, Any] | None:
    """Return the record of a workbook (.xlsx, .xlsm, .xlsb or .ods); None if it has no record.

    Raises:
        FormatError: the properties, or the record in them, are damaged.
    """
    return unpack(read_properties(package))


def read_sound_record(package: Package) -> dict[str, Any]:
    """Return the record of a workbook, with its "sheets"; none of them where it was edited, or there is no record.

    Raises:
        FormatError: a newer version of this package has made it.
    """
    try:
        record = read_record(package) or {}
    except FormatError as error:
        if error.hint == NEWER:
            raise
        record = {}
    return {**record, "sheets": record.get("sheets", {})}


def read_properties(package: Package) -> dict[str, str]:
    """Return all custom document properties of a workbook that are text.

    Raises:
        FormatError: the part that holds them is damaged.
    """
    is_ods = "_rels/.rels" not in package
    part = "meta.xml" if is_ods else Relations(package, "").present_target("custom-properties")
    if part is None or part not in package:
        return {}
    root = parse_tree(package.read(part, limit=MOST_BYTES), location=part)
    if is_ods:
        entries = [entry for within in root for entry in within if entry.tag == f"{{{_META}}}user-defined"]
        return {entry.get(f"{{{_META}}}name", ""): entry.text or "" for entry in entries}
    properties = [entry for entry in children_named(root, "property") if len(entry) == 1]
    return {one.get("name", ""): one[0].text or "" for one in properties if local_name(one[0]) in _TEXTS}


def _refuse(word: str) -> Any:
    """Refuse `NaN` and `Infinity`, which Python's JSON would take."""
    raise ValueError(word)


# Writing -----------------------------------------------------------------------------------------------------


def merge_properties(content: bytes | None, record: Mapping[str, Any], *, location: str) -> bytes:
    """Return the part of the custom properties with a record in place of an older one; all others stay as they are.

    `content`: of the part; None to make a new one.

    Raises:
        FormatError: the part is damaged.
        LimitError: the record is too long.
    """
    if content is None:
        made = _record_properties(record, 2, "", "vt:", "")
        return f'{DECLARED}<Properties xmlns="{_SPACE}" xmlns:vt="{_VALUE_SPACE}">{made}</Properties>'.encode()
    part = Markup(content, location=location, limit=MOST_BYTES)
    if part.root.name != "Properties" or part.root.space != _SPACE:
        raise FormatError(f"the part holds {part.root.name!r:.40}, no properties", location=location)
    pids = [1]
    for entry in part.root.children_named("property"):
        if _OURS.fullmatch(entry.get("name")):
            part.remove(entry)
        elif re.fullmatch("[0-9]{1,9}", entry.get("pid")):
            pids.append(int(entry.get("pid")))
    known = [prefix for prefix, space in part.root.scope.items() if space == _VALUE_SPACE and prefix]
    prefix, declared = (known[0], "") if known else ("vt:", f' xmlns:vt="{_VALUE_SPACE}"')
    part.append(part.root, _record_properties(record, max(pids) + 1, part.root.prefix, prefix, declared))
    return part.to_bytes()


def _record_properties(record: Mapping[str, Any], pid: int, prefix: str, value_prefix: str, declared: str) -> str:
    """Return the XML of the properties that hold a record.

    `pid`: of the first of them. `prefix` and `value_prefix`: of the names of properties and of their values.
    `declared`: attributes of each value that declare its prefix.
    """
    return "".join(
        [
            f'<{prefix}property fmtid="{_FMTID}" pid="{number}" name="{name}">'
            f"<{value_prefix}lpwstr{declared}>{value}</{value_prefix}lpwstr></{prefix}property>"
            for number, (name, value) in enumerate(pack(record).items(), pid)
        ]
    )


# What a workbook remembers of searches for arrays: down to which row of a sheet the words of headers stand.
#
# `scan` looks no further in a sheet that is as it was when it was searched, or written: the directory of the
# package has the size and the CRC-32 that the record names, and those of the shared strings too, to which cells may
# refer. Whatever changes a sheet changes them, and it is searched like any other. `read` and `check` rely on no
# record.
#
#     {"searches": {"strings": [crc, size], "sheets": [[crc, size, rows], ...]}}    `strings` null without them
#
# A sheet is known by its content alone, whatever its part and its title are called.

SEARCHES_KEY = "searches"
MOST_SHEETS = 256  # of which a search is remembered

Content = tuple[int, int]  # the CRC-32 and the size of a part


@dataclass
class Searches:
    """The searches of a workbook's sheets for words of headers."""

    # the content of the shared strings at that time; None if there were no shared strings
    strings: Content | None = None
    # the number of rows down to the last word of a header, by the content of the sheet
    rows: dict[Content, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the searches as the record has them."""
        sheets = [[*content, rows] for content, rows in self.rows.items()]
        return {"strings": self.strings and list(self.strings), "sheets": sheets[:MOST_SHEETS]}


def content_of(package: Package, part: str | None, replaced: bytes | None = None) -> Content | None:
    """Return the CRC-32 and the size of a part, from the directory of its package; None if there is no such part.

    `replaced`: the bytes that take the place of the part's; None if the part stays.
    """
    if replaced is not None:
        return zlib.crc32(replaced), len(replaced)
    if part is None or part not in package:
        return None
    member = package.member(part)
    return member.crc, member.size


def read_searches(record: Mapping[str, Any], package: Package, strings: str | None) -> Searches:
    """Return the searches that a workbook remembers; an empty record if its shared strings have changed since.

    `strings`: the part of the shared strings; None if there are no shared strings.
    """
    known, kept = Searches(content_of(package, strings)), record.get(SEARCHES_KEY)
    stored: Mapping[str, Any] = kept if isinstance(kept, Mapping) else {}
    sheets = stored.get("sheets")
    if isinstance(sheets, list) and stored.get("strings", 0) == (known.strings and list(known.strings)):
        for entry in sheets[:MOST_SHEETS]:
            if isinstance(entry, list) and [type(number) for number in entry] == [int] * 3:
                crc, size, rows = entry
                if 0 <= rows <= MOST_ROWS:
                    known.rows[crc, size] = rows
    return known
