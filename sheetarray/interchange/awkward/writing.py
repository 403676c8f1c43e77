"""Awkward arrays -> awkward0's persistence protocol: a schema and named blobs, in any container.

Each method of `ExpressionWriter` is a row of the mapping: a layout of awkward 2, and the class of awkward0 for it.
What has no counterpart there becomes the nearest: fixed-size lists of anything but numbers become lists of any size, a
mask of all False stands for no mask, a union of no elements is of its first type, categories become an index over their
values. What it was is noted by its id, as its traits, like all parameters of layouts; those go into the metadata.
Source: the awkward0 persistence protocol, as awkward0 0.15.5 writes it (awkward-0.x, docs/serialization.adoc).

What is to be stored is worked out as a `StoragePlan` first: every refusal comes before the container is touched.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Container, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...dtypes import Array
from ...errors import DTypeError, FormatError, LimitError
from .blobs import MOST_SCHEMA_BYTES, AwkwardLayout, awkward_module, check_name
from .compression import COMPRESSION, Compression, Rule, Specification, find_rule, parse_rules
from .functions import matches, to_patterns
from .layouts import (
    CHARACTERS,
    TEXTS,
    check_dtype,
    check_packed,
    check_utf8,
    decode_utf8,
    is_cell_text,
    slice_layout,
    to_block,
    to_layout,
)
from .schema import Metadata, Traits, attrs_of
from .traits import ndarray_of, traits_of

# Names of blobs -------------------------------------------------------------------------------------------------------

Path = tuple[str, ...]  # of the fields and parameters that lead to a part


@dataclass(frozen=True, slots=True)
class At:
    """The position of an expression in the array that it belongs to.

    Attributes:
        ident: its id.
        context: which parameter of which class it is, for the rules of compression; "" at the top.
        path: of the fields and parameters that lead to it.
        depth: of the layouts around it.
    """

    ident: int
    context: str
    path: Path
    depth: int

    def problem(self, reason: object) -> DTypeError:
        """Return the error that something cannot be held here."""
        return DTypeError(f"{'.'.join(self.path)}: {reason}" if self.path else str(reason))


class Naming(Protocol):
    """Gives a blob its key."""

    def __call__(self, path: Path, ident: int) -> str:
        """Return the key of the blob that is at a path, and has an id."""


class ByPath:
    """Names blobs by the fields and parameters that lead to them; by their ids where that says nothing or is taken."""

    _LONGEST = 200  # characters

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._taken: set[str] = set()

    def __call__(self, path: Path, ident: int) -> str:
        """Return the key of the blob that is at a path, and has an id."""
        key = self._delimiter.join(path) or "content"
        if len(key) > self._LONGEST or not _holds(key) or key.casefold() in self._taken:
            key = str(ident)
        while key.casefold() in self._taken:
            key += f"{self._delimiter}{ident}"
        self._taken.add(key.casefold())
        return key


def _holds(key: str) -> bool:
    """Return whether a key may be part of a name that people see and readers take."""
    try:
        check_name(key)
    except FormatError:
        return False
    return key.isprintable()


# Blobs that are written -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NewBlob:
    """One array of numbers, and the name that it is read by.

    Attributes:
        key: what the schema reads, without the prefix.
        array: C-contiguous and little-endian.
        rule: compresses it; None leaves it as it is.
    """

    key: str
    array: Array
    rule: Rule | None

    def content(self) -> memoryview | bytes:
        """Return its bytes, as they are stored."""
        plain = self.array.reshape(-1).view(np.uint8).data if self.array.size else memoryview(b"")
        return plain if self.rule is None else self.rule.compress_buffer(plain)


# Layouts -> expressions -----------------------------------------------------------------------------------------------

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


# What is stored -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StoragePlan:
    """The plan by which one array is stored: its schema, and its blobs.

    Attributes:
        name: of the schema in the container.
        schema: as it is stored, ASCII JSON.
        prefix: of the names of its blobs.
        blobs: what the schema reads.
    """

    name: str
    schema: bytes
    prefix: str
    blobs: Sequence[NewBlob]

    @property
    def names(self) -> list[str]:
        """The names that it puts into the container; the schema comes last, so that its blobs are there first."""
        return [*(self.prefix + blob.key for blob in self.blobs), self.name]

    @property
    def elements(self) -> int:
        """The number of elements in its blobs."""
        return sum(blob.array.size for blob in self.blobs)


def serialize(
    obj: Any,
    storage: MutableMapping[str, Any],
    name: str | None = None,
    delimiter: str | None = "-",
    suffix: str | None = None,
    schemasuffix: str | None = None,
    compression: Compression = COMPRESSION,
    whitelist: Any = None,
    *,
    pack: bool = False,
) -> None:
    """Put an array into a container of named blobs, as awkward0's protocol has it.

    Args:
        obj: an `ak.Array` or its layout, or a NumPy array of numbers, times or text (structured and masked ones too).
        storage: a mapping to fill with bytes; it is left as it was if anything fails.
        name: of the schema, before its suffix, and of the blobs, before the delimiter.
        delimiter: between the name and the id of a blob.
        suffix: at the end of a blob's name, such as ".raw".
        schemasuffix: at the end of the schema's name, such as ".json".
        compression: None; True (zlib); a function, such as `zlib.compress`; a pair of a function and the name of its
            inverse; a rule, a mapping of `pair`, `minsize` (bytes), `types`, `contexts`; or a list of those. Unless
            given, integers and booleans from 8 KiB on are compressed by zlib.
        whitelist: that the reader will have; what it would not let pass is not written. None checks nothing.
        pack: leave out what the array was selected from, and no longer reaches.

    Raises:
        DTypeError: an array that the protocol does not hold.
        LimitError: the container has one of the names already; or lists within lists beyond what is read.
        MissingDependencyError: awkward is not installed.

    Example:
        >>> import numpy as np
        >>> blobs = {}
        >>> serialize(np.array([1, 2, 3], dtype="int8"), blobs, "t", suffix=".raw", schemasuffix=".json")
        >>> sorted(blobs), blobs["t-0.raw"]
        (['t-0.raw', 't.json'], b'\\x01\\x02\\x03')
    """
    planned = plan(
        obj,
        name,
        delimiter=delimiter,
        suffix=suffix,
        schemasuffix=schemasuffix,
        compression=compression,
        whitelist=whitelist,
        pack=pack,
    )
    check_free([planned], storage)
    put: list[str] = []
    try:
        for blob in planned.blobs:
            put.append(planned.prefix + blob.key)
            storage[put[-1]] = bytes(blob.content())
        put.append(planned.name)
        storage[planned.name] = planned.schema
    except BaseException:
        for key in put:
            with contextlib.suppress(Exception):
                del storage[key]
        raise


def plan(
    obj: Any,
    name: str | None,
    *,
    delimiter: str | None = "-",
    suffix: str | None = None,
    schemasuffix: str | None = None,
    compression: Compression = COMPRESSION,
    whitelist: Any = None,
    pack: bool = False,
) -> StoragePlan:
    """Return the plan of a write: blobs and schemas, none of them written yet; arguments as for `serialize`.

    Raises:
        DTypeError: an array that the protocol does not hold; names it.
        LimitError: a name that leads out of containers.
    """
    ending = suffix or ""
    forms = ExpressionWriter(lambda _path, ident: f"{ident}{ending}", parse_rules(compression))
    planned = _plan(obj, name or "", delimiter or "", schemasuffix or "", pack, forms)
    if whitelist is not None:
        _check_calls(forms.called, to_patterns(whitelist))
    return planned


def plan_typed(obj: Any, name: str, *, delimiter: str, schemasuffix: str, pack: bool, longest: int) -> StoragePlan:
    """Return the same for a container that keeps dtype and shape of what it holds; blobs are named by their path.

    Strings are arrays of text where none is longer than `longest`, in units of UTF-16.

    Raises:
        DTypeError: an array that the protocol does not hold; names it.
        LimitError: a name that leads out of containers.
    """
    return _plan(
        obj, name, delimiter, schemasuffix, pack, ExpressionWriter(ByPath(delimiter), typed=True, longest=longest)
    )


def _plan(obj: Any, name: str, delimiter: str, schemasuffix: str, pack: bool, forms: ExpressionWriter) -> StoragePlan:
    prefix = name + delimiter if name else ""
    try:
        expression = forms.expression(to_layout(obj, pack=pack))
        metadata = Metadata(forms.traits, attrs_of(obj), ndarray_of(obj)).to_json()
    except (DTypeError, LimitError) as error:
        raise type(error)(f"{name}: {error}" if name else str(error)) from error
    top: JsonExpression = {"awkward0": awkward_module().__version__, "schema": expression}
    if prefix:
        top["prefix"] = prefix
    if metadata:
        top["metadata"] = metadata
    schema = json.dumps(top, separators=(",", ":")).encode("ascii")
    if len(schema) > MOST_SCHEMA_BYTES:
        raise LimitError(f"{name}: a schema of {len(schema)} bytes; no more than {MOST_SCHEMA_BYTES} are read")
    planned = StoragePlan(name + schemasuffix, schema, prefix, forms.blobs)
    for key in planned.names:
        try:
            check_name(key)
        except FormatError as error:
            raise LimitError(f"{name}: no reader would take this name, so rename it: {error.reason}") from error
    return planned


def _check_calls(called: Iterable[Specification], patterns: Sequence[Sequence[str]]) -> None:
    for specification in sorted(called):
        if not any(matches(pattern, specification) for pattern in patterns):
            raise LimitError(f"the whitelist does not let {'.'.join(specification)} pass, which reading would call")


def check_free(plans: Iterable[StoragePlan], taken: Container[str]) -> None:
    """Refuse names that the container has already, or that two blobs would have.

    Raises:
        LimitError: names it.
    """
    new: set[str] = set()
    for planned in plans:
        for name in planned.names:
            if name in new:
                raise LimitError(f"two parts of what is to be written would have the name {name!r}: rename an array")
            if name in taken:
                raise LimitError(f"there is something of the name {name!r} already: choose another name")
            new.add(name)
