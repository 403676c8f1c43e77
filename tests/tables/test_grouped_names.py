"""Rows of names: an upper cell counts for the columns that it covers, where something shows that names follow."""

from __future__ import annotations

import csv
import io
import warnings
from pathlib import Path

import openpyxl
import pytest

import sheetarray as sa

CASES = {
    "one row of data": ("control,,fire,\nX,Y,X,Y\n1,2,3,4\n", "control X|control Y|fire X|fire Y"),
    "lines end with the last cell": ("control,,fire\nX,Y,X,Y\n1,2,3,4\n", "control X|control Y|fire X|fire Y"),
    "semicolons": ("control;;fire;\nX;Y;X;Y\n1,5;2;3;4\n", "control X|control Y|fire X|fire Y"),
    "below a title": ("Report,,,\n\ncontrol,,fire,\nX,Y,X,Y\n1,2,3,4\n", "control X|control Y|fire X|fire Y"),
    "right below a title": ("Report,,,\ncontrol,,fire,\nX,Y,X,Y\n1,2,3,4\n", "control X|control Y|fire X|fire Y"),
    "text": ("before,,after,\nlow,high,low,high\na,b,c,d\ne,f,g,h\n", "before low|before high|after low|after high"),
    "three rows": (
        "A,,,,B,,,\nctl,,fire,,ctl,,fire,\nx,y,x,y,x,y,x,y\n1,2,3,4,5,6,7,8\n2,3,4,5,6,7,8,9\n",
        "A ctl x|A ctl y|A fire x|A fire y|B ctl x|B ctl y|B fire x|B fire y",
    ),
    "a group of its own": ("id,a,,b\n,x,y,\n1,2,3,4\n5,6,7,8\n", "id|a x|a y|b"),
    "a blank corner": (",control,,fire,\nsite,X,Y,X,Y\nk,1,2,3,4\n", "site|control X|control Y|fire X|fire Y"),
    "no name of the first column": (",a,,b,\n,X,Y,X,Y\nk,1,2,3,4\nl,1,2,3,4\n", "index|a X|a Y|b X|b Y"),
    "its name in the first row": ("site,a,,b,\n,X,Y,X,Y\nk,1,2,3,4\n", "site|a X|a Y|b X|b Y"),
    "its name in a row of its own": (",a,a,b,b\n,X,Y,X,Y\nsite,,,,\nk,1,2,3,4\nl,5,6,7,8\n", "site|a X|a Y|b X|b Y"),
    "units": ("length,time,mass\nm,s,kg\n1.5,2,3\n2.5,3,4\n", "length m|time s|mass kg"),
    "units below groups": ("a,,b,\nX,Y,X,Y\nm,s,m,s\n1,2,3,4\n5,6,7,8\n", "a X m|a Y s|b X m|b Y s"),
    "other units, with a first column": (
        "site,a,,b,\n,X,Y,X,Y\n,m,s,kg,K\nk,1,2,3,4\nl,5,6,7,8\nm,5,6,7,8\n",
        "site|a X m|a Y s|b X kg|b Y K",
    ),
    "years": ("old,,new,\n2019,2020,2019,2020\n15,25,3,4\n25,15,35,5\n", "old 2019|old 2020|new 2019|new 2020"),
    "years below repeated names": ("a,a,b,b\n2019,2020,2019,2020\n1.5,2,3,4\n", "a 2019|a 2020|b 2019|b 2020"),
    "years of two groups": (
        "dept,old,,new,\n,2019,2020,2021,2022\nk,yes,no,no,no\nl,no,no,yes,no\n",
        "dept|old 2019|old 2020|new 2021|new 2022",
    ),
    "years below all names": ("country,sales,cost\n,2019,2020\nA,1,2\nB,3,4\n", "country|sales 2019|cost 2020"),
    "years below the first name": ("People,,,\n,2019,2020,2021\nBern,1,2,3\nUlm,2,3,4\n", "People|2019|2020|2021"),
    "years as groups": ("c,2019,,2020,\n,min,max,min,max\nBern,1,2,3,4\n", "c|2019 min|2019 max|2020 min|2020 max"),
    "numbers": ("run,a,,b,\n,1,2,1,2\nk,10,20,30,40\nl,5,6,7,9\n", "run|a 1|a 2|b 1|b 2"),
    "one group, as pandas writes it": (",t,\nyear,2019,2020\nBern,1.5,2.5\nUlm,0.5,2\n", "year|t 2019|t 2020"),
}
ONE_ROW = {
    "a column without a name": ("id,,v\n1,x,3\n2,y,4\n", "id|B|v"),
    "such a column of text": ("id,,v\nk,x,w\nl,y,z\n", "id|B|v"),
    "text below gaps": ("name,,city,\nAnn,Lee,Bern,X\nBob,Roe,Ulm,Y\n", "name|B|city|D"),
    "text that repeats in each row": ("a,,b,\nx,y,x,y\nz,w,z,w\nx,z,x,z\n", "a|B|b|D"),
    "delimiters at the ends": ("a,b,,\n1,2,,\n3,4,,\n", "a|b"),
    "a name twice": ("a,a,b\n1,2,3\n4,5,6\n", "a|a_2|b"),
    "years in all rows": ("a,,b,\n2019,2020,2019,2020\n2021,2022,2023,2024\n", "a|B|b|D"),
    "a row of years with its own name": ("item,a,b\nyear,2019,2020\nprice,3,4\n", "item|a|b"),
    "a missing value": ("id,,v,w\nn/a,x,n/a,n/a\n1,x,3,4\n2,y,4,5\n", "id|B|v|w"),
    "text": ("name,town\nAnn,Bern\nBob,Ulm\n", "name|town"),
}


