"""open_many: arrays of thousands of files as one Dataset of xarray, whose blocks are read when they are asked for."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ..api import lies_in_rows
from ..errors import MissingDependencyError, warn_caller
from ..files import PathLike, find_places
from ..labelled import list_names
from ..labels import build_dataset, name_dimensions
from .headers import FileHeaders, compare_files, keeps_names
from .reader import ArrayReader, dtype_before_reading, from_root, is_read_at_once, version_of
from .stacking import StackReader, digest_of, reads_rows, stack_arrays

if TYPE_CHECKING:
    import xarray as xr

Compat = Literal["error", "skip"]

_SHOWN = 5  # files that a warning says the problems of


def open_many(
    sources: PathLike | Iterable[PathLike],
    names: Sequence[str] | None = None,
    *,
    along: str = "file",
    chunks: int | Mapping[str, int] | None = None,
    files_per_chunk: int = 1,
    compat: Compat = "error",
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> xr.Dataset:
    """Open the arrays of many files of one kind as a Dataset of lazy dask arrays, with one dimension more.

    Headers are read at once and held against each other; of remote files that is one request for each, many of them at
    the same time. Scalar coordinates of the files become one along the new dimension; all others are read from the
    first file, and a block that is read from another one makes sure that it has the same.

    Args:
        sources: a path or a URL with wildcards, whose files come in the order of their names; or a list of both.
        names: only these arrays, and the coordinates along their dimensions; None for all.
        along: the name of the new dimension; the coordinate of the same name holds the paths of the files.
        chunks: rows of a block, or a mapping of the arrays' first dimensions to them: such blocks of a large CSV of
            unquoted numbers are read by ranges of bytes. None for whole arrays, as are those of other files.
        files_per_chunk: how many files a block reads.
        compat: "error" refuses a file that is damaged or differs; "skip" leaves it out, with a warning.
        format: instead of the suffixes.
        storage_options: for the file systems of URLs.
        **options: of the format, as for `read`.

    Raises:
        FileNotFoundError: no file matches; when a block is computed, its file is gone.
        FormatError: a file is damaged, or has other shapes, dtypes or labels than the first one; names it. When a block
            is computed: as `read`, or the file is another one than when it was opened.
        MissingDependencyError: dask or xarray is not installed.
        NotFoundError: a file has no such array.
        ValueError: the new dimension's name is taken, or blocks of less than one row or file.

    Warns:
        SheetArrayWarning: files are left out.

    Example:
        >>> import pathlib, tempfile
        >>> from sheetarray import write
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for day in range(3):
        ...     write(folder / f"{day}.csv", {"t": np.full((2, 4), day)})
        >>> runs = open_many(folder / "*.csv")
        >>> dict(runs.sizes), runs["t"].sum().compute().item()
        ({'file': 3, 't_0': 2, 't_1': 4}, 24)
    """
    _require_dask()
    if compat not in get_args(Compat):
        raise ValueError(f'compat is "error" or "skip", not {compat!r:.80}')
    files_per_chunk = _check_count(files_per_chunk, "files_per_chunk", "file")
    wanted = list_names(names)
    places = find_places(sources, storage_options)
    states = {id(place): version_of(place) for place in places}
    agreement = compare_files(places, wanted, format=format, options=options, skip=compat == "skip")
    if agreement.omitted:
        shown = "; ".join(map(str, agreement.omitted[:_SHOWN]))
        more = f"; and {len(agreement.omitted) - _SHOWN} more" if len(agreement.omitted) > _SHOWN else ""
        warn_caller(f"{len(agreement.omitted)} of {len(places)} files are left out: {shown}{more}")
    files = [ArrayReader(from_root(place), format, options, states[id(place)]) for place in agreement.files]
    dataset = _build(files, agreement.headers, along, chunks, files_per_chunk)
    labels = np.array([os.fspath(place) for place in agreement.files], dtype=object)
    return dataset.assign_coords({along: (along, labels)})


def _build(
    files: Sequence[ArrayReader],
    headers: FileHeaders,
    along: str,
    chunks: int | Mapping[str, int] | None,
    files_per_chunk: int,
) -> xr.Dataset:
    """Return the Dataset of files that agree."""
    infos, labels = headers.infos, headers.labels
    dims = name_dimensions(infos, labels)
    if along in infos or any(along in names for names in dims.values()):
        raise ValueError(f"along={along!r:.80} is the name of a dimension or an array of the files: choose another one")
    rows = _rows_of_blocks(chunks, {name: names for name, names in dims.items() if names})
    named = keeps_names(files[0].path, files[0].format)
    common = [name for name, names in dims.items() if _is_common(name, names, headers)]
    arrays: dict[str, Any] = dict(files[0].read(common)) if common else {}
    digests = {name: digest_of(arrays[name]) for name in common}
    splits = not any(info.dtype in ("string", "generic") for info in infos.values()) and all(map(reads_rows, files[:1]))
    for name, info in infos.items():
        if name in common:
            continue
        beside = {other: digests[other] for other in common if {*dims[other]} <= {*dims[name]}}
        reader = StackReader(name, info.shape, dtype_before_reading(info, name, labels), beside, named, False)
        in_parts = splits and info.parts == 1 and lies_in_rows(info) and name in rows and not beside
        arrays[name] = stack_arrays(reader, files, files_per_chunk, rows[name] if in_parts else None)
        dims[name] = (along, *dims[name])
    return build_dataset({name: arrays[name] for name in infos}, labels, dims)


def _is_common(name: str, dims: tuple[str, ...], headers: FileHeaders) -> bool:
    """Return whether an array is a coordinate that has to be the same in all files: one with dimensions."""
    labels = headers.labels
    is_coordinate = name in labels.coords or (labels.find(name) is not None and is_read_at_once(name, dims, labels))
    return bool(dims) and is_coordinate


def _rows_of_blocks(chunks: Any, dims: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Return the number of rows in a block, for each array that has rows.

    Raises:
        ValueError: less than one, or a dimension that is no array's first one.
    """
    if chunks is None:
        return {}
    if not isinstance(chunks, Mapping):
        count = _check_count(chunks, "chunks", "row")
        return dict.fromkeys(dims, count)
    firsts = {names[0] for names in dims.values()}
    for dim in chunks:
        if dim not in firsts:
            raise ValueError(
                f"chunks: {dim!r:.80} is no array's first dimension, which alone is read in parts: "
                f"{', '.join(map(repr, sorted(firsts))):.200}; files_per_chunk says how many files a block reads"
            )
    return {name: _check_count(chunks[names[0]], "chunks", "row") for name, names in dims.items() if names[0] in chunks}


def _check_count(count: Any, option: str, noun: str) -> int:
    try:
        number = operator.index(count)
    except TypeError:
        raise ValueError(f"{option} is a number of {noun}s, not {count!r:.80}") from None
    if number < 1:
        raise ValueError(f"{option}: a block has one {noun} at least, not {number}")
    return number


def _require_dask() -> None:
    try:
        import dask.array  # noqa: F401  (both are needed)
        import xarray  # noqa: F401  (the same)
    except ImportError as error:
        raise MissingDependencyError(
            f"open_many needs {error.name}: pip install 'sheetarray[dask]'", name=error.name
        ) from error
