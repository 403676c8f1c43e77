"""What is spread over several columns: taken apart before cells are written, put together after they are read.

A composite is one value that no single column holds, such as an awkward array. The adapter that knows its form offers
a module of four functions (`CompositeModule`), and its row in the registry names that module. Labels are the other
kind: one column that describes all others, and leaves them as they are (`LabelsModule`). Every container of columns
goes through the functions here, so that all doors show the same arrays: `sa.write` and `write_csv`, `read`, `scan` and
`check`. Nothing is loaded before there is such a value, or text that may describe one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any, Protocol, TypeVar

from .arrays import select, values_by_name
from .columns import ArrayInfo, CompareFingerprint, ElementRestorer, ResizedArray, Sheet, read_resized
from .columns import check_sheets as check_columns
from .columns import read_sheets as read_columns
from .columns import scan_sheets as scan_columns
from .elements import Missing
from .errors import Finding, FormatError, MissingDependencyError, NotFoundError, SheetArrayWarning
from .header import NoteFinding, warn_of_finding
from .registry import LABELLING, Composite, Labelling, composites

_MOST_PIECES = 10_000  # texts of a description, each as long as a cell holds: more is an array that only has its name
ArraysByName = dict[str, Any]
InfosByName = Mapping[str, ArrayInfo]
Read = Callable[[Sequence[str] | None], ArraysByName]
Scan = Callable[[], InfosByName]
Anything = TypeVar("Anything")


def raise_error(error: FormatError) -> None:
    """Raise an error that a caller has no other use for."""
    raise error


class CompositeModule(Protocol):
    """What the module of a composite offers; its *description* is the column that says how others belong together."""

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

    def described_columns(self, name: str, array: Any) -> list[str]:
        """Return the names of the columns that a description speaks of; none if the array is no description."""

    def described_length(self, name: str, array: Any, infos: InfosByName) -> int | None:
        """Return how many entries a composite has, as far as headers tell; None if they do not."""


class LabelsModule(Protocol):
    """What the module of labels offers: functions around the one description of all arrays of a container."""

    def spread(self, arrays: Any, *, limit: int) -> Any:
        """Return what `write` takes with labels replaced by their description; anything else as it is."""

    def wants_labels(self) -> bool:
        """Return whether somebody waits for the description of what is being read."""

    def parse_labels(self, array: Any, note: NoteFinding, locate: Callable[[FormatError], None]) -> Any | None:
        """Return what a description says; None if the array is none, or damaged, which is noted."""

    def name_infos(self, infos: InfosByName, labels: Any) -> dict[str, ArrayInfo]:
        """Return what headers say, without the description, and with the names of dimensions."""

    def check_labels(self, labels: Any, infos: InfosByName) -> Iterator[Finding]:
        """Yield what a description says of arrays that is not so."""


# Writing -----------------------------------------------------------------------------------------------------


def spread(arrays: Any, *, limit: int) -> Any:
    """Return what `write` takes with each composite replaced by its columns; anything else as it is.

    Args:
        arrays: as for `write`.
        limit: how many characters a cell of the container holds.

    Raises:
        DTypeError: a composite that no columns hold.
        LimitError: a column of one would have the name of another array.
    """
    if LABELLING is not None and type(arrays) is not dict:
        arrays = _load_labels(LABELLING).spread(arrays, limit=limit)
    for composite in composites():
        alone = _is_of(composite, arrays)
        if alone or (isinstance(arrays, Mapping) and any(_is_of(composite, value) for value in arrays.values())):
            arrays = _load_module(composite).spread(values_by_name(arrays), limit=limit)
    return arrays


def _is_of(composite: Composite, value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == composite.package


def _load_module(composite: Composite) -> CompositeModule:
    module: Any = import_module(composite.module)
    return module  # type: ignore[no-any-return]


def _load_labels(labelling: Labelling) -> LabelsModule:
    module: Any = import_module(labelling.module)
    return module  # type: ignore[no-any-return]


# Reading, for any container of columns -----------------------------------------------------------------------


def read_composites(read: Read, scan: Scan, names: Sequence[str] | None) -> ArraysByName:
    """Read arrays, and put together the columns that belong to one composite.

    Args:
        read: names of columns -> arrays; None for all.
        scan: what the headers of the columns say, without those that are damaged.
        names: what is wanted: composites, or columns; None for all.

    Raises:
        FormatError: columns that do not fit together; `.location` is where the first of them begins.
        NotFoundError: nothing has one of the names.
    """
    if names is None:
        arrays = read(None)
        labels = _parse_labels(arrays, warn_of_finding, scan)
        return _gather(arrays if labels is None else _without_description(arrays), scan)
    if LABELLING is not None and _load_labels(LABELLING).wants_labels():
        _read_labels(read, scan(), warn_of_finding)
    wanted = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    with suppress(NotFoundError):
        return read(wanted)
    infos = scan()
    descriptions = _read_descriptions(read, infos, [name for name in wanted if name not in infos])
    columns = {column for pair in descriptions.items() for column in _columns_of(*pair)}
    present = [name for name in infos if name in (columns | {*wanted}) - {*descriptions}]
    # What is not wanted is named all the same: its name tells a description from text that only looks like one.
    arrays = dict.fromkeys(infos) | descriptions | (read(present) if present else {})
    composed = _gather(arrays, scan)
    if any(name not in composed for name in wanted):  # the names that there are, as `scan` has them
        select(scan_composites(read, scan) | {name: infos[name] for name in wanted if name in infos}, wanted)
    return select(composed, wanted)


def scan_composites(read: Read, scan: Scan) -> dict[str, ArrayInfo]:
    """Return what the headers say, with one entry for each composite in place of its columns.

    The descriptions are read, and no other cells where headers tell how many entries a composite has. Columns whose
    description is damaged stand for themselves; `read` and `check` say what is wrong.

    Args:
        read: as for `read_composites`.
        scan: likewise.
    """
    infos = dict(scan())
    labels = _read_labels(read, infos, _ignore_finding)
    if labels is not None and LABELLING is not None:
        infos = _load_labels(LABELLING).name_infos(infos, labels)
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
            length = _load_module(composite).described_length(description, array, infos)
            with suppress(FormatError, MissingDependencyError):
                length = len(read_composites(read, lambda: infos, [name])[name]) if length is None else length
                owners |= dict.fromkeys(columns, name)
                entries[name] = _info_of(composite, [infos[column] for column in columns], length)
    return {owners.get(name, name): entries.get(owners.get(name, name), info) for name, info in infos.items()}


def count_named(read: Read, scan: Scan, names: Sequence[str] | None) -> int:
    """Return how many cells arrays take, by their headers; 0 if none can be found, as reading then says.

    Args:
        read: as for `read_composites`.
        scan: likewise.
        names: of composites, or columns; None for all.
    """
    with suppress(FormatError), warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # what is worth one, reading says
        infos = scan()
        wanted = infos.keys() if names is None else {names} if isinstance(names, str) else set(names)
        if not wanted <= infos.keys():
            infos = {**infos, **scan_composites(read, scan)}
        return sum(infos[name].cells for name in wanted if name in infos)
    return 0


def check_composites(read: Read, scan: Scan) -> list[Finding]:
    """Return what is wrong with the composites of a container whose columns are right, each by itself.

    Args:
        read: as for `read_composites`.
        scan: likewise.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # of what the check of the columns has found
        findings: list[Finding] = []
        try:
            infos = scan()
            labels = _read_labels(read, infos, lambda note: findings.append(replace(note, severity="error")))
            if labels is not None and LABELLING is not None:
                findings += _load_labels(LABELLING).check_labels(labels, infos)
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
                arrays = _load_module(composite).gather(arrays, note=findings.append, fail=fail)
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
    """Return the columns that cannot be resized one by one: those of composites, and descriptions.

    Args:
        read: as for `read_composites`.
        scan: likewise.
    """
    infos = scan()
    fixed = {LABELLING.name} & infos.keys() if LABELLING is not None else set()
    suffixes = tuple(composite.suffix for composite in composites())
    with suppress(FormatError, MissingDependencyError):
        for name in [name for name in infos if name.endswith(suffixes)] if suffixes else ():
            for description, array in _read_descriptions(read, {name: infos[name]}, None).items():
                columns = _columns_of(description, array)
                fixed |= {description, *columns} if columns else set()
    return frozenset(fixed)


