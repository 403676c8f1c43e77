"""Reads and changes the references from parts of a package to others (relationships), and the types of the parts.

Source: ECMA-376 part 2 (relationships, content types), part 1 and 4 (their types, in transitional and in strict OOXML).
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import count
from urllib.parse import quote, unquote

from ....errors import FormatError
from .markup import Element, Markup, quote_attribute
from .parts import Package

TYPES = "[Content_Types].xml"
STRICT = "http://purl.oclc.org/ooxml/"
# With these the types of relationships begin: in transitional OOXML, in strict OOXML, and in any package
_KINDS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/",
    STRICT + "officeDocument/relationships/",
    "http://schemas.openxmlformats.org/package/2006/relationships/",
)
_STRICT_KINDS = {"customProperties": "custom-properties", "extendedProperties": "extended-properties"}
RELATION_SPACES = frozenset(space.rstrip("/") for space in _KINDS[:2])
_MOST_BYTES = 2**24  # of a part that is read here
_MOST_BYTES_IN_ALL = 2**26  # of all relationships of a package


@dataclass(frozen=True, slots=True)
class Relation:
    """A reference from one part to another.

    Attributes:
        id: the text by which the XML of the referring part names it.
        kind: the last word of its type, as transitional OOXML has it (`worksheet`); of a type that OOXML does not
            define, the whole of it.
        target: the name of the part; None for something outside of the package.
        element: the element of XML that holds it.
    """

    id: str
    kind: str
    target: str | None
    element: Element


class Relations:
    """The references from one part to others.

    Args:
        package: that has the part.
        part: the name of the referring part; empty for the package itself.

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
        self._markup: Markup | None = None
        if self.name in package:
            self.name = package.member(self.name).name
            self._markup = Markup(package.read(self.name, limit=_MOST_BYTES), location=self.name, depth=2)
            self.entries = [
                _relation(package, self._folder, at) for at in self._markup.root.children_named("Relationship")
            ]
        self._ids = {relation.id for relation in self.entries}

    def target(self, kind: str) -> str | None:
        """Return the name of the first part that is referred to as of a kind; None if no part is."""
        return next(
            (relation.target for relation in self.entries if relation.kind == kind and relation.target is not None),
            None,
        )

    def present_target(self, kind: str) -> str | None:
        """Return the same as `target`, but None also if the package lacks that part."""
        part = self.target(kind)
        return part if part is not None and part in self._package else None

    def add(self, kind: str, part: str, *, strict: bool) -> str:
        """Add a reference to a part, and return its id.

        Raises:
            FormatError: the package lacks the part that holds the relationships.
        """
        markup = self.markup()
        id_ = next(f"rId{index}" for index in count(1) if f"rId{index}" not in self._ids)
        self._ids.add(id_)
        target = _uri(posixpath.relpath(part, self._folder) if self._folder else part)
        markup.append(
            markup.root,
            f'<{markup.root.prefix}Relationship Id="{id_}" Type="{relation_type(kind, strict)}" '
            f"Target={quote_attribute(target)}/>",
        )
        return id_

    def drop(self, part: str) -> None:
        """Remove the references to a part."""
        for relation in self.entries:
            if relation.target == part:
                self.markup().remove(relation.element)

    def markup(self) -> Markup:
        """Return the part that holds the relationships.

        Raises:
            FormatError: the package lacks it.
        """
        if self._markup is None:
            raise FormatError(f"the package has no part {self.name!r:.80}")
        return self._markup


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


def _relation(package: Package, folder: str, entry: Element) -> Relation:
    kind = entry.get("Type")
    for space in _KINDS:
        if kind.startswith(space):
            kind = kind[len(space) :]
            kind = _STRICT_KINDS.get(kind, kind)
            break
    target = None if entry.get("TargetMode") == "External" else _resolve(package, folder, entry.get("Target"))
    return Relation(entry.get("Id"), kind, target, entry)


def _resolve(package: Package, folder: str, target: str) -> str:
    """Return the name of a target, as the package spells it if it has such a part."""
    path = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
    for name in (path, unquote(path)):
        if name in package:
            return package.member(name).name
    return path


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
            raise FormatError(f"the package has no part {TYPES!r}: it is no workbook")
        self.markup = Markup(package.read(TYPES, limit=_MOST_BYTES), location=TYPES, depth=2)
        self._overrides = {_part_key(at.get("PartName")): at for at in self.markup.root.children_named("Override")}
        self._defaults = {at.get("Extension").lower(): at for at in self.markup.root.children_named("Default")}

    def type_of(self, part: str) -> str:
        """Return the type of a part; empty if the list does not say it."""
        content_type = self._overrides.get(_part_key(part)) or self._defaults.get(part.rpartition(".")[2].lower())
        return content_type.get("ContentType") if content_type is not None else ""

    def parts(self, type_: str) -> list[str]:
        """Return the parts of a type, without those whose type follows from their suffix alone."""
        return [part for part, at in self._overrides.items() if at.get("ContentType") == type_]

    def __contains__(self, part: str) -> bool:
        return _part_key(part) in self._overrides

    def add(self, part: str, type_: str) -> None:
        """Add a part to the list."""
        prefix = self.markup.root.prefix
        text = f'<{prefix}Override PartName={quote_attribute("/" + _uri(part))} ContentType="{type_}"/>'
        self.markup.append(self.markup.root, text)

    def drop(self, part: str) -> None:
        """Remove a part from the list, if it is listed."""
        if (at := self._overrides.pop(_part_key(part), None)) is not None:
            self.markup.remove(at)


def _part_key(part: str) -> str:
    """Return one key for all spellings of a part's name: escaped or not, of any case, with a leading slash or not."""
    return unquote(part).lstrip("/").lower()


def _uri(part: str) -> str:
    """Return a part's name as a relationship holds it, with the characters escaped that no URI has."""
    return quote(part, safe="/%!$&'()*+,;=:@~")
