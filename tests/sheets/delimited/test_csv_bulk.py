"""Long and wide columns of CSV: some of them wanted, others foreign, odd cells and other arrays far below."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sheetarray as sa

ARRAYS = {"a": np.arange(50.0), "b": np.arange(30), "s": np.array(["x", 'say "y"']), "z": np.arange(9) > 4}


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    path = tmp_path / "sheet.csv"
    sa.write(path, ARRAYS)
    return path


@pytest.mark.parametrize(
    "change",
    [
        "{line}",
        "note {index},{line},=A{index}*2,more",
        '{line},{index}" pipe',  # a stray quote hides no row
        "{short}",  # rows of different lengths
    ],
)
@pytest.mark.parametrize("names", [None, ["a"], ["b"], ["z", "a"], ["s"]])
def test_any_choice_of_columns_is_read_beside_foreign_ones(sheet: Path, names: list[str] | None, change: str) -> None:
    lines = sheet.read_text().splitlines()
    changed = [change.format(index=index, line=line, short=line.rstrip(",")) for index, line in enumerate(lines)]
    sheet.write_text("\n".join([*changed, ""]))
    result = sa.read(sheet, names)
    assert set(result) == set(names or ARRAYS)
    for name, array in result.items():
        assert array.tolist() == ARRAYS[name].tolist()


def test_a_row_wider_than_the_sheet_is_remarked_on_with_its_address(sheet: Path) -> None:
    sheet.write_bytes(sheet.read_bytes().replace(b"\r\n5.0,", b"\r\n5,5,"))
    with pytest.warns(sa.SheetArrayWarning, match=r"^E25: a cell to the right of all columns"):
        sa.read(sheet, ["a"])
    (warning,) = [finding for finding in sa.check(sheet) if finding.severity == "warning"]
    assert warning.location == "E25"


def test_an_array_in_a_row_beside_shorter_columns_is_no_wide_row(sheet: Path) -> None:
    columns = grid_of({"a": np.arange(3.0), "b": np.arange(40)})
    lying = grid_of({"c": np.arange(5.0)}, orient="rows")
    rows = [*columns[:30], [*columns[30], "", *lying[0]], *columns[31:]]
    sheet.write_text("\n".join(map(",".join, [*rows, []])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert {name: len(array) for name, array in sa.read(sheet).items()} == {"a": 3, "b": 40, "c": 5}
    assert list(sa.check(sheet)) == []


def grid_of(arrays: dict[str, Any], **options: Any) -> list[list[str]]:
    file = io.StringIO()
    sa.write(file, arrays, format="csv", **options)
    return [line.split(",") for line in file.getvalue().splitlines()]


ROW = 3000  # beyond the rows that are looked at before the body is parsed


@pytest.fixture
def numbers(tmp_path: Path) -> tuple[Path, list[str]]:
    path = tmp_path / "numbers.csv"
    sa.write(path, {"a": np.arange(5000.0), "b": np.arange(5000)})
    return path, path.read_text().splitlines()


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda row: f'"{row.replace(",", chr(34) + "," + chr(34))}"', None),
        (lambda row: f"{row},", None),
        (lambda row: f"{row},x", "a cell to the right of all columns"),
        (lambda row: f'{row},"1,2\n3,4\n5"', "a cell to the right of all columns"),
        (lambda row: f"{row},,", None),
        (lambda row: f" {row} ", None),
        (lambda row: f"{row}\r", None),
    ],
)
def test_one_odd_row_far_below_changes_nothing_else(
    numbers: tuple[Path, list[str]], change: Any, finding: str | None
) -> None:
    path, lines = numbers
    lines[ROW] = change(lines[ROW])
    path.write_text("\n".join(lines) + "\n")
    findings = list(sa.check(path))
    assert [entry.message for entry in findings] == ([finding] if finding else [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if finding else "error")
        result = sa.read(path)
    assert result["a"].tolist() == result["b"].tolist() == list(range(5000))


# What the writer does not look at ---------------------------------------------------------------------------------


@pytest.mark.parametrize("blanks", [1, 2])
def test_blocks_of_a_column_whose_last_cells_are_blank_are_refused(
    numbers: tuple[Path, list[str]], blanks: int
) -> None:
    path, lines = numbers
    for row in range(len(lines) - blanks, len(lines)):
        lines[row] = f"{lines[row].partition(',')[0]},"
    path.write_text("\n".join([*lines, ""]))
    with pytest.raises(sa.FormatError, match=f"B{len(lines) - blanks + 1}"):
        list(sa.iter_blocks(path, "b", rows=700))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("kind", ["array", "keys", "three keys"])
def test_what_begins_far_below_long_columns_is_found(kind: str, upper: bool) -> None:
    file = io.BytesIO()
    sa.write_csv(file, {"t": np.arange(50_000) / 7, "n": np.arange(50_000)})
    cells = list(map(str, sa.to_linear(np.arange(3, dtype="i8"))))
    below = {
        "array": ["late", *cells],
        "keys": ["offset", "0", "length", "1", "capacity", "3", "part", "1"],
        "three keys": ["length", "1", "capacity", "3", "part", "1"],
    }[kind]
    more = "".join(f",,{cell.upper() if upper and cell != 'row-major' else cell}\r\n" for cell in below)
    text = file.getvalue() + more.encode()
    if kind == "array":
        assert sa.read_csv(io.BytesIO(text))[below[0].upper() if upper else "late"].tolist() == [0, 1, 2]
        assert len(sa.scan(io.BytesIO(text), format="csv")) == 3
    elif kind == "keys":
        for verb in (sa.read, sa.scan):
            with pytest.raises(sa.FormatError, match="a header without its first cells: 'offset'"):
                verb(io.BytesIO(text.replace(b"OFFSET", b"offset")), format="csv")
    else:
        assert list(sa.scan(io.BytesIO(text), format="csv")) == ["t", "n"]


def test_a_cell_to_the_right_is_told_though_an_array_of_a_taller_header_has_no_elements(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    sa.write(path, {"d": np.zeros((0, 1, 1), np.bool_), "g": [np.nan, 1.5], "c": [-2.0, 2.5]})
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:-1], f"{lines[-1]},7"]) + "\n", encoding="utf-8")
    for names in (None, ["g"], ["c"], ["g", "c"]):
        with pytest.warns(sa.SheetArrayWarning, match=rf"^D{len(lines)}: a cell to the right of all columns"):
            sa.read(path, names)
