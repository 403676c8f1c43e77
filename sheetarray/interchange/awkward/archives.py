"""`.awkd` files: a zip archive, not compressed, of schemas (`events.json`) and blobs (`events-1.raw`).

An archive may claim to hold anything: names and sizes are looked at when it is opened, before memory is taken. Adding
to an archive copies the members that it has as they are, and replaces the file only when everything is there. Saves
that add to one file at the same time wait for each other.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, Literal, cast

from ...errors import FormatError, LimitError, NotFoundError, escape_controls, locating, system_error
from ...files import Readable, Sink, Source, Writable, changing, fast_zlib, is_url, refuse_empty, replacing
from ...formats.contract import Progress, ignore_progress
from ..file_array import in_member
from ..untrusted import (
    check_member,
    damage_as_format_error,
    file_name_problem,
    members_of,
    open_file_size,
    read_member,
    zip_stream,
)
from .reading import AwkwardReader, ReadOptions
from .writing import COMPRESSION, Compression, StoragePlan, check_member_names, plan

# Members of a zip archive ---------------------------------------------------------------------------------------------

_INFLATED_ALWAYS = 2**26  # a container may always inflate to this many bytes
_INFLATED_TIMES = 20  # and to this many times those that are stored; no writer of the protocol compresses like this
_ZIP64 = 2**31  # bytes; members from there on need the larger header


def check_inflated(total: int, stored: int) -> None:
    """Refuse what a container's own compression makes larger than any use of the protocol does."""
    if total > (limit := max(_INFLATED_ALWAYS, _INFLATED_TIMES * stored)):
        raise FormatError(
            f"inflates to {total} bytes; at most {limit} are read",
            hint="if this is intended, store it without the container's compression",
        )


class Members(Mapping[str, memoryview]):
    """The members of a zip archive, by their names; `stored` is the bytes of the archive."""

    def __init__(self, file: Readable) -> None:
        with contextlib.ExitStack() as opened:
            archive = opened.enter_context(Source(file)).open_again() if is_url(file) else _seekable(file)
            refuse_empty(_first_byte(archive))
            with damage_as_format_error("not an .awkd file"):
                self._archive = opened.enter_context(zipfile.ZipFile(archive))
            self.stored = open_file_size(self._archive.fp)
            self._members = members_of(self._archive)
            check_inflated(sum(member.file_size for member in self._members.values()), self.stored)
            self._opened = opened.pop_all()

    def __enter__(self) -> Members:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the archive."""
        self._opened.close()

    def __getitem__(self, name: str) -> memoryview:
        if name not in self._members:
            raise NotFoundError(f"no member {name!r}")
        if self._archive.fp is None:
            raise ValueError("the archive is closed")
        member = self._members[name]
        with in_member(name):
            check_member(self._archive, member)
            with damage_as_format_error("damaged member"):
                return read_member(self._archive, member)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    @property
    def end(self) -> int:
        """The byte after the last member, where the archive's directory begins."""
        return self._archive.start_dir

    def copy_into(self, file: IO[bytes]) -> zipfile.ZipFile:
        """Return an archive in which these members, copied to `file` already, stand before those that are to come."""
        archive = zipfile.ZipFile(file, "w")
        archive.filelist.extend(self._archive.infolist())
        archive.NameToInfo.update(self._archive.NameToInfo)
        archive.comment = self._archive.comment
        return archive


def _seekable(file: Readable) -> Any:
    if isinstance(file, (str, os.PathLike)):
        return file
    if getattr(file, "seekable", bool)() and not isinstance(file, io.TextIOBase):
        return file
    with Source(file) as source:
        return io.BytesIO(source.whole(text=False))


def _first_byte(file: Any) -> bytes:
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            return opened.read(1)
    file.seek(0)
    first: bytes = file.read(1)
    return first


# Archives read --------------------------------------------------------------------------------------------------------

SUFFIX = ".awkd"
RAW, SCHEMA = ".raw", ".json"


def load(file: Readable, *, schemasuffix: str = SCHEMA, **options: Any) -> Any:
    """Return the arrays of an `.awkd` file as a mapping, or its only array if it has no name.

    Args:
        file: a path, with or without `.awkd`, or a file opened for bytes.
        schemasuffix: the end of the names of schemas.
        **options: as for `deserialize`, such as `functions` or `whitelist`.

    Returns:
        The array, if the file holds one array without a name. Otherwise an `ArchiveArrays`, a mapping that reads an
        array when you use it. In a `with` block, the mapping closes the file at the end.

    Raises:
        FormatError: the file is not an `.awkd` file, or has members with unsafe names.
        OSError: the file does not exist, or cannot be read.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from sheetarray.interchange.awkward import save
        >>> file = io.BytesIO()
        >>> save(file, np.array([1.5, 2.5]))
        >>> load(file).to_list()
        [1.5, 2.5]
    """
    arrays = ArchiveArrays(_resolve_path(file), schemasuffix=schemasuffix, **options)
    if list(arrays) != [""]:
        return arrays
    with arrays:
        return arrays[""]


