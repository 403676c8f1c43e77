"""read, write, scan, check, adopt, restore, convert, read_columns, write_table: the whole package behind nine verbs.

Each finds the adapter by suffix or URL and hands over; options go to the adapter as they are, and a name that it
does not know is an error. A path may be a URL of a file, with `storage_options` for its file system.
"""

from __future__ import annotations

import errno
import inspect
import io
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any, Literal, TypeGuard, overload

import numpy as np

from .arrays import default_name, hold_stream, values_by_name
from .columns import ArrayInfo
from .errors import Finding, FormatError, LimitError, NotFoundError, SheetArrayError, SheetArrayWarning, warn_caller
from .files import is_url, locate, name_part
from .header import warn_of_finding
from .labels import LabelledArrays, check_fit, has_labels, reading_labels
from .listings import ArrayInfos, Findings
from .registry import Format, format_of, locate_place
from .spool import Spool, spool_blocks

if TYPE_CHECKING:
    import polars as pl

    from .elements import Missing
    from .header import Order
    from .tables import DTypes, Shapes

SourceOrTarget = str | os.PathLike[str] | IO[bytes] | IO[str]


def read(
    source: SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, np.ndarray[Any, Any]]:
    """Read arrays, each with the dtype, shape, strides and order that it was written with.

    Args:
        source: a path, a URL, or an open file (then with `format`).
        names: only these arrays are decoded; None for all.
        format: instead of the suffix; `sheetarray.registry.FORMATS` lists them.
        storage_options: for the file system of a URL, such as `anon`, or `key` and `secret`.
        **options: of the format, such as `missing="nan"` or `delimiter=";"`; see `read_csv`, `read_json`.

    Returns:
        Arrays by name, in the order written; `awkward.Array` for what was written as one.

    Raises:
        FormatError: content that is wrong, with `.location` of the first cell that is.
        NotFoundError: no such array, or no such format.
        OSError: no such file, or it cannot be read.

    Example:
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "t.csv")
        >>> write(path, {"t": np.array([[1.5, 2.5]])})
        >>> read(path)
        {'t': array([[1.5, 2.5]])}
    """
    if names is not None and not isinstance(names, Iterable):
        raise TypeError(f"names are a list of texts, or one text, not {names!r:.80}")
    source = locate_place(source, storage_options, format)
    arrays: dict[str, np.ndarray[Any, Any]] = _adapter_function("read", source, format, options)[1](
        source, names, **options
    )
    return arrays


