"""Puts composites together again from the columns of any container, and scans and checks them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from itertools import starmap
from typing import Any, TypeVar

import numpy as np

from ...columns import (
    MOST_DESCRIPTIONS,
    ArrayInfo,
    LayoutColumn,
    too_many_descriptions,
)
from ...errors import (
    Finding,
    FormatError,
    MissingDependencyError,
    NotFoundError,
    SheetArrayWarning,
)
from ...formats import find_composite
from ...labels import NAME as LABELS
from ...labels import (
    DatasetLabels,
    check_labels,
    find_renamed_description,
    name_infos,
    parse_label_column,
    report_damage,
    wants_labels,
)
from ...labels import spread_labels as spread_labels
from ...labels.description import may_describe
from ...linear.header import NoteFinding
from ...linear.named import list_names, select
from ...linear.parsing import warn_of_finding

ArraysByName = dict[str, Any]
InfosByName = Mapping[str, ArrayInfo]
Read = Callable[[Sequence[str] | None], ArraysByName]  # returns the arrays of columns, by their names; all for None
Scan = Callable[[], InfosByName]  # returns the infos of all columns whose headers are not damaged
# returns the text in the cells of a short array, which need not be read then unless it describes others; None if these
# cells are not at hand
Peek = Callable[[ArrayInfo], str | None]
Anything = TypeVar("Anything")

SUFFIX = ".json"  # of the name of a description, the column that says which others one value is made of
PACKAGE = "awkward"
_MOST_RENAMED = 64  # cells of an array that `scan` looks at, since it may be a description under another name
_MOST_PIECES = 10_000  # elements of a description, each up to a cell long; a longer array only happens to have its name


def load_composites() -> Any:
    """Return the functions for composites; None if nothing is one, as their adapter was deleted."""
    name = find_composite()
    return None if name is None else import_module(name)


def read_composites(read: Read, scan: Scan, names: Sequence[str] | None, peek: Peek | None = None) -> ArraysByName:
    """Read arrays, and put together the columns that belong to one composite.

    `names`: of the composites and columns that are wanted; None for all.

    Raises:
        FormatError: columns that do not fit together; `.location` is the first cell of the first of them.
        NotFoundError: nothing has one of the names.
    """
    if names is None:
        arrays = read(None)
        described = _parse_labels(arrays, warn_of_finding, scan) is not None
        return _gather(without_description(arrays) if described else arrays, scan)
    return _read_selected(read, scan, list_names(names) or [], peek)


def _read_selected(read: Read, scan: Scan, selected: Sequence[str], peek: Peek | None) -> ArraysByName:
    """Return composites and columns by their names; see `read_composites`."""
    if wants_labels():
        _read_labels(read, scan(), warn_of_finding, peek=peek)
    with suppress(NotFoundError):
        arrays = read(selected)
        if LABELS in arrays:  # its text may be an array without dimensions: whoever asks for it gets pieces
            arrays = dict(arrays) | {LABELS: np.atleast_1d(arrays[LABELS])}
        return arrays
    infos = scan()
    descriptions = _read_descriptions(read, infos, [name for name in selected if name not in infos])
    composed = _gather(_read_described(read, infos, descriptions, selected), scan)
    if any(name not in composed for name in selected):  # the names that there are, as `scan` has them
        select(scan_composites(read, scan) | {name: infos[name] for name in selected if name in infos}, selected)
    return select(composed, selected)


def scan_composites(read: Read, scan: Scan, peek: Peek | None = None) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays, with one entry for each composite in place of its columns.

    The descriptions are read, and no other cells where headers tell how many entries a composite has. Columns whose
    description is damaged stand for themselves; `read` and `check` say what is wrong.
    """
    infos = dict(scan())
    labels = _read_labels(read, infos, warn_of_finding, peek=peek)
    if labels is not None:
        infos = name_infos(infos, labels, warn_of_finding)
    if not any(name.endswith(SUFFIX) for name in infos):
        return infos
    try:
        descriptions = _read_descriptions(read, infos, None)
    except FormatError:
        return infos
    places = {column: place for place, column in enumerate(infos)}
    owners: dict[str, str] = {}
    entries: dict[str, ArrayInfo] = {}
    for description, array in descriptions.items():
        name = description.removesuffix(SUFFIX)
        members = {*_columns_of(description, array), description}
        columns = sorted((column for column in members if column in places), key=places.__getitem__)
        if len(columns) > 1 and name not in infos and not any(column in owners for column in columns):
            length = load_composites().described_length(description, array, infos)
            with suppress(FormatError, MissingDependencyError):
                length = len(read_composites(read, lambda: infos, [name])[name]) if length is None else length
                owners |= dict.fromkeys(columns, name)
                entries[name] = _info_of([infos[column] for column in columns], length)
    return {owners.get(name, name): entries.get(owners.get(name, name), info) for name, info in infos.items()}


