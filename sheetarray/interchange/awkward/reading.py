"""awkward0's persistence protocol -> awkward 2: one array out of any container of named blobs.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/docs/serialization.adoc. The schema is an expression that
calls functions; here each name is looked up in a table, and nothing is imported, unpickled or executed unless the
caller says so. Written by awkward 0.5 to 0.14 or awkward0 0.15: all are read.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import FormatError, NotFoundError
from .blob_dtypes import parse_dtype
from .blobs import StoredBlob, read_blob
from .budget import Budget, room_of_file
from .builder import Builder, Errors, describe_plain_value
from .constructors.by_name import CONSTRUCTORS, WHITELIST
from .expressions import Expression, evaluate, parse_expression
from .functions.calling import call_function
from .functions.pickles import read_pickle
from .functions.whitelists import TOPYTHON, Functions, Lookup, Whitelist
from .metadata import METADATA
from .numpy_arrays import NUMBERS, plain_array
from .schema import Schema, parse_schema
from .traits import name_record, restore_traits

if TYPE_CHECKING:
    import awkward as ak  # type: ignore[import-untyped]


_SHOWN = 10  # names, in an error


def deserialize(
    storage: Mapping[str, Any],
    name: str = "",
    whitelist: Whitelist = WHITELIST,
    cache: MutableMapping[str, Any] | None = None,
    *,
    delimiter: str | None = "-",  # noqa: ARG001  (the schema has the prefix)
    suffix: str | None = None,  # noqa: ARG001  (and the names of the blobs)
    schemasuffix: str | None = None,
    functions: Functions | None = None,
    errors: Errors = "strict",
    max_bytes: int | None = None,
) -> ak.Array:
    """Return an array that `serialize` or awkward0 wrote into a container of named blobs.

    Args:
        storage: a mapping of names to blobs. A blob is bytes, or an array.
        name: the name of the array.
        whitelist: patterns for the names of functions that the schema may call. `[*WHITELIST, ["module", "Class"]]`
            also allows `Class`, and imports `module`. `["awkward0.persist", "topython"]` also reads pickles, which
            can execute anything. Use it only for files that you trust.
        cache: a mapping that keeps the virtual arrays that have a key.
        delimiter: not used; you can pass the same options as to `serialize`.
        suffix: not used; you can pass the same options as to `serialize`.
        schemasuffix: the end of the schema's name, as for `serialize`.
        functions: a mapping of names, such as `("module", "Class")`, to functions of yours. The name is one that an
            ObjectArray or a VirtualArray has. For an ObjectArray, the function takes the content as an `ak.Array`, and
            returns an array of the same length. For a VirtualArray, it returns the array.
        errors: "replace" puts U+FFFD in place of bytes that are not valid text; "strict" refuses the array.
        max_bytes: how much memory the array may take. None is 256 MiB, or 64 times the size of the blobs if that is
            more.

    Raises:
        FormatError: the schema or a blob is wrong. `.location` is the path in the schema, such as
            `schema.args[1].args[0]`.
        NotFoundError: the container has no array of that name.
        MissingDependencyError: awkward is not installed, or a blob needs lz4, which is not installed.

    Example:
        >>> import json
        >>> arguments = [{"read": "counts"}, {"read": "content"}]
        >>> lists = {"call": ["awkward0", "JaggedArray", "fromcounts"], "args": arguments}
        >>> schema = json.dumps({"awkward0": "0.15.5", "prefix": "x-", "schema": lists})
        >>> storage = {"x": schema, "x-counts": np.array([2, 0, 1]), "x-content": np.array([1.5, 2.5, 3.5])}
        >>> deserialize(storage, "x").tolist()
        [[1.5, 2.5], [], [3.5]]
    """
    reader = AwkwardReader(ReadOptions(whitelist, cache, functions, errors, max_bytes))
    return reader.read(storage, name, schemasuffix or "", Budget(max_bytes))


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options of `deserialize` that whoever reads an open container may give, too."""

    whitelist: Whitelist = WHITELIST
    cache: MutableMapping[str, Any] | None = None
    functions: Functions | None = None
    errors: Errors = "strict"
    max_bytes: int | None = None


