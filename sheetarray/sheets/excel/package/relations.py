"""The small parts of a workbook that say what others are: relationships from part to part, and the types of contents.

Source: ECMA-376 part 2 (relationships, content types), part 1 and 4 (their types, in transitional and in strict
OOXML). Strict OOXML is read, and not written.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import count
from urllib.parse import quote, unquote
from xml.sax.saxutils import quoteattr

from ....errors import FormatError
from .markup import children_named, parse_tree
from .package import Package

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
            for entry in children_named(root, "Relationship"):
                path = _path_of(self._folder, entry.get("Target", ""))
                member = package.find(path) or package.find(unquote(path))
                path = path if member is None else member.name  # as the package spells it
                target = None if entry.get("TargetMode") == "External" else path
                relation = Relation(entry.get("Id", ""), _kind_of(entry.get("Type", "")), target, entry.attrib)
                self.entries.append(relation)

    def copy(self) -> Relations:
        """Return the same references, which can be changed by themselves; none was changed so far."""
        relations = copy(self)
        relations.entries = [*self.entries]
        return relations

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
        """Return the part that `target` returns, if the package has it; else None."""
        part = self.target(kind)
        return part if part is not None and part in self._package else None

    def add(self, kind: str, part: str) -> str:
        """Add a reference to a part, and return its id; a FormatError if the package has no list for it."""
        self._package.member(self.name)
        id_ = next(self._free_ids)
        attributes = {"Id": id_, "Type": f"{RELATIONS}/{kind}", "Target": _target_of(self._folder, part)}
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
            " ".join([f"{name}={_quoted(value)}" for name, value in relation.attributes.items()])
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


@lru_cache(maxsize=1024)
def relations_part(part: str) -> str:
    """Return the name of the part that holds the relationships of a part."""
    folder, base = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{base}.rels")


@lru_cache(maxsize=1024)  # workbooks have the same few types, and nearly the same names of parts
def _kind_of(type_: str) -> str:
    """Return the last word of the type of a relationship, as transitional OOXML has it; another type as it is."""
    space = next(filter(type_.startswith, _KINDS), None)
    return type_ if space is None else _STRICT_KINDS.get(type_.removeprefix(space), type_.removeprefix(space))


@lru_cache(maxsize=1024)
def _target_of(folder: str, part: str) -> str:
    """Return the reference from a part in a folder to another part."""
    return quote(posixpath.relpath(part, folder) if folder else part, safe=_PLAIN_IN_URIS)


@lru_cache(maxsize=1024)
def _path_of(folder: str, target: str) -> str:
    """Return the path in the package to which a reference of a part in a folder leads."""
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


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

    def copy(self) -> ContentTypes:
        """Return the same types, which can be changed by themselves; none was changed so far."""
        types = copy(self)
        types._suffixes, types._types = dict(self._suffixes), dict(self._types)
        return types

    @classmethod
    def of_package(cls, package: Package) -> ContentTypes:
        """Return the types of the parts of a package; a FormatError without a list of types, or if it is damaged."""
        if TYPES not in package:
            raise FormatError(f"the package has no part {TYPES!r}: it is not a workbook")
        root = parse_tree(package.read(TYPES, limit=_MOST_BYTES), location=TYPES)
        defaults, overrides = children_named(root, "Default"), children_named(root, "Override")
        return cls(
            {entry.get("Extension", ""): entry.get("ContentType", "") for entry in defaults},
            [(entry.get("PartName", ""), entry.get("ContentType", "")) for entry in overrides],
        )

    def type_of(self, part: str) -> str:
        """Return the type of a part; empty if the list does not say it."""
        if (override := self._types.get(_part_key(part))) is not None:
            return override[1]
        suffix = part.rpartition(".")[2].lower()
        return next((type_ for ending, type_ in self._suffixes.items() if ending.lower() == suffix), "")

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
            f"<Default Extension={_quoted(ending)} ContentType={_quoted(type_)}/>"
            for ending, type_ in self._suffixes.items()
        ]
        texts += [
            f"<Override PartName={_quoted(part)} ContentType={_quoted(type_)}/>" for part, type_ in self._types.values()
        ]
        return f'{DECLARED}<Types xmlns="{PACKAGE}/content-types">{"".join(texts)}</Types>'.encode()


_quoted = lru_cache(maxsize=1024)(quoteattr)  # workbooks have the same few types, and nearly the same names of parts
_PLAIN_IN_URIS = "/%!$&'()*+,;=:@~"  # characters that a URI need not escape


def _part_key(part: str) -> str:
    """Return one key for all spellings of a part's name: escaped or not, of any case, with a leading slash or not."""
    return unquote(part).lstrip("/").lower()
