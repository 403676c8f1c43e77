"""What each format declares to keep is what it keeps, and the table in docs/formats.md says the same."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sheetarray as sa
from sheetarray.formats import FORMATS, Format, format_of
from sheetarray.formats.contract import EVERYTHING, NUMERIC, Keeps
from sheetarray.testing.cases import assert_same, objects, plain

pytestmark = pytest.mark.filterwarnings("ignore:.* keeps no :sheetarray.SheetArrayWarning")  # test_warnings has it

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
ARRAYS: dict[str, Any] = {name: np.array([[0, 1, 2], [3, 4, 5]]).astype(name) for name in NUMERIC} | {
    "generic": objects(None, True, 1, 0.5, "x"),
    "string": np.array(["", "a", "007"]),
    "datetime64": np.array(["2026-01-05T12:00", "NaT"], dtype="datetime64[ms]"),
    "timedelta64": np.array([90, "NaT"], dtype="timedelta64[s]"),
}
COLUMNS = {name: np.ravel(array) for name, array in ARRAYS.items()} | {  # for files of columns
    "generic": objects(None, True, False),
    "timedelta64": np.array([90, "NaT"], dtype="timedelta64[ms]"),
}
GROUPS = {
    "float": ["float16", "float32", "float64"],
    "complex": ["complex64", "complex128"],
    "int, uint": [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)],
    "bool": ["bool"],
    "string": ["string"],
    "datetime64": ["datetime64"],
    "timedelta64": ["timedelta64"],
    "generic": ["generic"],
}
ROWS = [row for row in FORMATS.values() if row.suffixes and row.instead is None]


def keeps(row: Format) -> Keeps:
    result = getattr(import_module(row.module), f"keeps_{row.stem}")
    assert isinstance(result, Keeps)
    return result


def place(row: Format, folder: Path) -> Path:
    return folder / f"x{row.suffixes[0]}"


def array_for(row: Format, dtype: str) -> Any:
    """The array of a dtype; of formats whose files are columns, one of one dimension."""
    return (COLUMNS if keeps(row).table else ARRAYS)[dtype]


def is_refused(target: Path, dtype: str, row: Format) -> bool:
    """Whether an array is refused with a sentence, and nothing written."""
    try:
        sa.write(target, {"x": array_for(row, dtype)}, format=row.name)
    except sa.DTypeError as error:
        return len(str(error)) >= 20 and not target.exists()
    return False


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_dtype_is_kept_or_refused_as_declared(row, tmp_path):
    target, declared = place(row, tmp_path), keeps(row).dtypes
    others = sorted(set(EVERYTHING) - set(declared))
    assert [dtype for dtype in others if not is_refused(target, dtype, row)] == []
    for dtype in sorted(set(EVERYTHING) & set(declared)):
        sa.write(target, {"x": array_for(row, dtype)}, format=row.name)
        assert_same(plain(sa.read(target, format=row.name)["x"]), array_for(row, dtype))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_order_names_and_number_are_kept_as_declared(row, tmp_path):
    declared, target = keeps(row), place(row, tmp_path)
    array = np.arange(6.0) if declared.table else np.asfortranarray(np.arange(6.0).reshape(2, 3))
    sa.write(target, {"name": array}, format=row.name)
    (name, array), *_ = sa.read(target, format=row.name).items()
    assert plain(array).flags.f_contiguous == (declared.order or declared.table)
    assert name == ("name" if declared.names else "x")
    several = {"a": np.arange(2), "b": np.arange(2 if declared.table else 3)}
    if declared.several:
        sa.write(tmp_path / f"several{row.suffixes[0]}", several, format=row.name)
        assert list(sa.read(tmp_path / f"several{row.suffixes[0]}", format=row.name)) == ["a", "b"]
    else:
        with pytest.raises(sa.LimitError, match="np"):
            sa.write(tmp_path / f"several{row.suffixes[0]}", several, format=row.name)


def shares(row: Format) -> bool:
    """Whether another format is written to the suffix of this one."""
    return format_of(f"x{row.suffixes[0]}") != row


def table() -> str:
    """The table in docs/formats.md, from the declarations."""
    lines = [f"| | {' | '.join(GROUPS)} | order | names | missing |", "|---" * (len(GROUPS) + 4) + "|"]
    kinds: dict[tuple[str, str], list[Format]] = {}
    for row in ROWS:
        kinds.setdefault((row.module, row.stem), []).append(row)
    for rows in kinds.values():
        suffixes = [f"`{row.suffixes[0]}`" + (f" as `{row.name}`" if shares(row) else "") for row in rows]
        declared = keeps(rows[0])
        cells = ["yes" if set(names) <= declared.dtypes else "no" for names in GROUPS.values()]
        cells.append("yes" if declared.order else "no")
        cells.append("yes" if declared.names else "the file's" if declared.several else "the file's; one array")
        lines.append(f"| {' '.join(suffixes)} | {' | '.join(cells)} | {', '.join(declared.missing)} |")
    return "\n".join(lines)


def test_the_table_in_the_documentation_is_the_one_that_the_declarations_make():
    assert table() in PAGE.read_text(encoding="utf-8"), f"paste into docs/formats.md:\n\n{table()}\n"