class AwkwardReader:
    """Reads arrays out of open containers, with the same options, which are looked at once for all of them."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._lookup = Lookup(CONSTRUCTORS, options.whitelist, options.functions)

    def budget(self, stored: int | None = None) -> Budget:
        """Return what arrays may take together, out of a container that stores so many bytes.

        None for a container whose blobs take the memory that they take in the file.
        """
        most = self._options.max_bytes
        return Budget(room_of_file(stored) if most is None and stored is not None else most)

    def read(
        self, storage: Mapping[str, Any], name: str, schemasuffix: str, budget: Budget, *, plain: bool = False
    ) -> Any:
        """Return an array; with `plain`, what was written as an array of NumPy is one."""
        options = self._options
        build = Builder(budget, options.errors, options.cache)
        try:
            content = storage[name + schemasuffix]
        except KeyError as error:
            available = ", ".join(repr(key) for key, _ in zip(storage, range(_SHOWN), strict=False))
            raise NotFoundError(f"no array {name!r:.80}; the container has {available or 'nothing'}") from error
        try:
            budget.step()
            schema = parse_schema(content, budget)
            return _Reading(storage, schema, self._lookup, options.whitelist, build).read_whole(plain=plain)
        except FormatError as error:
            error.element = error.element or name or None
            raise

    def read_named(
        self,
        storage: Mapping[str, Any],
        name: str,
        schemasuffix: str,
        budget: Budget,
        *,
        source: str | None = None,
        plain: bool = False,
    ) -> Any:
        """Return the array of a name, as `read` does; errors say in which source and under which name it lies."""
        schema = name + schemasuffix
        try:
            return self.read(storage, name, schemasuffix, budget, plain=plain)
        except FormatError as error:
            error.source = error.source or source
            if error.location != schema:
                error.location = f"{schema}, {error.location}" if error.location else schema
            raise


class _Reading:
    """Evaluates one schema."""

    def __init__(
        self, storage: Mapping[str, Any], schema: Schema, lookup: Lookup, whitelist: Whitelist, build: Builder
    ) -> None:
        self._storage, self._schema, self._lookup, self._build = storage, schema, lookup, build
        self._offered = {"cacheable": ("cache", build.cache), "whitelistable": ("whitelist", whitelist)}
        self._restored: set[int] = set()  # the ids of arrays that got their traits

    def read_whole(self, *, plain: bool) -> Any:
        """Return the array."""
        metadata = self._schema.metadata
        top = parse_expression(self._schema.expression)
        value = evaluate(top, self._evaluate)
        try:
            layout = self._build.whole(value, check=bool(metadata.traits))
            if unused := metadata.traits.keys() - self._restored:
                raise FormatError(f"the id {min(unused)}, which no array of the schema has", location=METADATA)
            if plain and self._is_plain(value):
                dtype = value.dtype.name if metadata.ndarray is None else metadata.ndarray
                return plain_array(self._build, layout, dtype)
        except FormatError as error:
            error.location = error.location or top.path
            raise
        return self._build.ak.Array(layout, **({"attrs": metadata.attrs} if metadata.attrs else {}))

    def _is_plain(self, value: Any) -> bool:
        """Return whether an array was one of NumPy: it says so, or awkward0 wrote it, which has nothing else for
        numbers.
        """
        if self._schema.metadata.is_ours or not self._schema.version.startswith("0."):
            return self._schema.metadata.ndarray is not None
        return isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS

    def _evaluate(self, expression: Expression) -> Any:
        """Return the value of an expression whose parts have theirs, with the traits that the metadata give it.

        What is wrong with arrays of a container that keeps such names those.
        """
        ident = expression.body.get("id")
        try:
            value = self._plain_value(expression)
            if (traits := self._schema.metadata.traits.get(ident)) is None:
                return value
            self._restored.add(ident)
            return restore_traits(self._build, value, traits)
        except FormatError as error:
            given = [part.value for part in expression.parts if isinstance(part.value, StoredBlob)]
            names = [blob.name for blob in given if isinstance(blob.content, np.ndarray)]
            error.element = error.element or ", ".join(names) or None
            raise

    def _plain_value(self, expression: Expression) -> Any:
        body, names, values = expression.body, expression.names, [part.value for part in expression.parts]
        match expression.kind:
            case "list":
                return values
            case "tuple":
                return tuple(values)
            case "dict":
                return dict(zip(names, values, strict=True))
            case "pairs":
                return list(zip(names, values, strict=True))
            case "dtype":
                return parse_dtype(body["dtype"])
            case "function":
                return self._lookup.find(body["function"])
            case "python":
                return read_pickle(body["python"], allowed=self._lookup.allows(TOPYTHON))
            case "read":
                return self._read(body)
            case "call":
                return self._call(body, values, names)
        return body["json"]

    def _call(self, body: dict[str, Any], values: list[Any], names: list[str]) -> Any:
        split = len(values) - len(names)
        reader = dict(pair for key, pair in self._offered.items() if self._build.to_flag(body.get(key, False), key))
        kwargs = dict(zip(names, values[split:], strict=True))
        self._build.budget.step()
        result = call_function(self._build, self._lookup.find(body["call"]), tuple(values[:split]), kwargs, reader)
        if not isinstance(result, self._build.ak.contents.Content):
            return result
        if name := self._schema.metadata.rownames.get(str(body.get("id"))):
            result = name_record(self._build, result, name)
        return self._build.check_measured(result)

    def _read(self, body: dict[str, Any]) -> Any:
        name = body["read"]
        if not isinstance(name, str):
            raise FormatError(f"a blob named {describe_plain_value(name)}")
        self._build.budget.step()
        absolute = self._build.to_flag(body.get("absolute", False), "absolute")
        return read_blob(self._storage, name if absolute else self._schema.prefix + name, self._build.budget)