def _read_labels(read: Read, infos: InfosByName, note: NoteFinding) -> Any | None:
    """Read the description of all arrays; None if there is none, or it is damaged, which is noted."""
    if LABELLING is None or LABELLING.name not in infos or infos[LABELLING.name].dtype not in ("string", "generic"):
        return None
    with suppress(FormatError):  # of the column itself: `read` and `check` say it
        return _parse_labels(read([LABELLING.name]), note, lambda: infos)
    return None


def _parse_labels(arrays: ArraysByName, note: NoteFinding, scan: Scan) -> Any | None:
    if LABELLING is None or LABELLING.name not in arrays:
        return None
    module = _load_labels(LABELLING)
    return module.parse_labels(arrays[LABELLING.name], note, lambda error: _locate(error, scan()))


def _without_description(arrays: Mapping[str, Anything]) -> dict[str, Anything]:
    return {name: array for name, array in arrays.items() if LABELLING is None or name != LABELLING.name}


def _split_description_name(description: str) -> tuple[Composite, str]:
    """Return the composite that the name of a description stands for, and the name of the value."""
    composite = next(c for c in composites() if description.endswith(c.suffix))
    return composite, description.removesuffix(composite.suffix)


def _read_descriptions(read: Read, infos: InfosByName, names: Sequence[str] | None) -> ArraysByName:
    """Read the columns that may describe composites: those of the given names, or of all."""
    suffixes = tuple(composite.suffix for composite in composites())
    wanted = None if names is None else {f"{name}{suffix}" for name in names for suffix in suffixes}
    columns = [
        name
        for name, info in infos.items()
        if name.endswith(suffixes) and _may_describe(info) and (wanted is None or name in wanted)
    ]
    return read(columns) if columns else {}


