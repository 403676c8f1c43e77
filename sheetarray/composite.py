"""Composites, which are spread over several columns: taken apart before cells are written, put together after reading.

A composite is one value that no single column holds, such as an awkward array. The adapter that knows its form offers
a module of five functions (`CompositeModule`), and its row in the registry names that module, which is imported only
when there is such a value, or text that may describe one. Labels are the other kind: one column that describes all
others, and leaves them as they are. Every container of columns goes through the functions here, so that `sa.write` and
`write_csv`, `read`, `scan` and `check` all show the same arrays.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any, Protocol, TypeVar

import numpy as np

from .arrays import list_names, note_values, select, values_by_name
from .columns import (
    ArrayInfo,
    CompareFingerprint,
    ElementRestorer,
    LayoutColumn,
    ResizedArray,
    SettleChanges,
    Sheet,
    SheetArrays,
)
from .columns.reading import raise_error
from .elements import Missing
from .errors import (
    DTypeError,
    Finding,
    FormatError,
    LimitError,
    MissingDependencyError,
    NotFoundError,
    SheetArrayWarning,
)
from .header import NoteFinding, warn_of_finding
from .labels import NAME as LABELS
from .labels import (
    DatasetLabels,
    check_labels,
    find_renamed,
    name_infos,
    parse_labels,
    refuse_description,
    report_damage,
    wants_labels,
)
from .labels import spread as spread_labels
from .linear import LinearArray
from .registry import Composite, composites

# Puts composites together again from the columns of any container.

_MOST_RENAMED = 64  # cells of an array that `scan` looks at, since it may be a description under another name
_MOST_PIECES = 10_000  # elements of a description, each up to a cell long; a longer array only happens to have its name


def read_composites(read: Read, scan: Scan, names: Sequence[str] | None) -> ArraysByName:
    """Read arrays, and put together the columns that belong to one composite.

    `read`: returns the arrays of columns, by their names; of all columns for None. `scan`: returns the infos of all
    columns whose headers are not damaged, by name. `names`: of the composites and columns that are wanted; None for
    all.

    Raises:
        FormatError: columns that do not fit together; `.location` is the first cell of the first of them.
        NotFoundError: nothing has one of the names.
    """
    if names is None:
        arrays = read(None)
        described = _parse_labels(arrays, warn_of_finding, scan) is not None
        return _gather(_without_description(arrays) if described else arrays, scan)
    wanted = list_names(names) or []
    if wants_labels():
        _read_labels(read, scan(), warn_of_finding)
    with suppress(NotFoundError):
        arrays = read(wanted)
        if LABELS in arrays:  # its text may be an array without dimensions: whoever asks for it gets pieces
            arrays = dict(arrays) | {LABELS: np.atleast_1d(arrays[LABELS])}
        return arrays
    infos = scan()
    descriptions = _read_descriptions(read, infos, [name for name in wanted if name not in infos])
    columns = {column for pair in descriptions.items() for column in _columns_of(*pair)}
    present = [name for name in infos if name in (columns | {*wanted}) - {*descriptions}]
    # Names of all arrays are known, also of those not wanted: they tell a description from text that looks like one.
    arrays = dict.fromkeys(infos) | descriptions | (read(present) if present else {})
    composed = _gather(arrays, scan)
    if any(name not in composed for name in wanted):  # the names that there are, as `scan` has them
        select(scan_composites(read, scan) | {name: infos[name] for name in wanted if name in infos}, wanted)
    return select(composed, wanted)


def scan_composites(read: Read, scan: Scan) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays, with one entry for each composite in place of its columns.

    The descriptions are read, and no other cells where headers tell how many entries a composite has. Columns whose
    description is damaged stand for themselves; `read` and `check` say what is wrong.
    """
    infos = dict(scan())
    labels = _read_labels(read, infos, warn_of_finding)
    if labels is not None:
        infos = name_infos(infos, labels, warn_of_finding)
    try:
        descriptions = _read_descriptions(read, infos, None)
    except FormatError:
        return infos
    places = {column: place for place, column in enumerate(infos)}
    owners: dict[str, str] = {}
    entries: dict[str, ArrayInfo] = {}
    for description, array in descriptions.items():
        composite, name = _split_description_name(description)
        members = {*_columns_of(description, array), description}
        columns = sorted((column for column in members if column in places), key=places.__getitem__)
        if len(columns) > 1 and name not in infos and not any(column in owners for column in columns):
            length = load_module(composite).described_length(description, array, infos)
            with suppress(FormatError, MissingDependencyError):
                length = len(read_composites(read, lambda: infos, [name])[name]) if length is None else length
                owners |= dict.fromkeys(columns, name)
                entries[name] = _info_of(composite, [infos[column] for column in columns], length)
    if not owners:
        return dict(infos)
    return {owners.get(name, name): entries.get(owners.get(name, name), info) for name, info in infos.items()}


