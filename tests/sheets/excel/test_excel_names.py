"""Titles of sheets, and the names that arrays get in a workbook."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import openpyxl
import pytest
from excel_packages import saved
from hypothesis import example, given
from hypothesis import strategies as st
from programs import resave

import sheetarray as sa
from sheetarray.sheets.excel.skeleton import SheetPlan, skeleton
from sheetarray.sheets.workbooks import (
    ArrayArea,
    build_references,
    check_title,
    make_defined_names,
    parse_titles,
    quote_title,
)

NO_NAMES = [
    "",
    " ",
    "1",
    "2020",
    "a b",
    "a-b",
    "a+b",
    "a!b",
    "x/y",
    "A1",
    "a1",
    "xfd1048576",
    "XFE1",
    "R1C1",
    "r1c1",
    "R",
    "c",
    "RC",
    "R2",
    "R5C",
    "rc7",
    "TRUE",
    "false",
    ".a",
    "1.5",
    "$x",
    "\\alpha",
    "a\\b",
    "a?",
    "Print_Area",
    "_xlfn.SUM",
    "_xlnm.Print_Area",
    "Criteria",
    "auto_open",
    "a.b1",
    "sheet1.a1",
    "_x0041_",
    "x\u0301\u20dd",
    "e\u0301",
    "\U0001f600",
    "\U00020000",
    "७",
    "a\nb",
    "\x00",
    "\ud800",
    "=1+1",
    "a" * 300,
    "ª" * 300,
    "'",
    '"',
    "<&>",
    "№",
    "½",
]
NAMES = [
    "t",
    "T",
    "temperature",
    "Größe",
    "température",
    "温度",
    "температура",
    "x_1",
    "_1",
    "a.b",
    "AAAA1",
    "sum",
    "LOG10_",
    "R2D2",
    "a.b_1",
    "_",
    "é",
    "RCx",
    "TRUE1_",
    "a" * 255,
]


def is_name(name: str) -> bool:
    """Excel's rules, as its documentation has them, put otherwise than in the code."""
    if not 1 <= len(name) <= 255 or not re.fullmatch(r"[^\W\d][\w.]*", name):
        return False
    cell = re.fullmatch(r"([A-Za-z]{1,3})(\d+)", name)
    relative = re.fullmatch(r"([Rr]\d*)?([Cc]\d*)?", name)
    return not cell and not relative and name.upper() not in ("TRUE", "FALSE")


# Titles ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "title",
    ["arrays", "a", "a" * 31, "Ann's run", "Größe & <co>", "温度", "1", "=1+1", " a ", "#REF!", "\U0001f600" * 15],
)
def test_titles_that_a_sheet_can_have(title: str) -> None:
    check_title(title)
    assert openpyxl.Workbook().create_sheet(title).title == title


@pytest.mark.parametrize(
    ("title", "reason"),
    [
        ("", "blank"),
        ("   ", "blank"),
        ("a" * 32, "32 characters"),
        ("\U0001f600" * 16, "32 characters"),
        ("a[b", r"'\['"),
        ("a]b", r"'\]'"),
        ("a:b", "':'"),
        ("a*b", r"'\*'"),
        ("a?b", r"'\?'"),
        ("a/b", "'/'"),
        ("a\\b", "has"),
        ("'a", "apostrophe"),
        ("a'", "apostrophe"),
        ("History", "keeps"),
        ("HISTORY", "keeps"),
        ("a\nb", "has"),
        ("a\0", "has"),
        ("\ud800", "has"),
        ("a\uffff", "has"),
        ("a_x0041_b", "escaped"),
    ],
)
def test_titles_that_no_sheet_can_have(title: str, reason: str) -> None:
    with pytest.raises(sa.LimitError, match=reason):
        check_title(title)


# Names -------------------------------------------------------------------------------------------------------


