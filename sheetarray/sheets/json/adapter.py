"""JSON: `{name: flat list}`, or one flat list, or a list of flat lists.

The flat list is that of the exchange format (https://github.com/stdlib-js/stdlib/issues/1140), element for element.
Numbers are doubles to most readers of JSON, so integers beyond 2^53 are decimal text; NaN and infinities are words.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from ...columns import (
    MOST_ARRAYS,
    MOST_BROKEN,
    UNEVEN_HINT,
    ArrayInfo,
    ReportError,
    are_mapped,
    check_accept_target,
    column_letters,
    describe_uneven_rows,
    errors_of_problems,
    keep_unreadable,
    keeping_unreadable,
    too_many_arrays,
)
from ...columns.blocks.reading import iter_or_read
from ...columns.pieced_arrays import NotInPiecesError
from ...dtypes import Array, Buffer
from ...elements import MOST_GENERIC, Cell, ComplexForm, Missing, Problem
from ...errors import Finding, FormatError, NotFoundError, locating
from ...files import Readable, Source, Writable, check_structure, locate, refuse_empty, replacing
from ...formats.contract import CELL_CHARACTERS, Keeps, Progress, ignore_progress
from ...linear.array import decode_list, resize_to_cells
from ...linear.buffers import view_of
from ...linear.data_cells import check_missing
from ...linear.header import AddressOf, Header, NoteFinding
from ...linear.named import check_unicode, default_name, pick_array, select
from ...linear.parsing import changed_header_cells, warn_of_finding
from ..accepted import AcceptedArrays
from ..arrays_of_sheets import check_composites, find_fixed_columns, read_composites, scan_composites
from ..content import SheetContent, take_arrays
from .sound_lists import SoundLists, refuse_finding
from .text import (
    NO_ARRAY,
    dump_cells,
    dump_elements,
    find_lists,
    parse_text,
    read_header,
    text_to_utf8,
)

keeps_json = Keeps(buffers=True, nested=True, labels=True)

LARGE_TEXT = 2**26  # bytes; a text that is as long is checked piece by piece, and no list of it is kept
_CELLS_A_BLOCK = 100_000  # that are written at once
_MOST_NESTED = 3_000_000  # lists, and objects such as {"type": "float64", "value": "NaN"}, in a text
_KINDS = {dict: "an object", str: "a string", bool: "a boolean", type(None): "null"}  # as JSON calls them


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
    with replacing(target) as sink:
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
    missing: Missing
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
    missing: Missing = "error",
    resize: bool = False,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array | dict[str, Array]:
    """Read the flat lists of a JSON text.

    Args:
        source: a path or an open file; gzip and Zstandard are recognised.
        names: the arrays to read; one name as text gives that array alone. None reads all.
        strict: refuse flat lists without a version, an older form.
        missing: "nan" reads null in float and complex arrays as NaN.
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
        >>> file = io.StringIO()
        >>> write_json(file, {"x": np.array([1.5])})
        >>> read_json(io.StringIO(file.getvalue()))
        {'x': array([1.5])}
    """
    with Source(source, storage_options=storage_options) as opened, locating(source=opened.name):
        if (
            are_mapped(len(opened.whole()))
            and not (strict or resize)
            and (large := _read_large(opened, names, missing)) is not None
        ):
            return pick_array(large, names)
        lists = _Lists(read_lists(opened), strict=strict, missing=missing, resize=resize)
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
    source: Readable, names: Sequence[str], *, missing: Missing = "error"
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with the next elements of its buffer, one array after the other.

    Lists that are not asked for are passed over. If a cell, or the number of cells, is wrong, the text is read at once.

    Arguments are those of `read_json`.

    Raises:
        FormatError: as `read_json`, when the first cell that is wrong is reached.
        NotFoundError: no such array.
    """
    check_missing(missing)
    with Source(source) as opened, locating(source=opened.name):

        def iterate() -> Iterator[tuple[str, Buffer]]:
            lists = SoundLists(opened, missing)
            for name in names:
                yield from ((name, elements) for elements in lists.iterate(name))

        def read_whole(names: Sequence[str]) -> dict[str, Any]:
            lists = _Lists(read_lists(opened), missing=missing)
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
            lists = _Lists(read_lists(opened), strict=strict, resize=True)
            lists.warn_of_uneven()
            infos = lists.scan(resized=True)

        def read(names: Sequence[str] | None) -> dict[str, Any]:
            return _Lists(read_lists(opened), strict=strict, missing="nan").read(names)

        return scan_composites(read, lambda: infos)


def check_json(source: Readable, *, missing: Missing = "error") -> Iterator[Finding]:
    """Yield a finding for each problem in a JSON text. An intact text has none.

    Arguments are those of `read_json`.
    """
    findings: list[Finding] = []
    broken = 0
    with Source(source) as opened:
        if len(opened.whole()) >= LARGE_TEXT and (remarks := _check_in_pieces(opened, missing)) is not None:
            yield from remarks
            return
        try:
            lists = _Lists(read_lists(opened), missing=missing)
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


