"""The small parts of a workbook that others refer to: relationships, document properties, and styles."""

from __future__ import annotations

import base64
import json
import posixpath
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from ....errors import NEWER, FormatError, LimitError
from ....files import fast_zlib
from ...workbooks import MOST_ROWS, quote_attribute
from .markup import Markup, children_named, local_name, parse_tree
from .parts import Package

if TYPE_CHECKING:
    from xml.etree import ElementTree

# Reads and changes the references from parts of a package to others (relationships), and the types of the parts.
#
# Source: ECMA-376 part 2 (relationships, content types), part 1 and 4 (their types, in transitional and in strict
# OOXML).

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


class Relations:
    """The references from one part to others.

    `part`: the name of the referring part; empty for the package itself.

    Attributes:
        name: of the part that holds the relationships; the package may lack it.
        entries: the relationships, in their order.

    Raises:
        FormatError: the relationships are damaged.
    """

    def __init__(self, package: Package, part: str) -> None:
        self._folder = posixpath.dirname(part)
        self._package = package
        self.name = relations_part(part)
        self.entries: list[Relation] = []
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

    def present_target(self, kind: str) -> str | None:
        """Return the same as `target`, but None also if the package lacks that part."""
        part = self.target(kind)
        return part if part is not None and part in self._package else None

    def add(self, kind: str, part: str, *, strict: bool) -> str:
        """Add a reference to a part, and return its id.

        Raises:
            FormatError: the package lacks the part that holds the relationships.
        """
        markup = self.markup
        id_ = next(self._free_ids)
        target = _uri(posixpath.relpath(part, self._folder) if self._folder else part)
        markup.append(
            markup.root,
            f'<{markup.root.prefix}Relationship Id="{id_}" Type="{relation_type(kind, strict)}" '
            f"Target={quote_attribute(target)}/>",
        )
        return id_

    def drop(self, part: str) -> None:
        """Remove the references to a part."""
        elements = self.markup.root.children_named("Relationship") if self.entries else ()
        for relation, element in zip(self.entries, elements, strict=True):
            if relation.target == part:
                self.markup.remove(element)

    @cached_property
    def markup(self) -> Markup:
        """The part that holds the relationships, to be changed.

        Raises:
            FormatError: the package lacks it.
        """
        return Markup(self._package.read(self.name, limit=_MOST_BYTES), location=self.name, depth=2)

    @cached_property
    def _free_ids(self) -> Iterator[str]:
        used = {relation.id for relation in self.entries}
        return (id_ for id_ in map("rId{}".format, count(1)) if id_ not in used)


def relations_xml(targets: Iterable[tuple[str, str]]) -> str:
    """Return the XML of relationships, given as types and targets; their ids are rId1, rId2 and so on."""
    listed = [
        f'<Relationship Id="rId{number}" Type="{type_}" Target="{target}"/>'
        for number, (type_, target) in enumerate(targets, 1)
    ]
    return f'{DECLARED}<Relationships xmlns="{PACKAGE}/relationships">{"".join(listed)}</Relationships>'


def relations_part(part: str) -> str:
    """Return the name of the part that holds the relationships of a part."""
    folder, base = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{base}.rels")


def relation_type(kind: str, strict: bool) -> str:
    """Return the type of a relationship, in transitional or in strict OOXML."""
    if strict:
        return _KINDS[1] + next((other for other, plain in _STRICT_KINDS.items() if plain == kind), kind)
    return _KINDS[0] + kind


def relation_space(strict: bool) -> str:
    """Return the namespace of the attributes that hold the ids of relationships."""
    return _KINDS[1 if strict else 0].rstrip("/")


def _relation(package: Package, folder: str, entry: ElementTree.Element) -> Relation:
    type_ = entry.get("Type", "")
    space = next((space for space in _KINDS if type_.startswith(space)), None)
    kind = type_ if space is None else _STRICT_KINDS.get(type_.removeprefix(space), type_.removeprefix(space))
    path = posixpath.normpath(posixpath.join("/", folder, entry.get("Target", ""))).lstrip("/")
    member = package.find(path) or package.find(unquote(path))
    target = path if member is None else member.name  # as the package spells it
    return Relation(entry.get("Id", ""), kind, None if entry.get("TargetMode") == "External" else target)


