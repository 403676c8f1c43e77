"""diff: what became of arrays, between two sources, or arrays in memory."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from ..changes.compare import Comparison, compare
from ..changes.conflicts import Remark
from ..changes.elements import are_alike, have_same_bytes
from ..changes.formulas import hide_formulas, loosen_formulas
from ..changes.row_groups import GroupedRows, LabelGroup, dtype_name, group_by_key, is_level, map_rows
from ..changes.rows import check_key, missing_key_error
from ..changes.sheet_pairs import pair_sheets
from ..columns import ArrayInfo
from ..dtypes import Array
from ..errors import (
    FormatError,
    NotFoundError,
    check_kinds,
    locating,
    quote_names,
    warn_caller,
)
from ..files import RemoteFile, conceal_secrets
from ..formats import locate_place
from ..labels import DatasetLabels, compare_labels, describe_arrays
from ..labels.places import list_levels
from ..linear.array import LinearArray
from ..linear.named import values_by_name
from ..values import is_of
from .changes import MOST_LISTED, Changes
from .differences import Differences, KeyLabels, SideFacts
from .opened import DiffSide, hold_arrays, join_sheets, open_side, side_of_table
from .ordinary import (
    OrdinaryTable,
    find_remarks_on_sheets,
    find_remarks_on_tables,
    follow_moved_rows,
    pair_formulas,
    refuse_unknown,
    unify_columns,
)
from .targets import SourceOrTarget


def diff(
    before: SourceOrTarget | Mapping[str, Any],
    after: SourceOrTarget | Mapping[str, Any],
    names: str | Sequence[str] | None = None,
    *,
    rtol: float = 0,
    atol: float = 0,
    key: str | Sequence[str] | None = None,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Changes:
    """Compare the arrays of two sources, and return what became of them. Nothing is written.

    - Arrays with the same name are compared by dtype, shape, order and every element. NaN equals NaN, and -0.0 differs
      from 0.0. Integers are compared as integers.
    - Rows belong together by `key`, by the coordinates or the index, otherwise by content. So inserted, deleted and
      sorted rows are one change, and the other rows are compared.
    - An element that a program only rounded is no edit; it is counted in `rounded`.
    - A cell that cannot be read is listed in `unreadable`, and hides no other change.
    - If arrays of several sheets have one name, each sheet is compared by itself. Its title then stands before the
      name: `north!t`.
    - A source without arrays has the columns of its ordinary tables, as `read_columns` finds them, of all sheets. The
      dtypes of columns are those of `before`. `key` tells the rows of all sheets that have it.

    Args:
        before: the arrays as they were: a path, a URL, an open file, an object of another library, or arrays by name,
            a Dataset or a DataFrame.
        after: the arrays as they are, given in any of these ways.
        names: the arrays to compare; None compares all.
        rtol: relative tolerance of floats. With a tolerance numbers are equal where |a - b| <= atol + rtol * |b|; other
            dtypes, orders and signs of zero are then listed but do not count.
        atol: absolute tolerance of floats.
        key: the array, or the arrays, whose values tell which rows belong together.
        format: the name of the format of both sources; None chooses each by the suffix.
        storage_options: options of the file systems of URLs.
        **options: options of the formats, as for `read`, and for ordinary tables those of `read_columns`; each source
            takes those that it has.

    Returns:
        The changes; they are false if nothing changed. `print` shows the largest ones.

    Raises:
        FormatError: a source cannot be read, or two rows of it have the same `key`.
        NotFoundError: no source has an array that you name, or one of them lacks the `key`.
        TypeError: no source has an option.
        ValueError: a tolerance is negative.

    Example:
        >>> import numpy as np
        >>> before = {"id": np.array([1, 2, 3]), "t": np.array([0.5, 1.5, 2.5])}
        >>> after = {"id": np.array([3, 1, 4]), "t": np.array([2.5, 0.75, 9.0])}
        >>> changes = diff(before, after, key="id")
        >>> changes.rows[0].added, changes.rows[0].deleted
        ([2], [1])
        >>> [(edit.index, float(edit.before), float(edit.after)) for edit in changes.edited]
        [((1,), 0.5, 0.75)]
        >>> bool(diff(before, before))
        False
    """
    check_kinds(Real, "a number", rtol=rtol, atol=atol)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise ValueError(f"{name} is zero or more, not {tolerance!r:.80}")
    check_kinds(str | Sequence | None, "the name of an array, or a list of names", names=names)
    check_kinds(str | Sequence | None, "the name of an array, or a list of names", key=key)
    if options:
        _refuse_unknown([value for value in (before, after) if not _is_data(value)], format, options, storage_options)
    chosen, keys = ([value] if isinstance(value, str) else list(value or ()) for value in (names, key))
    sides: list[DiffSide] = []
    for value, label in ((before, "before"), (after, "after")):
        if _is_data(value):
            sides.append(_describe_data(value, label))
            continue
        place: Any = locate_place(value, storage_options, format, options.get("client"))
        if is_path := isinstance(value, (str, os.PathLike)):
            label = conceal_secrets(os.fspath(place if isinstance(place, RemoteFile) else value))
        with locating(source=label if is_path else None):
            sides.append(open_side(_to_seekable(place), label, format, options, reads_all=not chosen))
    return Changes(diff_sides(sides, chosen, rtol=rtol, atol=atol, key=keys))


def _is_data(value: Any) -> bool:
    """Return whether a value is arrays, and no place from which they are read."""
    tables = is_of(value, "xarray", "Dataset", "DataArray") or _is_frame(value)
    return tables or isinstance(value, (Mapping, np.ndarray, LinearArray, list, tuple))


def _is_frame(value: Any) -> bool:
    """Return whether a value is a frame, or a column of one."""
    is_frame = is_of(value, "pandas", "DataFrame", "Series") or is_of(value, "polars", "DataFrame", "Series")
    return is_frame or is_of(value, "pyarrow", "Table")


def _describe_data(value: Any, label: str) -> DiffSide:
    """Return arrays in memory as one side of a comparison."""
    if isinstance(value, Mapping) and not value:
        arrays, labels = dict[str, Any](), None
    elif (described := describe_arrays(value)) is not None:
        arrays, labels = described
    else:
        arrays, labels = values_by_name(value), None
    arrays = {name: _to_array(array) for name, array in values_by_name(arrays).items()} if arrays else {}

    return replace(hold_arrays(SideFacts(label, dict, labels), arrays), is_table=_is_frame(value))


def _to_array(array: Any) -> Any:
    return array.to_numpy() if isinstance(array, LinearArray) else array


def _to_seekable(source: Any) -> Any:
    """Return a source; of an open file that cannot go back, its content."""
    if not hasattr(source, "read") or isinstance(source, RemoteFile) or source.seekable():
        return source
    content = source.read()
    return io.StringIO(content) if isinstance(content, str) else io.BytesIO(content)


def _choose_first_sheets(sides: Sequence[DiffSide], key: Sequence[str]) -> Sequence[DiffSide]:
    """Return two sides; beside a table without sheets one sheet of the other is meant, the first that has the key."""
    tables = [side.table for side in sides]
    if not any(table is not None and table.sheets[0].columns.title is None for table in tables):
        return sides
    chosen = []
    for side, table in zip(sides, tables, strict=True):
        all_sheets = [] if table is None else table.sheets
        sheets = [sheet for sheet in all_sheets if {*key} <= {*sheet.columns}]
        if sheets and (left := [str(sheet.columns.title) for sheet in all_sheets if sheet is not sheets[0]]):
            reason = "is not compared, as the other file has no sheets"
            warn_caller(f"{side.facts.label}: sheet {quote_names(left)} {reason}")
        chosen.append(side_of_table(OrdinaryTable(sheets[:1]), side.facts.label) if sheets else side)
    return chosen


def _name_alike(sides: Sequence[DiffSide]) -> tuple[Sequence[DiffSide], list[str]]:
    """Return two sides in which the title of the sheet stands before the same names, and sentences on other titles.

    A sheet that has another title in the second side has the title of the first one there.
    """
    if any(side.sheets for side in sides):
        return _name_sheets_alike(sides)
    tables = [side.table for side in sides if side.table is not None]
    if len(tables) < len(sides) or any(table.sheets[0].columns.title is None for table in tables):
        repeated = {name for table in tables for name in table.find_repeated()}
        return [_name_columns(side, repeated, {}) for side in sides], []
    pairs = pair_sheets(*({str(sheet.columns.title): [*sheet.columns] for sheet in t.sheets} for t in tables))
    if len(tables[0].sheets) == len(tables[1].sheets) == 1:  # whatever they are called
        pairs = {str(tables[0].sheets[0].columns.title): str(tables[1].sheets[0].columns.title)}
    titles = {now: before for before, now in pairs.items()}
    repeated = {name for table, named in zip(tables, ({}, titles), strict=True) for name in table.find_repeated()}
    named = [_name_columns(side, repeated, now) for side, now in zip(sides, ({}, titles), strict=True)]
    return named, _tell_titles(pairs) if max(len(table.sheets) for table in tables) > 1 else []


def _name_columns(side: DiffSide, repeated: Collection[str], titles: Mapping[str, str]) -> DiffSide:
    """Return a table with titles before the names of columns; `titles`: other titles of sheets."""
    return side if side.table is None else side_of_table(side.table.naming(repeated, titles), side.facts.label)


def _name_sheets_alike(sides: Sequence[DiffSide]) -> tuple[Sequence[DiffSide], list[str]]:
    """Do as `_name_alike` for arrays of one name in several sheets."""
    sheets = [side.sheets or _split_side(side, other) for side, other in zip(sides, reversed(sides), strict=True)]
    pairs = pair_sheets(*({title: sheet.names for title, sheet in of_side.items()} for of_side in sheets))
    titles = {now: before for before, now in pairs.items()}
    sheets[1] = {titles.get(title, title): sheet for title, sheet in sheets[1].items()}
    counts = [Counter(name for sheet in of_side.values() for name in sheet.names) for of_side in sheets]
    repeated = {name for of_side in counts for name, count in of_side.items() if count > 1}
    return [
        join_sheets(
            side.facts.label,
            of_side,
            {
                title: {name: f"{title}!{name}" if name in repeated else name for name in sheet.names}
                for title, sheet in of_side.items()
            },
            sheets[0].keys() & sheets[1].keys(),
        )
        for side, of_side in zip(sides, sheets, strict=True)
    ], _tell_titles(pairs)


def _split_side(side: DiffSide, other: DiffSide) -> dict[str, DiffSide]:
    """Return the sheets of one side, by title. Array names need only be unique within a sheet.

    Raises:
        FormatError: it has no sheets.
    """
    infos = side.facts.infos
    titles = dict.fromkeys(info.data[0].title for info in infos.values() if info.data)
    if side.open_sheet is None or None in titles or side.table is not None or (side.names and not titles):
        raise FormatError(
            f"arrays of one name are in several sheets of {other.facts.label}, and this has no such sheets",
            source=side.facts.label,
            hint=f"compare one sheet at a time, sheet={next(iter(other.sheets))!r:.60}",
        )
    return {str(title): side.open_sheet(str(title)) for title in titles}


def _tell_titles(pairs: Mapping[str, str]) -> list[str]:
    return [f"the sheet {before!r} is called {now!r} now" for before, now in pairs.items() if before != now]


def _refuse_unknown(
    sources: Sequence[Any], format: str | None, options: Mapping[str, Any], storage_options: Mapping[str, Any] | None
) -> None:
    """Refuse an option that none of the sources has."""
    places = [(locate_place(source, storage_options, format, options.get("client")), format) for source in sources]
    refuse_unknown("diff", places, options, ("rtol", "atol", "key", "format", "storage_options"))


def diff_sides(
    sides: Sequence[DiffSide],
    names: Sequence[str] = (),
    *,
    rtol: float = 0,
    atol: float = 0,
    key: Sequence[str] = (),
    most: int = MOST_LISTED,
) -> Differences:
    """Return what became of the arrays of two sources.

    `names`: the arrays to compare; all if there are none. `most`: the largest number of elements that are named, of
    each array.

    Raises:
        FormatError: a source cannot be read, or two rows of it have the same key.
        NotFoundError: no source has an array.
    """
    titles_changed: list[str] = []
    if any(side.table is not None or side.sheets for side in sides):
        sides, titles_changed = _name_alike(_choose_first_sheets(sides, key))
    first, second = sides
    chosen = _choose_names(names, sides)
    keys = _find_keys(sides, key) if key else []
    key_names = [name for levels, _ in keys for name in levels]
    present = {*first.names}, {*second.names}
    common = [name for name in chosen if name in present[0] and name in present[1]]
    gone = [name for name in chosen if name not in present[1]]
    come = [name for name in chosen if name not in present[0]]
    levels = _list_labels_of(common, sides)
    comparisons: list[Comparison] = []
    errors: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    opened = []
    for side, unreadable in zip(sides, errors, strict=True):
        candidates = _may_be_renamed(gone, come, sides)[side is second] if gone and come else []
        needed = dict.fromkeys([*common, *key_names, *(level for level in levels if level in side.names), *candidates])
        opened.append(side.open(list(needed), unreadable=unreadable))
        side.facts.levels = {level: np.array(opened[-1][0][level]) for level in levels if level in side.names}
    (a, release_a), (b, release_b) = opened

    def release() -> None:
        release_a()
        release_b()

    if first.table is not None or second.table is not None:
        (a, of_a), (b, of_b) = unify_columns(first.table or a, second.table or b)
        for of_side, more in zip(errors, (of_a, of_b), strict=True):
            of_side.update(more)
    formulas: dict[str, tuple[Any, Any]] = {}
    if first.table is not None and second.table is not None:
        formulas = pair_formulas((first.table, second.table), common, (a, b), errors)
    renamed = _find_renamed(gone, come, a, b) if gone and come else {}
    pairs = {name: (a[name], b[name]) for name in dict.fromkeys([*common, *key_names])}
    rows = _match_rows(pairs, common, keys, sides, errors, formulas)
    for name in common:
        wrong = [of_side.get(name) for of_side in errors]
        if name in formulas:
            wrong = [hide_formulas(*pair) for pair in zip(formulas[name], wrong, strict=True)]
        comparison = compare(
            name,
            *pairs[name],
            rtol=rtol,
            atol=atol,
            most=most,
            release=release,
            errors=wrong,
            row_maps=rows.maps.get(name, ()),
        )
        comparisons.append(comparison)
    facts = (first.facts, second.facts)
    labels = [fact.labels for fact in facts]
    texts = [] if names or labels == [None, None] else compare_labels(labels, [fact.label for fact in facts])
    remarks = [] if names else _find_remarks(sides)
    gone, come = [n for n in gone if n not in renamed], [n for n in come if n not in renamed.values()]
    return Differences(facts, comparisons, rows.sorted_rows, come, gone, renamed, texts, titles_changed, remarks)


def _match_rows(
    pairs: Mapping[str, tuple[Any, Any]],
    common: Sequence[str],
    keys: Sequence[tuple[list[str], Collection[str]]],
    sides: Sequence[DiffSide],
    errors: Sequence[Mapping[str, Array]],
    formulas: dict[str, tuple[Any, Any]],
) -> GroupedRows:
    """Match the rows of the arrays of two sources: by key, by labels, else by content.

    `pairs`: the arrays of both, by name. `common`: the names of those that are compared. `keys`: as `_find_keys` gives
    them. `errors`: of the cells of each source that cannot be read. `formulas`: of columns of tables, which follow rows
    that moved.
    """
    first, second = sides
    groups = [group_by_key(pairs, common, *of_sheet) for of_sheet in keys]
    for group in groups:
        _check_key(pairs, sides, group, errors)
    if not keys and first.facts.labels is not None and second.facts.labels is not None:
        groups = _list_groups(pairs, (first.facts.labels, second.facts.labels), common)
    unsure = {**dict.fromkeys(errors[0]), **errors[1]}
    if not unsure and not groups and not formulas and all(have_same_bytes(*pair) for pair in pairs.values()):
        return GroupedRows()
    _, infos = (side.facts.infos for side in sides)  # the files may change after this call
    places = _list_places(infos)
    tables = _list_tables(sides, places)
    loose = {name: (loosen_formulas(a), loosen_formulas(b)) for name, (a, b) in formulas.items()}
    rows = map_rows({**pairs, **loose}, groups, is_key=bool(keys), unreadable=unsure, places=places, tables=tables)
    if first.table is not None and second.table is not None:
        follow_moved_rows(formulas, rows.maps, first.table, second.table)
    return rows


def _find_remarks(sides: Sequence[DiffSide]) -> list[Remark]:
    """Return a remark on each cell beside the arrays that differs in the second source."""
    first, second = sides
    if first.table is not None and second.table is not None:
        return find_remarks_on_tables(first.table, second.table)
    if first.list_others is None or second.list_others is None:
        return []
    is_one_format = first.format == second.format
    return find_remarks_on_sheets(first.list_others(), second.list_others(), "before", is_one_format=is_one_format)


def _choose_names(names: Sequence[str], sides: Sequence[DiffSide]) -> list[str]:
    """Return the names of the arrays to compare; a name without a title stands for the arrays of all sheets."""
    names_present = dict.fromkeys([*sides[0].names, *sides[1].names])
    chosen: list[str] = []
    for name in names:
        of_sheets = [of_sheet[name] for side in sides for of_sheet in side.names_of.values() if name in of_sheet]
        if name not in names_present and not of_sheets:
            raise NotFoundError(
                f"no array {name!r} in either file; there is {', '.join(map(repr, names_present)) or 'none'}"
            )
        chosen += [name] if name in names_present else of_sheets
    return list(dict.fromkeys(chosen) or names_present)


def _find_keys(sides: Sequence[DiffSide], key: Sequence[str]) -> Sequence[tuple[list[str], Collection[str]]]:
    """Return the arrays that are the key of each sheet that has it, with the arrays of that sheet.

    The rows of other sheets belong together by content.

    Raises:
        NotFoundError: no sheet of both sides has the key.
    """
    first, second = sides
    in_sheets = [
        ([named[name] for name in key], {*named.values()})
        for title, named in first.names_of.items()
        if {*key} <= {*named} and {*key} <= {*second.names_of.get(title, ())}
    ]
    if in_sheets:
        return in_sheets
    for name in key:
        if name not in first.names or name not in second.names:
            side = second if name in first.names else first
            raise missing_key_error(side.facts.label, name, side.names)
    members = [{*named.values()} for named in first.names_of.values() if {*key} <= {*named.values()}]
    return [(list(key), members[0] if members else first.names)]


def _list_labels_of(names: Sequence[str], sides: Sequence[DiffSide]) -> list[str]:
    """Return the arrays that label the elements of others, in either source."""
    levels: dict[str, None] = {}
    for labels in (side.facts.labels for side in sides):
        variables = [labels.find(name) for name in names] if labels is not None else []
        for variable in variables:
            for dim in variable.dims if variable is not None else ():
                levels |= dict.fromkeys(list_levels(labels, dim))
    return list(levels)


def _may_be_renamed(gone: Sequence[str], come: Sequence[str], sides: Sequence[DiffSide]) -> tuple[list[str], list[str]]:
    """Return the arrays of each source that may stand in the other under another name."""
    infos = [side.facts.infos for side in sides]
    pairs = [
        (before, now)
        for before in gone
        for now in come
        if before not in infos[0]
        or now not in infos[1]
        or (infos[0][before].shape, infos[0][before].dtype) == (infos[1][now].shape, infos[1][now].dtype)
    ]
    return list(dict.fromkeys(before for before, _ in pairs)), list(dict.fromkeys(now for _, now in pairs))


def _find_renamed(
    gone: Sequence[str], come: Sequence[str], a: Mapping[str, Any], b: Mapping[str, Any]
) -> dict[str, str]:
    """Return the name now of each array whose elements stand under one other name."""
    renamed: dict[str, str] = {}
    for before in gone:
        alike = [now for now in come if before in a and now in b and _is_same_array(a[before], b[now])]
        if len(alike) == 1 and alike[0] not in renamed.values():
            renamed[before] = alike[0]
    return renamed


def _is_same_array(a: Any, b: Any) -> bool:
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.shape != b.shape or not a.size:
        return False
    return dtype_name(a) == dtype_name(b) and are_alike(a, b)


def _list_places(infos: Mapping[str, ArrayInfo]) -> dict[str, Any]:
    """Return where each array stands: its sheet, whether it is a column or a row, and of a table what its rows are."""
    return {
        name: (info.data[0].title, info.data[0].orient, (info.dims or ())[:1] if _is_column_of_table(info) else ())
        for name, info in infos.items()
        if info.data
    }


def _list_tables(sides: Sequence[DiffSide], places: Mapping[str, Any]) -> set[Any]:
    """Return the places at which arrays are the columns of a table; None is that of arrays without a place."""
    if any(side.is_table for side in sides):
        return {*places.values(), None}
    infos = sides[1].facts.infos
    return {place for name, place in places.items() if _is_column_of_table(infos[name])}


def _is_column_of_table(info: ArrayInfo) -> bool:
    """Return whether an array has no cells of a header."""
    return info.cells == info.capacity


def _refuse_unreadable_keys(
    sides: Sequence[DiffSide], key: Sequence[str], unreadable: Sequence[Mapping[str, Array]]
) -> None:
    """Refuse a key with a cell that cannot be read."""
    for side, errors in zip(sides, unreadable, strict=True):
        for name in key:
            for error in errors.get(name, np.array([])).ravel().tolist():
                if isinstance(error, FormatError):
                    reason = f"{error.reason}, so it tells no row apart as {name!r}"
                    raise FormatError(reason, location=error.location, array=name, source=side.facts.label)


def _check_key(
    pairs: Mapping[str, tuple[Any, Any]],
    sides: Sequence[DiffSide],
    group: LabelGroup,
    unreadable: Sequence[Mapping[str, Array]],
) -> None:
    """Refuse a key that two rows of a source have in common, or that cannot be read; each source then knows it."""
    key = group.levels
    _refuse_unreadable_keys(sides, key, unreadable)
    for number, side in enumerate(sides):
        columns = {level: np.array(pairs[level][number]) for level in key}
        side.facts.keys |= {name: KeyLabels(columns, axis) for name, axis in group.axes.items()}
        check_key(columns, side.facts.label, side.facts.find_row_cell)


def _list_groups(
    pairs: Mapping[str, tuple[Any, Any]], labels: tuple[DatasetLabels, DatasetLabels], common: Sequence[str]
) -> list[LabelGroup]:
    """Return the groups of arrays whose rows are identified by labels."""
    before, now = labels
    groups: dict[str, dict[str, int]] = {}
    for name in common:
        variables = [of_side.find(name) for of_side in labels]
        dims = [variable.dims if variable is not None else () for variable in variables]
        if dims[0] == dims[1] and all(getattr(array, "ndim", -1) == len(dims[0]) for array in pairs[name]):
            for axis, dim in enumerate(dims[0]):
                groups.setdefault(dim, {})[name] = axis
    listed = []
    for dim, axes_of_dim in groups.items():
        levels = [*list_levels(before, dim)]
        if levels == [*list_levels(now, dim)] and all(is_level(pairs, level) for level in levels):
            axes = {name: axis for name, axis in (axes_of_dim | dict.fromkeys(levels, 0)).items() if name in common}
            listed.append(LabelGroup(levels, axes))
    return listed
