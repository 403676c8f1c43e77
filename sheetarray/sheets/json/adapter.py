"""JSON: `{name: flat list}`, or one flat list, or a list of flat lists.

The flat list is that of the exchange format (https://github.com/stdlib-js/stdlib/issues/1140), element for element.
Numbers are doubles to most readers of JSON, so integers beyond 2^53 are decimal text; NaN and infinities are words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ...adapters import CELL_CHARACTERS, Keeps, Progress, ignore_progress
from ...arrays import check_unicode, default_name, linear_arrays, select
from ...columns import UNEVEN_HINT, ArrayInfo, column_letters, describe_uneven_rows
from ...composite import find_fixed_columns, read_composites, scan_composites, spread
from ...elements import MOST_GENERIC, ComplexForm, Missing
from ...errors import Finding, FormatError, locating
from ...files import Readable, Source, Writable, check_structure, locate, refuse_empty, replacing
from ...header import NoteFinding, count_blanks_before, parse_header, warn_of_finding
from ...linear import LinearArray, resize_to_cells
from .headers import walk_headers
from .text import dump_cells, dump_elements, parse_text, to_utf8

keeps_json = Keeps(buffers=True, nested=True, labels=True)

_CELLS_A_BLOCK = 100_000
_KINDS = {dict: "an object", str: "a string", bool: "a boolean", type(None): "null"}  # as JSON calls them
_MOST_NESTED = 3_000_000  # lists, and objects such as {"type": "float64", "value": "NaN"}, in a text


def write_json(
    target: Writable,
    arrays: Any,
    *,
    complex: ComplexForm = "text",
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Write arrays as a JSON object of flat lists, an array a line.

    Args:
        target: a path, replaced as a whole (`.gz` and `.zst` compress), or an open file.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        complex: "text" for `3+4i`; "interleaved" for two numbers an element.
        progress: called with the cells written and the cells in all.
        storage_options: for the file system of a URL, such as `anon`, or `key` and `secret`.

    Raises:
        DTypeError: an array that no dtype of the format holds.

    Example:
        >>> import io, json
        >>> file = io.StringIO()
        >>> write_json(file, {"x": np.array([1.5])})
        >>> json.loads(file.getvalue())["x"][-2:]
        ['data', 1.5]
    """
    target = locate(target, storage_options)
    named = linear_arrays(spread(arrays, limit=CELL_CHARACTERS), exact=MOST_GENERIC)
    check_unicode(named)
    total = sum(len(array.header.to_cells()) + array.capacity for array in named.values())
    done, report = 0, progress or ignore_progress
    report(0, total)
    with replacing(target) as sink:
        sink.write(b"{")
        for index, (name, array) in enumerate(named.items()):
            sink.write(b",\n" if index else b"\n")
            sink.write(dump_cells([name]) + b": [")
            header = array.header.to_cells()
            sink.write(dump_cells(header))
            done += len(header)
            for start in range(0, array.capacity, _CELLS_A_BLOCK):
                block = array.buffer[start : start + _CELLS_A_BLOCK]
                sink.write(b"," + dump_elements(block, array.dtype_entry, complex=complex))
                report(done := done + len(block), total)
            sink.write(b"]")
        sink.write(b"\n}\n")
    report(total, total)


# Reading -----------------------------------------------------------------------------------------------------


