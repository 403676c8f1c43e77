"""Metadata of a schema: the parameters, attributes and form of an array, which awkward0 does not have.

Metadata have what awkward 2 has and awkward0 has not: `{"sheetarray": {"layout": {"3": {"parameters": {"units": "mm"},
"size": 2}}, "attrs": {}, "ndarray": "<U5"}}`. `layout` says by the id of an expression what the array that it gives
was; `attrs` are those of the whole array; `ndarray` is the dtype of one that was no awkward array. What stands beside
the key `sheetarray` belongs to others. A file can claim anything here: what does not fit is a `FormatError`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import DTypeError, FormatError

KEY = "sheetarray"
TEXTUAL = ("__array__", "__list__", "__record__")  # parameters that are names

METADATA = f"metadata.{KEY}"  # where it stands in a schema
_PARTS = ("layout", "attrs", "ndarray")
_TRANSIENT = "@"  # what attrs begin with that awkward itself never stores
_LARGEST_SIZE = 2**62  # elements of a list


@dataclass(frozen=True, slots=True)
class Traits:
    """The traits of an array that its expression does not say."""

    parameters: Mapping[str, Any] = field(default_factory=dict)  # of its layout, besides what makes it a string
    inner: tuple[Mapping[str, Any], ...] = ()  # of what is in an n-d block, or of a string's characters
    size: int | None = None  # of each list, where all have the same by their type
    empty: Any = None  # the form of an array without elements, where awkward0 has none of that type
    is_tuple: bool = False  # records that have no names for their fields
    is_unmasked: bool = False  # of an option type, but no element may be missing

    def to_json(self) -> dict[str, Any]:
        """Return the entry of the metadata; empty where there is nothing to say."""
        inner = list(self.inner) if any(self.inner) else None
        flags = (self.is_tuple or None, self.is_unmasked or None)
        values = (self.parameters or None, inner, self.size, self.empty, *flags)
        return {key: value for key, value in zip(_ENTRY, values, strict=True) if value is not None}

    @classmethod
    def from_json(cls, entry: Any) -> Traits:
        """Return the traits that an entry of the metadata says."""
        if not isinstance(entry, dict):
            raise FormatError("an entry that is not an object")
        if unknown := [key for key in entry if key not in _ENTRY]:
            raise FormatError(f"an entry with the unknown key {unknown[0]!r:.80}")
        size, inner = entry.get("size"), entry.get("inner", [])
        if size is not None and (type(size) is not int or not 0 <= size <= _LARGEST_SIZE):
            raise FormatError(f"the size of lists cannot be {size!r:.40}")
        if not isinstance(inner, list):
            raise FormatError("inner must be a list")
        flags = [entry.get(key, False) for key in ("tuple", "unmasked")]
        if not all(isinstance(flag, bool) for flag in flags):
            raise FormatError("tuple and unmasked must be true or false")
        parameters = _parameters(entry.get("parameters", {}))
        return cls(parameters, tuple(map(_parameters, inner)), size, entry.get("empty"), *flags)


_ENTRY = ("parameters", "inner", "size", "empty", "tuple", "unmasked")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a schema."""

    traits: Mapping[int, Traits] = field(default_factory=dict)  # of arrays, by the ids of their expressions
    attrs: Mapping[str, Any] = field(default_factory=dict)  # of the whole array
    ndarray: str | None = None  # the dtype of an array of NumPy; None where it is an awkward one, or nothing is said
    rownames: Mapping[str, str] = field(default_factory=dict)  # of records by ids, in older files
    is_ours: bool = False  # whether there is anything of this package in them

    def to_json(self) -> dict[str, Any]:
        """Return the value of the schema's key `metadata`; empty where there is nothing to say."""
        layout = {str(ident): entry for ident, traits in self.traits.items() if (entry := traits.to_json())}
        parts = {"layout": layout, "attrs": self.attrs, "ndarray": self.ndarray}
        ours = {name: part for name, part in parts.items() if part}
        return {KEY: ours} if ours else {}

    @classmethod
    def from_json(cls, metadata: Any) -> Metadata:
        """Return the metadata of a schema, which may hold anything."""
        if not isinstance(metadata, dict):
            return cls()
        rownames = metadata.get("rowname")
        named = {key: name for key, name in rownames.items() if isinstance(name, str)} if type(rownames) is dict else {}
        if KEY not in metadata:
            return cls(rownames=named)
        ours = metadata[KEY]
        if not isinstance(ours, dict) or any(key not in _PARTS for key in ours):
            raise FormatError(f"expected a JSON object with the keys {', '.join(_PARTS)}", location=METADATA)
        layout, attrs, ndarray = ours.get("layout", {}), ours.get("attrs", {}), ours.get("ndarray")
        if not isinstance(layout, dict) or not isinstance(attrs, dict) or not isinstance(ndarray, str | None):
            raise FormatError("layout and attrs must be objects, and ndarray must be text", location=METADATA)
        traits = {}
        for key, entry in layout.items():
            try:
                traits[_ident(key)] = Traits.from_json(entry)
            except FormatError as error:
                error.location = f"{METADATA}.layout[{key!r:.40}]"
                raise
        lasting = {name: value for name, value in attrs.items() if not name.startswith(_TRANSIENT)}
        return cls(traits, lasting, ndarray, named, is_ours=True)


def _ident(key: str) -> int:
    if not (key.isascii() and key.isdigit() and len(key) < 10 and str(int(key)) == key):
        raise FormatError("an entry without an id; an id is a number from 0 on")
    return int(key)


def _parameters(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FormatError("parameters that are not an object")
    for name in TEXTUAL:
        if not isinstance(value.get(name, ""), str):
            raise FormatError(f"the parameter {name} is not text")
    return value


def check_form(tree: Any) -> None:
    """Refuse a form with parameters that no array should have."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            _parameters(part.get("parameters") or {})
            waiting += [value for key, value in part.items() if key != "parameters"]


def attrs_of(array: Any) -> dict[str, Any]:
    """Return the attrs of an array that are stored; those whose names begin with `@` never are."""
    attrs = getattr(array, "attrs", None) if type(array).__module__.partition(".")[0] == "awkward" else None
    lasting = {name: value for name, value in (attrs or {}).items() if not name.startswith(_TRANSIENT)}
    for name, value in lasting.items():
        check_plain_json({name: value}, "the attribute")
    return lasting


def check_plain_json(value: Any, what: str) -> Any:
    """Return the same value, where JSON gives it back as it is."""
    try:
        shown = f"{value!r:.80}"
        same = repr(json.loads(json.dumps(value, allow_nan=False))) == repr(value)  # equal, in all its types
    except (TypeError, ValueError, RecursionError):
        same, shown = False, f"{', '.join(value)}" if isinstance(value, dict) else type(value).__name__
    if not same:
        raise DTypeError(
            f"{what} {shown}, which JSON does not hold exactly: make it of dicts with text for keys, lists, "
            f"text, finite numbers, booleans and None, or remove it"
        )
    return value
