"""open_many: arrays of thousands of files as one Dataset of xarray, whose blocks are read when they are asked for."""

from __future__ import annotations

import copy
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ..api import lies_in_rows
from ..api.datasets import add_coordinates, scan_with_labels
from ..columns import ArrayInfo
from ..dtypes import Array
from ..errors import (
    FormatError,
    MissingDependencyError,
    NotFoundError,
    SheetArrayError,
    check_kinds,
    parse_count,
    warn_caller,
)
from ..files import PathLike, RemoteFile, find_places, is_url, read_heads, read_states
from ..formats import format_of
from ..labels import DatasetLabels, build_dataset, name_dimensions
from ..linear.named import list_names
from .reader import ArrayReader, dtype_before_reading, from_root, is_read_at_once, version_of

if TYPE_CHECKING:
    import xarray as xr


# Compares the headers of many files: if their arrays are to be stacked, names, shapes and dtypes have to agree.

ONLY_NAME = "array"  # of the array of a file whose format keeps no names
_AT_ONCE = 512  # files whose heads are in memory
_FETCHING_THREADS = 16  # which scan files at the same time: some need more bytes than their head


_FACTS = ("the shape", "the dtype", "other labels:")  # in which arrays of files are compared


@dataclass(frozen=True)
class FileHeaders:
    """The headers of a file's arrays, and their labels."""

    infos: Mapping[str, ArrayInfo]  # of the arrays that are asked for and their coordinates, by name
    labels: DatasetLabels  # of these arrays
    facts: Mapping[str, tuple[Any, ...]]  # of each array what is compared with another file: `_FACTS`
    attrs: Mapping[str, str]  # attributes of the dataset, as texts

    @property
    def signature(self) -> tuple[Any, ...]:
        """The part of the headers that is equal in files that agree."""
        return tuple(sorted(self.facts.items()))

    def find_difference(self, other: FileHeaders) -> tuple[str, str]:
        """Return the name of an array in which another file differs, and a phrase that says how."""
        for name, mine in self.facts.items():
            if name not in other.facts:
                return name, f"has no array {name!r:.80}"
            for fact, one, its in zip(_FACTS, mine, other.facts[name], strict=True):
                if one != its:
                    return name, f"{name!r:.80} has {fact} {its!s:.200}, not {one!s:.200}"
        more = next(name for name in other.facts if name not in self.facts)
        return more, f"has one array more, {more!r:.80}"


def keeps_names(place: PathLike, format: str | None) -> bool:
    """Return whether the format of a file keeps the names of arrays."""
    keeps = format_of(place, format).keeps
    return keeps is None or keeps.names


def compare_files(
    places: Sequence[PathLike],
    names: Sequence[str] | None,
    *,
    format: str | None,
    options: Mapping[str, Any],
    skip: bool,
) -> tuple[list[PathLike], FileHeaders, list[Exception]]:
    """Return the files that agree in names, shapes, dtypes and labels, their headers, and the errors of all others.

    Attributes of the dataset are those that all files have.

    `names`: of the arrays that are asked for; None for all. `skip`: leave out files that are damaged, or differ from
    most of the files; else these are an error.

    Raises:
        FormatError: a file is damaged, or differs from the first one; names it.
        NotFoundError: a file has no such array.
        OSError: a file cannot be read.
    """
    kinds: dict[tuple[Any, ...], FileHeaders] = {}
    signatures: list[tuple[Any, ...] | None] = []
    attrs: dict[tuple[Any, ...], dict[str, str]] = {}
    problems: dict[int, Exception] = {}
    first: int | None = None
    for index, headers in enumerate(_scan_files(places, names, format, options)):
        if isinstance(headers, Exception):
            if not skip:
                raise headers
            problems[index] = headers
            signatures.append(None)
            continue
        first = index if first is None else first
        signature = headers.signature
        if not skip and kinds and signature not in kinds:
            raise _differ(next(iter(kinds.values())), places[first], headers, places[index])
        kinds.setdefault(signature, headers)
        common = attrs.setdefault(signature, dict(headers.attrs))
        for key in [key for key, text in common.items() if headers.attrs.get(key) != text]:
            del common[key]  # such as a time of creation, which is another one in each file
        signatures.append(signature)
    if not kinds:
        raise problems[0]
    most, _ = Counter(signature for signature in signatures if signature is not None).most_common(1)[0]
    reference = kinds[most]
    leader = places[signatures.index(most)]
    for index, kind in enumerate(signatures):
        if kind is not None and kind != most:
            problems[index] = _differ(reference, leader, kinds[kind], places[index])
    kept = {key: value for key, value in reference.labels.attrs.items() if key in attrs[most]}
    reference.labels.attrs.clear()
    reference.labels.attrs.update(kept)
    files = [place for index, place in enumerate(places) if index not in problems]
    return files, reference, [problems[index] for index in sorted(problems)]


