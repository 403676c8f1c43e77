"""`page`: a page of sources, or of arrays."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from typing import Any

import numpy as np

from .. import api
from ..api.datasets import read_with_labels
from ..api.ordinary import OrdinaryTable, scan_or_find_table
from ..columns import ArrayInfo
from ..columns.blocks.mapping import MappedArrays
from ..errors import Finding, FormatError, SheetArrayError, SheetArrayWarning, check_kinds
from ..formats import is_place, is_service, known_options, locate_places
from ..labels import DatasetLabels, describe_arrays
from ..linear.array import LinearArray
from ..linear.named import list_names, select, values_by_name
from ..values import is_of, naming
from .contents import Contents, check_listed_arrays
from .excerpts import PageFile, choose_excerpts
from .html_file import Page

_MOST_READS = 50  # of a damaged source, one for each array


def page(
    *sources: Any,
    names: Sequence[str] | None = None,
    slice: str | Sequence[str] = (),
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Page:
    """Return a page that shows arrays: sliders, a heat map, lines, a histogram, statistics and a table of values.

    If you pass several sources, the page shows arrays of the same name side by side. For two sources, it also shows the
    difference.

    Args:
        *sources: paths, URLs or open files; or what `write` takes: a mapping of names, an array, a DataFrame, a
            Dataset. If a file is damaged, the page shows what can be read. If you pass the result of `merge` as the
            only source, the page lists the conflicts, and you choose a value for each.
        names: the arrays to show, with the coordinates along their dimensions; None shows all.
        slice: the parts of arrays to show, each as NumPy has it, `"t[0:100, :, ::2]"`, or by labels,
            `"time=2026-07, lat=47.5"`, for all arrays with these dimensions. A page holds 4,000,000 elements. If there
            are more, it shows every n-th element along the long axes, and says so.
        format: the name of a format; None chooses it by the suffixes.
        storage_options: options of the file systems of URLs.
        **options: options for reading, as for `read`.

    Returns:
        A page with `.html` and `.save(path)`; a notebook shows it.

    Raises:
        LimitError: more than 20,000 arrays.
        FormatError: nothing in a source can be read.
        NotFoundError: an array does not exist.
        ValueError: a slice cannot be understood, or is not in the array.

    Warns:
        SheetArrayWarning: the page does not hold all elements; it names the arrays.

    Example:
        >>> page({"t": np.arange(6.0).reshape(2, 3)}, {"t": np.zeros((2, 3))})
        <Page of 2 arrays: t, t>
    """
    if not sources:
        raise TypeError("page needs a path, a URL, an open file, or arrays")
    slices = [slice] if isinstance(slice, str) else [*slice]
    for text in slices:
        check_kinds(str, 'text such as "t[0:100]"', slice=text)
    if any(isinstance(source, api.Merged) for source in sources):
        if len(sources) > 1 or names is not None:
            raise TypeError("a merge is shown alone, without names=")
        return make_merge_page(sources[0], slices)
    places = {number: (source, format) for number, source in enumerate(sources) if is_place(source)}
    if storage_options and not places:
        raise ValueError("storage_options are for a URL such as s3://bucket/run.csv, and all sources are arrays")
    located = dict(zip(places, locate_places([*places.values()], storage_options, options.get("client")), strict=True))
    own = ("names", "format", "slice", "storage_options")
    api.refuse_unknown("page", [(place, format) for place in located.values()], options, own)
    with ExitStack() as opened:
        files = []
        for number, source in enumerate(sources):
            if number in located:
                place = located[number]
                files.append(read_file(place, names, format, options, title=_title_of(place), opened=opened))
            else:
                title = "arrays" if len(sources) == 1 else f"arrays {number + 1}"
                files.append(_take_arrays(title, source, names))
        return make_page(files, slices)


def make_page(files: Sequence[PageFile], slices: Sequence[str]) -> Page:
    """Return a page of files that were read.

    Raises:
        LimitError: more arrays than a page lists.
        NotFoundError: a slice names an array that does not exist.
        SliceError: a slice cannot be understood, or is not in the array.
    """
    check_listed_arrays(sum(len(file.arrays) for file in files))
    choose_excerpts(files, slices)
    contents = Contents()
    for file in files:
        contents.add_file(file)
    return Page(contents)


def make_merge_page(merged: api.Merged, slices: Sequence[str]) -> Page:
    """Return a page of what several people have changed in copies of a file."""
    file = PageFile("merged", merged.arrays, merged.arrays.labels)
    choose_excerpts([file], slices)
    contents = Contents()
    contents.add_file(file)
    contents.add_conflicts(merged, file)
    return Page(contents)


def _take_arrays(title: str, arrays: Any, names: Sequence[str] | None) -> PageFile:
    described = describe_arrays(arrays)
    by_name, labels = (values_by_name(arrays), None) if described is None else described
    by_name = select(by_name, names)
    return PageFile(title, {name: _to_plain(name, value) for name, value in by_name.items()}, labels)


def _to_plain(name: str, value: Any) -> Any:
    """Return a value as an ndarray of the format's dtypes, or of opaque bytes; an awkward array as it is."""
    if is_of(value, "awkward"):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind == "V" and value.dtype.names is None:
        return value
    with naming(name):
        linear = value if isinstance(value, LinearArray) else LinearArray.from_numpy(value)
    return linear.to_numpy()


