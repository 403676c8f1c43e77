"""HDF5 groups as mappings of awkward arrays.

A group may come from anywhere: what it does not hold itself (soft and external links, virtual datasets, datasets whose
elements are in other files) is not read.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np

from ...errors import FormatError, LimitError, NotFoundError, escape_controls
from ..file_array import in_member
from ..untrusted import damage_as_format_error, load_package
from ..zip_members import file_name_problem
from .archives.members import check_inflated
from .compression import COMPRESSION, Compression
from .reading import AwkwardReader, ReadOptions
from .writing import check_member_names, plan

Group = Any  # h5py.Group; the package has no types to check against

_SCHEMA = "schema.json"


def _h5py() -> Any:
    return load_package("h5py", "HDF5 files need h5py", "'sheetarray[awkward]'")


def hdf5(
    group: Group, *, compression: Compression = COMPRESSION, whitelist: Any = None, pack: bool = False, **options: Any
) -> ArrayGroup:
    """Return a mapping that reads awkward arrays from an HDF5 file or group, and writes them to it.

    Args:
        group: an open `h5py.File` or `h5py.Group`. It stays open.
        compression: as for `serialize`.
        whitelist: as for `deserialize` and `serialize`; None is `WHITELIST`.
        pack: as for `serialize`.
        **options: as for `deserialize`, such as `functions`.

    Raises:
        MissingDependencyError: h5py is not installed.

    Example:
        >>> import h5py
        >>> with h5py.File.in_memory() as file:
        ...     arrays = hdf5(file)
        ...     arrays["t"] = np.array([1.5, 2.5])
        ...     list(arrays), arrays["t"].to_list()
        (['t'], [1.5, 2.5])
    """
    if not isinstance(group, _h5py().Group):
        raise TypeError(f"expected an h5py file or group, not {type(group).__name__}")
    reading = ReadOptions(**options, **({} if whitelist is None else {"whitelist": whitelist}))
    return ArrayGroup(group, {"compression": compression, "whitelist": whitelist, "pack": pack}, reading)


class ArrayGroup(MutableMapping[str, Any]):
    """A mapping of the awkward arrays in an HDF5 group. It reads an array when you use it.

    `group`: the HDF5 group. `writing`: options for `serialize`. `reading`: options for `deserialize`.
    """

    def __init__(self, group: Group, writing: Mapping[str, Any], reading: ReadOptions) -> None:
        self._group, self._writing, self._reader = group, writing, AwkwardReader(reading)

    def __getitem__(self, name: str) -> Any:
        self._check_present(name)
        file: str = self._group.file.filename
        stored = _stored_size(self._group[name])
        budget = self._reader.budget(stored)
        return self._reader.read_named(_Datasets(self._group), name, f"/{_SCHEMA}", budget, source=file)

    def __setitem__(self, name: str, array: Any) -> None:
        """Store an array; an old one of the name stays until the new one is there."""
        if (problem := file_name_problem(name)) or "/" in name:
            raise LimitError(
                f"the name {name!r:.80} {problem or 'is a path'}: choose a name that an HDF5 group can have"
            )
        if name in self._group and name not in self:
            raise LimitError(f"there is something with the name {name!r} already, and it is not an awkward array")
        planned = plan(array, name, delimiter="/", schemasuffix=f"/{_SCHEMA}", **self._writing)
        check_member_names([planned], ())
        mark = secrets.token_hex(8)
        new, old = f".sheetarray-{mark}.new", f".sheetarray-{mark}.old"
        try:
            group = self._group.create_group(new)
            for blob in planned.blobs:
                group[blob.key] = np.frombuffer(blob.content(), np.uint8)
            group[_SCHEMA] = np.frombuffer(planned.schema, np.uint8)
            if name in self:
                self._group.move(name, old)
            self._group.move(new, name)
        except BaseException:
            with contextlib.suppress(Exception):
                if old in self._group:
                    self._group.move(old, name)
            with contextlib.suppress(Exception):
                del self._group[new]
            raise
        if old in self._group:
            del self._group[old]

    def __delitem__(self, name: str) -> None:
        self._check_present(name)
        del self._group[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name not in ("", ".") and "/" not in name and self._holds(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._group if self._holds(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        place = escape_controls(f"{self._group.name} in {self._group.file.filename}")
        return f"<arrays of {place}: {', '.join(map(repr, self))}>"

    def _check_present(self, name: str) -> None:
        if name not in self:
            raise NotFoundError(f"no array {name!r}; there is {', '.join(map(repr, self)) or 'none'}")

    def _holds(self, name: str) -> bool:
        h5py = _h5py()
        inner = self._group.get(name) if _is_own(self._group, name) else None
        return isinstance(inner, h5py.Group) and inner.get(_SCHEMA, getlink=True) is not None


class _Datasets(Mapping[str, np.ndarray[Any, Any]]):
    """The arrays in the datasets of a group and below, by their paths; nothing from outside it."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._inflated = self._stored = 0  # bytes of what was read

    def __getitem__(self, path: str) -> np.ndarray[Any, Any]:
        if problem := file_name_problem(path):
            raise FormatError(f"the name {path!r:.80} {problem}")
        with in_member(path), damage_as_format_error("a damaged dataset"):
            return self._read(self._dataset(path))

    def _dataset(self, path: str) -> Any:
        node, h5py = self._group, _h5py()
        for step in path.split("/"):
            if not isinstance(node, h5py.Group) or node.get(step, getlink=True) is None:
                raise NotFoundError(f"no dataset {path!r}")
            if not _is_own(node, step):
                raise FormatError("a link to something else, which is not followed")
            node = node[step]
        if not isinstance(node, h5py.Dataset):
            raise FormatError("no dataset")
        if node.external or node.is_virtual:
            raise FormatError("the elements of a dataset are in another file, which is not read")
        return node

    def _read(self, dataset: Any) -> np.ndarray[Any, Any]:
        dtype = dataset.dtype
        if dtype.kind not in "biufc" or dtype.hasobject or dataset.shape is None:
            raise FormatError(f"a dataset of {dtype}, not of bytes or numbers")
        self._inflated += dataset.nbytes
        self._stored += dataset.id.get_storage_size()
        check_inflated(self._inflated, self._stored)
        values: np.ndarray[Any, Any] = np.atleast_1d(dataset[()])
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._group)

    def __len__(self) -> int:
        return len(self._group)


def _stored_size(group: Group) -> int:
    """Return the bytes that the datasets in a group take in the file."""
    own = (group[name] for name in group if _is_own(group, name))
    return sum(item.id.get_storage_size() for item in own if isinstance(item, _h5py().Dataset))


def _is_own(group: Group, name: str) -> bool:
    return isinstance(group.get(name, getlink=True), _h5py().HardLink)
