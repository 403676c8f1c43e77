"""Many files at once: lists them, and asks for the states and the first bytes of remote ones, many at the same time."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..errors import check_kinds, system_error
from .places import PathLike, RemoteFile, is_url, locate, takes_options
from .remote import HEAD, read_state, state_of
from .storage import open_storage, translate_error, translating

_THREADS = 128  # that wait for the answers of services


def find_places(
    sources: PathLike | Iterable[PathLike], storage_options: Mapping[str, Any] | None = None
) -> list[PathLike]:
    """Return the files that a pattern or a list names: paths of this machine, and remote files.

    `sources`: a path or a URL with wildcards, whose files come in the order of their names; or a list of paths and
    URLs, which stays as it is.

    Raises:
        FileNotFoundError: no file matches, or the list is empty.
        TypeError: neither a text nor a list.
        ValueError: storage options for a text that is no URL.
    """
    if not isinstance(sources, (str, os.PathLike)):
        if not isinstance(sources, Iterable) or isinstance(sources, (bytes, Mapping)):
            raise TypeError(f"sources is a text with wildcards or a list of paths, not {type(sources).__name__}")
        places: list[PathLike] = []
        for source in sources:
            check_kinds(str | os.PathLike, "a list of paths and URLs", sources=source)
            places.append(locate(source, storage_options if takes_options(source) else None))
        if not places:
            raise FileNotFoundError(errno.ENOENT, "the list of files is empty")
        return places
    place = locate(sources, storage_options)
    if isinstance(place, RemoteFile):
        places = [*find_files(place.url, storage_options)] if is_pattern(place.url) else [place]
    elif is_pattern(place):
        places = sorted(path for path in glob.iglob(os.fspath(place), recursive=True) if os.path.isfile(path))
    else:
        places = [place]
    if not places:
        raise FileNotFoundError(errno.ENOENT, "no file matches", os.fspath(place))
    return places


def is_pattern(place: PathLike) -> bool:
    """Return whether a path or a URL has wildcards, and is no file itself.

    Example:
        >>> is_pattern("runs/*.csv"), is_pattern("https://host/run.csv?part=1"), is_pattern("run.csv")
        (True, False, False)
    """
    text = os.fspath(place)
    marks = "*" if text.lower().startswith(("http://", "https://")) else "*?["
    return any(mark in text for mark in marks) and (is_url(place) or not os.path.exists(place))


def find_files(pattern: str, storage_options: Mapping[str, Any] | None = None) -> list[RemoteFile]:
    """Return the files that a URL with wildcards names, in the order of their URLs.

    Each has its size and its ETag, or its time of change, from the listing: reading it is an error if the file was
    changed since then.

    `pattern`: such as `s3://bucket/2024/*.csv`.
    """
    place = RemoteFile(pattern, storage_options)
    system, path = open_storage(place)
    with translating(place):
        system.invalidate_cache()
        infos = system.glob(path, detail=True)
    first, link, rest = pattern.partition("::")
    start = first.removesuffix(path) if first.endswith(path) else None  # with the host, where file systems have any
    files = []
    for name in sorted(infos):
        if infos[name].get("type") == "directory":
            continue
        url = system.unstrip_protocol(name) if start is None else start + name
        file = RemoteFile(url + link + rest, storage_options)
        state = state_of(infos[name])
        brief: dict[str, Any] = {key: state[key] for key in ("size", "ETag") if key in state}
        file.state = brief if "ETag" in brief else state  # a listing may round times in another way than an answer
        files.append(file)
    return files


def read_states(files: Sequence[RemoteFile]) -> list[Exception | None]:
    """Ask for the states of those remote files that have none yet, many at once.

    `files`: the files, whose attribute `state` is set.

    It returns for each file the error that opening it would raise; None if there is no error.
    """

    def ask(file: RemoteFile) -> Exception | None:
        try:
            file.state = file.state or read_state(file)
        except Exception as error:  # of this file alone
            return error
        return None if file.state is not None else system_error(errno.ENOENT, file)

    with ThreadPoolExecutor(_THREADS, "sheetarray-states") as threads:
        return list(threads.map(ask, files))


def read_heads(files: Sequence[RemoteFile], size: int = HEAD) -> list[Exception | None]:
    """Read the first bytes of many files, so that `scan` of each asks for no more, as a rule.

    `files`: the files, whose attribute `head` is set. `size`: of a head, in bytes.

    It returns for each file the error that opening it would raise; None if there is no error.
    """
    problems: list[Exception | None] = [None] * len(files)
    groups: dict[int, tuple[Any, list[int], list[str]]] = {}  # by file system: indices of files, and paths in it
    for index, file in enumerate(files):
        try:
            system, path = open_storage(file)
        except Exception as error:  # of this file alone
            problems[index] = error
            continue
        _, indices, paths = groups.setdefault(id(system), (system, [], []))
        indices.append(index)
        paths.append(path)
    for system, indices, paths in groups.values():
        heads = system.cat_ranges(paths, [0] * len(paths), [size] * len(paths), on_error="return")
        for index, head in zip(indices, heads, strict=True):
            if isinstance(head, Exception):
                is_empty = (files[index].state or {}).get("size") == 0  # a range of nothing is refused
                problems[index] = None if is_empty else translate_error(files[index], head)
            else:
                files[index].head = bytes(head[:size])
    return problems
