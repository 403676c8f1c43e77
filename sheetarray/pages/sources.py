"""`page`: a page of sources, or of arrays."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .. import api
from ..arrays import list_names, select, values_by_name
from ..columns import ArrayInfo
from ..errors import Finding, FormatError, SheetArrayError, SheetArrayWarning
from ..labelled import read_with_labels
from ..labels import DatasetLabels, describe_arrays
from ..linear import LinearArray
from ..registry import is_place, known_options, locate_places
from ..values import is_of, naming
from .contents import Contents, check_count, check_elements, count_elements
from .html_file import Page

_MOST_READS = 50  # of a damaged source, one for each array


def page(
    *sources: Any,
    names: Sequence[str] | None = None,
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
        format: the name of a format; None chooses it by the suffixes.
        storage_options: options of the file systems of URLs.
        **options: options for reading, as for `read`.

    Returns:
        A page with `.html` and `.save(path)`; a notebook shows it.

    Raises:
        LimitError: more than 4,000,000 elements, or 20,000 arrays.
        FormatError: nothing in a source can be read.
        NotFoundError: an array does not exist.

    Example:
        >>> page({"t": np.arange(6.0).reshape(2, 3)}, {"t": np.zeros((2, 3))})
        <Page of 2 arrays: t, t>
    """
    if not sources:
        raise TypeError("page needs a path, a URL, an open file, or arrays")
    if any(isinstance(source, api.MergedFiles) for source in sources):
        if len(sources) > 1 or names is not None:
            raise TypeError("a merge is shown alone, without names=")
        contents = Contents()
        contents.add_merge(sources[0])
        return Page(contents)
    places = {number: (source, format) for number, source in enumerate(sources) if is_place(source)}
    if storage_options and not places:
        raise ValueError("storage_options are for a URL such as s3://bucket/run.csv, and all sources are arrays")
    located = dict(zip(places, locate_places([*places.values()], storage_options), strict=True))
    contents = Contents()
    for number, source in enumerate(sources):
        if number in located:
            place = located[number]
            add_source(contents, place, names, format, options, title=_title_of(place))
        else:
            title = "arrays" if len(sources) == 1 else f"arrays {number + 1}"
            _add_arrays(contents, title, source, names)
    return Page(contents)


def _add_arrays(contents: Contents, title: str, arrays: Any, names: Sequence[str] | None) -> None:
    described = describe_arrays(arrays)
    by_name, labels = (values_by_name(arrays), None) if described is None else described
    by_name = select(by_name, names)
    plain = {name: _to_plain(name, value) for name, value in by_name.items()}
    contents.add_file(title, plain, labels=labels)


def _to_plain(name: str, value: Any) -> Any:
    """Return a value as an ndarray of the format's dtypes, or of opaque bytes; an awkward array as it is."""
    if is_of(value, "awkward"):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind == "V" and value.dtype.names is None:
        return value
    with naming(name):
        linear = value if isinstance(value, LinearArray) else LinearArray.from_numpy(value)
    return linear.to_numpy()


def add_source(
    contents: Contents,
    source: Any,
    names: Sequence[str] | None,
    format: str | None,
    options: dict[str, Any],
    *,
    title: str,
) -> None:
    """Add the arrays of a path, a URL or an open file to what a page shows, with where they stand and the findings."""
    start = source.tell() if hasattr(source, "tell") else None

    def rewind() -> Any:
        if start is not None:
            source.seek(start)
        return source

    names = list_names(names)
    infos = _scan(rewind(), format, options, names)
    wanted = infos.keys() if names is None else infos.keys() & set(names)
    check_count(len(contents.manifest["entries"]) + len(wanted))
    check_elements(contents.elements + count_elements(infos, wanted))
    findings = [*api.check(rewind(), format=format, **known_options(source, format, options, "check"))]
    arrays, labels, unread = _read(rewind, names, format, options, infos, findings)
    contents.add_file(title, arrays, labels=labels, infos=infos, findings=findings, unread=unread)


def _scan(
    source: Any, format: str | None, options: Mapping[str, Any], names: Sequence[str] | None
) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays; an empty dict if a header is damaged, but `names` may ask for sound arrays."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SheetArrayWarning)
            return api.scan(source, format=format, **known_options(source, format, options, "scan"))
    except FormatError:
        if names is None and not options:
            raise
        return {}


def _read(
    rewind: Callable[[], Any],
    names: Sequence[str] | None,
    format: str | None,
    options: dict[str, Any],
    infos: Mapping[str, ArrayInfo],
    findings: Sequence[Finding],
) -> tuple[dict[str, Any], DatasetLabels | None, dict[str, str]]:
    """Return the arrays, their labels, and the errors of arrays that cannot be read.

    Arrays in which `check` finds no error are read together. Each other one is read by itself, if they are few: one
    that was edited can be read.
    """
    try:
        arrays, labels = read_with_labels(rewind(), names, format, options)
        return arrays, labels, {}
    except FormatError as error:
        whole = error
    wanted = [name for name in infos if names is None or name in names]
    reasons = {
        finding.array: str(finding).removeprefix("error: ")
        for finding in reversed(findings)
        if finding.severity == "error" and finding.array is not None
    }
    arrays, labels, unread = {}, None, {}
    intact = [name for name in wanted if name not in reasons]
    with suppress(FormatError):
        if intact:
            arrays, labels = read_with_labels(rewind(), intact, format, options)
    for number, name in enumerate(name for name in wanted if name not in arrays):
        try:
            if number >= _MOST_READS:
                raise whole
            arrays |= api.read(rewind(), [name], format=format, **options)
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
