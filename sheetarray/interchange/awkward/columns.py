"""Awkward arrays in anything that holds named arrays: a spreadsheet, CSV, JSON; one column for each blob.

A blob is an array of its own, under the name of the fields and parameters that lead to it (`events-counts`,
`events-y-content`); it has a dtype and a shape there, so nothing is compressed or turned into bytes. Strings are an
array of text, unless one is longer than a cell or ends in a NUL: then they are counts and bytes. The schema is an
array of text, `events.json`, cut into pieces that fit into cells and that no spreadsheet takes for a formula, a number
or a date. What else such a file holds stays as it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ...columns import MOST_DESCRIPTIONS, ArrayInfo, too_many_descriptions
from ...columns.parts import raise_error
from ...dtypes import Array
from ...errors import MOST_NOTED, Finding, FormatError, LimitError, NotFoundError, locating
from ...linear.header import NoteFinding
from ...linear.json_text import cut_json
from ...linear.parsing import warn_of_finding
from .budget import DEEPEST_EXPRESSION, Budget
from .expressions import Expression, parse_expression
from .reading import AwkwardReader, ReadOptions
from .schema import SIGNATURES, parse_schema
from .writing import check_member_names, plan

DELIMITER = "-"
SUFFIX = ".json"
_MOST_LOOKALIKES = 100  # texts that look like schemas, each of which is told


def to_columns(name: str, array: Any, *, limit: int, pack: bool = True) -> dict[str, Array]:
    """Return an awkward array as several arrays, with dtypes of the exchange format.

    Args:
        name: the name of the array.
        array: an `ak.Array`, or anything else that `serialize` takes.
        limit: the longest text of a cell (Excel: 32,767, Google: 50,000), in UTF-16 units.
        pack: leave out elements that the array no longer uses, such as those of a larger array that you sliced.

    Returns:
        The arrays by name. The last one, `<name>.json`, holds the schema.

    Example:
        >>> import awkward as ak
        >>> columns = to_columns("e", ak.Array([[{"x": 1}], []]), limit=32_767)
        >>> {key: column.tolist() for key, column in columns.items() if key != "e.json"}
        {'e-counts': [1, 0], 'e-x': [1]}
    """
    if not name.strip():
        raise LimitError(f"the name {name!r} is blank: the columns of an awkward array could not be told from others")
    planned = plan(array, name, DELIMITER, schemasuffix=SUFFIX, pack=pack, longest=limit)
    check_member_names([planned], ())
    columns = {planned.prefix + blob.key: blob.array for blob in planned.blobs}
    try:
        columns[planned.name] = np.array(cut_json(planned.schema.decode("ascii"), limit, "the schema"))
    except LimitError as error:
        raise LimitError(f"{name}: {error}") from error
    return columns


def spread_awkward(arrays: Mapping[str, Any], *, limit: int) -> dict[str, Any]:
    """Return arrays by name, with each awkward one in the form of `to_columns`; all others as they are."""
    arrays_spread: dict[str, Any] = {}
    count = 0
    for name, value in arrays.items():
        is_awkward = type(value).__module__.partition(".")[0] == "awkward"  # which is not imported for that
        count += is_awkward
        if count > MOST_DESCRIPTIONS:
            raise LimitError(
                f"more than {MOST_DESCRIPTIONS:,} awkward arrays, the most that are read together: write several files"
            )
        columns = to_columns(name, value, limit=limit) if is_awkward else {name: value}
        for key in columns:
            if key in arrays_spread:
                raise LimitError(f"two arrays would have the name {key!r}: rename {name!r}")
        arrays_spread.update(columns)
    return arrays_spread


def is_schema(name: str, array: Any) -> bool:
    """Return whether an array is the schema of an awkward one, by its name and its beginning."""
    if not name.endswith(SUFFIX) or name == SUFFIX or not isinstance(array, np.ndarray) or array.ndim != 1:
        return False
    if array.dtype.kind not in "UTO" or not array.size or not all(isinstance(piece, str) for piece in array.tolist()):
        return False
    text = "".join(array.tolist())
    return text.startswith("{") and any(f'"{signature}"' in text for signature in SIGNATURES)


def blobs_of(schema: Iterable[str]) -> list[str]:
    """Return the names of the arrays that a schema reads; it is not evaluated."""
    parsed = parse_schema("".join(schema).encode("utf-8", "surrogatepass"))
    waiting = [parse_expression(parsed.expression)]
    names: dict[str, None] = {}
    while waiting:
        expression = waiting.pop()
        if expression.kind == "read":
            key = expression.body["read"]
            if not isinstance(key, str):
                raise expression.error("the name of a blob is text")
            names[key if expression.body.get("absolute") else parsed.prefix + key] = None
        elif expression.kind != "ref":
            waiting.extend(reversed(expression.parts))
    return list(names)


def described_columns(name: str, array: Any) -> list[str]:
    """Return the names of the columns that a schema needs; nothing if the array is no schema, or a damaged one."""
    with suppress(FormatError):
        return blobs_of(array.tolist()) if is_schema(name, array) else []
    return []


_AS_LONG = ("JaggedArray", "StringArray", "IndexedArray", "IndexedMaskedArray", "MaskedArray", "UnionArray")
_METHODS: tuple[list[str], ...] = ([], ["fromcounts"], ["fromnumpy"], ["fromtags"])


def described_length(name: str, array: Any, infos: Mapping[str, ArrayInfo]) -> int | None:
    """Return the number of entries of the awkward array that a schema describes, by the headers of its columns."""
    if not is_schema(name, array):
        return None
    with suppress(FormatError):
        schema = parse_schema("".join(array.tolist()).encode("utf-8", "surrogatepass"))
        expression: Expression | None = parse_expression(schema.expression)
        for _ in range(DEEPEST_EXPRESSION):
            if expression is None or expression.kind == "read":
                break
            expression = _as_long_as(expression)
        if expression is not None and expression.kind == "read":
            key = str(expression.body["read"])
            info = infos.get(key if expression.body.get("absolute") else schema.prefix + key)
            return info.shape[0] if info is not None and info.shape else None
    return None


def _as_long_as(expression: Expression) -> Expression | None:
    """Return a part of an expression that has as many entries as the whole, or None if none is known."""
    called = expression.body.get("call") if expression.kind == "call" else None
    if not isinstance(called, list) or not expression.parts:
        return None
    first = expression.parts[0]
    if called[1:] == ["Table", "frompairs"] and first.kind == "pairs":
        return first.parts[0] if first.parts else None
    return first if called[1:2] and called[1] in _AS_LONG and called[2:] in _METHODS else None


def from_columns(arrays: Mapping[str, Any], name: str, **options: Any) -> Any:
    """Return the awkward array that `to_columns` turned into several arrays.

    Args:
        arrays: the arrays by name. Those that belong to other arrays are ignored.
        name: the name of the array.
        **options: as for `deserialize`, such as `functions`.

    Example:
        >>> import awkward as ak
        >>> columns = to_columns("e", ak.Array([["one"], []]), limit=100)
        >>> from_columns(columns, "e").to_list()
        [['one'], []]
    """
    reader = AwkwardReader(ReadOptions(**options))
    return _from_columns(arrays, name, reader, reader.budget())


def _from_columns(arrays: Mapping[str, Any], name: str, reader: AwkwardReader, budget: Budget) -> Any:
    if name + SUFFIX not in arrays:
        raise NotFoundError(f"no array {name!r}: there is no schema {name + SUFFIX!r}")
    schema = "".join(arrays[name + SUFFIX].tolist()).encode("utf-8", "surrogatepass")
    return reader.read_named(ChainMap({name + SUFFIX: schema}, arrays), name, SUFFIX, budget)  # type: ignore[arg-type]


def gather(
    arrays: Mapping[str, Any],
    *,
    note: NoteFinding = warn_of_finding,
    fail: Callable[[FormatError], None] = raise_error,
) -> dict[str, Any]:
    """Return arrays by name, with the columns of each awkward one put together; all others as they are.

    Text that only looks like a schema, with no column that could belong to it, is an array like any other.

    `arrays`: what a file holds. `note`: is called with a finding about such text; by default it is a
    `SheetArrayWarning`. `fail`: is called with the error of each array that cannot be put together, which is left out;
    by default the first is raised.

    Raises:
        FormatError: an array that cannot be put together; `.location` names its schema.
    """
    reader = AwkwardReader(ReadOptions())
    budget, failed = reader.budget(), 0
    owners: dict[str, str] = {}
    arrays_by_name: dict[str, Any] = {}
    keys = sorted(arrays)
    lookalikes: list[Finding] = []
    schemas = [name for name, array in arrays.items() if is_schema(name, array)]
    if len(schemas) > MOST_DESCRIPTIONS:
        raise too_many_descriptions()
    for schema in schemas:
        name = schema.removesuffix(SUFFIX)
        try:
            with locating(array=name):
                owners |= dict.fromkeys(_owned_columns(arrays, keys, name, lookalikes), name)
        except FormatError as error:
            fail(error)
            failed += 1
        if failed == MOST_NOTED:
            break
    for finding in lookalikes[:_MOST_LOOKALIKES]:
        note(finding)
    if len(lookalikes) > _MOST_LOOKALIKES:
        reason = f"{len(lookalikes) - _MOST_LOOKALIKES:,} more arrays look like schemas of awkward arrays, and are text"
        note(Finding("warning", lookalikes[_MOST_LOOKALIKES].location, reason))
    seen: set[str] = set()
    for key, array in arrays.items():
        if key not in owners:
            arrays_by_name[key] = array
        elif (name := owners[key]) not in seen and failed < MOST_NOTED:
            seen.add(name)
            try:
                with locating(array=name):
                    if name in arrays and name not in owners:
                        raise FormatError(f"two arrays have the name {name!r}", location=name)
                    arrays_by_name[name] = _from_columns(arrays, name, reader, budget)
            except FormatError as error:
                fail(error)
                failed = failed + 1 if budget.has_steps else MOST_NOTED
    return arrays_by_name


def _owned_columns(arrays: Mapping[str, Any], keys: Sequence[str], name: str, lookalikes: list[Finding]) -> list[str]:
    """Return the columns of an awkward array, with its schema; nothing if its schema is only text.

    `keys`: the names of all arrays, sorted. `lookalikes`: takes a finding about such text.
    """
    schema = name + SUFFIX
    try:
        blobs = blobs_of(arrays[schema].tolist())
        if not blobs or any(blob in arrays for blob in blobs):
            return [schema, *blobs]
        reason = f"the arrays that it describes are missing, such as {blobs[0]!r:.80}"
    except FormatError as error:
        reason = f"{error.location}: {error.reason}" if error.location else error.reason
    place = bisect_left(keys, name + DELIMITER)
    if place < len(keys) and keys[place].startswith(name + DELIMITER):
        raise FormatError(f"the schema of {name!r} is damaged: {reason}", location=schema)
    lookalikes.append(
        Finding(
            "warning", schema, f"read as text: it looks like the schema of an awkward array, but {reason}", array=schema
        )
    )
    return []