def parts_only_reached_through(package: Package, parts: Iterable[str]) -> set[str]:
    """Return the parts that can be reached only through the given parts, so that nothing needs them without these.

    Raises:
        FormatError: relationships are damaged, or have more than 64 MiB in all.
    """
    left = frozenset(parts)
    if not any(Relations(package, part).entries for part in left):
        return {name for part in left if (name := relations_part(part)) in package}
    graph = _Graph(package)
    stays = graph.reachable([""], without=left)
    lost = graph.reachable([target for part in left for target in graph.targets(part)], without=stays) - stays - left
    names = lost | {relations_part(part) for part in lost | left}
    return {package.member(name).name for name in names if name in package}


class _Graph:
    """The references from parts to parts."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._known: dict[str, list[str]] = {}
        self._budget = _MOST_BYTES_IN_ALL

    def targets(self, part: str) -> list[str]:
        """Return the parts that a part refers to."""
        if part not in self._known:
            name = relations_part(part)
            self._budget -= self._package.member(name).size if name in self._package else 0
            if self._budget < 0:
                raise FormatError(f"the package has more than {_MOST_BYTES_IN_ALL} bytes of relationships")
            targets = [relation.target for relation in Relations(self._package, part).entries]
            self._known[part] = [target for target in targets if target is not None and self._is_part(target)]
        return self._known[part]

    def _is_part(self, name: str) -> bool:
        """Return whether a part is content, and not the list of types or a list of relationships."""
        return name in self._package and name.lower() != TYPES.lower() and not name.lower().endswith(".rels")

    def reachable(self, starts: Iterable[str], *, without: Collection[str]) -> set[str]:
        """Return all parts that can be reached from `starts`; references of the parts in `without` are not followed."""
        reached, waiting = set(starts), list(starts)
        while waiting:
            part = waiting.pop()
            if part not in without:
                fresh = set(self.targets(part)) - reached
                reached |= fresh
                waiting += fresh
        return reached


class ContentTypes:
    """The part that lists the types of all parts.

    Raises:
        FormatError: the package has no such list, or it is damaged.
    """

    def __init__(self, package: Package) -> None:
        if TYPES not in package:
            raise FormatError(f"the package has no part {TYPES!r}: it is not a workbook")
        self._content = package.read(TYPES, limit=_MOST_BYTES)
        root = parse_tree(self._content, location=TYPES)
        overrides, defaults = children_named(root, "Override"), children_named(root, "Default")
        self._overrides = {_part_key(at.get("PartName", "")): at.get("ContentType", "") for at in overrides}
        self._defaults = {at.get("Extension", "").lower(): at.get("ContentType", "") for at in defaults}

    @cached_property
    def markup(self) -> Markup:
        """The part, to be changed."""
        return Markup(self._content, location=TYPES, depth=2)

    def type_of(self, part: str) -> str:
        """Return the type of a part; empty if the list does not say it."""
        known = self._overrides.get(_part_key(part))
        return self._defaults.get(part.rpartition(".")[2].lower(), "") if known is None else known

    def parts(self, type_: str) -> list[str]:
        """Return the parts of a type, without those whose type follows from their suffix alone."""
        return [part for part, known in self._overrides.items() if known == type_]

    def __contains__(self, part: str) -> bool:
        return _part_key(part) in self._overrides

    def add(self, part: str, type_: str) -> None:
        """Add a part to the list."""
        self._overrides[_part_key(part)] = type_
        prefix = self.markup.root.prefix
        text = f'<{prefix}Override PartName={quote_attribute("/" + _uri(part))} ContentType="{type_}"/>'
        self.markup.append(self.markup.root, text)

    def add_suffix(self, suffix: str, type_: str) -> None:
        """Add the type of all parts of a suffix to the list, unless it is there."""
        if suffix not in self._defaults:
            prefix = self.markup.root.prefix
            self.markup.append(self.markup.root, f'<{prefix}Default Extension="{suffix}" ContentType="{type_}"/>')

    def drop(self, part: str) -> None:
        """Remove a part from the list, if it is listed."""
        key = _part_key(part)
        if self._overrides.pop(key, None) is not None:
            *_, last = [
                at for at in self.markup.root.children_named("Override") if _part_key(at.get("PartName")) == key
            ]
            self.markup.remove(last)


def _part_key(part: str) -> str:
    """Return one key for all spellings of a part's name: escaped or not, of any case, with a leading slash or not."""
    return unquote(part).lstrip("/").lower()


