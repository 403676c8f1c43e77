"""What `accept` has read of a container: its arrays as they are now, and what became of them, as far as it is known."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..changes.compare import Comparison, DifferingElement
from ..changes.sorted_rows import SortedRows
from ..columns import ArrayInfo, ResizedArray, Sheet, keeping_unreadable
from ..columns.infos import Infos
from ..dtypes import Array
from ..elements import Missing
from ..errors import Finding, FormatError
from ..labels import DatasetLabels, check_fit, reading_labels
from ..linear.buffers import view_of
from ..linear.parsing import warn_of_finding
from .arrays_of_sheets import open_sheets, read_composites


@dataclass(slots=True)
class AcceptedArrays:
    """The arrays of a container as `accept` has read them once.

    Attributes:
        infos: of all arrays, by the headers that stood there and by those that are true now.
        arrays: all arrays as they are now, by name.
        unreadable: of some arrays the errors of the cells that cannot be read; None for all other elements.
        labels: what is said of the arrays; None for nothing.
        comparisons: of each array with what it was; without evidence of that, its header and what cannot be read.
        sorted_rows: the groups of arrays whose rows stand in another order.
        renamed: the name now of arrays that have another one, by the name before.
        added, deleted: the columns of recorded tables that are new, and those that are gone.
    """

    infos: tuple[Mapping[str, ArrayInfo], Mapping[str, ArrayInfo]]
    arrays: Mapping[str, Array]
    unreadable: Mapping[str, Array]
    labels: DatasetLabels | None
    comparisons: dict[str, Comparison]
    sorted_rows: list[SortedRows] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    @classmethod
    def of_columns(
        cls,
        arrays: Mapping[str, Array],
        unreadable: Mapping[str, Array],
        infos: tuple[Mapping[str, ArrayInfo], Mapping[str, ArrayInfo]],
    ) -> AcceptedArrays:
        """Return the arrays of all columns that were read; what describes them has to fit.

        `infos`: of all columns, by the headers that stand there and by those that are true now.

        Raises:
            FormatError: a composite cannot be put together, or labels contradict the lengths.
        """

        def read(names: Sequence[str] | None) -> dict[str, Any]:
            return dict(arrays) if names is None else {name: arrays[name] for name in names}

        with reading_labels() as description:
            composed = read_composites(read, lambda: infos[1], None)
        if description.error is not None:
            warn_of_finding(Finding.from_error(description.error))
        if description.labels is not None:
            check_fit(description.labels, composed)
        compared = {
            name: compare_infos(name, infos[0][name], infos[1][name], unreadable.get(name)) for name in infos[1]
        }
        return cls(infos, arrays, unreadable, description.labels, compared)


def join_accepted(writes: Sequence[AcceptedArrays]) -> AcceptedArrays:
    """Return the arrays of several writes as those of one container.

    An array whose name is that of another one gets the title of its sheet before it, as in `north!t`.
    """
    names_of = qualify_names([read.infos[1] for read in writes])
    joined = AcceptedArrays(({}, {}), {}, {}, None, {})
    for read, names in zip(writes, names_of, strict=True):
        joined.infos = tuple(  # type: ignore[assignment]
            {**before, **{names[name]: info for name, info in infos.items() if name in names}}
            for before, infos in zip(joined.infos, read.infos, strict=True)
        )
        joined.arrays = {**joined.arrays, **{names[name]: array for name, array in read.arrays.items()}}
        joined.unreadable = {**joined.unreadable, **{names[name]: errors for name, errors in read.unreadable.items()}}
        joined.comparisons |= {
            names[name]: replace(comparison, name=names[name]) for name, comparison in read.comparisons.items()
        }
        joined.sorted_rows += [rows.rename(names) for rows in read.sorted_rows]
        joined.renamed |= {before: names[now] for before, now in read.renamed.items()}
        joined.added += read.added
        joined.deleted += read.deleted
    return joined


def qualify_names(writes: Sequence[Mapping[str, ArrayInfo]]) -> list[dict[str, str]]:
    """Return for each of several writes how its arrays are called: with the title of the sheet where a name is not one.

    Example:
        >>> qualify_names([{"t": None}, {"u": None}])
        [{'t': 't'}, {'u': 'u'}]
    """
    counts = Counter(name for infos in writes for name in infos)
    return [
        {name: name if counts[name] == 1 else f"{_title_of(info)}!{name}" for name, info in infos.items()}
        for infos in writes
    ]


def _title_of(info: ArrayInfo) -> str:
    return info.data[0].title or "" if info.data else ""


def read_accepted(sheets: Sequence[Sheet], *, missing: Missing) -> tuple[AcceptedArrays, dict[str, ResizedArray]]:
    """Read the arrays of sheets with the lengths that their cells have; return them with their columns.

    A cell that stands for a missing value, such as a blank or `n/a`, does not have to be one that can be read. Columns
    whose lengths contradict each other end with blanks.

    Raises:
        FormatError: any other cell cannot be read; or as `AcceptedArrays.of_columns`.
    """
    if not sheets:
        return AcceptedArrays(({}, {}), {}, {}, None, {}), {}
    accepted: AcceptedArrays | FormatError
    with warnings.catch_warnings(record=True) as told:  # of lengths that may not be taken
        warnings.simplefilter("always")
        with keeping_unreadable("missing") as unreadable:
            resized = open_sheets(sheets, missing=missing, resize=True).read_resized()
        try:
            accepted = _join_columns(sheets, resized, unreadable)
        except FormatError as error:
            accepted = error
    if isinstance(accepted, FormatError):  # only then is the file read a second time
        with suppress(FormatError):
            with keeping_unreadable("padded") as unreadable:
                resized = open_sheets(sheets, missing=missing, resize=True).read_resized()
            return _join_columns(sheets, resized, unreadable), resized
        raise accepted
    for each in told:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return accepted, resized


def _join_columns(
    sheets: Sequence[Sheet], resized: Mapping[str, ResizedArray], unreadable: Mapping[str, Array]
) -> AcceptedArrays:
    groups = {name: array.column.group for name, array in resized.items()}
    now = Infos(sheets, groups, {name: array.column.header for name, array in resized.items()})
    arrays: dict[str, Any] = {name: view_of(array.column.header, array.buffer) for name, array in resized.items()}

    infos = Infos(sheets, groups, {}), now
    return AcceptedArrays.of_columns(arrays, unreadable, infos)


def compare_infos(name: str, before: ArrayInfo, now: ArrayInfo, errors: Array | None) -> Comparison:
    """Return an array beside its header, which is all that is known of what it was."""
    places = [] if errors is None else map(tuple, np.argwhere(errors.astype(np.bool_)).tolist())
    elements = [DifferingElement(index, index, None, errors[index]) for index in places if errors is not None]
    dtypes, shapes, orders = (before.dtype, now.dtype), (before.shape, now.shape), (before.order, now.order)
    return Comparison(name, dtypes, shapes, orders, elements=int(np.prod(now.shape)), unreadable=elements)