def count_named(read: Read, scan: Scan, names: Sequence[str] | None) -> int:
    """Return the number of cells that arrays take, by their headers; 0 if a header is damaged: reading raises its
    error.

    `names`: of composites, or columns; None for all.
    """
    with suppress(FormatError), warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # reading issues them
        infos = scan()
        wanted = list(infos) if names is None else list_names(names) or []
        if not infos.keys() >= {*wanted}:
            infos = {**infos, **scan_composites(read, scan)}
        return sum(infos[name].cells for name in wanted if name in infos)
    return 0


def check_composites(read: Read, scan: Scan) -> list[Finding]:
    """Return the findings about composites of a container whose columns have already been checked one by one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # of what the check of the columns has found
        findings: list[Finding] = []
        try:
            infos = scan()
            labels = _read_labels(read, infos, findings.append, known=True)
            if labels is not None:
                findings += check_labels(labels, infos)
                infos = _without_description(infos)
            descriptions = _read_descriptions(read, infos, None)
            columns = {column for pair in descriptions.items() for column in _columns_of(*pair)}
            present = [name for name in infos if name in columns]
            arrays = dict.fromkeys(infos) | descriptions | (read(present) if present else {})
        except FormatError:
            return findings

        def fail(error: FormatError) -> None:
            _locate(error, infos)
            findings.append(Finding.from_error(error))

        for composite in {_split_description_name(description)[0] for description in descriptions}:
            try:
                arrays = load_module(composite).gather(arrays, note=findings.append, fail=fail)
            except MissingDependencyError as error:
                location = infos[next(iter(descriptions))].location
                message = f"an {composite.package} array is not looked at"
                findings.append(
                    Finding(
                        "warning",
                        location,
                        message,
                        str(error),
                        array=_split_description_name(next(iter(descriptions)))[1],
                    )
                )
    return findings


def find_fixed_columns(read: Read, scan: Scan) -> frozenset[str]:
    """Return the columns that cannot be resized one by one: those of composites, and descriptions."""
    infos = scan()
    fixed = {LABELS} & infos.keys()
    suffixes = tuple(composite.suffix for composite in composites())
    with suppress(FormatError, MissingDependencyError):
        for name in [name for name in infos if name.endswith(suffixes)] if suffixes else ():
            for description, array in _read_descriptions(read, {name: infos[name]}, None).items():
                columns = _columns_of(description, array)
                fixed |= {description, *columns} if columns else set()
    return frozenset(fixed)


def _read_labels(read: Read, infos: InfosByName, note: NoteFinding, *, known: bool = False) -> DatasetLabels | None:
    """Read the description of all arrays; None if no array is one, or it is damaged, which is noted.

    `note`: is called with a finding. `known`: whether wrong cells of the description have been reported already.
    """
    if not infos:
        return None
    looked_at = LABELS if LABELS in infos else [*infos][-1]  # a write puts the description last
    info = infos[looked_at]
    short = len(info.shape) <= 1 and 0 < math.prod(info.shape) <= _MOST_RENAMED
    wanted = [looked_at] if info.dtype in ("string", "generic") and (short or looked_at == LABELS) else []
    try:
        arrays = read(wanted) if wanted else {}
    except FormatError as error:
        if not known and LABELS in infos:
            report_damage(error, note)
        return None
    return _parse_labels({**dict.fromkeys(infos), **arrays}, note, lambda: infos)


def _parse_labels(arrays: ArraysByName, note: NoteFinding, scan: Scan) -> DatasetLabels | None:
    if LABELS in arrays:
        if is_description(LABELS, arrays[LABELS]):
            return None  # of a composite
        return parse_labels(arrays[LABELS], note, lambda error: _locate(error, scan()))
    if not any(isinstance(array, np.ndarray) and array.dtype.kind in "OTU" for array in arrays.values()):
        return None  # a description is text
    renamed = find_renamed(arrays)
    if renamed is not None:
        message = f"describes the arrays beside it, but has not the name {LABELS!r}: their labels are not read"
        error = FormatError(message, location=renamed, array=renamed, hint=f"name it {LABELS}")
        _locate(error, scan())
        note(replace(Finding.from_error(error), severity="warning"))
    return None


def _without_description(arrays: Mapping[str, Anything]) -> dict[str, Anything]:
    return {name: array for name, array in arrays.items() if name != LABELS}


def _split_description_name(description: str) -> tuple[Composite, str]:
    """Return the composite that the name of a description stands for, and the name of the value."""
    composite = next(c for c in composites() if description.endswith(c.suffix))
    return composite, description.removesuffix(composite.suffix)


def is_description(name: str, array: Any) -> bool:
    """Return whether an array says which other columns one value is made of, such as the schema of an awkward array."""
    suffixes = tuple(composite.suffix for composite in composites())
    return name.endswith(suffixes) and 0 < np.size(array) <= _MOST_PIECES and bool(_columns_of(name, array))


def is_for_programs(piece: LayoutColumn) -> bool:
    """Return whether a column is for programs alone: the JSON that describes labels, or an awkward array."""
    return piece.name == LABELS or is_description(piece.name, piece.buffer)


def _read_descriptions(read: Read, infos: InfosByName, names: Sequence[str] | None) -> ArraysByName:
    """Read the columns that may describe composites: those of the given names, or of all."""
    suffixes = tuple(composite.suffix for composite in composites())
    wanted = None if names is None else {f"{name}{suffix}" for name in names for suffix in suffixes}
    columns = [
        name
        for name in infos
        if name.endswith(suffixes) and (wanted is None or name in wanted) and _may_describe(infos[name])
    ]
    return read(columns) if columns else {}


def _may_describe(info: ArrayInfo) -> bool:
    """Return whether an array may be a description, by its header: a list of a few long texts."""
    return info.dtype in ("string", "generic") and len(info.shape) == 1 and info.shape[0] <= _MOST_PIECES


def _columns_of(description: str, array: Any) -> list[str]:
    return load_module(_split_description_name(description)[0]).described_columns(description, array)


def _info_of(composite: Composite, columns: Sequence[ArrayInfo], length: int) -> ArrayInfo:
    return ArrayInfo(
        shape=(length,),
        dtype=composite.package,
        order="row-major",
        strides=(1,),
        location=columns[0].location,
        cells=sum(column.cells for column in columns),
        capacity=length,
        parts=sum(column.parts for column in columns),
    )


def _gather(arrays: ArraysByName, scan: Scan) -> ArraysByName:
    for composite in composites():
        if any(name.endswith(composite.suffix) for name in arrays):
            try:
                arrays = load_module(composite).gather(arrays)
            except FormatError as error:
                _locate(error, scan())
                raise
    return arrays


def _locate(error: FormatError, infos: InfosByName) -> None:
    """Give an error that names a column the address at which that column begins."""
    for name, info in infos.items():
        if f"{error.element}, ".startswith(f"{name}, "):
            error.location = info.location
            return
        if f"{error.location}, ".startswith(f"{name}, "):
            error.location, error.element = info.location, error.location
            return


# The protocol of the modules for composites.

ArraysByName = dict[str, Any]
InfosByName = Mapping[str, ArrayInfo]
Read = Callable[[Sequence[str] | None], ArraysByName]
Scan = Callable[[], InfosByName]
Anything = TypeVar("Anything")


def ignore_finding(_: object) -> None:
    """Ignore a finding that reading or checking the columns themselves reports."""


class CompositeModule(Protocol):
    """The functions of a composite's module; its *description* is the column that says how others belong together."""

    def spread(self, arrays: Mapping[str, Any], *, limit: int) -> ArraysByName:
        """Return the arrays by name, each composite replaced by its columns and its description."""

    def gather(
        self,
        arrays: Mapping[str, Any],
        *,
        note: NoteFinding = warn_of_finding,
        fail: Callable[[FormatError], None] = raise_error,
    ) -> ArraysByName:
        """Return the arrays by name, the columns of each composite put together."""

    def is_schema(self, name: str, array: Any) -> bool:
        """Return whether reading takes an array for a description, by its name and its beginning."""

    def described_columns(self, name: str, array: Any) -> list[str]:
        """Return the names of the columns that a description names; an empty list if the array is no description."""

    def described_length(self, name: str, array: Any, infos: InfosByName) -> int | None:
        """Return the number of entries of a composite; None if headers alone do not tell."""