def write(
    target: SourceOrTarget,
    arrays: Any,
    *,
    format: str | None = None,
    append_axis: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Write arrays; a failed write leaves the target as it was.

    Args:
        target: a path, a URL, or an open file (then with `format`).
        arrays: a mapping of names to arrays, one array (named "array"), a DataFrame, an Arrow table, or a
            Dataset or DataArray of xarray.
            An `awkward.Array` is spread over columns, and the labels of a Dataset or the index of a DataFrame are kept,
            where the format has cells.
        format: instead of the suffix.
        append_axis: None; or the axis along which blocks are joined, where `arrays` is an iterable of them, such as a
            generator of mappings: they need not be in memory together (`open_writer` takes them one by one).
        storage_options: for the file system of a URL, such as `anon`, or `key` and `secret`.
        **options: of the format, such as `delimiter=";"`; see `write_csv`, `write_json`.

    Raises:
        DTypeError: an array that the format cannot hold.
        LimitError: too much for it, or a name that it cannot carry; before anything is written.
        OSError: the system refuses.

    Warns:
        SheetArrayWarning: the format keeps no order, no name, or no labels, and what is written has them (README has a
            table).

    Example:
        >>> import io
        >>> file = io.StringIO()
        >>> write(file, {"t": np.array(1.5)}, format="csv", delimiter=";")
        >>> file.getvalue().split()[-2:]
        ['data', '1.5']
    """
    target = locate_place(target, storage_options, format)
    if append_axis is not None:
        check_writable(target, format, options)
        with Spool(append_axis, folder_beside(target)) as spool:
            spool_blocks(arrays, spool)
            write_spooled(target, spool, format, options)
        return
    arrays = hold_stream(arrays)
    merged = {**format_of(target, format).writing, **options}
    row, function = _adapter_function("write", target, format, merged)
    function(target, arrays, **merged)
    keeps = row.keeps
    if keeps is not None and not (keeps.order and keeps.names and keeps.labels):
        path = name_part(target) if isinstance(target, (str, os.PathLike)) else None
        name = default_name(path) if path is not None and not os.path.isdir(path) else None
        labelled = not keeps.labels and has_labels(arrays)
        for change in keeps.changes(values_by_name(arrays), name, labelled=labelled):
            warn_caller(f"{row.title} {change}")


def check_writable(target: SourceOrTarget, format: str | None, options: Mapping[str, Any]) -> None:
    """Refuse a target, or options, that `write` would refuse before it looks at the arrays.

    Raises:
        NotFoundError: no such format.
        TypeError: it has no such option.
        FileNotFoundError: there is no such folder.
    """
    _adapter_function("write", target, format, {**format_of(target, format).writing, **options})
    folder = folder_beside(target)
    if folder is not None and not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), target)


def write_spooled(target: SourceOrTarget, spool: Spool, format: str | None, options: Mapping[str, Any]) -> None:
    """Write what the blocks of a spool make up; pages of its files leave the memory as they are written."""
    row = format_of(target, format)
    report = options.get("progress")

    def progress(done: int, total: int) -> None:
        spool.release()
        if report is not None:
            report(done, total)

    takes = "progress" in inspect.signature(row.function("write")).parameters
    write(target, spool.join(), format=format, **{**options, **({"progress": progress} if takes else {})})


def folder_beside(target: SourceOrTarget) -> str | None:
    """Return the folder in which a path lies; None for a URL or an open file."""
    if not isinstance(target, (str, os.PathLike)) or "://" in os.fspath(target):
        return None
    return os.path.dirname(os.path.realpath(target))


def scan(
    source: SourceOrTarget,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, ArrayInfo]:
    """Return what each header says (shape, dtype, order, strides, location, number of cells), without reading the data.

    What comes back is a dict by name; in a terminal and in a notebook it shows a table.

    Args:
        source: a path, a URL, or an open file (then with `format`).
        format: instead of the suffix.
        storage_options: for the file system of a URL, such as `anon`, or `key` and `secret`.
        **options: of the format, such as `strict`, `sheet`, `worksheet`, `client`.

    Raises:
        FormatError: no array, or a broken header.
        NotFoundError: no such format.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write(file, {"t": np.zeros((2, 3))}, format="csv")
        >>> _ = file.seek(0)
        >>> scan(file, format="csv")["t"].shape
        (2, 3)
    """
    source = locate_place(source, storage_options, format)
    return ArrayInfos(_adapter_function("scan", source, format, options)[1](source, **options))


def check(
    source: SourceOrTarget,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Iterator[Finding]:
    """Yield everything that is wrong with a source, instead of raising the first error; nothing for an intact file.

    What comes back is an iterator; in a terminal and in a notebook it shows a table of all findings.

    Args:
        source: a path, a URL, or an open file (then with `format`).
        format: instead of the suffix.
        storage_options: for the file system of a URL, such as `anon`, or `key` and `secret`.
        **options: of the format, such as `missing`, `sheet`, `worksheet`, `client`.

    Yields:
        Findings with `.severity`, `.location`, `.array` and `.index` (of the element; each may be None), `.message` and
        `.hint`.

    Raises:
        OSError: no such file; never for its content.

    Example:
        >>> import io
        >>> file = io.StringIO()
        >>> write(file, {"t": np.array([1.5, 2.5])}, format="csv")
        >>> edited = io.StringIO(file.getvalue().replace("2.5", "2.5 m"))
        >>> [str(finding) for finding in check(edited, format="csv")]
        ["error: cell A21: t[1]: expected a number, found '2.5 m'"]
    """
    source = locate_place(source, storage_options, format)
    return Findings(_without_errors(_adapter_function("check", source, format, options)[1](source, **options)))


def _without_errors(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings; a source that cannot be opened for its content, such as a file at its end, is one more."""
    try:
        yield from findings
    except FormatError as error:
        yield Finding.from_error(error)


@overload
def read_columns(
    source: SourceOrTarget, columns: Sequence[str] | None = None, *, as_: Literal["arrow"], **options: Any
) -> pl.DataFrame: ...


@overload
def read_columns(
    source: SourceOrTarget, columns: Sequence[str] | None = None, *, as_: Literal["numpy"] = "numpy", **options: Any
) -> dict[str, np.ndarray[Any, Any]]: ...


def read_columns(
    source: SourceOrTarget,
    columns: Sequence[str] | None = None,
    *,
    dtype: DTypes = None,
    shape: Shapes = None,
    order: Order = "row-major",
    missing: Missing = "nan",
    as_: Literal["numpy", "arrow"] = "numpy",
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, np.ndarray[Any, Any]] | pl.DataFrame:
    """Return the columns of an ordinary table as arrays; no header of the exchange format needed.

    Args:
        source: a path, a URL, or an open file (then with `format`).
        columns: names of the columns wanted (or letters); None for all.
        dtype: of every column, or a mapping by name; None infers it without loss: leading zeros stay text, ids beyond
            2^53 stay exact, ISO dates become datetime64, a decimal is a float where the double gives its digits back.
        shape: of every column's array, or a mapping by name; one -1 is worked out.
        order: "row-major" or "column-major": how cells fill the shape.
        missing: "nan" reads blanks and error cells as NaN, NaT and "", and as None beside booleans and integers beyond
            2^53; "error" refuses them.
        as_: "numpy" gives a dict of arrays; "arrow" a DataFrame of polars, whose Arrow C stream DuckDB, pyarrow and
            whatever else reads one take without a copy. In it NaT and None are nulls.
        format: instead of the suffix.
        storage_options: for the file system of a URL, such as `anon`, or `key` and `secret`.
        **options: `header` (False, True, or how many rows hold the names; found out unless given), `skip_rows` (how
            many above the table, or which, counted from 0), `skip_footer`, `comment="#"`, `na_values`, `decimal` and
            `thousands`; of the format `delimiter`, `encoding`, `sheet`, `worksheet`, `client`.

    Raises:
        DTypeError: `as_="arrow"`, and a column that Arrow does not hold exactly; names it.
        FormatError: a cell that its dtype cannot mean, or a column that does not fill its shape.
        NotFoundError: no such column.

    Example:
        >>> import io
        >>> read_columns(io.StringIO("id,t\\n007,1.5\\n008,\\n"), format="csv")
        {'id': array(['007', '008'], dtype='<U3'), 't': array([1.5, nan])}
    """
    if as_ not in ("numpy", "arrow"):
        raise ValueError(f'as_ is "numpy" or "arrow", not {as_!r:.80}')
    source = locate_place(source, storage_options, format)
    given = {"dtype": dtype, "shape": shape, "order": order, "missing": missing, **options}
    columns_read: dict[str, np.ndarray[Any, Any]] = _adapter_function("read_columns", source, format, given)[1](
        source, columns, **given
    )
    if as_ == "numpy":
        return columns_read
    from .tables.arrow import to_arrow

    return to_arrow(columns_read)


def write_table(
    target: SourceOrTarget,
    table: Any,
    *,
    format: str | None = None,
    verify: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Write plain columns under one row of names, as other programs expect them; `read_columns` reads them.

    No header of the exchange format is written: shapes and dtypes are not kept, only what cells say. Numbers have all
    their digits, dates are dates. Labels are left out; of a pandas DataFrame the index comes first, unless it only
    counts rows.

    Args:
        target: a path, a URL, or an open file (then with `format`).
        table: a mapping of names to 1-D arrays of one length, a DataFrame of pandas or polars, or an Arrow table.
        format: instead of the suffix.
        verify: read the table back, and warn of each column that `read_columns` does not bring back as it was: the same
            values of the same kind, in wider numbers perhaps.
        storage_options: for the file system of a URL, such as `anon`, or `key` and `secret`.
        **options: of the format: `delimiter`, `decimal`, `encoding`, `bom`, `formulas`; `sheet`, `mode`, `dates`;
            `worksheet`, `if_sheet_exists`, `client`.

    Raises:
        DTypeError: an array that is no column, or that no cells hold; names it.
        LimitError: columns of different lengths, or too much for the format; before anything is written.
        NotFoundError: no such format, or none that has tables.

    Warns:
        SheetArrayWarning: a column that will not come back the same, such as text of digits; names it.

    Example:
        >>> import io
        >>> file = io.StringIO()
        >>> write_table(file, {"id": np.array(["007", "008"]), "t": np.array([1.5, 2.5])}, format="csv")
        >>> file.getvalue().splitlines()
        ['id,t', '007,1.5', '008,2.5']
    """
    target = locate_place(target, storage_options, format)
    table = hold_stream(table)
    merged = {**format_of(target, format).writing, **options}
    row, function = _adapter_function("write_table", target, format, merged)
    if isinstance(target, (str, os.PathLike)) or row.prefixes:
        url = function(target, table, **merged)
        written: SourceOrTarget = target if url is None else url
    else:
        written = io.BytesIO()
        function(written if verify else target, table, **merged)
        if verify:
            function(target, table, **merged)
            written.seek(0)
    if verify:
        alike = ("encoding", "sheet", "client", "credentials", "timeout")
        reading: dict[str, Any] = {name: merged[name] for name in alike if name in merged}
        if "sheet" in _options(function):
            reading.setdefault("sheet", "table")
        _warn_of_changes(written, table, row.name, reading)


def _warn_of_changes(source: SourceOrTarget, table: Any, format: str, options: Mapping[str, Any]) -> None:
    """Warn of each column of a table that has come back as something else."""
    from .tables import find_changes

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SheetArrayWarning)
            columns = read_columns(source, format=format, **options)
    except SheetArrayError as error:
        for name in values_by_name(table):
            warn_caller(f"{name!r:.80} cannot be read back by read_columns: {error}")
        return
    for name, change in find_changes(table, columns):
        warn_caller(f"{name!r:.80} does not come back by read_columns as it was: it {change}")


def convert(
    source: SourceOrTarget,
    target: SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    reading: Mapping[str, Any] | None = None,
    writing: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Read, then write; labels go along with the arrays.

    Args:
        source: as for `read`.
        target: as for `write`.
        names: only these arrays; None for all.
        from_format: the source's, instead of its suffix.
        to_format: the target's, instead of its suffix.
        reading: options for `read`.
        writing: options for `write`.
        storage_options: for the file systems of URLs; `reading` and `writing` may have their own.

    Raises:
        FormatError: as `read`.
        DTypeError: as `write`.
        LimitError: as `write`.

    Example:
        >>> import io
        >>> text, lists = io.StringIO(), io.StringIO()
        >>> write(text, {"t": np.array([1, 2])}, format="csv")
        >>> _ = text.seek(0)
        >>> convert(text, lists, from_format="csv", to_format="json")
        >>> read(io.StringIO(lists.getvalue()), format="json")
        {'t': array([1, 2])}
    """
    reading, writing = dict(reading or {}), dict(writing or {})
    source, target = _locate_both(
        (source, reading.pop("storage_options", None), from_format),
        (target, writing.pop("storage_options", None), to_format),
        storage_options,
    )
    format_of(target, to_format)  # an unknown suffix is said before anything is read
    arrays = read_labelled(source, names, format=from_format, **reading)
    write(target, arrays, format=to_format, **writing)


_Place = tuple[SourceOrTarget, Mapping[str, Any] | None, str | None]


def _locate_both(source: _Place, target: _Place, storage_options: Mapping[str, Any] | None) -> list[Any]:
    """Return a source and a target; storage options go to each that is under a URL and has none of its own."""
    places = [source, target]
    if storage_options and not any(is_url(place) for place, _, _ in places):
        locate(source[0], storage_options)  # says what is wrong
    return [
        locate_place(place, options or (storage_options if is_url(place) else None), name)
        for place, options, name in places
    ]


def adopt(
    source: SourceOrTarget,
    target: SourceOrTarget | None = None,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, ArrayInfo]:
    """Accept rows that people have added or deleted: headers become true to the cells, and everything else stays.

    In a workbook defined names and fingerprints become true too, so that `check` compares with what stands there now.

    Args:
        source: a path or a URL; or an open file (then with `format` and a target).
        target: where the adopted file goes; None replaces the source, as a whole. In another format it is written anew.
        format: of the source, instead of the suffix.
        storage_options: for the file systems of URLs.
        **options: of the format, as for `read`.

    Returns:
        What the headers say now of the arrays that had other lengths; empty where there were none.

    Raises:
        FormatError: as `read` with `resize=True`, or the labels of arrays contradict their lengths.
        LimitError: the file may not be changed.
        NotFoundError: a format whose headers cannot be changed, and no target in another one.

    Example:
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "t.csv")
        >>> write(path, {"t": np.array([1.5, 2.5])})
        >>> _ = path.write_text(path.read_text() + "3.5\\n")
        >>> adopt(path)["t"].shape, read(path)["t"].tolist()
        ((3,), [1.5, 2.5, 3.5])
    """
    if target is None:
        source = locate_place(source, storage_options, format)
    else:
        source, target = _locate_both((source, None, format), (target, None, None), storage_options)
    row = format_of(source, format, reading=True)
    goal = row if target is None else format_of(target)
    if goal.name == row.name and row.instead is not None:
        raise NotFoundError(f"{row.title}: these are only read; name a new {row.instead} as the target")
    suffixes = [os.path.splitext(name_part(place))[1].lower() for place in (source, target) if _is_path(place)]
    if goal.name == row.name and not row.compressible and len(set(suffixes)) > 1:
        raise LimitError(f"{suffixes[0]} and {suffixes[1]} are other kinds of files: keep the suffix")
    reading = {**options, "resize": True}
    function = row.function("adopt") if goal.name == row.name else None
    arrays = read_labelled(source, format=format, **reading)
    if arrays.labels is not None:
        check_fit(arrays.labels, arrays)
    if function is not None:
        adopted: dict[str, ArrayInfo] = function(source, target, **options)
        return adopted
    assert target is not None
    before = scan(source, format=format)
    write(target, arrays)
    return {name: info for name, info in scan(target).items() if name in before and info.shape != before[name].shape}


def restore(
    source: SourceOrTarget,
    target: SourceOrTarget,
    *,
    keep_edits: bool = False,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> list[str]:
    """Write the arrays of a workbook anew as they were written, from the guard that it was written with.

    Args:
        source: a path, a URL, or an open file (then with `format`): a workbook written with `guard=True`, whatever
            program has saved it since.
        target: an .xlsx, which may be the source; replaced as a whole.
        keep_edits: keep the elements that people have edited, and rows that they have added or deleted; all other
            elements are exact.
        format: of the source, instead of the suffix.
        storage_options: for the file systems of URLs.

    Returns:
        The names of the arrays.

    Raises:
        FormatError: no guard, or one that is damaged.
        LimitError: a target that is no workbook.
        NotFoundError: a format that has no guards.

    Example:
        >>> import io
        >>> file, restored = io.BytesIO(), io.BytesIO()
        >>> write(file, {"t": np.array([0.1 + 0.2])}, format="xlsx", guard=True)
        >>> restore(io.BytesIO(file.getvalue()), restored, format="xlsx")
        ['t']
        >>> restored.getvalue() == file.getvalue()
        True
    """
    source, target = _locate_both((source, None, format), (target, None, None), storage_options)
    names: list[str] = format_of(source, format, reading=True).function("restore")(
        source, target, keep_edits=keep_edits
    )
    return names


def _is_path(place: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(place, (str, os.PathLike))


def read_labelled(
    source: SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> LabelledArrays:
    """Read arrays as `read` does, together with what a description says of them; `write` takes both.

    Raises:
        FormatError: as `read`, or the description contradicts the arrays.

    Warns:
        SheetArrayWarning: the description is damaged: it stays an array of text.
    """
    source = locate_place(source, storage_options, format)
    with reading_labels() as description:
        arrays = read(source, names, format=format, **options)
    if description.error is not None:
        warn_of_finding(Finding.from_error(description.error))
    return LabelledArrays(arrays, description.labels)


@lru_cache(maxsize=256)
def _options(function: Callable[..., Any]) -> list[str]:
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]


def _adapter_function(
    verb: str, place: SourceOrTarget, format: str | None, options: Mapping[str, Any]
) -> tuple[Format, Callable[..., Any]]:
    """Return the format, and the adapter's function, once its options are known to be its own."""
    writes = verb in ("write", "write_table")
    row = format_of(place, format, reading=not writes)
    if not row.text and isinstance(place, io.TextIOBase):
        raise TypeError(f"a file opened for text: open it with mode {'wb' if writes else 'rb'!r} for {row.title}")
    if getattr(place, "closed", False):
        raise ValueError(f"{getattr(place, 'name', 'the file')}: the file is closed: open it again, or give its path")
    function = row.function(verb)
    known = _options(function)
    for option in options:
        if option not in known:
            raise TypeError(f"{verb} has no option {option!r} for {row.title}; it has {', '.join(known)}")
    return row, function