def _uri(part: str) -> str:
    """Return a part's name as a relationship holds it, with the characters escaped that no URI has."""
    return quote(part, safe="/%!$&'()*+,;=:@~")


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
#     {"version": 2, ...}                         of the record, without fingerprints and guards; 1 where it is missing

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
_STRICT_SPACE = STRICT + "officeDocument/customProperties"
_NEW = DECLARED + '<Properties xmlns="{}" xmlns:vt="{}">{}</Properties>'
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
            f"what is to be remembered of the arrays takes {len(text)} characters, and a workbook "
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
        raise ValueError("too long, or cut off")
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
    root = parse_tree(package.read(part, limit=MOST_BYTES), location=part, limit=MOST_BYTES)
    if is_ods:
        entries = [entry for within in root for entry in within if entry.tag == f"{{{_META}}}user-defined"]
        return {entry.get(f"{{{_META}}}name", ""): entry.text or "" for entry in entries}
    properties = [entry for entry in children_named(root, "property") if len(entry) == 1]
    return {one.get("name", ""): one[0].text or "" for one in properties if local_name(one[0]) in _TEXTS}


def _refuse(word: str) -> Any:
    """Refuse `NaN` and `Infinity`, which Python's JSON would take."""
    raise ValueError(word)


# Writing -----------------------------------------------------------------------------------------------------


def add_sheets(record: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a record to which entries of some sheets are added.

    Example:
        >>> add_sheets({"sheets": {"a": {"x": 1}}}, {"a": {"of": "a"}})
        {'sheets': {'a': {'x': 1, 'of': 'a'}}}
    """
    sheets = record.get("sheets", {})
    return {
        **record,
        "sheets": {**sheets, **{title: {**sheets.get(title, {}), **more} for title, more in known.items()}},
    }


def merge_properties(content: bytes | None, record: Mapping[str, Any], *, location: str, strict: bool = False) -> bytes:
    """Return the part of the custom properties with a record in place of an older one; all others stay as they are.

    `content`: of the part; None to make a new one. `strict`: whether a new part is to use the namespaces of strict
    OOXML.

    Raises:
        FormatError: the part is damaged.
        LimitError: the record is too long.
    """
    if content is None:
        space = _STRICT_SPACE if strict else _SPACE
        made = _record_properties(record, 2, "", "vt:", "")
        return _NEW.format(space, _value_space(space), made).encode()
    part = Markup(content, location=location, limit=MOST_BYTES)
    if part.root.name != "Properties" or part.root.space not in (_SPACE, _STRICT_SPACE):
        raise FormatError(f"the part holds {part.root.name!r:.40}, no properties", location=location)
    pids = [1]
    for entry in part.root.children_named("property"):
        if _OURS.fullmatch(entry.get("name")):
            part.remove(entry)
        elif re.fullmatch("[0-9]{1,9}", entry.get("pid")):
            pids.append(int(entry.get("pid")))
    values = _value_space(part.root.space)
    known = [prefix for prefix, space in part.root.scope.items() if space == values and prefix]
    prefix, declared = (known[0], "") if known else ("vt:", f' xmlns:vt="{values}"')
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


def _value_space(space: str) -> str:
    """Return the namespace of the values of properties, given that of the properties."""
    return f"{space.rpartition('/')[0]}/docPropsVTypes"


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


def content_of(package: Package, part: str | None) -> Content | None:
    """Return the content of a part, as the directory of its package says it; None if the package has no such part."""
    if part is None or part not in package:
        return None
    member = package.member(part)
    return member.crc, member.size


def read_searches(record: Mapping[str, Any], package: Package, strings: str | None) -> Searches:
    """Return the searches that a workbook remembers; an empty record if its shared strings have changed since.

    `strings`: the part of the shared strings; None if there are no shared strings.
    """
    known, stored = Searches(content_of(package, strings)), record.get(SEARCHES_KEY)
    if isinstance(stored, Mapping) and stored.get("strings", 0) == (known.strings and list(known.strings)):
        known.rows.update(_parse_sheets(stored.get("sheets")))
    return known


def _parse_sheets(sheets: object) -> Iterator[tuple[Content, int]]:
    """Yield the content and the number of rows of each sheet; entries of another form are passed over."""
    for entry in sheets[:MOST_SHEETS] if isinstance(sheets, list) else ():
        if isinstance(entry, list) and len(entry) == 3 and all(type(number) is int for number in entry):
            crc, size, rows = entry
            if 0 <= rows <= MOST_ROWS:
                yield (crc, size), rows
