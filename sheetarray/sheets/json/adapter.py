"""JSON: `{name: flat list}`, or one flat list, or a list of flat lists.

The flat list is that of the exchange format (https://github.com/stdlib-js/stdlib/issues/1140), element for element.
Numbers are doubles to most readers of JSON, so integers beyond 2^53 are decimal text; NaN and infinities are words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack, overload

from ...columns import (
    MOST_BROKEN,
    ArrayInfo,
    are_mapped,
    check_accept_target,
    keeping_unreadable,
)
from ...columns.blocks.reading import iter_or_read
from ...columns.pieced_arrays import NotInPiecesError
from ...dtypes import Array, Buffer
from ...elements import MOST_GENERIC, Cell, ComplexForm, Missing, MissingOption, NaValues, missing_of
from ...errors import Finding, FormatError, NotFoundError, locating
from ...files import Readable, Source, Writable, locate, replacing
from ...formats.contract import CELL_CHARACTERS, Keeps, Progress, ignore_progress
from ...linear.array import resize_to_cells
from ...linear.named import check_unicode, default_name, pick_array
from ...linear.parsing import changed_header_cells
from ..accepted import AcceptedArrays
from ..arrays_of_sheets import check_composites, read_composites, scan_composites
from ..content import SheetContent, take_arrays
from .parsed_lists import ParsedLists, ignore_finding, read_lists
from .parsing import dump_cells, dump_elements, text_to_utf8
from .sound_lists import SoundLists, refuse_finding
from .text import find_lists, read_header

keeps_json = Keeps(buffers=True, nested=True, labels=True)

LARGE_TEXT = 2**26  # bytes; a text that is as long is checked piece by piece, and no list of it is kept
_CELLS_A_BLOCK = 100_000  # that are written at once


def write_json(
    target: Writable,
    arrays: Any,
    *,
    complex: ComplexForm = "text",
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Write arrays as a JSON object of flat lists, one array a line.

    Args:
        target: a path (`.gz` and `.zst` compress), or an open file. A file is replaced whole or not at all.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        complex: "text" writes `3+4i`; "interleaved" writes two numbers for an element.
        progress: a function, called with the number of cells written and the total.
        storage_options: options of the file system of a URL, such as `anon`, or `key` and `secret`.

    Raises:
        DTypeError: the format has no dtype for an array.

    Example:
        >>> import io, json
        >>> import numpy as np
        >>> file = io.StringIO()
        >>> write_json(file, {"x": np.array([1.5])})
        >>> json.loads(file.getvalue())["x"][-2:]
        ['data', 1.5]
    """
    target = locate(target, storage_options)
    linear = take_arrays(arrays, CELL_CHARACTERS, exact=MOST_GENERIC)
    check_unicode(linear)
    write(target, SheetContent("", (), arrays=linear), complex=complex, report=progress or ignore_progress)


def write(target: Writable, content: SheetContent, *, complex: ComplexForm, report: Progress) -> None:
    """Write arrays as flat lists of JSON, one a line. A file is replaced whole or not at all.

    `report`: called with the number of cells written and the total.
    """
    named = content.arrays
    heads: dict[int, tuple[bytes, int]] = {}  # as JSON, and how many cells; very many arrays share few headers
    for array in named.values():
        if id(array.header) not in heads:
            cells = array.header.to_cells()
            heads[id(array.header)] = dump_cells(cells), len(cells)
    total = sum(heads[id(array.header)][1] + len(array.buffer) for array in named.values())
    done = 0
    report(0, total)
    with replacing(target, cells=total) as sink:
        before = b"{\n"
        for name, array in named.items():
            head, count = heads[id(array.header)]
            before = b"%b%b: [%b" % (before, dump_cells([name]), head)
            done += count
            for start in range(0, len(array.buffer), _CELLS_A_BLOCK):
                block = array.buffer[start : start + _CELLS_A_BLOCK]
                sink.write(b"%b,%b" % (before, dump_elements(block, array.header.dtype, complex=complex)))
                before = b""
                report(done := done + len(block), total)
            sink.write(before)  # of an array without elements; else it is empty
            before = b"],\n"
        sink.write(b"]\n}\n")
    report(total, total)


