"""Titles of sheets, and the names that arrays get in a workbook."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from excel_packages import append, names_of, ours
from hypothesis import example, given
from hypothesis import strategies as st
from limits import set_limits
from openpyxl.utils import column_index_from_string
from openpyxl.workbook.defined_name import DefinedName
from programs import resave

NO_NAMES = [
    *("1", "2020", "a b", "a-b", "a+b", "a!b", "x/y", "A1", "a1", "xfd1048576", "XFE1", "R1C1", "r1c1", "R", "c"),
    *("RC", "R2", "R5C", "rc7", "TRUE", "false", ".a", "1.5", "$x", "\\alpha", "a\\b", "a?", "Print_Area"),
    *("_xlfn.SUM", "_xlnm.Print_Area", "Criteria", "auto_open", "a.b1", "sheet1.a1", "_x0041_", "x\u0301\u20dd"),
    *("e\u0301", "\U0001f600", "\U00020000", "७", "a\nb", "\x00", "=1+1", "a" * 300, "ª" * 300, "'", '"', "<&>", "№"),
    "½",
]
NAMES = [
    *("t", "T", "temperature", "Größe", "température", "温度", "температура", "x_1", "_1", "a.b", "AAAA1", "sum"),
    *("LOG10_", "R2D2", "a.b_1", "_", "é", "RCx", "TRUE1_", "a" * 255),
]


# Titles ------------------------------------------------------------------------------------------------------


# Names -------------------------------------------------------------------------------------------------------


def is_name(name: str) -> bool:
    """Excel's rules, as its documentation has them, put otherwise than in the code."""
    if not 1 <= len(name) <= 255 or not re.fullmatch(r"[^\W\d][\w.]*", name):
        return False
    cell = re.fullmatch(r"([A-Za-z]{1,3})(\d+)", name)
    relative = re.fullmatch(r"([Rr]\d*)?([Cc]\d*)?", name)
    return not cell and not relative and name.upper() not in ("TRUE", "FALSE")


def defined_names(arrays: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """The defined names that a workbook gives to arrays, beside names that it has."""
    book = openpyxl.Workbook()
    for name in taken:
        book.defined_names[name] = DefinedName(name, attr_text="1")
    file = io.BytesIO()
    book.save(file)
    after = names_of(append(file.getvalue(), arrays={array: np.zeros(1) for array in arrays}))
    columns = {
        column_index_from_string(refers.split("$")[1]): name for name, refers in after.items() if name not in taken
    }
    return {array: columns[column] for column, array in enumerate(arrays, 1)}


@pytest.mark.parametrize(
    ("arrays", "taken"),
    [
        (
            {
                "A1": "_A1",
                "wind speed": "wind_speed",
                "2020": "_2020",
                "TRUE": "_TRUE",
                "R": "_R",
                "x-y (m/s)": "x_y__m_s_",
                "\\alpha": "_alpha",
                "e\u0301": "é",
                "_xlnm.Print_Area": "__xlnm.Print_Area",
                "a.b1": "a_b1",
            },
            [],
        ),
        ({"a b": "a_b_2", "a_b": "a_b"}, []),  # an array keeps its own name before another takes it
        ({"T": "T", "t": "t_3", "t_2": "t_2"}, []),
        ({"total": "total_3"}, ["TOTAL", "total_2"]),
        ({"straße": "straße_2"}, ["STRASSE"]),
        ({"x" * 255: "x" * 253 + "_2"}, ["X" * 255]),
    ],
)
def test_examples_of_names(arrays: dict[str, str], taken: list[str]) -> None:
    assert defined_names(arrays, taken) == arrays


def test_many_arrays_whose_names_become_one() -> None:
    arrays = ["-" * index for index in range(1, 200)] + [f"{'-' * 200}{index}" for index in range(2000)]
    names = defined_names([*arrays, "+", "*", "/"])
    assert len({name.casefold() for name in names.values()}) == len(arrays) + 3


@given(
    st.lists(st.text(max_size=300).filter(str.strip), unique=True, min_size=1, max_size=30),
    st.lists(st.text("aA_1.xX-é", min_size=1, max_size=20).filter(is_name), max_size=10, unique_by=str.casefold),
)
@example(["a", "A", "\u212b", "\u00c5", "\u017f", "s"], ["S"])
@example(["A1", "_A1", "a1", "_a1"], [])
def test_names_are_names_and_unique_without_case(arrays: list[str], taken: list[str]) -> None:
    names = defined_names(arrays, taken)
    assert all(is_name(name) for name in names.values())
    for fold in (str.casefold, str.upper):
        assert len({*map(fold, names.values()), *map(fold, taken)}) == len(arrays) + len(taken)


# References --------------------------------------------------------------------------------------------------


def test_a_name_covers_all_parts_of_an_array_in_a_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    """An array in several sheets has a name in each, and none that would be taken for the whole."""
    set_limits(monkeypatch, worksheet_rows=30, worksheet_columns=3)
    arrays = {"t": np.arange(20.0), "wind speed": np.arange(20.0), "t_1": np.zeros(1), "u": np.arange(12.0)}
    names = names_of(ours(arrays, sheet="Ann's"))
    assert names == {
        "t": "'Ann''s'!$A$23:$A$30,'Ann''s'!$B$23:$B$30,'Ann''s'!$C$23:$C$26",
        "wind_speed": "'Ann''s (2)'!$A$23:$A$30,'Ann''s (2)'!$B$23:$B$30,'Ann''s (2)'!$C$23:$C$26",
        "t_1": "'Ann''s (3)'!$A$23:$A$23",
        "u": "'Ann''s (3)'!$B$23:$B$30,'Ann''s (3)'!$C$23:$C$26",
    }
    set_limits(monkeypatch, worksheet_columns=2)
    assert {"t_1_2", "t_2", "t_1", "wind_speed_1", "wind_speed_2"} <= set(names_of(ours(arrays)))


def test_a_reference_that_is_too_long_for_a_formula_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, worksheet_rows=24)
    assert set(names_of(ours({"long": np.zeros(2500), "short": np.zeros(3)}))) == {"short"}


# In programs -------------------------------------------------------------------------------------------------


def test_libreoffice_computes_with_every_name(tmp_path: Path) -> None:
    arrays = {name: np.array([index, index + 1.0]) for index, name in enumerate([*NAMES, *NO_NAMES])}
    book = openpyxl.load_workbook(io.BytesIO(ours(arrays)))
    sums = book.create_sheet("sums", 0)
    columns = {column_index_from_string(name.attr_text.split("$")[1]): key for key, name in book.defined_names.items()}
    for row in range(1, len(arrays) + 1):
        sums.cell(row, 1, f"=SUM({columns[row]})")
    book.save(tmp_path / "sums.xlsx")
    text = resave(tmp_path / "sums.xlsx", "csv", tmp_path / "saved").read_text("utf-8")
    assert text.split() == [str(2 * index + 1) for index in range(len(arrays))]
