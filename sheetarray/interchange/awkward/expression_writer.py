"""Layouts of awkward arrays -> expressions of the protocol, and the blobs that those read.

Each method of `ExpressionWriter` is a row of the mapping: a layout of awkward 2, and the class of awkward0 for it.
What has no counterpart there becomes the nearest: fixed-size lists of anything but numbers become lists of any size, a
mask of all False stands for no mask, a union of no elements is of its first type, categories become an index over their
values. What it was is noted by its id, as its traits, like all parameters of layouts; those go into the metadata.
Source: the awkward0 persistence protocol, as awkward0 0.15.5 writes it (awkward-0.x, docs/serialization.adoc).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import DTypeError, LimitError
from .compression import Rule, Specification, find_rule
from .layouts import CHARACTERS, TEXTS, check_dtype, check_utf8, slice_layout, to_block
from .metadata import Traits
from .naming import At, Naming, Path
from .new_blob import NewBlob
from .packages import AwkwardLayout
from .sizes import check_packed
from .texts import decode_utf8, is_cell_text
from .traits import traits_of

JsonExpression = dict[str, Any]

MOST_DEEP = 50  # layouts within each other; a reader has a limit too


class ExpressionWriter:
    """Turns layouts into expressions, and collects their blobs.

    Args:
        naming: gives blobs their keys.
        rules: of compression.
        typed: the container keeps dtype and shape: a blob is read as it is.
        longest: characters of a string that the container takes as one element of an array of text; longer ones, and
            what else is no text for it, are bytes. None where it takes no text.

    Attributes:
        blobs: those collected, in the order of their ids.
        traits: by id, what an array has that awkward0 does not.
        called: the functions that the expressions call.
    """

    def __init__(
        self, naming: Naming, rules: Sequence[Rule] = (), *, typed: bool = False, longest: int | None = None
    ) -> None:
        self.blobs: list[NewBlob] = []
        self.traits: dict[int, Traits] = {}
        self.called: set[Specification] = set()
        self._naming, self._rules, self._typed, self._longest = naming, rules, typed, longest
        self._next = 0
        self._seen: dict[Any, int] = {}
        self._kept: list[Any] = []  # what is known by its place in memory has to stay there
        self._encoders: dict[str, Callable[[Any, At], JsonExpression]] = {
            "BitMaskedArray": self._bit_masked,
            "ByteMaskedArray": self._byte_masked,
            "EmptyArray": self._empty,
            "IndexedArray": self._write_indexed,
            "IndexedOptionArray": self._indexed_option,
            "ListArray": self._list,
            "ListOffsetArray": self._list_offset,
            "NumpyArray": self._numpy,
            "RecordArray": self._record,
            "RegularArray": self._regular,
            "UnionArray": self._union,
            "UnmaskedArray": self._write_unmasked,
        }

    def expression(self, layout: AwkwardLayout, context: str = "", path: Path = (), depth: int = 0) -> JsonExpression:
        """Return the expression that gives a layout; a reference, where it was given before.

        Args:
            layout: what to encode.
            context: which parameter of which class it is.
            path: of the fields and parameters that lead to it.
            depth: of the layouts around it.

        Raises:
            DTypeError: it cannot be held; names where it is.
            LimitError: too many layouts within each other.
        """
        if (known := self._seen.get(id(layout))) is not None:
            return {"ref": known}
        if depth > MOST_DEEP:
            raise LimitError(f"more than {MOST_DEEP} lists, options and records within each other")
        at = At(self._ident(id(layout), layout), context, path, depth)
        try:
            self.traits[at.ident] = traits_of(layout)
        except DTypeError as error:
            raise at.problem(error) from error
        return {**self._encode(layout, at), "id": at.ident}

    def _encode(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        kind, text = type(layout).__name__, layout.parameter("__array__")
        if text in CHARACTERS:
            raise at.problem("characters that are in no string: write them as numbers")
        if kind not in self._encoders:
            raise at.problem(f"a layout of the class {kind} has no counterpart")
        encode = self._text if text in TEXTS else self._encoders[kind]
        return encode(layout, at)

    # Blobs ---------------------------------------------------------------------------------------------------

    def _ident(self, key: Any = None, kept: Any = None) -> int:
        """Return a new id, of what has the key from now on."""
        ident, self._next = self._next, self._next + 1
        if key is not None:
            self._seen[key] = ident
            self._kept.append(kept)
        return ident

    def _json(self, value: Any) -> JsonExpression:
        return {"json": value, "id": self._ident()}

    def _blob(self, array: Array, name: str, at: At) -> JsonExpression:
        """Return the expression for an array that is a parameter of a class (`JaggedArray.counts`), or a reference to
        it.
        """
        place = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
        if (known := self._seen.get(place)) is not None:
            return {"ref": known}
        here = At(self._ident(place, array), name, (*at.path, name.rpartition(".")[2]), at.depth)
        return {**self._numbers(array, here), "id": here.ident}

    def _numbers(self, array: Array, at: At) -> JsonExpression:
        """Collect a blob; what reads it, without its id."""
        try:
            check_dtype(array.dtype)
        except DTypeError as error:
            raise at.problem(error) from error
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        key = self._naming(at.path, at.ident)
        rule = find_rule(self._rules, plain, at.context)
        self.blobs.append(NewBlob(key, plain, rule))
        read: JsonExpression = {"read": key}
        if self._typed:
            return read
        if rule is not None:
            read = self._call(rule.decompress, [read])
        dtype: Any = str(plain.dtype)
        if plain.ndim > 1:
            dtype = [dtype, list(plain.shape[1:])]
        return self._call_ours("numpy", "frombuffer", args=[read, {"dtype": dtype}, self._json(len(plain))])

    def _call(self, specification: Specification, args: list[JsonExpression]) -> JsonExpression:
        self.called.add(specification)
        return {"call": list(specification), "args": args}

    def _call_ours(self, *names: str, args: list[JsonExpression]) -> JsonExpression:
        return self._call(("awkward0", *names), args)

    def _member(self, content: AwkwardLayout, name: str, at: At, *, path: Path | None = None) -> JsonExpression:
        """Return the expression for a layout that is a parameter of a class."""
        here = (*at.path, name.rpartition(".")[2]) if path is None else path
        return self.expression(content, name, here, at.depth + 1)

    # Rows of the mapping -------------------------------------------------------------------------------------

    def _empty(self, _layout: AwkwardLayout, at: At) -> JsonExpression:
        return self._numbers(np.zeros(0), at)

    def _numpy(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        if 0 in layout.data.shape[1:]:
            return self._regular(layout.to_RegularArray(), at)
        return self._numbers(layout.data, at)

    def _regular(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        if (numbers := to_block(layout)) is not None:
            return self._numbers(numbers, at)
        counts = np.full(len(layout), layout.size, np.int64)
        return self._write_counts(counts, layout.content[: len(layout) * layout.size], at)

    def _list_offset(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        offsets = layout.offsets.data
        counts = np.diff(offsets.astype(np.int64, copy=False))
        return self._write_counts(counts, slice_layout(layout.content, int(offsets[0]), int(offsets[-1])), at)

    def _write_counts(self, counts: Array, content: AwkwardLayout, at: At) -> JsonExpression:
        if not len(counts):
            return self._write_bounds(counts, counts, content, at)
        args = [
            self._blob(counts, "JaggedArray.counts", at),
            self._member(content, "JaggedArray.content", at),
        ]
        return self._call_ours("JaggedArray", "fromcounts", args=args)

    def _list(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        starts = layout.starts.data.astype(np.int64)
        stops = layout.stops.data[: len(starts)].astype(np.int64)
        empty = starts == stops
        low = 0 if empty.all() else int(starts[~empty].min())
        high = 0 if empty.all() else int(stops[~empty].max())
        starts, stops = (np.where(empty, 0, ends - low) for ends in (starts, stops))
        return self._write_bounds(starts, stops, slice_layout(layout.content, low, high), at)

    def _write_bounds(self, starts: Array, stops: Array, content: AwkwardLayout, at: At) -> JsonExpression:
        args = [
            self._blob(starts, "JaggedArray.starts", at),
            self._blob(stops, "JaggedArray.stops", at),
            self._member(content, "JaggedArray.content", at),
        ]
        return self._call_ours("JaggedArray", args=args)

    def _text(self, layout: AwkwardLayout, at: At) -> JsonExpression:
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
                ident = self._ident()
                key = self._naming(at.path, ident)
                self.blobs.append(NewBlob(key, decode_utf8(offsets, characters), None))
                return self._call_ours("StringArray", "fromnumpy", args=[{"read": key, "id": ident}])
        args = [
            self._blob(np.diff(offsets), "StringArray.counts", at),
            self._blob(characters, "StringArray.content", at),
            self._json(encoding),
        ]
        return self._call_ours("StringArray", "fromcounts", args=args)

    def _record(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        names = layout.fields
        if not names and len(layout):
            raise at.problem("records without any field")
        base = at.path[:-1] if at.path[-1:] == ("content",) else at.path
        pairs = [
            [name, self._member(slice_layout(content, 0, len(layout)), "Table.contents", at, path=(*base, name))]
            for name, content in zip(names, layout.contents, strict=True)
        ]
        return self._call_ours("Table", "frompairs", args=[{"pairs": pairs}, {"json": 0}])

    def _write_indexed(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        index, content = layout.index.data.astype(np.int64, copy=False), layout.content
        if content.is_record:  # what awkward0 makes of a selection; it cannot take an empty part of an index over one
            table = self._member(content, "Table.base", at, path=(*at.path, "content"))
            return self._call_ours("Table", "fromview", args=[self._blob(index, "Table.view", at), table])
        return self._over("IndexedArray", "index", index, content, at)

    def _indexed_option(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        index = layout.index.data.astype(np.int64, copy=False)
        if index.min(initial=0) < -1:
            index = np.maximum(index, -1)
        return self._over("IndexedMaskedArray", "mask", index, layout.content, at, -1)

    def _byte_masked(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        content = slice_layout(layout.content, 0, len(layout))
        return self._over("MaskedArray", "mask", layout.mask.data != 0, content, at, not layout.valid_when)

    def _bit_masked(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        bits = layout.mask.data[: -(-len(layout) // 8)]
        content = slice_layout(layout.content, 0, len(layout))
        return self._over("BitMaskedArray", "mask", bits, content, at, not layout.valid_when, bool(layout.lsb_order))

    def _write_unmasked(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        return self._over("MaskedArray", "mask", np.zeros(len(layout), np.bool_), layout.content, at, True)

    def _over(
        self, name: str, parameter: str, array: Array, content: AwkwardLayout, at: At, *flags: Any
    ) -> JsonExpression:
        """Return a class that lays a mask or an index over its content."""
        args = [
            self._blob(array, f"{name}.{parameter}", at),
            self._member(content, f"{name}.content", at),
            *({"json": flag} for flag in flags),
        ]
        return self._call_ours(name, args=args)

    def _union(self, layout: AwkwardLayout, at: At) -> JsonExpression:
        tags = layout.tags.data
        if not len(tags):  # awkward0 has no union without elements
            return self._encode(slice_layout(layout.contents[0], 0, 0), at)
        index = layout.index.data[: len(tags)].astype(np.int64, copy=False)
        args = [self._blob(tags, "UnionArray.tags", at), self._blob(index, "UnionArray.index", at)]
        members = [
            self._member(content, "UnionArray.contents", at, path=(*at.path, str(number)))
            for number, content in enumerate(layout.contents)
        ]
        return self._call_ours("UnionArray", args=[*args, {"list": members}])
