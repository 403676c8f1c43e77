"""Awkward arrays in containers of columns: one column for each blob, and one for the schema that joins them again.

The containers know nothing of it. What is no rectangular array is spread over columns before writing, and put together
after reading; `interchange.awkward.columns` has the form. Awkward itself is imported only where there is such an array.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from .arrays import chosen, named_values
from .columns import ArrayInfo
from .errors import Finding, FormatError, MissingDependencyError, NotFoundError, SheetArrayWarning

Arrays = dict[str, Any]
Read = Callable[[Sequence[str] | None], Arrays]
Scan = Callable[[], Mapping[str, ArrayInfo]]

_SUFFIX = ".json"  # of a schema's name


def spread(arrays: Any, *, limit: int) -> Any:
    """What `write` takes, awkward arrays in it replaced by their columns.

    Args:
        arrays: as for `write`.
        limit: characters that a cell of the container holds.

    Raises:
        DTypeError: an awkward array that the protocol has no form for.
        LimitError: a column of one would have the name of another array.
    """
    alone = _is_nested(arrays)
    if not alone and not (isinstance(arrays, Mapping) and any(map(_is_nested, arrays.values()))):
        return arrays
    return _columns().spread(named_values(arrays), limit=limit)


def gathered(read: Read, names: Sequence[str] | None, *, scan: Scan | None) -> Arrays:
    """Arrays as `read` gives them, columns of awkward arrays put together.

    Args:
        read: names -> arrays of the container; None for all.
        names: what is wanted: arrays, or awkward arrays.
        scan: what the headers say of the columns; None where the container can be read only once.

    Raises:
        FormatError: columns that do not fit together; `.location` is where the first of them begins.
        NotFoundError: no array of a name.
    """
    if names is None:
        return _joined(read(None), scan)
    wanted = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    if scan is None:
        return chosen(_joined(read(None), None), wanted)
    try:
        return read(wanted)
    except NotFoundError as error:
        missing = error
    there = scan()
    found: Arrays = {}
    for name in wanted:
        if name not in there and f"{name}{_SUFFIX}" in there:
            found |= _one(read, name, there)
    if not found:
        raise missing
    return chosen(found | read([name for name in wanted if name not in found]), wanted)


def examined(findings: Iterable[Finding], read: Read, scan: Scan) -> Iterator[Finding]:
    """What `check` finds in a container, then what is wrong with the awkward arrays there.

    Columns that cannot be read are among the findings; arrays are put together once all columns are right.

    Args:
        findings: of the container's own.
        read: as for `gathered`.
        scan: likewise.
    """
    yield from findings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # of what is among the findings
        wrong = _wrong(read, scan)
    yield from wrong


def _wrong(read: Read, scan: Scan) -> list[Finding]:
    wrong: list[Finding] = []
    try:
        there = scan()
        texts = [name for name in there if name.endswith(_SUFFIX) and there[name].dtype in ("string", "generic")]
        if not texts:
            return wrong
        schemas = read(texts)
        blobs = {blob for name, schema in schemas.items() for blob in _blobs_of(name, schema) if blob in there}
        found = dict.fromkeys(there) | schemas | (read(list(blobs)) if blobs else {})
    except FormatError:
        return wrong

    def fail(error: FormatError) -> None:
        _address(error, there)
        wrong.append(Finding.of(error))

    try:
        _columns().gather(found, note=wrong.append, fail=fail)
    except MissingDependencyError as error:
        wrong.append(Finding("warning", there[texts[0]].location, "an awkward array is not looked at", str(error)))
    return wrong


def _one(read: Read, name: str, there: Mapping[str, ArrayInfo]) -> Arrays:
    """The awkward array of a name; nothing, where what has the name of its schema is another array.

    Raises:
        FormatError: its columns do not fit together.
    """
    schema = name + _SUFFIX
    found = read([schema])
    found |= read([blob for blob in _blobs_of(schema, found[schema]) if blob in there])
    joined = _joined(dict.fromkeys(there) | found, lambda: there)
    return {name: joined[name]} if name not in there and name in joined else {}


def _blobs_of(name: str, array: Any) -> list[str]:
    """The columns that a schema reads; none of what is damaged, or no schema, as is seen when they are joined."""
    columns = _columns()
    with suppress(FormatError):
        found: list[str] = columns.blobs_of(array.tolist()) if columns.is_schema(name, array) else []
        return found
    return []


def _joined(found: Arrays, scan: Scan | None) -> Arrays:
    if not any(name.endswith(_SUFFIX) for name in found):
        return found
    try:
        joined: Arrays = _columns().gather(found)
    except FormatError as error:
        if scan is not None:
            _address(error, scan())
        raise
    return joined


def _address(error: FormatError, there: Mapping[str, ArrayInfo]) -> None:
    """Say where the first column begins that an error names."""
    for name, header in there.items():
        if f"{error.element}, ".startswith(f"{name}, "):
            error.location = header.location
            return
        if f"{error.location}, ".startswith(f"{name}, "):
            error.location, error.element = header.location, error.location
            return


def _is_nested(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "awkward"


def _columns() -> Any:
    return import_module(".interchange.awkward.columns", __package__)
