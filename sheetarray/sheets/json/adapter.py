"""JSON: `{name: flat list}`, or one flat list, or a list of flat lists.

The flat list is that of the exchange format (https://github.com/stdlib-js/stdlib/issues/1140), element for element.
Numbers are doubles to most readers of JSON, so integers beyond 2^53 are decimal text; NaN and infinities are words.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ...adapters import CELL_CHARACTERS, Keeps, Progress, ignore_progress
from ...arrays import check_unicode, default_name, linear_arrays, select
from ...columns import (
    MOST_BROKEN,
    UNEVEN_HINT,
    ArrayInfo,
    ReportError,
    check_adopt_target,
    column_letters,
    describe_uneven_rows,
    errors_of_problems,
    keep_unreadable,
)
from ...composite import check_composites, find_fixed_columns, read_composites, scan_composites, spread
from ...dtypes import Buffer
from ...elements import MOST_GENERIC, Cell, ComplexForm, Missing, Problem, check_missing, is_blank
from ...errors import Finding, FormatError, locating
from ...files import BytesLike, Readable, Source, Writable, check_structure, locate, refuse_empty, replacing
from ...header import (
    AddressOf,
    Header,
    NoteFinding,
    changed_header_cells,
    count_blanks_before,
    parse_header,
    warn_of_finding,
)
from ...linear import decode_data, decode_list, iter_rest, resize_to_cells, view_of
from ...spool import NotInPiecesError
from .text import (
    FlatList,
    cut_items,
    dump_cells,
    dump_elements,
    find_header_spans,
    find_lists,
    parse_text,
    to_utf8,
    walk_headers,
)

# JSON: `{name: flat list}`, or one flat list, or a list of flat lists.
#
# The flat list is that of the exchange format (https://github.com/stdlib-js/stdlib/issues/1140), element for
# element. Numbers are doubles to most readers of JSON, so integers beyond 2^53 are decimal text; NaN and infinities
# are words.

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
    heads: dict[int, tuple[bytes, int]] = {}  # as JSON, and how many cells; very many arrays share few headers
    for array in named.values():
        if id(array.header) not in heads:
            cells = array.header.to_cells()
            heads[id(array.header)] = dump_cells(cells), len(cells)
    total = sum(heads[id(array.header)][1] + len(array.buffer) for array in named.values())
    done, report = 0, progress or ignore_progress
    report(0, total)
    with replacing(target) as sink:
        before = b"{\n"
        for name, array in named.items():
            head, count = heads[id(array.header)]
            sink.write(b"%b%b: [%b" % (before, dump_cells([name]), head))
            done += count
            for start in range(0, len(array.buffer), _CELLS_A_BLOCK):
                block = array.buffer[start : start + _CELLS_A_BLOCK]
                sink.write(b"," + dump_elements(block, array.dtype_entry, complex=complex))
                report(done := done + len(block), total)
            before = b"],\n"
        sink.write(b"]\n}\n")
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
            if progress is not None:
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

    `fixed`: lists that are not resized; None for all of them.
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
    report: ReportError | None = None,
) -> np.ndarray[Any, Any]:
    """Return the array of a flat list; `report` takes the errors of its cells.

    Raises:
        FormatError: with the location of the first cell that is wrong, if nothing takes it.
    """
    if not isinstance(cells, list):
        raise FormatError(f"expected a flat list, found {_KINDS.get(type(cells), 'a number')}", location=name)

    def take_problems(header: Header, problems: Sequence[Problem], data: Sequence[Cell], address: AddressOf) -> None:
        cells_each = len(data) // header.capacity
        errors: Iterable[FormatError] | None = keep_unreadable(
            name, header, problems, data, address, cells_each=cells_each
        )
        if errors is None:
            errors = errors_of_problems(problems, header, name, address, cells_each=cells_each)
        for error in errors:
            if report is None:
                raise error
            report(error)

    header, buffer = decode_list(
        cells,
        strict=strict,
        missing=missing,
        address=lambda index: f"{name}[{index}]",
        name=name,
        note=note,
        resize=resize,
        take_problems=take_problems,
    )
    return view_of(header, buffer)


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


# Reads the arrays of a JSON text piece by piece, so that memory does not grow with the text.

_PIECE = 2**20  # bytes of text that are parsed at once
_MOST_BLANKS = 4096  # bytes of white space between the word "data" and the comma after it, or after the last list


def iter_elements_json(
    source: Readable, names: Sequence[str], *, missing: Missing = "error"
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with the next elements of its buffer, one array after the other.

    Lists that are not asked for are passed over. If a cell, or the number of cells, is wrong, the text is read at once.

    Args:
        source: a path, or an open file.
        names: of the arrays.
        missing: as for `read_json`.

    Raises:
        FormatError: as `read_json`, when the first cell that is wrong is reached.
        NotFoundError: no such array.

    Example:
        >>> import numpy as np
        >>> from .adapter import write_json
        >>> file = io.BytesIO()
        >>> write_json(file, {"t": np.arange(3)})
        >>> [(name, some.tolist()) for name, some in iter_elements_json(io.BytesIO(file.getvalue()), ["t"])]
        [('t', [0, 1, 2])]
    """
    check_missing(missing)
    done = dict.fromkeys(names, 0)
    left = list(done)
    with Source(source) as opened, locating(source=opened.name):
        try:
            text = to_utf8(opened.whole())
            lists = find_sound_lists(text, default_name(opened.name))
            if not all(name in lists for name in left):
                raise NotInPiecesError
            while left:
                for elements in iter_list(text, lists[left[0]], missing):
                    yield left[0], elements
                    done[left[0]] += len(elements)
                left.pop(0)
        except (NotInPiecesError, FormatError):
            content = opened.path or io.BytesIO(bytes(opened.whole()))
            arrays = read_json(content, left, missing=missing)
        else:
            return
    yield from iter_rest(arrays, {name: done[name] for name in left})