def accept_json(source: Readable, target: Writable | None = None, *, missing: Missing = "error") -> AcceptedArrays:
    """Correct the headers of the flat lists in a JSON text, so that they fit the items. All other bytes stay.

    Args:
        target: the file to write; None replaces the source whole.

    Other arguments are those of `read_json`.
    """
    check_accept_target(source, target)
    with Source(source) as opened, locating(source=opened.name):
        raw = bytes(opened.whole())
        lists = _Lists(read_lists(opened), missing=missing, resize=True)
        with keeping_unreadable("missing") as unreadable:
            arrays = lists.read(None)
        lists.warn_of_uneven()
        infos = lists.scan(), lists.scan(resized=True, missing=missing)
        accepted = AcceptedArrays.of_columns(arrays, unreadable, infos)
        text = bytes(text_to_utf8(raw))
        places = find_lists(text, default_name(opened.name))
        pieces: list[bytes] = []
        at = 0
        for name, cells in lists.cells.items():
            changes = {} if name in lists.fixed else _changes_of(cells, missing)
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
    first, header, start = read_header(cells, "", strict=False, note=_ignore)
    changes = changed_header_cells(cells[first:], resize_to_cells(header, cells[start:], missing))
    return {first + index: value for index, value in changes.items()}


# The lists of a text that is parsed at once ----------------------------------------------------------------------


class _Lists:
    """The flat lists of a JSON text.

    `resize`: lists take the length that their cells have.

    Attributes:
        cells: of each list, by name; they are looked at when its array is read.
        fixed: the lists that keep the length of their header, since others depend on them; all without `resize`.
        progress: is called with the cells read, and the cells in all.
    """

    def __init__(
        self, cells: dict[str, Any], *, strict: bool = False, missing: Missing = "error", resize: bool = False
    ) -> None:
        self.cells, self._strict, self._missing = cells, strict, missing
        self.fixed: Collection[str] = self.cells.keys()
        self.progress: Progress | None = None
        self._done = self._total = 0
        if resize:
            self.fixed = find_fixed_columns(self.read, self.scan)

    def read(self, names: Sequence[str] | None) -> dict[str, Any]:
        """Return arrays by name; all of them for None."""
        selected = select(self.cells, names)
        report = self.progress or ignore_progress
        self._total += sum(len(cells) for cells in selected.values() if isinstance(cells, list))
        report(self._done, self._total)
        arrays = {}
        for name, cells in selected.items():
            arrays[name] = self.read_array(name)
            self._done += len(cells)
            report(self._done, self._total)
        return arrays

    def read_array(
        self, name: str, *, note: NoteFinding = warn_of_finding, report: ReportError | None = None
    ) -> np.ndarray[Any, Any]:
        """Return the array of a list; `report` takes the errors of its cells."""
        cells = self.cells[name]
        if not isinstance(cells, list):
            raise FormatError(f"expected a flat list, found {_KINDS.get(type(cells), 'a number')}", location=name)

        def take(header: Header, problems: Sequence[Problem], data: Sequence[Cell], address: AddressOf) -> None:
            each = len(data) // header.capacity
            errors: Iterable[FormatError] | None
            if (errors := keep_unreadable(name, header, problems, data.__getitem__, address, cells_each=each)) is None:
                errors = errors_of_problems(problems, header, name, address, cells_each=each)
            for error in errors:
                if report is None:
                    raise error
                report(error)

        header, buffer = decode_list(
            cells,
            strict=self._strict,
            missing=self._missing,
            address=lambda index: f"{name}[{index}]",
            name=name,
            note=note,
            resize=name not in self.fixed,
            take_problems=take,
        )
        return view_of(header, buffer)

    def scan(self, *, resized: bool = False, missing: Missing = "error") -> dict[str, ArrayInfo]:
        """Return the infos of the lists by their headers, or by their cells; damaged headers are left out."""
        infos = {}
        for name, cells in self.cells.items():
            if isinstance(cells, list):
                with suppress(FormatError):
                    _, header, start = read_header(cells, name, strict=self._strict, note=_ignore)
                    if resized and name not in self.fixed:
                        header = resize_to_cells(header, cells[start:], missing)
                    infos[name] = ArrayInfo.from_header(header, f"{name}[0]", start)
        return infos

    def warn_of_uneven(self) -> None:
        """Warn of arrays that had as many rows each, and have not now."""
        alike: dict[int, dict[str, int]] = {}
        resized = self.scan(resized=True)
        for name, written in self.scan().items():
            if written.shape:
                axis = 0 if written.order == "row-major" else -1
                alike.setdefault(written.shape[axis], {})[name] = resized[name].shape[axis]
        for before, rows in alike.items():
            if (uneven := describe_uneven_rows(before, rows)) is not None:
                warn_of_finding(Finding("warning", uneven[0], uneven[1], UNEVEN_HINT))


def _ignore(_: Finding) -> None:
    """Ignore what reading tells of a header."""


def read_lists(source: Source) -> dict[str, Any]:
    """Return the flat lists of a JSON text by name; their cells are not checked.

    Raises:
        FormatError: no JSON, or no list in it.
    """
    text = bytes(source.whole())
    refuse_empty(text)
    check_structure(text, _MOST_NESTED)
    content = parse_text(text)
    is_several = isinstance(content, dict) or (
        isinstance(content, list) and content[:1] and isinstance(content[0], list)
    )
    if is_several and len(content) > MOST_ARRAYS:
        raise too_many_arrays()
    if isinstance(content, dict) and content:
        return content
    if isinstance(content, list) and content and not isinstance(content[0], list):
        return {default_name(source.name): content}
    if isinstance(content, list) and content and all(isinstance(cells, list) for cells in content):
        return {column_letters(index): cells for index, cells in enumerate(content)}
    raise FormatError(NO_ARRAY)
