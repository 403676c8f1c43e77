"""The properties of arrays that awkward 2 has and awkward0 has not: kept in metadata, which awkward0 passes over.

`{"metadata": {"sheetarray": {"layout": {"3": {"parameters": {"units": "mm"}, "size": 2}}, "attrs": {}, "ndarray":
"<U5"}}}`: `layout` says by the id of an expression what the array that it gives was; `attrs` are those of the whole
array; `ndarray` is the dtype of one that was no awkward array. All of it may be left out. What stands beside the key
`sheetarray` belongs to others. A file can claim anything here: what does not fit is a `FormatError`.
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
    """The traits of an array that its expression does not say.

    Attributes:
        parameters: of its layout, besides what makes it a string.
        inner: parameters of the fixed-size lists or numbers in an n-d block, or of a string's characters.
        size: of each list, where all have the same by their type.
        empty: the form of an array without elements, where awkward0 has none of that type.
        is_tuple: whether it is of records that have no names for their fields.
        is_unmasked: whether it is of an option type, but no element may be missing.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    inner: tuple[Mapping[str, Any], ...] = ()
    size: int | None = None
    empty: Any = None
    is_tuple: bool = False
    is_unmasked: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the entry of the metadata; empty where there is nothing to say."""
        entry: dict[str, Any] = {"parameters": self.parameters} if self.parameters else {}
        if any(self.inner):
            entry["inner"] = list(self.inner)
        if self.size is not None:
            entry["size"] = self.size
        if self.empty is not None:
            entry["empty"] = self.empty
        return entry | {key: True for key, holds in (("tuple", self.is_tuple), ("unmasked", self.is_unmasked)) if holds}

    @classmethod
    def from_json(cls, entry: Any) -> Traits:
        """Return the traits that an entry of the metadata says.

        Raises:
            FormatError: it is none.
        """
        if not isinstance(entry, dict):
            raise FormatError("an entry that is no object")
        if unknown := [key for key in entry if key not in _ENTRY]:
            raise FormatError(f"an entry with {unknown[0]!r:.80}, which is not known")
        size, inner = entry.get("size"), entry.get("inner", [])
        if size is not None and (type(size) is not int or not 0 <= size <= _LARGEST_SIZE):
            raise FormatError(f"lists of the size {size!r:.40}")
        if not isinstance(inner, list):
            raise FormatError("inner is no list")
        flags = [entry.get(key, False) for key in ("tuple", "unmasked")]
        if not all(isinstance(flag, bool) for flag in flags):
            raise FormatError("tuple and unmasked are true or false")
        parameters = _parameters(entry.get("parameters", {}))
        return cls(parameters, tuple(map(_parameters, inner)), size, entry.get("empty"), *flags)


_ENTRY = ("parameters", "inner", "size", "empty", "tuple", "unmasked")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a schema.

    Attributes:
        traits: of arrays, by the ids of their expressions.
        attrs: of the whole array.
        ndarray: the dtype of an array of NumPy; None where it is an awkward one, or nothing is said.
        rownames: what records are called, by the ids of their expressions, as older files have it; "tuple" where they
            have no field names.
        is_ours: whether there is anything of this package in them.
    """

    traits: Mapping[int, Traits] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    ndarray: str | None = None
    rownames: Mapping[str, str] = field(default_factory=dict)
    is_ours: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the value of the schema's key `metadata`; empty where there is nothing to say."""
        layout = {str(ident): entry for ident, traits in self.traits.items() if (entry := traits.to_json())}
        parts = {"layout": layout, "attrs": self.attrs, "ndarray": self.ndarray}
        ours = {name: part for name, part in parts.items() if part}
        return {KEY: ours} if ours else {}

    @classmethod
    def from_json(cls, metadata: Any) -> Metadata:
        """Return the metadata of a schema, which may hold anything.

        Raises:
            FormatError: the entry under this package's key is malformed; `.location` is the path to it.
        """
        if not isinstance(metadata, dict):
            return cls()
        rownames = metadata.get("rowname")
        rownames = rownames if isinstance(rownames, dict) else {}
        named = {key: name for key, name in rownames.items() if isinstance(name, str)}
        if KEY not in metadata:
            return cls(rownames=named)
        ours = metadata[KEY]
        if not isinstance(ours, dict) or any(key not in _PARTS for key in ours):
            raise FormatError(f"no object of {', '.join(_PARTS)}", location=METADATA)
        layout, attrs, ndarray = ours.get("layout", {}), ours.get("attrs", {}), ours.get("ndarray")
        if not isinstance(layout, dict) or not isinstance(attrs, dict) or not isinstance(ndarray, str | None):
            raise FormatError("layout and attrs are objects, ndarray is text", location=METADATA)
        traits = {}
        for key, entry in layout.items():
            try:
                traits[_ident(key)] = Traits.from_json(entry)
            except FormatError as error:
                error.location = f"{METADATA}.layout[{key!r:.40}]"
                raise
        kept = {name: value for name, value in attrs.items() if not name.startswith(_TRANSIENT)}
        return cls(traits, kept, ndarray, named, is_ours=True)


def _ident(key: str) -> int:
    if not (key.isascii() and key.isdigit() and len(key) < 10 and str(int(key)) == key):
        raise FormatError("an entry for no id; an id is a number from 0 on")
    return int(key)


def _parameters(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FormatError("parameters that are no object")
    for name in TEXTUAL:
        if not isinstance(value.get(name, ""), str):
            raise FormatError(f"the parameter {name} is no text")
    return value


def check_form(tree: Any) -> None:
    """Refuse a form with parameters that no array should have.

    Raises:
        FormatError: it has some.
    """
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            _parameters(part.get("parameters") or {})
            waiting += [value for key, value in part.items() if key != "parameters"]


def attrs_of(array: Any) -> dict[str, Any]:
    """Return the attrs of an array that are stored; those whose names begin with `@` never are.

    Raises:
        DTypeError: one that JSON does not hold.
    """
    attrs = getattr(array, "attrs", None) if type(array).__module__.partition(".")[0] == "awkward" else None
    kept = {name: value for name, value in (attrs or {}).items() if not name.startswith(_TRANSIENT)}
    for name, value in kept.items():
        check_json({name: value}, "the attribute")
    return kept


def check_json(value: Any, what: str) -> Any:
    """Return the same value, where JSON gives it back as it is.

    Args:
        value: parameters or attrs.
        what: it is, for messages.

    Raises:
        DTypeError: it is changed on the way, or cannot go.
    """
    try:
        same = _is_same_json(json.loads(json.dumps(value, allow_nan=False)), value)
        shown = f"{value!r:.80}"
    except (TypeError, ValueError, RecursionError):
        same, shown = False, f"{', '.join(value)}" if isinstance(value, dict) else type(value).__name__
    if not same:
        raise DTypeError(
            f"{what} {shown}, which JSON does not hold exactly: make it of dicts with text for keys, lists, "
            f"text, finite numbers, booleans and None, or remove it"
        )
    return value


def _is_same_json(kept: Any, value: Any) -> bool:
    """Return whether a value came back equal, in all its types."""
    if type(kept) is not type(value):
        return False
    if isinstance(value, dict):
        return kept.keys() == value.keys() and all(_is_same_json(kept[key], item) for key, item in value.items())
    if isinstance(value, list):
        return len(kept) == len(value) and all(map(_is_same_json, kept, value))
    return bool(kept == value)