def find_sound_lists(text: BytesLike, alone: str, note: NoteFinding = warn_of_finding) -> dict[str, FlatList]:
    """Return the header and the position of each list, if all text around their data cells is JSON.

    Raises:
        FormatError: it is not, or a header is broken.
    """
    lists = find_lists(text, alone, note)
    start, pieces = 0, []
    for one in sorted(lists.values(), key=lambda one: one.at):
        pieces.append(bytes(text[start : one.at]))
        start = one.end
    if len(text) - start > _MOST_BLANKS:
        raise NotInPiecesError  # so much text after the last list can only be wrong
    parse_text(b"".join([*pieces, bytes(text[start:])]))
    return lists


def iter_list(text: BytesLike, one: FlatList, missing: Missing) -> Iterator[Buffer]:
    """Yield the elements of a list, a piece of the text at a time.

    Raises:
        NotInPiecesError: cells are to be looked at one by one.
    """
    if one.header.part is not None or one.start != len(one.cells):
        raise NotInPiecesError
    header, left = one.header, one.header.capacity
    for piece in cut_items(text, *_find_items(text, one), _PIECE):
        cells = parse_text(b"[%b]" % piece)
        if not cells or (header.dtype.kind == "complex" and not all(isinstance(cell, str) for cell in cells)):
            raise NotInPiecesError
        count = min(left, len(cells))
        if not all(map(is_blank, cells[count:])):
            raise NotInPiecesError
        if count:
            some = Header(header.dtype, (count,), (1,), 0, "row-major", count)
            buffer, problems = decode_data(cells[:count], some, missing=missing)
            if problems:
                raise NotInPiecesError
            yield buffer
        left -= count
    if left:
        raise NotInPiecesError


def _find_items(text: BytesLike, one: FlatList) -> tuple[int, int]:
    """Return the positions at which the data cells of a list begin, after the comma of its header, and end.

    Raises:
        NotInPiecesError: something else stands there.
    """
    between = bytes(text[one.at : min(one.at + _MOST_BLANKS, one.end)])
    rest = between.lstrip(b" \t\r\n")
    if rest.startswith(b","):
        return one.at + len(between) - len(rest) + 1, one.end
    if rest or len(between) == _MOST_BLANKS:
        raise NotInPiecesError
    return one.end, one.end


# Finds everything that is wrong with a JSON text of flat lists; a large one is checked piece by piece.

LARGE_TEXT = 2**26  # bytes; of a smaller one all arrays are read together