def names_of(arrays: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """The defined names of arrays that stand in one sheet."""
    return {
        area.array: name
        for area, name in make_defined_names([ArrayArea(array, "s") for array in arrays], taken).items()
    }


def test_what_is_a_name_stays_as_it_is() -> None:
    for array in NAMES:
        assert is_name(unicodedata.normalize("NFC", array)) or not array.isascii()
        assert names_of([array]) == {array: array}


def test_what_is_no_name_becomes_one() -> None:
    for array in NO_NAMES:
        (name,) = names_of([array]).values()
        assert name != array
        assert is_name(name), array


def test_examples_of_names() -> None:
    wanted = {
        "A1": "_A1",
        "wind speed": "wind_speed",
        "2020": "_2020",
        "TRUE": "_TRUE",
        "R": "_R",
        "x-y (m/s)": "x_y__m_s_",
        "": "_",
        "\\alpha": "_alpha",
        "e\u0301": "é",
        "_xlnm.Print_Area": "__xlnm.Print_Area",
        "a.b1": "a_b1",
    }
    assert names_of(wanted) == wanted


def test_an_array_keeps_its_own_name_before_another_takes_it() -> None:
    assert names_of(["a b", "a_b"]) == {"a b": "a_b_2", "a_b": "a_b"}
    assert names_of(["T", "t", "t_2"]) == {"T": "T", "t": "t_3", "t_2": "t_2"}


def test_names_that_are_there_are_not_taken() -> None:
    assert names_of(["total"], ["TOTAL", "total_2"]) == {"total": "total_3"}
    assert names_of(["straße"], ["STRASSE"]) == {"straße": "straße_2"}
    assert names_of(["x" * 255], ["X" * 255]) == {"x" * 255: "x" * 253 + "_2"}


def test_many_arrays_whose_names_become_one() -> None:
    arrays = (
        ["-" * index for index in range(1, 200)] + [f"{'-' * 200}{index}" for index in range(5000)] + ["+", "*", "/"]
    )
    names = names_of(arrays)
    assert len({name.casefold() for name in names.values()}) == len(arrays)


@given(st.lists(st.text(max_size=300), unique=True, max_size=30), st.lists(st.text(max_size=20), max_size=10))
@example(["a", "A", "\u212b", "\u00c5", "\u017f", "s"], ["S"])
@example(["A1", "_A1", "a1", "_a1"], [])
def test_names_are_names_and_unique_without_case(arrays: list[str], taken: list[str]) -> None:
    names = names_of(arrays, taken)
    assert list(names) == arrays
    assert all(is_name(name) for name in names.values())
    folded = [name.casefold() for name in names.values()]
    assert len({*folded, *(name.casefold() for name in taken)}) == len(folded) + len({n.casefold() for n in taken})
    assert len({name.upper() for name in names.values()}) == len(arrays)
    assert names_of(arrays, taken) == names


@given(st.lists(st.text("aA_1.xX-é", min_size=1, max_size=4), unique=True, max_size=30))
def test_every_name_that_is_one_stays_if_no_other_is_the_same(arrays: list[str]) -> None:
    names = names_of(arrays)
    for array in arrays:
        alone = names_of([array]) == {array: array}
        if alone and sum(other.casefold() == array.casefold() for other in arrays) == 1:
            assert names[array] == array


# References --------------------------------------------------------------------------------------------------


def test_a_reference_covers_all_parts_in_a_sheet() -> None:
    places = [
        ("t", "arrays", "$A$20:$A$1048576"),
        ("u", "arrays", "$C$18:$C$18"),
        ("t", "arrays", "$B$20:$B$99"),
        ("t", "Ann's (2)", "$A$20:$A$30"),
    ]
    assert build_references(places) == {
        ("t", "arrays"): "'arrays'!$A$20:$A$1048576,'arrays'!$B$20:$B$99",
        ("u", "arrays"): "'arrays'!$C$18:$C$18",
        ("t", "Ann's (2)"): "'Ann''s (2)'!$A$20:$A$30",
    }


def test_an_array_in_several_sheets_has_a_name_in_each_and_none_that_would_be_taken_for_the_whole() -> None:
    areas = [
        ArrayArea("t", "a"),
        ArrayArea("t_1", "a"),
        ArrayArea("wind speed", "a"),
        ArrayArea("t", "b"),
        ArrayArea("wind speed", "b"),
    ]
    assert list(make_defined_names(areas, ["T_2"]).values()) == [
        "t_1_2",
        "t_1",
        "wind_speed_1",
        "t_2_2",
        "wind_speed_2",
    ]
    assert list(make_defined_names([ArrayArea("x" * 300, "a"), ArrayArea("x" * 300, "b")]).values()) == [
        "x" * 253 + "_1",
        "x" * 253 + "_2",
    ]


def test_a_reference_that_is_too_long_for_a_formula_is_left_out() -> None:
    places = [("long", "arrays", f"$A${index}:$A${index}") for index in range(1000, 1500)]
    others = [("long", "arrays (2)", "$A$20:$A$30"), ("short", "arrays", "$A$1:$A$2")]
    assert build_references([*places, *others]) == {("short", "arrays"): "'arrays'!$A$1:$A$2"}


@given(
    st.lists(
        st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="[]:*?/\\"), min_size=1, max_size=31),
        min_size=1,
        max_size=20,
    )
)
def test_the_titles_in_a_reference_are_found(titles: list[str]) -> None:
    assert parse_titles(",".join(f"{quote_title(title)}!$A$1:$B$2" for title in titles)) == titles