class _JsonOptions(TypedDict, total=False):
    """The options of `read_json`."""

    strict: bool
    missing: MissingOption
    na_values: NaValues
    resize: bool
    progress: Progress | None
    storage_options: Mapping[str, Any] | None


@overload
def read_json(  # type: ignore[overload-overlap]  # a text is a sequence of texts, too
    source: Readable, names: str, **options: Unpack[_JsonOptions]
) -> Array: ...


@overload
def read_json(
    source: Readable, names: Sequence[str] | None = ..., **options: Unpack[_JsonOptions]
) -> dict[str, Array]: ...


def read_json(
    source: Readable,
    names: str | Sequence[str] | None = None,
    *,
    strict: bool = False,
    missing: MissingOption = "error",
    na_values: NaValues = (),
    resize: bool = False,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array | dict[str, Array]:
    """Read the flat lists of a JSON text.

    Args:
        source: a path or an open file; gzip and Zstandard are recognised.
        names: the arrays to read; one name as text gives that array alone. None reads all.
        strict: refuse flat lists without a version, an older form.
        missing: "nan" reads null, and words such as `n/a`, in float and complex arrays as NaN; a warning counts words.
        na_values: texts or numbers that mean a missing value, besides those; a warning counts them.
        resize: read arrays at their new length where people added or deleted rows.
        progress: a function, called with the number of cells read and the total.
        storage_options: options of the file system of a URL, such as `anon`, or `key` and `secret`.

    Returns:
        The arrays by name; or one array. If the text has no names, a single list takes the file's name without its
            suffix, and several lists are named A, B, ..

    Raises:
        FormatError: the content is wrong; `.location`, such as `x[17]`, is the first wrong cell.
        NotFoundError: an array in `names` does not exist.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.StringIO()
        >>> write_json(file, {"x": np.array([1.5])})
        >>> read_json(io.StringIO(file.getvalue()))
        {'x': array([1.5])}
    """
    as_missing = missing_of(missing, na_values)
    with Source(source, storage_options=storage_options) as opened, locating(source=opened.name):
        if (
            are_mapped(len(opened.whole()))
            and not (strict or resize)
            and (large := _read_large(opened, names, as_missing)) is not None
        ):
            return pick_array(large, names)
        lists = ParsedLists(read_lists(opened), strict=strict, missing=as_missing, resize=resize)
        if resize:
            lists.warn_of_uneven()
        lists.progress = progress
        return pick_array(read_composites(lists.read, lists.scan, names), names)


def _read_large(source: Source, names: str | Sequence[str] | None, missing: Missing) -> dict[str, Any] | None:
    """Return arrays, the large ones mapped; None if none is large, or the text has to be parsed at once."""
    try:
        lists = SoundLists(source, missing, refuse_finding)
        arrays = read_composites(lists.read, lists.scan, names)
    except (NotInPiecesError, FormatError, NotFoundError):
        return None
    return arrays if lists.has_mapped else None


def iter_elements_json(
    source: Readable, names: Sequence[str], *, missing: MissingOption = "error", na_values: NaValues = ()
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with the next elements of its buffer, one array after the other.

    Lists that are not asked for are passed over. If a cell, or the number of cells, is wrong, the text is read at once.

    Arguments are those of `read_json`.

    Raises:
        FormatError: as `read_json`, when the first cell that is wrong is reached.
        NotFoundError: no such array.
    """
    as_missing = missing_of(missing, na_values)
    with Source(source) as opened, locating(source=opened.name):

        def iterate() -> Iterator[tuple[str, Buffer]]:
            lists = SoundLists(opened, as_missing)
            for name in names:
                yield from ((name, elements) for elements in lists.iterate(name))

        def read_whole(names: Sequence[str]) -> dict[str, Any]:
            lists = ParsedLists(read_lists(opened), missing=as_missing)
            return read_composites(lists.read, lists.scan, names)

        yield from iter_or_read(iterate(), names, read_whole)


def scan_json(source: Readable, *, strict: bool = False, resize: bool = False) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each array, from headers alone. Data are skipped, not parsed.

    Args:
        strict: refuse flat lists without a version, an older form.
        resize: return the shapes that `read_json` gives with `resize=True`; all cells are read for this.

    Other arguments are those of `read_json`.
    """
    with Source(source) as opened, locating(source=opened.name):
        flat_lists = find_lists(text_to_utf8(opened.whole()), default_name(opened.name), strict=strict)
        infos = {name: json_list.info for name, json_list in flat_lists.items()}
        if resize:
            lists = ParsedLists(read_lists(opened), strict=strict, resize=True)
            lists.warn_of_uneven()
            infos = lists.scan(resized=True)

        def read(names: Sequence[str] | None) -> dict[str, Any]:
            return ParsedLists(read_lists(opened), strict=strict, missing="nan").read(names)

        return scan_composites(read, lambda: infos)


def check_json(source: Readable, *, missing: MissingOption = "error", na_values: NaValues = ()) -> Iterator[Finding]:
    """Yield a finding for each problem in a JSON text. An intact text has none.

    Arguments are those of `read_json`.
    """
    as_missing = missing_of(missing, na_values)
    findings: list[Finding] = []
    broken = 0
    with Source(source) as opened:
        if len(opened.whole()) >= LARGE_TEXT and (remarks := _check_in_pieces(opened, as_missing)) is not None:
            yield from remarks
            return
        try:
            lists = ParsedLists(read_lists(opened), missing=as_missing)
        except FormatError as error:
            yield Finding.from_error(error)
            return
    for name in lists.cells:
        notes: list[Finding] = []
        errors: list[FormatError] = []
        try:
            with locating(array=name):
                lists.read_array(name, note=notes.append, report=errors.append)
        except FormatError as error:
            errors.append(error)
        findings += map(Finding.from_error, errors)
        if errors:
            broken += 1
            if broken == MOST_BROKEN:
                reason = f"{MOST_BROKEN} arrays are broken: those after this one were not checked"
                yield from [*findings, Finding("error", name, reason)]
                return
        findings += [replace(note, array=name) for note in notes]
    yield from findings
    yield from check_composites(lists.read, lists.scan)


def _check_in_pieces(source: Source, missing: Missing) -> Iterable[Finding] | None:
    """Return the findings of a text, without keeping its lists; None if it cannot be checked in pieces."""
    try:
        lists = SoundLists(source, missing, refuse_finding)
        for name in lists.scan():
            for _ in lists.iterate(name):
                pass
    except (NotInPiecesError, FormatError):
        return None
    return check_composites(lists.read, lists.scan)


def accept_json(
    source: Readable, target: Writable | None = None, *, missing: MissingOption = "error", na_values: NaValues = ()
) -> AcceptedArrays:
    """Correct the headers of the flat lists in a JSON text, so that they fit the items. All other bytes stay.

    Args:
        target: the file to write; None replaces the source whole.

    Other arguments are those of `read_json`.
    """
    as_missing = missing_of(missing, na_values)
    check_accept_target(source, target)
    with Source(source) as opened, locating(source=opened.name):
        raw = bytes(opened.whole())
        lists = ParsedLists(read_lists(opened), missing=as_missing, resize=True)
        with keeping_unreadable("missing") as unreadable:
            arrays = lists.read(None)
        lists.warn_of_uneven()
        infos = lists.scan(), lists.scan(resized=True, missing=as_missing)
        accepted = AcceptedArrays.of_columns(arrays, unreadable, infos)
        text = bytes(text_to_utf8(raw))
        places = find_lists(text, default_name(opened.name))
        pieces: list[bytes] = []
        at = 0
        for name, cells in lists.cells.items():
            changes = {} if name in lists.fixed else _changes_of(cells, as_missing)
            for index, value in sorted(changes.items()):
                start, end = places[name].spans[index]
                pieces += [text[at:start], str(value).encode()]
                at = end
        content = b"".join([*pieces, text[at:]])
        encoding = json.detect_encoding(raw[:4])
        if pieces and not encoding.startswith("utf-8"):
            content = content.decode().encode(encoding)
    if pieces or target is not None:
        with replacing(source if target is None else target) as sink:
            sink.write(content if pieces else raw)
    return accepted


def _changes_of(cells: Sequence[Cell], missing: Missing) -> dict[int, int]:
    """Return the integers that have to change in the header of a flat list, by the index of their item."""
    first, header, start = read_header(cells, "", strict=False, note=ignore_finding)
    changes = changed_header_cells(cells[first:], resize_to_cells(header, cells[start:], missing))
    return {first + index: value for index, value in changes.items()}