def _resolve_path(file: Readable) -> Readable:
    """Return the path as `save` has it: with the suffix, if a file exists only with it."""
    if isinstance(file, (str, os.PathLike)) and not os.path.exists(file):
        saved = os.fspath(file) + SUFFIX
        return saved if os.path.exists(saved) else file
    return file


class ArchiveArrays(Mapping[str, Any]):
    """A mapping of the arrays of an `.awkd` file. It reads an array when you use it.

    If an array is broken, you get the error when you use that array. With `plain`, arrays that were written from NumPy
    come back as NumPy arrays. Without it, every array is an `ak.Array`. With `together`, the limits of memory and
    steps are for all arrays that you use, not for each.

    Attributes:
        source: the file's name, for messages.
    """

    def __init__(
        self,
        file: Readable,
        *,
        schemasuffix: str = SCHEMA,
        plain: bool = False,
        together: bool = False,
        **options: Any,
    ) -> None:
        self._reader = AwkwardReader(ReadOptions(**options))
        name = os.fspath(file) if isinstance(file, (str, os.PathLike)) else getattr(file, "name", None)
        self.source = name if isinstance(name, str) else None
        with locating(source=self.source):
            self._members = Members(file)
        self._plain = plain
        self._suffix = schemasuffix
        self._budget = self._reader.budget(self._members.stored) if together else None
        self._names = {
            member.removesuffix(schemasuffix): member for member in self._members if member.endswith(schemasuffix)
        }

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise NotFoundError(f"no array {name!r}; there is {', '.join(map(repr, self._names)) or 'none'}")
        blobs, source, plain = self._members, self.source, self._plain
        budget = self._budget or self._reader.budget(blobs.stored)
        return self._reader.read_named(blobs, name, self._suffix, budget, source=source, plain=plain)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return escape_controls(f"<arrays of {self.source or 'an archive'}: {', '.join(map(repr, self._names))}>")

    def __enter__(self) -> ArchiveArrays:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def member(self, name: str) -> str:
        """Return the member of the archive that holds an array's schema."""
        return self._names[name]

    def may_go_on(self) -> bool:
        """Return whether the limit of steps leaves some for more arrays."""
        return self._budget is None or self._budget.has_steps

    def close(self) -> None:
        """Close the file, unless the caller opened it."""
        self._members.close()


# Archives written -----------------------------------------------------------------------------------------------------

Mode = Literal["a", "w", "x"]

_BLOCK = 2**24  # bytes


def save(
    file: Writable,
    array: Any,
    name: str | None = None,
    mode: Mode = "a",
    *,
    delimiter: str | None = "-",
    suffix: str | None = RAW,
    schemasuffix: str | None = SCHEMA,
    compression: Compression = COMPRESSION,
    whitelist: Any = None,
    pack: bool = False,
) -> None:
    """Save one array or several in an `.awkd` file. If saving fails, the file stays as it was.

    Args:
        file: a path, or a file opened for bytes. The suffix `.awkd` is added to a path without it. For mode "a", an
            open file must be readable and seekable.
        array: as for `serialize`, or a mapping of names to arrays.
        name: the name of the array. For a mapping, its names begin with this text. None stores a single array without
            a name.
        mode: what to do if the file exists: "a" adds to it; "w" replaces it; "x" refuses. Processes that save to one
            file wait for each other, for a minute at most.
        delimiter: as for `serialize`, like `suffix`, `schemasuffix`, `compression`, `whitelist` and `pack`.

    Raises:
        DTypeError: the protocol cannot hold an array.
        FormatError: with mode "a", the file is not an `.awkd` file.
        LimitError: the file already has this name, or the name is unsafe in an archive. Or another program saved the
            file meanwhile; then it stays as that program left it.
        OSError: the file cannot be written. The old file stays.

    Example:
        >>> import numpy as np
        >>> from sheetarray.interchange.awkward import load
        >>> file = io.BytesIO()
        >>> save(file, np.array([1.5]), "t")
        >>> save(file, np.array([2, 3]), "p")
        >>> list(load(file))
        ['t', 'p']
    """
    if mode not in ("a", "w", "x"):
        raise ValueError(f"mode is 'a', 'w' or 'x', not {mode!r}")
    arrays = array if isinstance(array, Mapping) else {"": array}
    plans = [
        plan(value, f"{name or ''}{key}", delimiter, suffix, schemasuffix, compression, whitelist, pack=pack)
        for key, value in arrays.items()
    ]
    if not plans:
        raise LimitError("no array to write")
    if not isinstance(file, (str, os.PathLike)):
        _save_in_file(cast("IO[bytes]", file), plans, mode)
        return
    if is_url(file):
        if mode != "w":
            raise ValueError("an archive under a URL can only be replaced whole: pass mode='w'")
        write_archive(file, plans)
        return
    path = os.fspath(file) if os.fspath(file).endswith(SUFFIX) else os.fspath(file) + SUFFIX
    with changing(path):
        if mode == "x" and os.path.lexists(path):
            raise system_error(errno.EEXIST, path)
        if mode == "a" and os.path.isfile(path) and os.stat(path).st_size > 0:
            _append(path, plans)
            return
        try:
            write_archive(path, plans)
        except LimitError:
            if mode == "x" and os.path.lexists(path):  # another program has made it meanwhile
                raise system_error(errno.EEXIST, path) from None
            raise


