"""Awkward arrays -> awkward0's persistence protocol: a schema and named blobs, in any container.

What is to be stored is worked out as a `StoragePlan` first: every refusal comes before the container is touched.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Container, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import DTypeError, FormatError, LimitError
from .blobs import check_name
from .compression import COMPRESSION, Compression, Specification, parse_rules
from .expression_writer import ExpressionWriter, JsonExpression
from .functions import matches, to_patterns
from .layouts import to_layout
from .limits import MOST_SCHEMA_BYTES
from .metadata import Metadata, attrs_of
from .naming import ByPath
from .new_blob import NewBlob
from .packages import awkward_module
from .plain import ndarray_of


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
