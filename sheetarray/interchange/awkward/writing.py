"""Awkward arrays -> awkward0's persistence protocol: a schema and named blobs, in any container.

A `StoragePlan` lists all that will be stored: every refusal comes before the container is touched.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Container, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import FormatError, LimitError, naming_array
from ...linear.json_text import count_values
from .blobs import check_member_name
from .budget import MOST_SCHEMA_BYTES, MOST_SCHEMA_PARTS
from .compression import COMPRESSION, Compression, parse_rules
from .expression_writer import ExpressionWriter, JsonExpression, NewBlob
from .functions.whitelists import matches, to_patterns
from .layouts import to_layout
from .metadata import Metadata, attrs_of
from .numpy_arrays import ndarray_of
from .package import awkward_module


@dataclass(frozen=True)
class StoragePlan:
    """The plan by which one array is stored: its schema, and its blobs."""

    name: str  # of the schema in the container
    schema: bytes  # ASCII JSON
    prefix: str  # of the names of its blobs
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
    """Write an array as named blobs and a schema into a mapping, as awkward0 does.

    Args:
        obj: an `ak.Array` or its layout, or a NumPy array of numbers, times or text (structured and masked ones too).
        storage: the mapping to fill with bytes. It stays as it was if anything fails.
        name: the name of the schema, and the beginning of the names of the blobs.
        delimiter: the text between the name and the number of a blob.
        suffix: the end of the names of blobs, such as ".raw".
        schemasuffix: the end of the schema's name, such as ".json".
        compression: None; True (zlib); a function, such as `zlib.compress`; a pair of a function and the name of its
            inverse; a mapping with `pair`, `minsize` (bytes), `types` and `contexts`; or a list of any of these. By
            default, zlib compresses integers and booleans of 8 KiB and more.
        whitelist: the whitelist of the reader. An array that it does not allow is refused. None checks nothing.
        pack: leave out elements that the array no longer uses, such as those of a larger array that you sliced.

    Raises:
        DTypeError: the protocol cannot hold the array.
        LimitError: the mapping already has one of the names, or lists are nested more deeply than `deserialize` reads.
        MissingDependencyError: awkward is not installed.

    Example:
        >>> import numpy as np
        >>> blobs = {}
        >>> serialize(np.array([1, 2, 3], dtype="int8"), blobs, "t", suffix=".raw", schemasuffix=".json")
        >>> sorted(blobs), blobs["t-0.raw"]
        (['t-0.raw', 't.json'], b'\\x01\\x02\\x03')
    """
    planned = plan(obj, name, delimiter, suffix, schemasuffix, compression, whitelist, pack=pack)
    check_member_names([planned], storage)
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
    delimiter: str | None = "-",
    suffix: str | None = None,
    schemasuffix: str | None = None,
    compression: Compression = COMPRESSION,
    whitelist: Any = None,
    *,
    pack: bool = False,
    longest: int | None = None,
) -> StoragePlan:
    """Return the plan of a write, before anything is written; `longest` is for a container of typed columns."""
    title, delimiter = name or "", delimiter or ""
    prefix = title + delimiter if title else ""
    writer = ExpressionWriter(() if longest is not None else parse_rules(compression), delimiter, suffix or "", longest)
    with naming_array(title):
        expression = writer.expression(to_layout(obj, pack=pack))
        metadata = Metadata(writer.traits, attrs_of(obj), ndarray_of(obj)).to_json()
    top: JsonExpression = {"awkward0": awkward_module().__version__, "schema": expression}
    top |= {key: value for key, value in (("prefix", prefix), ("metadata", metadata)) if value}
    schema = json.dumps(top, separators=(",", ":")).encode("ascii")
    if len(schema) > MOST_SCHEMA_BYTES:
        raise LimitError(f"{title}: a schema of {len(schema)} bytes; no more than {MOST_SCHEMA_BYTES} are read")
    if (values := count_values(schema)) > MOST_SCHEMA_PARTS:
        raise LimitError(f"{title}: a schema of {values} values; no more than {MOST_SCHEMA_PARTS} are read")
    planned = StoragePlan(title + (schemasuffix or ""), schema, prefix, writer.blobs)
    for key in planned.names:
        try:
            check_member_name(key)
        except FormatError as error:
            raise LimitError(f"{title}: readers would refuse this name, so rename it: {error.reason}") from error
    patterns = None if whitelist is None else to_patterns(whitelist)
    for specification in sorted(writer.called):
        if patterns is not None and not any(matches(pattern, specification) for pattern in patterns):
            raise ValueError(f"the whitelist does not allow {'.'.join(specification)}, which readers have to call")
    return planned


def check_member_names(plans: Iterable[StoragePlan], taken: Container[str]) -> None:
    """Refuse names that the container has already, or that two blobs would have."""
    new: set[str] = set()
    for planned in plans:
        for name in planned.names:
            if name in new:
                raise LimitError(f"two blobs would have the name {name!r}: rename an array")
            if name in taken:
                raise LimitError(f"there is something with the name {name!r} already: choose another name")
            new.add(name)
