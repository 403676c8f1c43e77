"""Bytes in, bytes out: opening what is read, and replacing what is written, whole or not at all.

Reading knows gzip and Zstandard by their magic bytes; writing by the suffix `.gz` or `.zst`. A path is written to a
temporary file in the same folder, flushed to the disk and renamed over the old one; a URL to one of this machine, and
uploaded when it is whole; a file object that the caller opened is only written to, and stays open.
"""

from __future__ import annotations

from .compressed import Sink, max_inflated_size, max_values, size_for_values
from .contents import BytesLike
from .folders import ReadFolder
from .in_place import OvertakenError, changing
from .json_structure import check_structure, repeated_key
from .many_files import find_places, is_pattern, read_heads, read_states
from .places import (
    COMPRESSIONS,
    PathLike,
    RemoteFile,
    conceal_secrets,
    file_version,
    is_url,
    locate,
    name_part,
    stem_of,
    takes_options,
)
from .reading import FileSlices, Readable, Source, refuse_empty, release_pages, room_of
from .remote import RangedBytes
from .replacing_folders import replacing_folder
from .writing import Writable, naming_target, numbering_errors, replacing

__all__ = [
    "COMPRESSIONS",
    "BytesLike",
    "FileSlices",
    "OvertakenError",
    "PathLike",
    "RangedBytes",
    "ReadFolder",
    "Readable",
    "RemoteFile",
    "Sink",
    "Source",
    "Writable",
    "changing",
    "check_structure",
    "conceal_secrets",
    "file_version",
    "find_places",
    "is_pattern",
    "is_url",
    "locate",
    "max_inflated_size",
    "max_values",
    "name_part",
    "naming_target",
    "numbering_errors",
    "read_heads",
    "read_states",
    "refuse_empty",
    "release_pages",
    "repeated_key",
    "replacing",
    "replacing_folder",
    "room_of",
    "size_for_values",
    "stem_of",
    "takes_options",
]
