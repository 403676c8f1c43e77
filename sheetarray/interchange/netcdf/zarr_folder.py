"""A Zarr folder as a store that is only read: its metadata are looked at before zarr sees any of them.

Codecs and filters are allowed by a list, in both formats of Zarr. A folder of version 2 may name the codec `pickle`,
and releases of numcodecs up to 0.16.5 run the code that it holds. zarr gets the metadata that were checked, whatever
the folder holds by then, and chunks from files that lie in the folder.

Arrays without names of dimensions get `a_0, a_1`, as arrays of a plain mapping do. In version 2, xarray takes the fill
value for a mark of missing elements; of such arrays it is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any

from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype

from ...errors import FormatError, locating
from ...files import ReadFolder, room_of
from .zarr_chunks import make_check

_DOCUMENTS = (".zarray", ".zgroup", ".zattrs", "zarr.json")
_CONSOLIDATED = ".zmetadata"

_NUMCODECS = {  # ids of version 2; in version 3 they follow `numcodecs.`
    *("adler32", "astype", "base64", "bitround", "blosc", "bz2", "categorize", "crc32", "crc32c", "delta"),
    *("fixedscaleoffset", "fletcher32", "gzip", "jenkins_lookup3", "json2", "lz4", "lzma", "packbits", "quantize"),
    *("shuffle", "vlen-bytes", "vlen-utf8", "zlib", "zstd"),
}
_CODECS = {  # names of version 3
    *("blosc", "bytes", "crc32c", "endian", "gzip", "sharding_indexed", "transpose", "vlen-bytes", "vlen-utf8", "zstd"),
    *(f"numcodecs.{name}" for name in _NUMCODECS),
}
_LISTS = ("filters", "compressor", "compressors", "codecs", "index_codecs", "object_codec")  # keys of codecs
_DTYPE = re.compile(r"[<>|=]?([biufcSUmM]\d*|u?int\d+|float\d+|bool)(\[\w+\])?")  # in the settings of a codec
_DEEPEST = 64  # lists and objects within each other
_KEYS = ("default", "v2")  # of how chunks are named


class ZarrFolder(Store):
    """A Zarr folder that zarr reads.

    Attributes:
        arrays: the paths of its arrays.
        unnamed: those of arrays whose metadata name no dimensions.
        size: the bytes of its files.
        room: bytes that its arrays may take.

    Raises:
        FormatError: it is no Zarr folder; or a codec is not allowed, a link lies in it, or its metadata are damaged.
    """

    def __init__(self, folder: ReadFolder) -> None:
        super().__init__(read_only=True)
        self._folder = folder
        self.size = sum(folder.sizes.values())
        if wrong := next((path for path in folder.folders if _last(path) in _SKIPPED), None):
            raise FormatError("not a Zarr folder, or damaged: a folder, where Zarr has a file", location=wrong)
        documents = dict(_read_documents(folder))
        nodes = {path: _is_array(path, tree) for path, tree in documents.items() if not path.endswith(".zattrs")}
        if "" not in {_parent(path) for path in nodes}:
            raise FormatError("not a Zarr folder: it has neither .zgroup nor zarr.json")
        self.arrays = sorted({_parent(path) for path, is_array in nodes.items() if is_array})
        if "" in self.arrays:
            raise FormatError(
                "an array without a group around it", hint="zarr.open_array(path)[...] reads it, and write takes it"
            )
        self.room = room_of(self.size)
        self._checks = {
            _parent(path): make_check(tree, self.room, path)
            for path, tree in documents.items()
            if _is_array(path, tree)
        }
        self.unnamed = {array for array in self.arrays if _name_dimensions(documents, array)}
        self._documents = {path: json.dumps(tree).encode() for path, tree in documents.items()}
        self._names = sorted({*self._documents, *(name for name in folder.sizes if _last(name) not in _SKIPPED)})

    def names_in(self, group: str) -> set[str]:
        """Return the names of the arrays of a group."""
        return {_last(array) for array in self.arrays if _parent(array) == group}

    # What zarr asks for -----------------------------------------------------------------------------------------

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the bytes of a document that was checked, or of a chunk; None if there is none."""
        content = self._documents.get(key)
        if content is None:
            if _last(key) in _SKIPPED:
                return None
            try:
                with self._folder.open(key) as file:
                    content = file.read()
            except FileNotFoundError:
                return None
            array = _parent(key)
            while array and array not in self._checks:
                array = _parent(array)
            if array in self._checks:
                with locating(location=key):
                    self._checks[array].check(content)
        return (prototype or default_buffer_prototype()).buffer.from_bytes(content[_slice(byte_range, len(content))])

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Return several ranges of bytes."""
        return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    async def exists(self, key: str) -> bool:
        """Return whether there is a document or a chunk."""
        return key in self._documents or (key in self._folder.sizes and _last(key) not in _SKIPPED)

    async def list(self) -> AsyncIterator[str]:
        """Yield all keys."""
        for name in self._names:
            yield name

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yield the keys that begin with a text."""
        for name in self._names:
            if name.startswith(prefix):
                yield name

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yield the names in a folder."""
        start = f"{prefix.rstrip('/')}/" if prefix.strip("/") else ""
        for name in dict.fromkeys(
            name[len(start) :].partition("/")[0] for name in self._names if name.startswith(start)
        ):
            yield name

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    supports_writes = supports_deletes = supports_partial_writes = False
    supports_listing = True

    async def set(self, key: str, value: Buffer) -> None:
        """Refuse to write."""
        raise NotImplementedError(key)

    async def set_partial_values(self, key_start_values: Iterable[tuple[str, int, bytes]]) -> None:
        """Refuse to write."""
        raise NotImplementedError

    async def delete(self, key: str) -> None:
        """Refuse to write."""
        raise NotImplementedError(key)


_SKIPPED = {*_DOCUMENTS, _CONSOLIDATED}


def _slice(byte_range: ByteRequest | None, size: int) -> slice:
    if isinstance(byte_range, RangeByteRequest):
        return slice(byte_range.start, byte_range.end)
    if isinstance(byte_range, OffsetByteRequest):
        return slice(byte_range.offset, None)
    return slice(max(0, size - byte_range.suffix), None) if isinstance(byte_range, SuffixByteRequest) else slice(None)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _is_array(path: str, tree: Mapping[str, Any]) -> bool:
    return path.endswith(".zarray") or (path.endswith("zarr.json") and tree.get("node_type") == "array")


def _read_documents(folder: ReadFolder) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each document by its path; what stands only in consolidated metadata comes first, and files replace it."""
    trees = {path: _read_json(folder, path) for path in folder.sizes if _last(path) in _SKIPPED}
    for path, tree in trees.items():
        if _last(path) == _CONSOLIDATED:
            yield from _list_consolidated(tree.get("metadata"), "")
        elif isinstance(inside := tree.pop("consolidated_metadata", None), dict):
            yield from _list_consolidated(inside.get("metadata"), "zarr.json")
    for path, tree in trees.items():
        if _last(path) != _CONSOLIDATED:
            _check_codecs(tree, path)
            yield path, tree