@pytest.mark.parametrize(
    ("reference", "titles"),
    [
        ("Sheet1!$A$1", ["Sheet1"]),
        ("Sheet1!A1:B2,arrays!$C$3", ["Sheet1", "arrays"]),
        ("arrays!#REF!", ["arrays"]),
        ("$A$1", []),
        ("SUM(arrays!$A$1)", []),
        ("arrays!$A$1+1", []),
        ("1.5", []),
        ("", []),
        ("#REF!", []),
        ("arrays!$A$1,", []),
        ("'" * 8000, []),
        ("''" * 4000 + "!", []),
        ("a" * 8000, []),
        ("a!$A$1," * 1000, []),
        ("[1]arrays!$A$1", []),
        ("'a'!$A$1 'a'!$B$1", []),
        ("other", []),
    ],
)
def test_the_titles_in_other_references(reference: str, titles: list[str]) -> None:
    assert parse_titles(reference) == titles


# In programs -------------------------------------------------------------------------------------------------


def test_openpyxl_reads_every_name(tmp_path: Path) -> None:
    path, names = _workbook(tmp_path)
    book = openpyxl.load_workbook(path)
    assert {name: list(defined.destinations) for name, defined in book.defined_names.items()} == {
        name: [("data", f"${openpyxl.utils.get_column_letter(index)}$2:${openpyxl.utils.get_column_letter(index)}$3")]
        for index, name in enumerate(names.values(), 1)
    }


def test_libreoffice_computes_with_every_name(tmp_path: Path) -> None:
    path, names = _workbook(tmp_path)
    book = openpyxl.load_workbook(path)
    sums = book.create_sheet("sums", 0)
    for row, name in enumerate(names.values(), 1):
        sums.cell(row, 1, f"=SUM({name})")
    book.save(tmp_path / "sums.xlsx")
    text = resave(tmp_path / "sums.xlsx", "csv", tmp_path / "saved").read_text("utf-8")
    assert text.split() == [str(2 * index + 1) for index in range(len(names))]


def _workbook(folder: Path) -> tuple[Path, dict[str, str]]:
    """A workbook whose nth array has the elements n and n + 1."""
    arrays = [name for name in [*NAMES, *NO_NAMES] if "\0" not in name and name != "\ud800"]
    letters = [openpyxl.utils.get_column_letter(index) for index in range(1, len(arrays) + 1)]
    places = [(array, f"${letter}$2:${letter}$3") for array, letter in zip(arrays, letters, strict=True)]
    plan = skeleton([SheetPlan("data", [10.0] * len(arrays), 3, places)])
    path = folder / "names.xlsx"
    path.write_bytes(saved(plan, [("x", [float(index), index + 1.0]) for index in range(len(arrays))]))
    return path, names_of(arrays)