def read_file(
    source: Any,
    names: Sequence[str] | None,
    format: str | None,
    options: dict[str, Any],
    *,
    title: str,
    opened: ExitStack,
) -> PageFile:
    """Return the arrays of a path, a URL or an open file, with where they stand and the findings.

    `opened`: takes the files to which large arrays are mapped.
    """
    start = source.tell() if hasattr(source, "tell") else None

    def rewind() -> Any:
        if start is not None:
            source.seek(start)
        return source

    def read(names: Sequence[str] | None) -> tuple[dict[str, Any], DatasetLabels | None]:
        mapped = opened.enter_context(MappedArrays())  # so that large arrays never are in memory as a whole
        with nullcontext() if is_service(source, format) else mapped.mapping():
            return read_with_labels(rewind(), names, format, options)

    def read_alone(name: str) -> dict[str, Any]:
        return api.read(rewind(), [name], format=format, **options)

    names = list_names(names)
    infos, table = _scan(rewind(), format, options, names)
    check_listed_arrays(len(infos) if names is None else len(infos.keys() & {*names}))
    findings = [*api.check(rewind(), format=format, **known_options(source, format, options, "check"))]
    if table is not None:
        columns = select(table.columns, names)
        return PageFile(title, columns, None, infos, findings, {})
    arrays, labels, unread = _read(read, read_alone, names, infos, findings)
    return PageFile(title, arrays, labels, infos, findings, unread)


def _scan(
    source: Any, format: str | None, options: Mapping[str, Any], names: Sequence[str] | None
) -> tuple[dict[str, ArrayInfo], OrdinaryTable | None]:
    """Return the infos of all arrays, or of the columns of an ordinary table, with that table.

    There are no infos if a header is damaged, but `names` may ask for sound arrays.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SheetArrayWarning)
            return scan_or_find_table(source, format, known_options(source, format, options, "scan"), options)
    except FormatError:
        if names is None and not options:
            raise
        return {}, None


def _read(
    read: Callable[[Sequence[str] | None], tuple[dict[str, Any], DatasetLabels | None]],
    read_alone: Callable[[str], dict[str, Any]],
    names: Sequence[str] | None,
    infos: Mapping[str, ArrayInfo],
    findings: Sequence[Finding],
) -> tuple[dict[str, Any], DatasetLabels | None, dict[str, str]]:
    """Return the arrays, their labels, and the errors of arrays that cannot be read.

    Arrays in which `check` finds no error are read together. Each other one is read by itself, if they are few: one
    that was edited can be read.
    """
    try:
        arrays, labels = read(names)
        return arrays, labels, {}
    except FormatError as error:
        whole = error
    chosen = [name for name in infos if names is None or name in names]
    reasons = {
        finding.array: str(finding).removeprefix("error: ")
        for finding in reversed(findings)
        if finding.severity == "error" and finding.array is not None
    }
    arrays, labels, unread = {}, None, {}
    intact = [name for name in chosen if name not in reasons]
    with suppress(FormatError):
        if intact:
            arrays, labels = read(intact)
    for number, name in enumerate(name for name in chosen if name not in arrays):
        try:
            if number >= _MOST_READS:
                raise whole
            arrays |= read_alone(name)
        except SheetArrayError as error:
            unread[name] = reasons.get(name, str(error))
    if not arrays:
        raise whole
    return arrays, labels, unread


def _title_of(source: Any) -> str:
    """Return a title for a source: the name of its file, or its URL."""
    name = source if isinstance(source, (str, os.PathLike)) else getattr(source, "name", None)
    if not isinstance(name, (str, os.PathLike)):
        return "file"
    text = os.fsdecode(os.fspath(name))
    return text if "://" in text else os.path.basename(text) or text
