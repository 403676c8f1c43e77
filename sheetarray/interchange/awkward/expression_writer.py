"""`ExpressionWriter`: the expression of an array, and the blobs that it reads.

Each method of `ExpressionWriter` is a row of the mapping: a layout of awkward 2, and the class of awkward0 for
it. What has no counterpart there becomes the nearest: fixed-size lists of anything but numbers become lists of
any size, a mask of all False stands for no mask, a union of no elements is of its first type, categories become
an index over their values. What it was is noted by its id, as its traits, like all parameters of layouts; those
go into the metadata. Source: the awkward0 persistence protocol, as awkward0 0.15.5 writes it (awkward-0.x,
docs/serialization.adoc).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import DTypeError, FormatError, LimitError
from .blobs import check_member_name
from .compression import Rule, Specification
from .layouts import check_dtype, to_block
from .metadata import Traits
from .package import AwkwardLayout
from .packed_sizes import check_packed
from .traits import traits_of
from .utf8_texts import CHARACTERS, TEXTS, check_utf8, decode_utf8, is_cell_text

JsonExpression = dict[str, Any]
Path = tuple[str, ...]  # of the fields and parameters that lead to a part

MOST_DEEP = 50  # layouts within each other; a reader has a limit too
_LONGEST_KEY = 200  # characters


@dataclass(frozen=True, slots=True)
class NewBlob:
    """One array that is to be written, and the name that it is read by."""

    key: str  # what the schema reads, without the prefix
    array: Array  # C-contiguous and little-endian
    rule: Rule | None = None  # compresses it

    def content(self) -> memoryview | bytes:
        """Return its bytes, as they are stored."""
        plain = self.array.reshape(-1).view(np.uint8).data if self.array.size else memoryview(b"")
        if self.rule is None:
            return plain
        content = self.rule.compress(plain)
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise TypeError(f"{self.rule.compress!r} gave {type(content).__name__}, not bytes")
        return bytes(content)


@dataclass(frozen=True, slots=True)
class At:
    """The position of an expression in the array that it belongs to."""

    ident: int
    context: str  # which parameter of which class it is, for the rules of compression; "" at the top
    path: Path
    depth: int  # of the layouts around it

    def problem(self, reason: object) -> DTypeError:
        """Return the error that something cannot be held here."""
        return DTypeError(f"{'.'.join(self.path)}: {reason}" if self.path else str(reason))


class ExpressionWriter:
    """Turns layouts into expressions; collects their blobs, their traits by id, and the functions that are called.

    Blobs are named by their ids and a suffix. With `longest` they go into a container that keeps dtype and shape: they
    are read as they are, and named by the fields and parameters that lead to them. Strings are arrays of text there,
    unless one has more than so many units of UTF-16.
    """

    def __init__(self, rules: Sequence[Rule], delimiter: str, suffix: str, longest: int | None) -> None:
        self.blobs: list[NewBlob] = []
        self.traits: dict[int, Traits] = {}
        self.called: set[Specification] = set()
        self._rules, self._delimiter, self._suffix, self._longest = rules, delimiter, suffix, longest
        self._keys: set[str] = set()
        self._next = 0
        self._seen: dict[Any, int] = {}
        self._kept: list[Any] = []  # what is known by its place in memory has to stay there
        self._encoders: dict[str, Callable[[Any, At], JsonExpression]] = {
            "BitMaskedArray": self._write_bit_masked,
            "ByteMaskedArray": self._write_byte_masked,
            "EmptyArray": self._write_empty,
            "IndexedArray": self._write_indexed,
            "IndexedOptionArray": self._write_indexed_option,
            "ListArray": self._write_list,
            "ListOffsetArray": self._write_list_offset,
            "NumpyArray": self._write_numpy,
            "RecordArray": self._write_record,
            "RegularArray": self._write_regular,
            "UnionArray": self._write_union,
            "UnmaskedArray": self._write_unmasked,
        }

    def expression(self, layout: AwkwardLayout, context: str = "", path: Path = (), depth: int = 0) -> JsonExpression:
        """Return the expression that gives a layout; a reference, where it was given before."""
        if (number_seen := self._seen.get(id(layout))) is not None:
            return {"ref": number_seen}
        if depth > MOST_DEEP:
            raise LimitError(f"lists, options and records are nested more than {MOST_DEEP} deep")
        at = At(self._ident(id(layout), layout), context, path, depth)
        try:
            self.traits[at.ident] = traits_of(layout)
        except DTypeError as error:
            raise at.problem(error) from error
        return {**self._encode(layout, at), "id": at.ident}

    def _encode(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        kind, text = type(layout).__name__, layout.parameter("__array__")
        if text in CHARACTERS.values():
            raise at.problem("characters outside of strings: write them as numbers")
        if kind not in self._encoders:
            raise at.problem(f"a layout of the class {kind} has no counterpart")
        encode = self._write_text if text in TEXTS else self._encoders[kind]
        return encode(layout, at)

    # Parts of expressions ----------------------------------------------------------------------------------------

    def _ident(self, key: Any = None, kept: Any = None) -> int:
        """Return a new id, of what has the key from now on."""
        ident, self._next = self._next, self._next + 1
        if key is not None:
            self._seen[key] = ident
            self._kept.append(kept)
        return ident

    def _call(self, specification: Specification, args: list[JsonExpression]) -> JsonExpression:
        self.called.add(specification)
        return {"call": list(specification), "args": args}

    def _construct(self, name: str, at: At, *flags: Any, **parameters: Any) -> JsonExpression:
        """Return a call of a class of awkward0, with layouts, buffers and values as its parameters, and then flags."""
        kind, *method = name.split(".")
        args: list[JsonExpression] = []
        for parameter, value in parameters.items():
            if isinstance(value, np.ndarray):
                args.append(self._blob(value, f"{kind}.{parameter}", at))
            elif hasattr(value, "form"):
                args.append(self._member(value, f"{kind}.{parameter}", at, parameter))
            else:
                args.append({"json": value, "id": self._ident()})
        return self._call(("awkward0", kind, *method), [*args, *({"json": flag} for flag in flags)])

    def _member(self, layout: AwkwardLayout, context: str, at: At, *steps: str) -> JsonExpression:
        return self.expression(layout, context, (*at.path, *steps), at.depth + 1)

    def _blob(self, array: Array, context: str, at: At) -> JsonExpression:
        """Return the expression for an array that is a parameter of a class, or a reference to it."""
        place = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
        if (number_seen := self._seen.get(place)) is not None:
            return {"ref": number_seen}
        here = At(self._ident(place, array), context, (*at.path, context.rpartition(".")[2]), at.depth)
        return {**self._numbers(array, here), "id": here.ident}

    def _numbers(self, array: Array, at: At) -> JsonExpression:
        """Collect a blob; what reads it, without its id."""
        try:
            check_dtype(array.dtype)
        except DTypeError as error:
            raise at.problem(error) from error
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        rule = next((rule for rule in self._rules if rule.matches(plain, at.context)), None)
        read = self._collect(plain, rule, at)
        if self._longest is not None:
            return read
        if rule is not None:
            read = self._call(rule.decompress, [read])
        dtype: Any = str(plain.dtype)
        if plain.ndim > 1:
            dtype = [dtype, list(plain.shape[1:])]
        count = {"json": len(plain), "id": self._ident()}
        return self._call(("awkward0", "numpy", "frombuffer"), [read, {"dtype": dtype}, count])

    def _collect(self, array: Array, rule: Rule | None, at: At) -> JsonExpression:
        key = f"{at.ident}{self._suffix}"
        if self._longest is not None:
            key = self._delimiter.join(at.path) or "content"
            if len(key) > _LONGEST_KEY or not _is_shown(key) or key.casefold() in self._keys:
                key = str(at.ident)
            while key.casefold() in self._keys:
                key += f"{self._delimiter}{at.ident}"
            self._keys.add(key.casefold())
        self.blobs.append(NewBlob(key, array, rule))
        return {"read": key}

    # Rows of the mapping -------------------------------------------------------------------------------------------

    def _write_empty(self, _layout: AwkwardLayout, at: At) -> JsonExpression:
        return self._numbers(np.zeros(0), at)

    def _write_numpy(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        if 0 in layout.data.shape[1:]:
            return self._write_regular(layout.to_RegularArray(), at)
        return self._numbers(layout.data, at)

    def _write_regular(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        if (numbers := to_block(layout)) is not None:
            return self._numbers(numbers, at)
        counts = np.full(len(layout), layout.size, np.int64)
        return self._write_counts(counts, layout.content[: len(layout) * layout.size], at)

    def _write_list_offset(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        offsets = layout.offsets.data
        counts = np.diff(offsets.astype(np.int64, copy=False))
        return self._write_counts(counts, _cut(layout.content, int(offsets[0]), int(offsets[-1])), at)

    def _write_counts(self, counts: Array, content: AwkwardLayout, at: At) -> JsonExpression:
        if not len(counts):
            return self._construct("JaggedArray", at, starts=counts, stops=counts, content=content)
        return self._construct("JaggedArray.fromcounts", at, counts=counts, content=content)

    def _write_list(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        starts = layout.starts.data.astype(np.int64)
        stops = layout.stops.data[: len(starts)].astype(np.int64)
        empty = starts == stops
        low = 0 if empty.all() else int(starts[~empty].min())
        high = 0 if empty.all() else int(stops[~empty].max())
        starts, stops = (np.where(empty, 0, ends - low) for ends in (starts, stops))
        content = _cut(layout.content, low, high)
        return self._construct("JaggedArray", at, starts=starts, stops=stops, content=content)

    def _write_text(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        check_packed(layout)
        packed = layout.to_ListOffsetArray64(True)
        offsets = packed.offsets.data
        characters = packed.content.data[: offsets[-1]]
        encoding = TEXTS[layout.parameter("__array__")]
        if encoding is not None:
            try:
                check_utf8(offsets, characters)
            except DTypeError as error:
                raise at.problem(error) from error
            if self._longest is not None and is_cell_text(offsets, characters, self._longest):
                here = At(self._ident(), at.context, at.path, at.depth)
                read = {**self._collect(decode_utf8(offsets, characters), None, here), "id": here.ident}
                return self._call(("awkward0", "StringArray", "fromnumpy"), [read])
        counts = np.diff(offsets)
        return self._construct("StringArray.fromcounts", at, counts=counts, content=characters, encoding=encoding)

    def _write_record(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        if not layout.fields and len(layout):
            raise at.problem("records without any field")
        base = At(at.ident, at.context, at.path[:-1] if at.path[-1:] == ("content",) else at.path, at.depth)
        pairs = [
            [name, self._member(_cut(content, 0, len(layout)), "Table.contents", base, name)]
            for name, content in zip(layout.fields, layout.contents, strict=True)
        ]
        return self._call(("awkward0", "Table", "frompairs"), [{"pairs": pairs}, {"json": 0}])

    def _write_indexed(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        index, content = layout.index.data.astype(np.int64, copy=False), layout.content
        if content.is_record:  # what awkward0 makes of a selection; it cannot take an empty part of an index over one
            table = self._member(content, "Table.base", at, "content")
            return self._call(("awkward0", "Table", "fromview"), [self._blob(index, "Table.view", at), table])
        return self._construct("IndexedArray", at, index=index, content=content)

    def _write_indexed_option(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        index = layout.index.data.astype(np.int64, copy=False)
        if index.min(initial=0) < -1:
            index = np.maximum(index, -1)
        return self._construct("IndexedMaskedArray", at, -1, mask=index, content=layout.content)

    def _write_byte_masked(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        mask, content = layout.mask.data != 0, _cut(layout.content, 0, len(layout))
        return self._construct("MaskedArray", at, not layout.valid_when, mask=mask, content=content)

    def _write_bit_masked(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        mask, content = layout.mask.data[: -(-len(layout) // 8)], _cut(layout.content, 0, len(layout))
        flags = (not layout.valid_when, bool(layout.lsb_order))
        return self._construct("BitMaskedArray", at, *flags, mask=mask, content=content)

    def _write_unmasked(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        mask = np.zeros(len(layout), np.bool_)
        return self._construct("MaskedArray", at, True, mask=mask, content=layout.content)

    def _write_union(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        tags = layout.tags.data
        if not len(tags):  # awkward0 has no union without elements
            return self._encode(_cut(layout.contents[0], 0, 0), at)
        index = layout.index.data[: len(tags)].astype(np.int64, copy=False)
        union = self._construct("UnionArray", at, tags=tags, index=index)
        members = [
            self._member(content, "UnionArray.contents", at, str(number))
            for number, content in enumerate(layout.contents)
        ]
        union["args"].append({"list": members})
        return union


def _cut(layout: AwkwardLayout, start: int, stop: int) -> AwkwardLayout:
    """Return some of a layout; the layout itself, where that is all of it."""
    return layout if start == 0 and stop == len(layout) else layout[start:stop]


def _is_shown(key: str) -> bool:
    """Return whether a key may be part of a name that people see and readers take."""
    with contextlib.suppress(FormatError):
        check_member_name(key)
        return key.isprintable()
    return False