def _info_of(columns: Sequence[ArrayInfo], length: int) -> ArrayInfo:
    return ArrayInfo(
        shape=(length,),
        dtype=PACKAGE,
        order="row-major",
        strides=(1,),
        location=columns[0].location,
        cells=sum(column.cells for column in columns),
        capacity=length,
        parts=sum(column.parts for column in columns),
    )


def count_named(read: Read, scan: Scan, names: Sequence[str] | None) -> int:
    """Return the number of cells that arrays take, by their headers; 0 if a header is damaged: reading raises its
    error.

    `names`: of composites, or columns; None for all.
    """
    with suppress(FormatError), warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # reading issues them
        infos = scan()
        selected = list(infos) if names is None else list_names(names) or []
        if not infos.keys() >= {*selected}:
            infos = {**infos, **scan_composites(read, scan)}
        return sum(infos[name].cells for name in selected if name in infos)
    return 0


def check_composites(read: Read, scan: Scan, peek: Peek | None = None) -> list[Finding]:
    """Return the findings about composites of a container whose columns have already been checked one by one."""
    findings: list[Finding] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # of what the check of the columns has found
        try:
            infos = scan()
            labels = _read_labels(read, infos, findings.append, known=True, peek=peek)
            if labels is not None:
                findings += check_labels(labels, infos)
                infos = without_description(infos)
            descriptions = _read_descriptions(read, infos, None)
            if not descriptions:
                return findings
            arrays = _read_described(read, infos, descriptions)
        except FormatError as error:
            return findings if error.location else [*findings, Finding.from_error(error)]

        def fail(error: FormatError) -> None:
            _locate(error, infos)
            findings.append(Finding.from_error(error))

        try:
            load_composites().gather(arrays, note=findings.append, fail=fail)
        except MissingDependencyError as error:
            first = next(iter(descriptions))
            message, name = f"an {PACKAGE} array was not checked", first.removesuffix(SUFFIX)
            findings.append(Finding("warning", infos[first].location, message, str(error), array=name))
    return findings


def find_fixed_columns(read: Read, scan: Scan) -> frozenset[str]:
    """Return the columns that `resize` cannot lengthen one by one: those of awkward arrays, and descriptions."""
    infos = scan()
    fixed = {LABELS} & infos.keys()
    names = [name for name in infos if name.endswith(SUFFIX)]
    with suppress(FormatError, MissingDependencyError):
        for name in names if len(names) <= MOST_DESCRIPTIONS else ():
            for description, array in _read_descriptions(read, {name: infos[name]}, None).items():
                columns = _columns_of(description, array)
                fixed |= {description, *columns} if columns else set()
    return frozenset(fixed)


def _read_labels(
    read: Read, infos: InfosByName, note: NoteFinding, *, known: bool = False, peek: Peek | None = None
) -> DatasetLabels | None:
    """Read the description of all arrays; None if no array is one, or it is damaged, which is noted.

    `note`: is called with a finding. `known`: whether wrong cells of the description have been reported already.
    """
    if not infos:
        return None
    looked_at = LABELS if LABELS in infos else [*infos][-1]  # a write puts the description last
    info = infos[looked_at]
    short = len(info.shape) <= 1 and 0 < math.prod(info.shape) <= _MOST_RENAMED
    label_names = [looked_at] if info.dtype in ("string", "generic") and (short or looked_at == LABELS) else []
    if peek is not None and looked_at != LABELS and label_names and not may_describe(peek(info)):
        return None
    try:
        arrays = read(label_names) if label_names else {}
    except FormatError as error:
        if not known and LABELS in infos:
            report_damage(error, note)
        return None
    return _parse_labels({**dict.fromkeys(infos), **arrays}, note, lambda: infos)