def check_json(source: Readable, *, missing: Missing = "error") -> Iterator[Finding]:
    """Yield every finding in a JSON text; nothing for an intact one.

    Args:
        source: as for `read_json`.
        missing: as for `read_json`.

    Raises:
        OSError: no such file; nothing is raised for its content.

    Example:
        >>> import io
        >>> text = '["version", "1.0.0", "ndarray", "shape", 1, "strides", 1, "offset", 0, "order", "row-major", '
        >>> text += '"dtype", "uint8", "length", 1, "capacity", 1, "data", 300]'
        >>> [finding.message for finding in check_json(io.StringIO(text))]
        ['array[0]: 300 is beyond the range of uint8']
    """
    findings: list[Finding] = []
    broken = 0
    with Source(source) as opened:
        if len(opened.whole()) >= LARGE_TEXT and (remarks := _check_in_pieces(opened, missing)) is not None:
            yield from remarks
            return
        try:
            lists = read_lists(opened)
        except FormatError as error:
            lists = {}
            findings.append(Finding.from_error(error))
    for name, cells in lists.items():
        notes: list[Finding] = []
        errors: list[FormatError] = []
        try:
            with locating(array=name):
                read_array(name, cells, False, missing, notes.append, report=errors.append)
        except FormatError as error:
            errors.append(error)
        findings += map(Finding.from_error, errors)
        if errors:
            broken += 1
            if broken == MOST_BROKEN:
                reason = f"{MOST_BROKEN} arrays are broken: those after this one were not looked at"
                yield from findings
                yield Finding("error", name, reason)
                return
        findings += [replace(note, array=name) for note in notes]

    def read(columns: Sequence[str] | None) -> dict[str, Any]:
        wanted = select(lists, columns)
        return {name: read_array(name, cells, False, missing) for name, cells in wanted.items()}

    yield from findings
    yield from check_composites(read, lambda: infos_of_lists(lists, False))


def _check_in_pieces(source: Source, missing: Missing) -> Iterable[Finding] | None:
    """Return the findings of a text all of whose lists are sound, of which no list is kept; None for any other text."""
    try:
        text, alone = to_utf8(source.whole()), default_name(source.name)
        lists = find_sound_lists(text, alone, _refuse)
        for name in lists:
            for _ in iter_list(text, lists[name], missing):
                pass
    except (NotInPiecesError, FormatError):
        return None

    def read(columns: Sequence[str] | None) -> dict[str, Any]:
        wanted = select(lists, columns)
        arrays = {}
        for name, one in wanted.items():
            pieces = list(iter_list(text, one, missing)) or [np.zeros(0, one.header.dtype.numpy)]
            arrays[name] = view_of(one.header, np.concatenate(pieces))
        return arrays

    return check_composites(read, lambda: walk_headers(text, alone))


def _refuse(_: Finding) -> None:
    raise NotInPiecesError


# Headers of flat lists in a JSON text made true: a few integers are replaced, every other character stays.


def adopt_json(source: Readable, target: Writable | None = None, *, missing: Missing = "error") -> dict[str, ArrayInfo]:
    """Make the headers of the flat lists in a JSON text true to the items behind them; all else stays.

    Args:
        source: a path, or an open file (then with a target).
        target: another file to write to; None for the source itself, which is replaced as a whole.
        missing: as for `read_json`.

    Returns:
        The infos of the lists that had other lengths, as their headers say them now.

    Raises:
        FormatError: as `read_json`; the file is as it was.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from .adapter import write_json
        >>> file, adopted = io.StringIO(), io.BytesIO()
        >>> write_json(file, {"t": np.array([1.5, 2.5])})
        >>> adopt_json(io.StringIO(file.getvalue().replace("2.5]", "2.5, 3.5]")), adopted)["t"].shape
        (3,)
    """
    check_adopt_target(source, target)
    with Source(source) as opened, locating(source=opened.name):
        raw = bytes(opened.whole())
        lists = read_lists(opened)
        fixed = find_fixed_lists(lists, False)
        text = bytes(to_utf8(raw))
        spans = find_header_spans(text, default_name(opened.name))
        pieces: list[bytes] = []
        at, changed = 0, []
        for name, cells in lists.items():
            changes = {} if name in fixed else _changes_of(cells, missing)
            changed += [name] if changes else []
            for index, value in sorted(changes.items()):
                start, end = spans[name][index]
                pieces += [text[at:start], str(value).encode()]
                at = end
        content = b"".join([*pieces, text[at:]])
        encoding = json.detect_encoding(raw[:4])
        if content != text and not encoding.startswith("utf-8"):
            content = content.decode().encode(encoding)
        infos = infos_of_lists({name: lists[name] for name in changed}, False, fixed=frozenset())
        read_json(source if isinstance(source, (str, os.PathLike)) else _again(raw), missing=missing, resize=True)
    if changed or target is not None:
        with replacing(source if target is None else target) as sink:
            sink.write(content if changed else raw)
    return infos


def _changes_of(cells: Any, missing: Missing) -> dict[int, int]:
    """Return the integers that have to change in the header of a flat list, by the index of their item."""
    first = count_blanks_before(cells)
    header, start = parse_header(cells[first:], note=lambda _: None)
    changes = changed_header_cells(cells[first:], resize_to_cells(header, cells[first + start :], missing))
    return {first + index: value for index, value in changes.items()}


def _again(raw: bytes) -> Any:
    import io

    return io.BytesIO(raw)