def _differ(reference: FileHeaders, leader: PathLike, headers: FileHeaders, place: PathLike) -> FormatError:
    name, difference = reference.find_difference(headers)
    return FormatError(
        f"{difference} as in {os.fspath(leader)}",
        array=name,
        source=os.fspath(place),
        hint="compat='skip' leaves out such files, and names= chooses arrays",
    )


def _scan_files(
    places: Sequence[PathLike], names: Sequence[str] | None, format: str | None, options: Mapping[str, Any]
) -> Iterator[FileHeaders | Exception]:
    """Yield the headers of each file, or its error; only some hundreds of heads are in memory at the same time."""
    with ThreadPoolExecutor(_FETCHING_THREADS, "sheetarray-scan") as threads:
        for start in range(0, len(places), _AT_ONCE):
            group = places[start : start + _AT_ONCE]
            remote = [place for place in group if isinstance(place, RemoteFile)]
            problems = dict(zip(map(id, remote), _prepare(remote), strict=True))

            def scan(place: PathLike, problems: dict[int, Exception | None] = problems) -> FileHeaders | Exception:
                return problems.get(id(place)) or _scan_file(place, names, format, options)

            yield from threads.map(scan, group) if remote else map(scan, group)
            for file in remote:
                file.head = b""  # a later read compares the states of the file


def _prepare(files: Sequence[RemoteFile]) -> list[Exception | None]:
    """Read the states and the heads of remote files."""
    problems = read_states(files)
    heads = read_heads([file for file, problem in zip(files, problems, strict=True) if problem is None])
    rest = iter(heads)
    return [problem if problem is not None else next(rest) for problem in problems]


def _scan_file(
    place: PathLike, names: Sequence[str] | None, format: str | None, options: Mapping[str, Any]
) -> FileHeaders | Exception:
    label = os.fspath(place)
    try:
        all_infos, described = scan_with_labels(place, format, options)
        infos = dict(all_infos)
        labels = described or DatasetLabels()
        if not keeps_names(place, format):
            infos = {names[0] if names and len(names) == 1 else ONLY_NAME: next(iter(infos.values()))}
        try:
            wanted = list(infos) if names is None else add_coordinates(list(names), described, infos)
        except NotFoundError as error:
            return NotFoundError(f"{label}: {error}")
        texts, attrs = labels.to_texts()
    except (SheetArrayError, OSError) as error:
        if isinstance(error, FormatError) and error.source is None:
            error.source = label
        return error
    chosen = {name: infos[name] for name in wanted}
    facts = {name: (info.shape, info.dtype, texts.get(name) or "none") for name, info in chosen.items()}
    return FileHeaders(chosen, labels, facts, attrs)


# Arrays of many files as one lazy array of dask: one layer, whose blocks read some files, or some rows of them.

_THREADS = 16  # that wait for the remote files of a block


@dataclass(frozen=True, slots=True)
class FileGroup:
    """The files of a block; a class of its own, so that dask does not look into the tuple for tasks."""

    files: tuple[ArrayReader, ...]


@dataclass(frozen=True)
class StackReader:
    """A reader of the blocks of one array."""

    name: str  # of the array
    shape: tuple[int, ...]  # of it in each file
    dtype: np.dtype[Any]  # of its elements
    # of the coordinates along its dimensions, by name; those of each file are compared with them
    digests: Mapping[str, str]
    named: bool  # whether the formats keep the names of arrays
    parts: bool  # whether only the rows of a block are read, if the file allows that

    def __call__(self, group: FileGroup, rows: range | None = None) -> Array:
        """Return a block: the arrays of some files, or some rows of them.

        Raises:
            FormatError: as `sheetarray.read`, or a file is another one than when it was opened.
        """
        rows = range(*self.shape[:1] or (1,)) if rows is None else rows
        beside = (rows.stop - rows.start, *self.shape[1:]) if self.shape else ()
        block: Array = np.empty((len(group.files), *beside), self.dtype)
        is_remote = len(group.files) > 1 and any(is_url(file.path) for file in group.files)
        if not is_remote:
            for index, file in enumerate(group.files):
                block[index] = self._read(file, rows)
            return block
        with ThreadPoolExecutor(min(_THREADS, len(group.files)), "sheetarray-read") as threads:
            for index, array in enumerate(threads.map(lambda file: self._read(file, rows), group.files)):
                block[index] = array
        return block

    def _read(self, file: ArrayReader, rows: range) -> Array:
        """Return the rows of one file, if it did not change since it was opened."""
        if isinstance(file.path, RemoteFile):
            file = replace(file, path=copy.copy(file.path))  # so that the bytes read are not kept in the graph
        array = file.read_rows(self.name, self.shape, rows.start, rows.stop) if self.parts else None
        if array is None:
            array = self._read_whole(file)
            array = array[rows.start : rows.stop] if self.shape else array
        file.check_unchanged()
        return array

    def _read_whole(self, file: ArrayReader) -> Array:
        arrays = file.read([self.name, *self.digests] if self.named else None)
        array = arrays[self.name] if self.named else next(iter(arrays.values()))
        label = os.fspath(file.path)
        if array.shape != self.shape:
            raise FormatError(
                f"has the shape {array.shape} now, but had {self.shape} before", array=self.name, source=label
            )
        for name, digest in self.digests.items():
            if digest_of(arrays[name]) != digest:
                raise FormatError(
                    f"the coordinate {name!r:.80} differs from the one in the first file",
                    array=name,
                    source=label,
                    hint="open files of one grid together",
                )
        return array


