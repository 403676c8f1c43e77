"""Compares the headers of many files: if their arrays are to be stacked, names, shapes and dtypes have to agree."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ..columns import ArrayInfo
from ..errors import FormatError, NotFoundError, SheetArrayError
from ..files import PathLike, RemoteFile, read_heads, read_states
from ..labelled import add_coordinates, scan_with_labels
from ..labels import DatasetLabels
from ..registry import format_of

ONLY_NAME = "array"  # of the array of a file whose format keeps no names
_AT_ONCE = 512  # files whose heads are in memory
_THREADS = 16  # which scan files at the same time: some need more bytes than their head


@dataclass(frozen=True)
class FileHeaders:
    """The headers of a file's arrays, and their labels.

    Attributes:
        infos: of the arrays that are asked for and their coordinates, by name.
        labels: of these arrays.
        texts: the labels as texts, to be compared with those of another file.
        attrs: attributes of the dataset, as texts.
    """

    infos: Mapping[str, ArrayInfo]
    labels: DatasetLabels
    texts: Mapping[str, str]
    attrs: Mapping[str, str]

    @property
    def signature(self) -> tuple[Any, ...]:
        """The part of the headers that is equal in files that agree."""
        return tuple(sorted((name, *_say(info, self.texts.get(name))) for name, info in self.infos.items()))

    def find_difference(self, other: FileHeaders) -> tuple[str, str] | None:
        """Return the name of an array in which another file differs, and a phrase that says how; None if they agree."""
        for name, info in self.infos.items():
            if name not in other.infos:
                return name, f"has no array {name!r:.80}"
            mine, its = _say(info, self.texts.get(name)), _say(other.infos[name], other.texts.get(name))
            if mine[0] != its[0]:
                return name, f"{name!r:.80} has the shape {its[0]}, not {mine[0]}"
            if mine[1] != its[1]:
                return name, f"{name!r:.80} has the dtype {its[1]}, not {mine[1]}"
            if mine != its:
                return name, f"{name!r:.80} has other labels: {its[2]:.200}, not {mine[2]:.200}"
        if more := [name for name in other.infos if name not in self.infos]:
            return more[0], f"has one array more, {more[0]!r:.80}"
        return None


def _say(info: ArrayInfo, text: str | None) -> tuple[tuple[int, ...], str, str]:
    return info.shape, info.dtype, text or "none"


@dataclass(frozen=True)
class Agreement:
    """The files that agree.

    Attributes:
        files: those that agree.
        headers: of each of them; attributes of the dataset are those that all files have.
        omitted: the errors of the files that are left out.
    """

    files: list[PathLike]
    headers: FileHeaders
    omitted: list[Exception]


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
) -> Agreement:
    """Scan files, and return those that agree in their names, shapes, dtypes and labels.

    Args:
        places: of the files.
        names: of the arrays that are asked for; None for all.
        format: instead of the suffixes.
        options: for reading.
        skip: leave out files that are damaged, or differ from most of the files; else these are an error.

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
    return Agreement(files, reference, [problems[index] for index in sorted(problems)])


def _differ(reference: FileHeaders, leader: PathLike, headers: FileHeaders, place: PathLike) -> FormatError:
    name, difference = reference.find_difference(headers) or ("", "differs")
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
    with ThreadPoolExecutor(_THREADS, "sheetarray-scan") as threads:
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
    return FileHeaders({name: infos[name] for name in wanted}, labels, texts, attrs)
