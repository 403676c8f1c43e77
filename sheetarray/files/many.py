"""Many remote files at once: which there are, and the first bytes of each, concurrently and with one request a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .places import RemoteFile
from .remote import HEAD, state_of
from .storage import open_storage, translate_error, translating


def find_files(pattern: str, storage_options: Mapping[str, Any] | None = None) -> list[RemoteFile]:
    """Return the files that a URL with wildcards names, in the order of their URLs.

    Each knows its size and its ETag, or its time, from the listing: a read through it finds the file unchanged, or is
    an error.

    Args:
        pattern: such as `s3://bucket/2024/*.csv`.
        storage_options: for its file system.

    Raises:
        OSError: the file system cannot be reached, or refuses.
    """
    place = RemoteFile(pattern, storage_options)
    system, path = open_storage(place)
    with translating(place):
        system.invalidate_cache()
        infos = system.glob(path, detail=True)
    _, link, rest = pattern.partition("::")
    files = []
    for name in sorted(infos):
        if infos[name].get("type") == "directory":
            continue
        file = RemoteFile(system.unstrip_protocol(name) + link + rest, storage_options)
        state = state_of(infos[name])
        brief: dict[str, Any] = {key: state[key] for key in ("size", "ETag") if key in state}
        file.state = brief if "ETag" in brief else state  # listings round times otherwise than answers do
        files.append(file)
    return files


def read_heads(files: Sequence[RemoteFile], size: int = HEAD) -> list[Exception | None]:
    """Read the first bytes of many files, so that `scan` of each asks for no more, as a rule.

    Args:
        files: which get their `head`.
        size: of a head, in bytes.

    Returns:
        For each file what is wrong with it, as opening it would say; None where nothing is.
    """
    problems: list[Exception | None] = [None] * len(files)
    groups: dict[int, tuple[Any, list[int], list[str]]] = {}
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
