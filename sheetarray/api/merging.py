"""merge: what several people changed in copies of one file, put together."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..changes.choices import find_name, read_choices
from ..changes.rows import missing_key_error
from ..errors import LimitError, NotFoundError, check_kinds, quote_names
from ..files import conceal_secrets, is_url, name_part, replacing
from ..formats import format_of, locate_place, locate_places
from .accepting import changing_source, check_suffixes, is_one_place, refuse_unwritable
from .arrays import check_writable, write
from .merge_sources import MergeSource
from .merged import Merged
from .merged_tables import write_merged_tables
from .ordinary import holds_tables, refuse_unknown
from .sheet_merges import (
    SheetMerge,
    comparing,
    join_arrays,
    join_changes,
    join_conflicts,
    merge_sheets,
    read_sheet_merges,
    settle_formulas,
)
from .targets import SourceOrTarget


def merge(
    base: SourceOrTarget,
    *returned: SourceOrTarget,
    target: SourceOrTarget | None = None,
    prefer: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    choices: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | None = None,
    key: str | Sequence[str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    client: Any = None,
    **options: Any,
) -> Merged:
    """Merge what several people changed in copies of one file.

    - If one person changed an element, or several people made the same change, the new value is taken.
    - If a program only rounded an element, the base's value stays.
    - If people changed an element differently, you get a conflict. The base's value stays, unless `prefer` or `choices`
      names another file.
    - Added rows follow each other, in the order of the files. Rows with the same label become one row.
    - A blank cell is a change where the dtype has a missing value, such as NaN. Other cells that cannot be read are
      listed in `unreadable`, and the base's values stay.
    - An array with another name is the same array if its elements or its place tell so.
    - If arrays of several sheets have one name, each sheet is merged by itself. Its title then stands before the name:
      `north!t`.
    - What people typed beside the arrays is not merged; `files` lists it as remarks.
    - Files without arrays are ordinary tables; their columns are merged, sheet by sheet. The base decides the dtypes.
    - Rows run along the first axis. If the copies differ in the length of another axis, rows run along that axis.

    Args:
        base: the file that you sent.
        *returned: the files that came back, in any formats that `read` takes.
        target: where the merged arrays go; it may be the base. None writes nothing. A target in the format of the base
            is a copy of the base with other values. A target in another format is written anew.
        prefer: one of the files, or several. A conflict takes the value of the first of them that has one.
        choices: the file `choices.json` that you saved on the page of a merge, or its content: a list of objects, each
            with `array`, `index`, `of` (the file in whose array the index counts) and `choose` (the file whose value
            stands).
        key: the array, or the arrays, whose values tell which rows belong together. None goes by labels, or content.
        storage_options: options of the file systems of URLs.
        client: a gspread client, for Google Sheets.
        **options: options of the formats, as for `read`, such as `sheet` or `missing`; each file takes those that its
            format has.

    Returns:
        The merged arrays, the conflicts, and what each person changed.

    Raises:
        FormatError: one of the files, or `choices`, cannot be read, or two rows have the same `key`. Nothing was
            written.
        NotFoundError: `prefer` or `choices` names another file, or a file lacks the `key`.
        ValueError: you pass a file twice, or the target is one of those that came back.
        TypeError: no file has an option.
        LimitError: the base is signed or shared, or cells of your own are in the way of added rows. Nothing was
            written.

    Example:
        >>> import tempfile, pathlib
        >>> import numpy as np
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, values in {"base": [1, 2, 3], "ann": [1, 5, 3], "ben": [1, 7, 3]}.items():
        ...     write(folder / f"{name}.csv", {"t": np.array(values)})
        >>> merged = merge(folder / "base.csv", folder / "ann.csv", folder / "ben.csv", target=folder / "merged.csv")
        >>> [(conflict.array, conflict.index, conflict.base) for conflict in merged.conflicts]
        [('t', (1,), 2)]
    """
    if not returned:
        raise TypeError("merge needs the file that you sent, and the files that came back")
    check_kinds(str | Sequence | None, "the name of an array, or a list of names", key=key)
    keys = [key] if isinstance(key, str) else list(key or ())
    files = [MergeSource(place, storage_options, client, options) for place in (base, *returned)]
    own = ("target", "prefer", "choices", "key", "storage_options", "client")
    refuse_unknown("merge", [(file.place, None) for file in files], options, own)
    names = [file.name for file in files]
    if twice := [name for number, name in enumerate(names) if name in names[:number]]:
        raise ValueError(f"named twice: {quote_names([conceal_secrets(name) for name in twice])}")
    for file in files[1:] if target is not None else ():
        if is_one_place(file.place, locate_place(target, storage_options if is_url(target) else None, None, client)):
            name = conceal_secrets(file.name)
            raise ValueError(f"the target is {name!r:.300}, which came back from somebody: choose another file")
    write_merged = None if target is None else _open_target(files[0], target, storage_options, client)
    check_kinds(Iterable | os.PathLike, "one of the files, or a list of them", prefer=prefer)
    favourites = [prefer] if isinstance(prefer, (str, os.PathLike)) else list(prefer)
    for favourite in favourites:
        check_kinds(str | os.PathLike, "one of the files, or a list of them", prefer=favourite)
    preferred = [find_name(os.fspath(file), names) for file in favourites]
    chosen = read_choices(choices, names)
    with changing_source(files[0].place, target, storage_options):
        merges = read_sheet_merges(files)
        _refuse_unknown_keys(merges, keys)
        merge_sheets(merges, keys, preferred, chosen)
        settle_formulas(merges)
        url = None
        if write_merged is not None and not merges[0].is_table:
            url = write_merged(merges)
        elif target is not None and merges[0].is_table:
            url = write_merged_tables(merges, target, storage_options, client)
        return Merged(
            join_arrays(merges),
            join_conflicts(merges),
            join_changes(merges),
            names[0],
            url,
            _compare=comparing(merges, names[0]),
        )


def _refuse_unknown_keys(merges: Sequence[SheetMerge], keys: Sequence[str]) -> None:
    """Refuse a key that no sheet of the base has."""
    names = {name for each in merges for name in each.files[0].arrays}
    for name in keys if len(merges) > 1 else ():
        if name not in names:
            raise missing_key_error(merges[0].files[0].name, name, sorted(names))


def _open_target(
    base: MergeSource, target: SourceOrTarget, storage_options: Mapping[str, Any] | None, client: Any
) -> Callable[[Sequence[SheetMerge]], Any]:
    """Return a function that writes the merged arrays: into the base's cells, where the format is the base's."""
    _, place = locate_places([(base.given, None), (target, None)], storage_options, client)
    row = format_of(place)
    check_suffixes(row, base.row, base.place, place)
    options = {"client": client} if client is not None and "client" in row.options("write") else {}
    refuse_unwritable(row)
    check_writable(place, None, options)
    revise = None
    if row.name == base.row.name:
        with suppress(NotFoundError):
            revise = row.function("revise")

    def write_all(merges: Sequence[SheetMerge]) -> Any:
        arrays, new_names = merges[0].arrays, merges[0].new_names or {}
        if len(merges) == 1:
            if base.is_recorded and arrays is not None and holds_tables(place):
                return base.write_recorded(place, arrays, options)
            if revise is None:
                return write(place, arrays, **options)
            return revise(base.place, place, arrays, renamed=new_names, **base.options("revise"))
        if revise is not None:
            revisions = [(each.title, each.arrays, each.new_names or {}) for each in merges]
            return row.function("revise_sheets")(base.place, place, revisions, **base.options("revise_sheets"))
        if "sheet" not in row.options("write"):
            hint = f"name a workbook as the target, or merge one sheet at a time, sheet={merges[0].title!r:.60}"
            raise LimitError(
                f"the base has arrays of one name in several sheets, and {row.title} has no sheets: {hint}"
            )
        with tempfile.TemporaryDirectory(prefix="sheetarray-") as folder:
            path = os.path.join(folder, "merged" + os.path.splitext(name_part(place))[1])
            for number, each in enumerate(merges):
                write(path, each.arrays, sheet=each.title, mode="a" if number else "w", **options)
            with open(path, "rb") as written, replacing(place, binary=True) as sink:
                shutil.copyfileobj(written, sink)
        return None

    return write_all
