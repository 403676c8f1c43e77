"""Compares the headers of many files: if their arrays are to be stacked, names, shapes and dtypes have to agree."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ..api.datasets import add_coordinates
from ..columns import ArrayInfo
from ..errors import (
    FormatError,
    NotFoundError,
    SheetArrayError,
)
from ..files import PathLike, RemoteFile, read_heads, read_states
from ..formats import format_of
from ..labels import DatasetLabels
from .reader import scan_arrays

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
            for fact, ours, theirs in zip(_FACTS, mine, other.facts[name], strict=True):
                if ours != theirs:
                    return name, f"{name!r:.80} has {fact} {theirs!s:.200}, not {ours!s:.200}"
        more = next(name for name in other.facts if name not in self.facts)
        return more, f"has one array more, {more!r:.80}"


@dataclass(slots=True)
class _AlikeFiles:
    """Files whose arrays agree in names, shapes, dtypes and labels."""

    headers: FileHeaders  # of the first of them
    attrs: dict[str, str]  # of the dataset, those that all of them have
    indices: list[int] = field(default_factory=list)

    def add(self, index: int, headers: FileHeaders) -> None:
        """Add a file; attributes that it does not have, such as another time of creation, are no longer of all."""
        self.indices.append(index)
        for key in [key for key, text in self.attrs.items() if headers.attrs.get(key) != text]:
            del self.attrs[key]


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
    groups: dict[tuple[Any, ...], _AlikeFiles] = {}
    problems: dict[int, Exception] = {}
    for index, headers in enumerate(_scan_files(places, names, format, options)):
        if isinstance(headers, Exception):
            if not skip:
                raise headers
            problems[index] = headers
            continue
        signature = headers.signature
        if not skip and groups and signature not in groups:
            raise _differ(next(iter(groups.values())), places, headers, index)
        groups.setdefault(signature, _AlikeFiles(headers, dict(headers.attrs))).add(index, headers)
    if not groups:
        raise problems[0]
    most = max(groups.values(), key=lambda group: len(group.indices))
    for group in groups.values():
        if group is not most:
            problems |= {index: _differ(most, places, group.headers, index) for index in group.indices}
    reference = most.headers
    for key in reference.labels.attrs.keys() - most.attrs.keys():
        del reference.labels.attrs[key]
    files = [places[index] for index in most.indices]
    return files, reference, [problems[index] for index in sorted(problems)]


def _differ(alike: _AlikeFiles, places: Sequence[PathLike], headers: FileHeaders, index: int) -> FormatError:
    """Return the error of the file with an index, whose headers are other ones than those of most files."""
    name, difference = alike.headers.find_difference(headers)
    leader, place = places[alike.indices[0]], places[index]
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
        all_infos, labels = scan_arrays(place, format, options)
        infos = dict(all_infos)
        if not keeps_names(place, format):
            infos = {names[0] if names and len(names) == 1 else ONLY_NAME: next(iter(infos.values()))}
        try:
            selected = list(infos) if names is None else add_coordinates(list(names), labels, infos)
        except NotFoundError as error:
            return NotFoundError(f"{label}: {error}")
        texts, attrs = labels.to_texts()
    except (SheetArrayError, OSError) as error:
        if isinstance(error, FormatError) and error.source is None:
            error.source = label
        return error
    chosen = {name: infos[name] for name in selected}
    facts = {name: (info.shape, info.dtype, texts.get(name) or "none") for name, info in chosen.items()}
    return FileHeaders(chosen, labels, facts, attrs)