def load_module(composite: Composite) -> CompositeModule:
    """Return the functions for composites of a kind."""
    module: Any = import_module(composite.module)
    return module  # type: ignore[no-any-return]


# The arrays of containers of sheets, composites among them: read (by `read_composites`), scanned, checked.


def open_sheets(
    sheets: Sequence[Sheet],
    *,
    strict: bool = False,
    missing: Missing = "error",
    resize: bool = False,
    restore: ElementRestorer | None = None,
) -> SheetArrays:
    """Find the arrays of sheets, and those that are never resized; see `SheetArrays`, whose functions read and scan."""
    arrays = SheetArrays(sheets, strict=strict, missing=missing, resize=resize, restore=restore)
    if resize:
        written = SheetArrays(sheets, strict=strict, missing=missing)
        arrays.fixed = find_fixed_columns(written.read, written.scan)
    return arrays


def scan_sheets(sheets: Sequence[Sheet], *, strict: bool = False, resize: bool = False) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays in some sheets, composites among them; see `SheetArrays.scan_all`."""
    arrays = open_sheets(sheets, strict=strict, missing="nan", resize=resize)
    measured = SheetArrays(sheets, strict=strict, missing="error", resize=resize)  # a blank at the end is no element
    measured.fixed = arrays.fixed
    return scan_composites(arrays.read, measured.scan_all if resize else arrays.scan_all)


def check_sheets(
    sheets: Sequence[Sheet],
    *,
    missing: Missing = "error",
    judge: CompareFingerprint | None = None,
    settle: SettleChanges | None = None,
    restore: ElementRestorer | None = None,
) -> Iterator[Finding]:
    """Yield every finding in the columns of sheets, then those of composites; see `SheetArrays.check`."""
    try:
        arrays = SheetArrays(sheets, missing=missing, restore=restore)
    except FormatError as error:  # nothing can be found in the sheets: they are not searched again for composites
        yield Finding.from_error(error)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # of what the check of the columns finds
        arrays.fixed = find_fixed_columns(arrays.read, arrays.scan)
    yield from arrays.check(judge, settle)
    yield from check_composites(arrays.read, arrays.scan)


def read_resized_arrays(sheets: Sequence[Sheet], *, missing: Missing = "error") -> dict[str, ResizedArray]:
    """Return every column with the length that its cells have; see `SheetArrays.read_resized`."""
    return open_sheets(sheets, missing=missing, resize=True).read_resized()


# Takes composites apart into columns, before cells are written.


def spread(arrays: Any, *, limit: int) -> Any:
    """Return the argument of `write` with each composite replaced by its columns; anything else as it is.

    `arrays`: as for `write`. `limit`: how many characters a cell of the container holds.

    Raises:
        DTypeError: a composite that no columns hold.
        LimitError: a column of one would have the name of another array; or an array would be read as a description.
    """
    given = arrays
    if _may_have_labels(given):
        arrays = spread_labels(given, limit=limit)
    if arrays is given:
        arrays = values_by_name(given)
        if LABELS in arrays:
            refuse_description(arrays[LABELS])
    unchecked = [composite for composite in composites() if _has_lookalike(arrays, composite)]
    for composite in _composites_among(arrays):
        arrays = load_module(composite).spread(values_by_name(arrays), limit=limit)
    for composite in unchecked:
        _check_readable(arrays, composite)
    return arrays


def _may_have_labels(arrays: Any) -> bool:
    return type(arrays) is not dict or bool(note_values(arrays))


def _has_lookalike(arrays: Mapping[Any, Any], composite: Composite) -> bool:
    """Return whether reading takes one of the arrays for a description, by its name and what stands in it."""
    suffix = composite.suffix
    named = [key for key in arrays if isinstance(key, str) and key.endswith(suffix)]
    for key in named:
        if not _is_of(composite, arrays[key]) and load_module(composite).is_schema(key, _plain(arrays, key)):
            return True
    return False


def _plain(arrays: Mapping[str, Any], name: str) -> Any:
    value = values_by_name({name: arrays[name]})[name]
    return value.to_numpy() if isinstance(value, LinearArray) else value


def _check_readable(arrays: Mapping[str, Any], composite: Composite) -> None:
    """Refuse an array that looks like the description of a composite whose columns cannot be put together."""
    plain = {key: _plain(arrays, key) for key in arrays}
    with suppress(MissingDependencyError):
        try:
            load_module(composite).gather(plain, note=ignore_finding)
        except FormatError as error:
            raise LimitError(
                f"'{error.array:.80}{composite.suffix}' would be read as the description of an {composite.package} "
                f"array, and refused ({error.reason:.200}): rename it"
            ) from error


def spread_rows(arrays: Any, *, limit: int) -> Any:
    """Return rows that are appended to arrays as `spread` returns arrays, but without labels: the arrays keep theirs.

    Raises:
        DTypeError: there is a composite among the arrays; its columns have other lengths than its rows.
    """
    for composite in _composites_among(arrays):
        raise DTypeError(f"no rows are appended to arrays of {composite.package}: read, concatenate and write them")
    by_name = spread(arrays, limit=limit)
    return _without_description(by_name) if _may_have_labels(arrays) else by_name


def _composites_among(arrays: Any) -> list[Composite]:
    values = [arrays, *arrays.values()] if isinstance(arrays, Mapping) else [arrays]
    return [composite for composite in composites() if any(_is_of(composite, value) for value in values)]


def _is_of(composite: Composite, value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == composite.package