def _may_describe(info: ArrayInfo) -> bool:
    """Return whether an array may be a description, by its header: a list of a few long texts."""
    return info.dtype in ("string", "generic") and len(info.shape) == 1 and info.shape[0] <= _MOST_PIECES


def _columns_of(description: str, array: Any) -> list[str]:
    return _load_module(_split_description_name(description)[0]).described_columns(description, array)


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
                arrays = _load_module(composite).gather(arrays)
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


# Reading, for containers of sheets ---------------------------------------------------------------------------


def read_sheets(
    sheets: Sequence[Sheet],
    names: Sequence[str] | None = None,
    *,
    strict: bool = False,
    missing: Missing = "error",
    resize: bool = False,
    restore: ElementRestorer | None = None,
) -> ArraysByName:
    """Read the arrays of one sheet or several, composites among them; see `columns.read_sheets`."""
    return read_composites(*_reader_of(sheets, strict, missing, resize=resize, restore=restore), names)


def scan_sheets(sheets: Sequence[Sheet], *, strict: bool = False, resize: bool = False) -> dict[str, ArrayInfo]:
    """Return what the headers of sheets say, composites among them; see `columns.scan_sheets`."""
    read, _ = _reader_of(sheets, strict, "nan", resize=resize)
    fixed = find_fixed_columns(*_reader_of(sheets, strict, "nan")) if resize else frozenset()
    return scan_composites(read, lambda: scan_columns(sheets, strict=strict, resize=resize, fixed=fixed))


def check_sheets(
    sheets: Sequence[Sheet],
    *,
    missing: Missing = "error",
    judge: CompareFingerprint | None = None,
    restore: ElementRestorer | None = None,
) -> Iterator[Finding]:
    """Yield every finding in the columns of sheets, then those of composites; see `columns.check_sheets`."""
    read, scan = _reader_of(sheets, False, missing, restore=restore)
    try:
        scan()
    except FormatError as error:  # nothing can be found in the sheets: they are not searched again for composites
        yield Finding.from_error(error)
        return
    yield from check_columns(
        sheets, missing=missing, judge=judge, fixed=find_fixed_columns(read, scan), restore=restore
    )
    yield from check_composites(read, scan)


def read_resized_arrays(sheets: Sequence[Sheet], *, missing: Missing = "error") -> dict[str, ResizedArray]:
    """Return every column with the length that its cells have; see `columns.read_resized`."""
    return read_resized(sheets, missing=missing, fixed=find_fixed_columns(*_reader_of(sheets, False, missing)))


def count_cells(sheets: Sequence[Sheet], names: Sequence[str] | None = None, *, strict: bool = False) -> int:
    """Return how many cells arrays take in sheets, by their headers; 0 if one is broken, as reading then says."""
    return count_named(*_reader_of(sheets, strict, "nan"), names)


def _ignore_finding(_: object) -> None:
    """Pass over what is said where the columns themselves are read or checked."""


def _reader_of(
    sheets: Sequence[Sheet],
    strict: bool,
    missing: Missing,
    *,
    resize: bool = False,
    restore: ElementRestorer | None = None,
) -> tuple[Read, Scan]:
    fixed: frozenset[str] | None = None

    def read(names: Sequence[str] | None) -> ArraysByName:
        nonlocal fixed
        if resize and fixed is None:
            fixed = find_fixed_columns(*_reader_of(sheets, strict, missing))
        return read_columns(
            sheets, names, strict=strict, missing=missing, resize=resize, fixed=fixed or (), restore=restore
        )

    @cache  # very many headers take a while
    def scan() -> InfosByName:
        return scan_columns(sheets, strict=strict, report=_ignore_finding, note=_ignore_finding)

    return read, scan