def read(source: Path) -> tuple[list[str], list[str]]:
    """Return the names of the columns, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        columns = sa.read_columns(source)
    return list(columns), [str(warning.message) for warning in caught]


def write_both(folder: Path, text: str) -> tuple[Path, Path]:
    """Return a text as .csv, and its cells as .xlsx, numbers as numbers."""
    delimited, workbook = folder / "table.csv", folder / "table.xlsx"
    delimited.write_text(text)
    book = openpyxl.Workbook()
    for row in csv.reader(io.StringIO(text), delimiter=";" if ";" in text else ","):
        book.active.append([_to_cell(cell) for cell in row])
    book.save(workbook)
    return delimited, workbook


def _to_cell(text: str) -> object:
    for convert in (int, lambda cell: float(cell.replace(",", "."))):
        try:
            return convert(text)
        except ValueError:
            continue
    return text or None


@pytest.mark.parametrize("case", CASES)
def test_rows_of_names_are_joined_with_a_warning_from_csv_and_xlsx_alike(case: str, tmp_path: Path) -> None:
    text, names = CASES[case]
    for path in write_both(tmp_path, text):
        columns, told = read(path)
        assert columns == names.split("|")
        assert sum("and joined; header=1 takes the first row alone" in each for each in told) == 1


@pytest.mark.parametrize("case", ONE_ROW)
def test_rows_of_data_do_not_become_names(case: str, tmp_path: Path) -> None:
    text, names = ONE_ROW[case]
    for path in write_both(tmp_path, text):
        columns, told = read(path)
        assert columns == names.split("|")
        assert not any("joined" in each for each in told)


def test_settings_above_a_blank_line_are_no_groups(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("Range,20 C to 120 C,,\nPart,S1,,\n\ntime,force,path\n1,2,3\n2,3,4\n3,4,5\n")
    columns, told = read(path)
    assert columns == ["time", "force", "path"]
    assert "rows 1 to 2 are above the table" in told[0]


def test_values_below_joined_names_are_read_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "trial.csv"
    path.write_text("control,,fire,\nX,Y,X,Y\n1,2,3,4\n")
    with pytest.warns(sa.SheetArrayWarning, match="the names are in 2 rows"):
        columns = sa.read_columns(path)
    assert {name: array.tolist() for name, array in columns.items()} == {
        "control X": [1],
        "control Y": [2],
        "fire X": [3],
        "fire Y": [4],
    }
