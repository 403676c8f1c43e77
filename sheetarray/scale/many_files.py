"""open_many: arrays of thousands of files as one Dataset of xarray, whose blocks are read when they are asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ..columns.blocks.plain_arrays import lies_in_rows
from ..errors import (
    MissingDependencyError,
    check_kinds,
    parse_count,
    warn_caller,
)
from ..files import PathLike, find_places
from ..formats import find_format
from ..labels import build_dataset, name_dimensions
from ..linear.named import list_names
from .file_headers import FileHeaders, compare_files, keeps_names
from .reader import ArrayReader, dtype_before_reading, from_root, is_read_at_once, version_of
from .stacking import StackReader, digest_of, stack_arrays

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
    """Open the arrays of many files as one xarray Dataset of dask arrays, with the files as one more dimension.

    The call reads the headers of all files and compares them. A remote file takes one request; many requests run at
    once. Scalar coordinates become one coordinate along the new dimension. All others come from the first file. When a
    block of another file is read, its coordinates are compared with these.

    Args:
        sources: a path or a URL with wildcards, whose files come in the order of their names; or a list of both.
        names: the arrays to open, with the coordinates along their dimensions; None opens all.
        along: the name of the new dimension. The coordinate of the same name holds the paths of the files.
        chunks: the rows of a block, or a mapping of first dimensions to rows. A large CSV of unquoted numbers is then
            read by byte ranges. None, and files of other kinds, give one block for each array.
        files_per_chunk: the number of files in a block.
        compat: "error" refuses a file that is damaged or differs; "skip" leaves it out with a warning.
        format: the name of a format; None chooses it by the suffixes.
        storage_options: options of the file systems of URLs.
        **options: options of the format, as for `read`.

    Raises:
        FileNotFoundError: no file matches; or a file is gone when its block is computed.
        FormatError: a file is damaged, or differs from the first one in shapes, dtypes or labels. When a block is
            computed: as `read`, or the file changed since you opened it.
        MissingDependencyError: dask or xarray is not installed.
        NotFoundError: a file does not have one of the arrays.
        ValueError: the name of the new dimension is taken, or a block has less than one row or file.

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
    files_per_chunk = parse_count("file", files_per_chunk=files_per_chunk)
    check_kinds(str, "the name of a dimension, text", along=along)
    selected = list_names(names)
    places = find_places(sources, storage_options)
    if options:
        find_format("read", places[0], format, options)
    states = {id(place): version_of(place) for place in places}
    alike, headers, omitted = compare_files(places, selected, format=format, options=options, skip=compat == "skip")
    if omitted:
        shown = "; ".join(map(str, omitted[:_SHOWN]))
        more = f"; and {len(omitted) - _SHOWN} more" if len(omitted) > _SHOWN else ""
        warn_caller(f"{len(omitted)} of {len(places)} files are left out: {shown}{more}")
    files = [ArrayReader(from_root(place), format, options, states[id(place)]) for place in alike]
    dataset = _build(files, headers, along, chunks, files_per_chunk)
    labels = np.array([os.fspath(place) for place in alike], dtype=object)
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
    is_text = any(info.dtype in ("string", "generic") for info in infos.values())
    splits = not is_text and files[0].element_reader() is not None
    for name, info in infos.items():
        if name in common:
            continue
        beside = {other: digests[other] for other in common if {*dims[other]} <= {*dims[name]}}
        in_parts = splits and info.parts == 1 and lies_in_rows(info) and name in rows and not beside
        reader = StackReader(name, info.shape, dtype_before_reading(info, name, labels), beside, named, in_parts)
        arrays[name] = stack_arrays(reader, files, files_per_chunk, rows[name] if in_parts else None)
        dims[name] = (along, *dims[name])
    return build_dataset({name: arrays[name] for name in infos}, labels, dims)


def _is_common(name: str, dims: tuple[str, ...], headers: FileHeaders) -> bool:
    """Return whether an array is a coordinate that has to be the same in all files: one with dimensions."""
    labels = headers.labels
    is_coordinate = name in labels.coords or (labels.find(name) is not None and is_read_at_once(name, dims, labels))
    return bool(dims) and is_coordinate


def _rows_of_blocks(chunks: Any, dims: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Return the number of rows in a block, for each array that has rows."""
    if chunks is None:
        return {}
    if not isinstance(chunks, Mapping):
        count = parse_count("row", chunks=chunks)
        return dict.fromkeys(dims, count)
    firsts = {names[0] for names in dims.values()}
    for dim in chunks:
        if dim not in firsts:
            raise ValueError(
                f"chunks: {dim!r:.80} is not an array's first dimension, which alone is read in parts: "
                f"{', '.join(map(repr, sorted(firsts))):.200}; files_per_chunk says how many files a block reads"
            )
    return {name: parse_count("row", chunks=chunks[names[0]]) for name, names in dims.items() if names[0] in chunks}


def _require_dask() -> None:
    try:
        import dask.array  # noqa: F401  (both are needed)
        import xarray  # noqa: F401  (the same)
    except ImportError as error:
        raise MissingDependencyError(
            f"open_many needs {error.name}: pip install 'sheetarray[dask]'", name=error.name
        ) from error