def _parse_labels(arrays: ArraysByName, note: NoteFinding, scan: Scan) -> DatasetLabels | None:
    if LABELS in arrays:
        if is_any_description(LABELS, arrays[LABELS]):
            return None  # of a composite
        return parse_label_column(arrays[LABELS], note, lambda error: _locate(error, scan()))
    if not any(isinstance(array, np.ndarray) and array.dtype.kind in "OTU" for array in arrays.values()):
        return None  # a description is text
    renamed = find_renamed_description(arrays)
    if renamed is not None:
        message = f"describes other arrays, but does not have the name {LABELS!r}, so their labels are not read"
        error = FormatError(message, location=renamed, array=renamed, hint=f"name it {LABELS}")
        _locate(error, scan())
        note(replace(Finding.from_error(error), severity="warning"))
    return None


def without_description(arrays: Mapping[str, Anything]) -> dict[str, Anything]:
    """Return all arrays except the one that describes the labels of the others."""
    return {name: array for name, array in arrays.items() if name != LABELS}


def is_any_description(name: str, array: Any) -> bool:
    """Return whether an array says which other columns one value is made of, such as the schema of an awkward array."""
    return name.endswith(SUFFIX) and 0 < np.size(array) <= _MOST_PIECES and bool(_columns_of(name, array))


def is_for_programs(piece: LayoutColumn) -> bool:
    """Return whether a column is for programs alone: the JSON that describes labels, or an awkward array."""
    return piece.name == LABELS or is_any_description(piece.name, piece.buffer)


def _read_descriptions(read: Read, infos: InfosByName, names: Sequence[str] | None) -> ArraysByName:
    """Read the columns that may describe composites, by their headers: those of the given names, or of all."""
    schema_names = None if names is None else {f"{name}{SUFFIX}" for name in names}
    columns = [
        name
        for name in infos
        if (name.endswith(SUFFIX) if schema_names is None else name in schema_names)
        and (info := infos[name]).dtype in ("string", "generic")
        and len(info.shape) == 1
        and info.shape[0] <= _MOST_PIECES
    ]
    if not columns or (module := load_composites()) is None:
        return {}
    arrays = read(columns)
    if len(arrays) > MOST_DESCRIPTIONS and sum(starmap(module.is_schema, arrays.items())) > MOST_DESCRIPTIONS:
        raise too_many_descriptions()
    return arrays


def _read_described(
    read: Read, infos: InfosByName, descriptions: ArraysByName, wanted: Sequence[str] = ()
) -> ArraysByName:
    """Return descriptions, the columns that they name, and those wanted; None for all others.

    Names of all arrays tell a description from text that looks like one.
    """
    columns = {column for pair in descriptions.items() for column in _columns_of(*pair)} | {*wanted}
    columns -= {*descriptions}
    present = [name for name in infos if name in columns]
    return dict.fromkeys(infos) | descriptions | (read(present) if present else {})


def _columns_of(description: str, array: Any) -> list[str]:
    module = load_composites()
    return [] if module is None else list(module.described_columns(description, array))


def _gather(arrays: ArraysByName, scan: Scan) -> ArraysByName:
    if not any(name.endswith(SUFFIX) for name in arrays) or (module := load_composites()) is None:
        return arrays
    try:
        gathered: ArraysByName = module.gather(arrays)
    except FormatError as error:
        _locate(error, scan())
        raise
    return gathered


def _locate(error: FormatError, infos: InfosByName) -> None:
    """Give an error that names a column the address at which that column begins."""
    for name, info in infos.items():
        if f"{error.element}, ".startswith(f"{name}, "):
            error.location = info.location
            return
        if f"{error.location}, ".startswith(f"{name}, "):
            error.location, error.element = info.location, error.location
            return