def read_json(
    source: Readable,
    names: Sequence[str] | None = None,
    *,
    strict: bool = False,
    missing: Missing = "error",
    resize: bool = False,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Read the flat lists of a JSON text.

    Args:
        source: a path or an open file; gzip and Zstandard are recognised.
        names: only these arrays are decoded; None for all.
        strict: refuse lists without a version.
        missing: "nan" reads null in float and complex arrays as NaN.
        resize: where people have added or deleted rows, the axis that varies slowest takes its length from the cells
            that stand there.
        progress: called with the cells read and the cells in all.
        storage_options: for the file system of a URL, such as `anon`, or `key` and `secret`.

    Returns:
        Arrays by name; a single list has the file's stem for a name, several are named A, B, ..

    Raises:
        FormatError: with `.location`, such as `x[17]`, of the first cell that is wrong.
        NotFoundError: no array of a name asked for.

    Example:
        >>> import io
        >>> file = io.StringIO()
        >>> write_json(file, {"x": np.array([1.5])})
        >>> read_json(io.StringIO(file.getvalue()))
        {'x': array([1.5])}
    """
    with Source(locate(source, storage_options)) as opened, locating(source=opened.name):
        lists = read_lists(opened)
        fixed = find_fixed_lists(lists, strict) if resize else frozenset(lists)
        if resize:
            _warn_of_uneven(lists, strict, infos_of_lists(lists, strict, fixed=fixed))
        done = total = 0
        report = progress or ignore_progress

        def read(columns: Sequence[str] | None) -> dict[str, Any]:
            nonlocal done, total
            wanted = select(lists, columns)
            total += sum(len(cells) for cells in wanted.values() if isinstance(cells, list))
            report(done, total)
            arrays = {}
            for name, cells in wanted.items():
                arrays[name] = read_array(name, cells, strict, missing, resize=name not in fixed)
                report(done := done + len(cells), total)
            return arrays

        return read_composites(read, lambda: infos_of_lists(lists, strict), names)


def scan_json(source: Readable, *, strict: bool = False, resize: bool = False) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays from their headers alone; data are skipped, not parsed.

    Args:
        source: as for `read_json`.
        strict: refuse lists without a version.
        resize: shapes are those that `read_json` gives with `resize=True`; all cells are read.

    Raises:
        FormatError: no flat list, or a broken header.

    Example:
        >>> import io
        >>> file = io.StringIO()
        >>> write_json(file, {"x": np.zeros((2, 3))})
        >>> scan_json(io.StringIO(file.getvalue()))["x"].shape
        (2, 3)
    """
    with Source(source) as opened, locating(source=opened.name):
        infos = walk_headers(to_utf8(opened.whole()), default_name(opened.name), strict=strict)
        if resize:
            lists = read_lists(opened)
            infos = infos_of_lists(lists, strict, fixed=find_fixed_lists(lists, strict))
            _warn_of_uneven(lists, strict, infos)

        def read(columns: Sequence[str] | None) -> dict[str, Any]:
            lists = select(read_lists(opened), columns)
            return {name: read_array(name, cells, strict, "nan") for name, cells in lists.items()}

        return scan_composites(read, lambda: infos)


def _warn_of_uneven(lists: Mapping[str, Any], strict: bool, resized: Mapping[str, ArrayInfo]) -> None:
    """Warn of arrays that had as many rows each, and have not now."""
    alike: dict[int, dict[str, int]] = {}
    for name, written in infos_of_lists(lists, strict).items():
        if written.shape:
            axis = 0 if written.order == "row-major" else -1
            alike.setdefault(written.shape[axis], {})[name] = resized[name].shape[axis]
    for before, rows in alike.items():
        if (uneven := describe_uneven_rows(before, rows)) is not None:
            warn_of_finding(Finding("warning", uneven[0], uneven[1], UNEVEN_HINT))


def find_fixed_lists(lists: Mapping[str, Any], strict: bool) -> frozenset[str]:
    """Return the lists that are not resized, since others depend on them."""

    def read(columns: Sequence[str] | None) -> dict[str, Any]:
        return {name: read_array(name, cells, strict, "nan") for name, cells in select(lists, columns).items()}

    return find_fixed_columns(read, lambda: infos_of_lists(lists, strict))


def infos_of_lists(
    lists: Mapping[str, Any], strict: bool, *, fixed: Collection[str] | None = None
) -> dict[str, ArrayInfo]:
    """Return the infos of some flat lists; those with a damaged header are left out.

    Args:
        lists: by name.
        strict: refuse lists without a version.
        fixed: lists that are not resized; None for all of them.
    """
    infos = {}
    for name, cells in lists.items():
        if isinstance(cells, list):
            with suppress(FormatError):
                first = count_blanks_before(cells)
                header, start = parse_header(cells[first:] if first else cells, strict=strict, note=lambda _: None)
                start += first
                if fixed is not None and name not in fixed:
                    header = resize_to_cells(header, cells[start:], "error")
                infos[name] = ArrayInfo.from_header(header, f"{name}[0]", start)
    return infos


def read_array(
    name: str,
    cells: Any,
    strict: bool,
    missing: Missing,
    note: NoteFinding = warn_of_finding,
    *,
    resize: bool = False,
) -> np.ndarray[Any, Any]:
    """Return the array of a flat list.

    Raises:
        FormatError: with the location of the first cell that is wrong.
    """
    if not isinstance(cells, list):
        raise FormatError(f"expected a flat list, found {_KINDS.get(type(cells), 'a number')}", location=name)
    return LinearArray.from_cells(
        cells,
        strict=strict,
        missing=missing,
        address=lambda index: f"{name}[{index}]",
        name=name,
        note=note,
        resize=resize,
    ).to_numpy()


def read_lists(source: Source) -> dict[str, Any]:
    """Return the flat lists of a JSON text by name; their cells are not checked.

    Raises:
        FormatError: no JSON, or no list in it.
    """
    text = bytes(source.whole())
    refuse_empty(text)
    check_structure(text, _MOST_NESTED)
    content = parse_text(text)
    if isinstance(content, dict) and content:
        return content
    if isinstance(content, list) and content and not isinstance(content[0], list):
        return {default_name(source.name): content}
    if isinstance(content, list) and content and all(isinstance(cells, list) for cells in content):
        return {column_letters(index): cells for index, cells in enumerate(content)}
    raise FormatError("no array of the exchange format here (a flat list that begins with version, 1.0.0, ndarray)")