def _list_consolidated(metadata: Any, end: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, tree in metadata.items() if isinstance(metadata, dict) else ():
        path = f"{name}/{end}" if end else name
        if isinstance(tree, dict) and _last(path) in _DOCUMENTS and not {"", ".", ".."} & {*path.split("/")}:
            tree.pop("consolidated_metadata", None)
            _check_codecs(tree, path)
            yield path, tree


def _read_json(folder: ReadFolder, path: str) -> dict[str, Any]:
    with folder.open(path) as file:
        content = file.read()
    try:
        tree = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not a Zarr folder, or damaged: {error!s:.200}", location=path) from error
    if not isinstance(tree, dict):
        raise FormatError("not a Zarr folder, or damaged: no JSON object", location=path)
    return tree


def _check_codecs(tree: Mapping[str, Any], path: str) -> None:
    """Refuse metadata that name a codec which is not allowed, in whatever it lies."""
    if path.endswith(".zattrs"):
        return
    encoding = tree.get("chunk_key_encoding")
    if isinstance(encoding, dict) and encoding.get("name") not in _KEYS:
        raise FormatError(f"chunks are named by {encoding.get('name')!r:.80}, which is not read", location=path)
    waiting: list[tuple[Any, int]] = [(value, 0) for key, value in tree.items() if key == "codecs" or key in _LISTS]
    allowed = _CODECS if _last(path) == "zarr.json" else _NUMCODECS
    while waiting:
        value, depth = waiting.pop()
        if depth > _DEEPEST:
            raise FormatError("codecs are nested too deep", location=path)
        if isinstance(value, list):
            waiting += [(item, depth + 1) for item in value]
            continue
        name = value.get("name", value.get("id")) if isinstance(value, dict) else value
        if name is None and not isinstance(value, dict):
            continue
        if not isinstance(name, str) or name not in allowed:
            raise FormatError(
                f"the codec {name!r:.80} is not read: it is not in the list of those that are", location=path
            )
        settings = value.get("configuration", value) if isinstance(value, dict) else {}
        settings = settings if isinstance(settings, dict) else {}
        for key, setting in settings.items():
            names_dtype = "dtype" in key or key == "astype"
            if names_dtype and not (isinstance(setting, str) and _DTYPE.fullmatch(setting)):
                raise FormatError(f"the codec {name!r:.80} has the dtype {setting!r:.80}", location=path)
        waiting += [(setting, depth + 1) for key, setting in settings.items() if key in _LISTS]


def _name_dimensions(documents: dict[str, dict[str, Any]], array: str) -> bool:
    """Give an array whose metadata name no dimensions names of their own, and return whether it had none."""
    tree = documents.get(f"{array}/zarr.json")
    shape = (documents[f"{array}/.zarray"] if tree is None else tree).get("shape")
    own = [f"{_last(array)}_{axis}" for axis in range(len(shape) if isinstance(shape, list) else 0)]
    if tree is None:
        attributes = documents.setdefault(f"{array}/.zattrs", {})
        is_unnamed = "_ARRAY_DIMENSIONS" not in attributes
        attributes.setdefault("_ARRAY_DIMENSIONS", own)
        return is_unnamed
    names = tree.get("dimension_names")
    if isinstance(names, list) and len(names) == len(own) and all(isinstance(name, str) for name in names):
        return False
    tree["dimension_names"] = own
    return True