def _append(path: str, plans: Sequence[StoragePlan]) -> None:
    """Add to an archive, whose members are copied as they are."""
    with open(path, "rb") as old, locating(source=path), Members(old) as members:
        check_members(plans, members)
        with replacing(path, binary=True) as sink:
            old.seek(0)
            for start in range(0, members.end, _BLOCK):
                sink.write(old.read(min(_BLOCK, members.end - start)))
            with members.copy_into(cast("IO[bytes]", sink)) as archive:
                _write_members(archive, plans)


def _save_in_file(file: IO[bytes], plans: Sequence[StoragePlan], mode: Mode) -> None:
    if mode != "a" or not open_file_size(file):
        write_archive(file, plans)
        return
    with Members(file) as members:
        check_members(plans, members)
        tail = io.BytesIO()
        with members.copy_into(zip_stream(tail, members.end)) as archive:
            _write_members(archive, plans)
        file.seek(members.end)
        file.write(tail.getbuffer())
        file.truncate()


def write_archive(target: Writable, plans: Sequence[StoragePlan], *, progress: Progress | None = None) -> None:
    """Write an archive of its own."""
    check_members(plans, ())
    with replacing(target, binary=True) as sink:
        _write(sink, plans, progress)


def _write(sink: Sink, plans: Sequence[StoragePlan], progress: Progress | None = None) -> None:
    with zipfile.ZipFile(zip_stream(sink), "w") as archive:
        _write_members(archive, plans, progress)


def check_members(plans: Sequence[StoragePlan], taken: Sequence[str] | Members) -> None:
    """Refuse names that an archive has already, or should not have."""
    for planned in plans:
        for name in planned.names:
            if problem := file_name_problem(name):
                raise LimitError(
                    f"the name {name!r:.80} {problem}: rename it, because each blob becomes a file of this name"
                )
    check_member_names(plans, taken)


def _add_member(archive: zipfile.ZipFile, name: str, content: bytes | memoryview) -> None:
    """Write a member that is not compressed.

    zipfile would sum it up with Python's zlib, which takes longer than deflating it does with the fast one.
    """
    assert archive.fp is not None
    member = zipfile.ZipInfo(name)
    member.file_size = member.compress_size = len(content)
    member.CRC = fast_zlib.crc32()(content, 0)
    member.header_offset = archive.fp.tell()
    member.external_attr = 0o600 << 16  # as zipfile has it: the owner may read and write it
    archive.fp.write(member.FileHeader(zip64=len(content) >= _ZIP64))
    for start in range(0, len(content), _BLOCK):
        archive.fp.write(content[start : start + _BLOCK])
    archive.filelist.append(member)
    archive.NameToInfo[name] = member
    archive.start_dir = archive.fp.tell()


def _write_members(archive: zipfile.ZipFile, plans: Sequence[StoragePlan], progress: Progress | None = None) -> None:
    total, done, report = sum(planned.elements for planned in plans), 0, progress or ignore_progress
    report(0, total)
    for planned in plans:
        for blob in planned.blobs:
            _add_member(archive, planned.prefix + blob.key, blob.content())
            report(done := done + blob.array.size, total)
        _add_member(archive, planned.name, planned.schema)
    report(total, total)