def digest_of(array: Array) -> str:
    """Return a short text that is equal for two arrays if their elements are equal, and differs otherwise."""
    content = repr(array.tolist()).encode() if array.dtype.kind in "OUT" else np.ascontiguousarray(array).tobytes()
    kind = "text" if array.dtype.kind in "OUT" else array.dtype.str
    return hashlib.sha256(f"{kind}{array.shape}".encode() + content).hexdigest()


def stack_arrays(reader: StackReader, files: Sequence[ArrayReader], files_per_block: int, rows: int | None) -> Any:
    """Return the arrays of files, one after the other along a new first dimension, as one lazy array of dask.

    `files_per_block`: how many are read together. `rows`: of a block; None for all.
    """
    import dask.array
    from dask.base import tokenize
    from dask.blockwise import BlockwiseDepDict
    from dask.blockwise import blockwise as make_blockwise
    from dask.highlevelgraph import HighLevelGraph

    bounds = list(_cut(len(files), files_per_block))
    groups = {(number,): FileGroup(tuple(files[start:stop])) for number, (start, stop) in enumerate(bounds)}
    chunks: list[tuple[int, ...]] = [tuple(stop - start for start, stop in bounds)]
    pairs: list[Any] = [BlockwiseDepDict(groups), "0"]
    rest: list[tuple[int, ...]] = [(size,) for size in reader.shape]
    new_axes: dict[str, int] = {str(axis + 1): 1 for axis in range(len(rest))}
    if rows is not None:
        cuts = list(_cut(reader.shape[0], rows))
        ranges = {(number,): range(start, stop) for number, (start, stop) in enumerate(cuts)}
        pairs += [BlockwiseDepDict(ranges), "1"]
        del new_axes["1"]
        rest[0] = tuple(stop - start for start, stop in cuts)
    chunks += rest
    states = [(os.fspath(file.path), repr(file.state or getattr(file.path, "state", None))) for file in files]
    described = (reader.name, reader.shape, reader.dtype.str, sorted(reader.digests.items()), reader.parts)
    options = [(file.format, repr(file.options)) for file in files[:1]]
    name = f"sheetarray-{tokenize(states, described, options, chunks)}"
    axes = tuple(str(axis) for axis in range(len(chunks)))
    make_layer: Any = make_blockwise
    make_array: Any = dask.array.Array
    layer = make_layer(reader, name, axes, *pairs, numblocks={}, new_axes=new_axes)
    graph = HighLevelGraph.from_collections(name, layer, dependencies=[])
    return make_array(graph, name, tuple(chunks), dtype=reader.dtype)


def _cut(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of parts of the same size; the last one may be smaller."""
    return pairwise([*range(0, count, size), count]) if count else iter([(0, 0)])


# open_many: arrays of thousands of files as one Dataset of xarray, whose blocks are read when they are asked for.

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
    wanted = list_names(names)
    places = find_places(sources, storage_options)
    states = {id(place): version_of(place) for place in places}
    kept, headers, omitted = compare_files(places, wanted, format=format, options=options, skip=compat == "skip")
    if omitted:
        shown = "; ".join(map(str, omitted[:_SHOWN]))
        more = f"; and {len(omitted) - _SHOWN} more" if len(omitted) > _SHOWN else ""
        warn_caller(f"{len(omitted)} of {len(places)} files are left out: {shown}{more}")
    files = [ArrayReader(from_root(place), format, options, states[id(place)]) for place in kept]
    dataset = _build(files, headers, along, chunks, files_per_chunk)
    labels = np.array([os.fspath(place) for place in kept], dtype=object)
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
