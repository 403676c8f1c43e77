"""The sheets in sample_sheets/: what each holds, and what `check` says of the damaged ones. Only reads."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import sheetarray as sa

SAMPLES = Path(__file__).parents[2] / "sample_sheets"
DAMAGED = SAMPLES / "damaged"

# file -> array -> dtype, shape, order, the first digits of sha256 of the elements in C order
INTACT = {
    "elevation.csv": {"elevation": ("int16", (115, 135), "row-major", "153ebd9122695628")},
    "brain4d.csv": {"brain": ("int16", (32, 24, 8, 2), "column-major", "a9f63aec42de7ae6")},
    "elnino.csv": {
        "sst": ("float64", (61, 12), "row-major", "04cd82503f2284f4"),
        "year": ("int16", (61,), "row-major", "981c73a52973b9d4"),
        "warm": ("bool", (61, 12), "row-major", "79bd0c43fafa63f9"),
        "spectrum": ("complex128", (31,), "row-major", "afc7e88b3011aa83"),
        "month": ("string", (12,), "row-major", "2b363b5405bdc335"),
    },
    "elnino.tsv": {
        "sst": ("float64", (61, 12), "row-major", "04cd82503f2284f4"),
        "month": ("string", (12,), "row-major", "2b363b5405bdc335"),
        "first_day": ("datetime64[D]", (61,), "row-major", "c87fd0eb9508154b"),
    },
    "elnino.json": {
        "year": ("int16", (61,), "row-major", "981c73a52973b9d4"),
        "spectrum": ("complex128", (31,), "row-major", "afc7e88b3011aa83"),
        "month": ("string", (12,), "row-major", "2b363b5405bdc335"),
    },
    "elevation.xlsx": {"elevation": ("int16", (115, 135), "row-major", "153ebd9122695628")},
    "brain4d.xlsx": {"brain": ("int16", (32, 24, 8, 2), "column-major", "a9f63aec42de7ae6")},
    "elnino.xlsx": {
        "sst": ("float64", (61, 12), "row-major", "04cd82503f2284f4"),
        "year": ("int16", (61,), "row-major", "981c73a52973b9d4"),
        "warm": ("bool", (61, 12), "row-major", "79bd0c43fafa63f9"),
        "spectrum": ("complex128", (31,), "row-major", "afc7e88b3011aa83"),
        "month": ("string", (12,), "row-major", "2b363b5405bdc335"),
        "yearly": ("float64", (61,), "row-major", "41cfcd707b931b09"),
        "first_day": ("datetime64[D]", (61,), "row-major", "c87fd0eb9508154b"),
    },
    "elnino_german.csv": {
        "Temperatur": ("float64", (12, 12), "row-major", "4aee7d7d3cdb4411"),
        "Jahr": ("int16", (12,), "row-major", "d2cde3c0a6eef6b6"),
        "warm": ("bool", (12, 12), "row-major", "016e5c40bbc21826"),
        "Konstante": ("float64", (7,), "row-major", "a9a258e1eeea28f3"),
        "Zeichen": ("string", (7,), "row-major", "d8c42b6c7df1646d"),
    },
}

# file -> every finding: its location, and a piece of its message
FINDINGS = {
    "truncated.csv": [("A41", "capacity is 24")],
    "edited.csv": [("A30", "21.48 (prov.)")],
    "blank.csv": [("A35", "blank")],
    "out_of_range.csv": [("A29", "range of uint8")],
    "total_below.csv": [("A47", "no more than 24")],
    "version_is_date.csv": [(cell, "2000-01-01") for cell in ("A3", "B3", "C3", "D3")],
    "no_dtype.csv": [("B17", "'dtype'")],
    "unknown_dtype.csv": [("A16", "float46")],
    "wrong_length.csv": [("A18", "length 26")],
    "wrong_strides.csv": [("A8", "strides")],
    "same_name.csv": [("B2", "A2 and B2")],
    "sorted.csv": [("A41", "expected"), ("B42", "expected")],
}
# workbook -> the finding: severity, location, a piece of its message
CHANGES = {
    "rounded.xlsx": ("warning", "yearly", "re-saved by a program that keeps 15 digits"),
    "edited.xlsx": ("error", "arrays!A30", "yearly[10] was edited"),
    "sorted.xlsx": ("error", "yearly", "reordered: the elements are those that were written"),
    "scaled.xlsx": ("error", "yearly", "were edited, between yearly[0]"),
}
ELEMENTS = {"edited.csv": "sst[0, 8]", "blank.csv": "sst[1, 1]", "out_of_range.csv": "elevation_10m[1, 1]"}


def digest(array: np.ndarray) -> str:
    if array.dtype.kind in "UM":
        content = "\n".join(map(str, array.ravel())).encode()
    else:
        content = array.astype(array.dtype.newbyteorder("<")).tobytes(order="C")
    return hashlib.sha256(content).hexdigest()[:16]


def fresh(name: str) -> dict[str, np.ndarray]:
    return sa.read(SAMPLES / name)


@pytest.mark.parametrize("file", INTACT)
def test_every_array_of_a_sample_is_what_it_was(file):
    arrays = fresh(file)
    assert list(arrays) == list(INTACT[file])
    for name, (dtype, shape, _, sha) in INTACT[file].items():
        kind = arrays[name].dtype
        assert ("string" if kind.kind == "U" else str(kind)) == dtype
        assert arrays[name].shape == shape
        assert digest(arrays[name]) == sha
    held = {name: (info.dtype, info.shape, info.order) for name, info in sa.scan(SAMPLES / file).items()}
    assert held == {name: facts[:3] for name, facts in INTACT[file].items()}
    assert list(sa.check(SAMPLES / file)) == []


def test_elevations_are_those_of_the_jacksboro_fault():
    elevation = fresh("elevation.csv")["elevation"]
    assert (elevation.min(), elevation.max(), elevation[50, 60]) == (247, 1076, 616)
    assert np.unravel_index(elevation.argmax(), elevation.shape) == (99, 73)
    assert elevation.sum(dtype=np.int64) == 8_239_215


def test_the_scan_keeps_its_fortran_order():
    brain = fresh("brain4d.csv")["brain"]
    assert brain.flags.f_contiguous
    assert brain.strides == tuple(2 * step for step in (1, 32, 768, 6144))
    assert (brain.max(), brain.sum(dtype=np.int64)) == (973, 2_105_402)
    assert brain[16, 12, 4].tolist() == [265, 266]


def test_five_arrays_side_by_side_agree_with_each_other():
    arrays = fresh("elnino.csv")
    sst = arrays["sst"]
    row, column = np.unravel_index(sst.argmax(), sst.shape)
    assert (arrays["year"][row], arrays["month"][column], sst.max()) == (1998, "Mar", 29.24)
    np.testing.assert_array_equal(arrays["warm"], sst - sst.mean(axis=0) >= 0.5)
    np.testing.assert_allclose(arrays["spectrum"], np.fft.rfft(sst.mean(axis=1)), atol=1e-11)


@pytest.mark.parametrize("file", ["elnino.tsv", "elnino.json"])
def test_rows_of_a_tsv_and_lists_of_a_json_hold_the_same_as_the_columns_of_the_csv(file):
    columns = fresh("elnino.csv")
    for name, array in fresh(file).items():
        if name in columns:
            np.testing.assert_array_equal(array, columns[name], strict=True)


def test_dates_of_the_tsv_are_the_first_days_of_the_years():
    first_day = fresh("elnino.tsv")["first_day"]
    np.testing.assert_array_equal(first_day.astype("datetime64[Y]").astype(str).astype(np.int16), np.arange(1950, 2011))


def test_the_german_sheet_is_as_such_programs_leave_it():
    content = (SAMPLES / "elnino_german.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbfEl Ni\xc3\xb1o")
    assert content.count(b"\n") == content.count(b"\r\n") == 167
    assert b"\r\n24,23;2001;FALSE;6,62607015E-034;h;;;\r\n" in content
    assert b";TRUE;" in content
    assert sa.scan(SAMPLES / "elnino_german.csv")["Temperatur"].location == "A4"


def test_the_german_sheet_lost_nothing():
    german, english = fresh("elnino_german.csv"), fresh("elnino.csv")
    for name, other in {"Temperatur": "sst", "Jahr": "year", "warm": "warm"}.items():
        np.testing.assert_array_equal(german[name], english[other][-12:], strict=True)
    constants = dict(zip(german["Zeichen"].tolist(), german["Konstante"].tolist(), strict=True))
    assert constants == {
        "\u0394\u03bdCs": 9192631770.0,
        "c": 299792458.0,
        "h": 6.62607015e-34,
        "e": 1.602176634e-19,
        "k": 1.380649e-23,
        "NA": 6.02214076e23,
        "Kcd": 683.0,
    }


def test_an_ordinary_table_becomes_one_array_a_column():
    table = sa.read_columns(SAMPLES / "peakflow.csv")
    assert {name: str(column.dtype) for name, column in table.items()} == {
        "agency_cd": "<U4",
        "site_no": "<U8",
        "peak_dt": "datetime64[D]",
        "peak_tm": "<U5",
        "peak_va": "int64",
        "peak_cd": "<U5",
        "gage_ht": "float64",
    }
    assert {column.shape for column in table.values()} == {(20,)}
    assert set(table["site_no"].tolist()) == {"01594440"}
    assert table["peak_tm"].tolist().count("") == 2
    assert np.isnan(table["gage_ht"]).nonzero()[0].tolist() == [2]
    assert table["peak_cd"][2] == "2,5,8"
    highest = table["peak_va"].argmax()
    assert (table["peak_va"][highest], table["peak_dt"][highest]) == (16800, np.datetime64("2011-09-08"))


def test_an_ordinary_table_is_no_array_sheet_and_is_told_so():
    (finding,) = sa.check(SAMPLES / "peakflow.csv")
    assert "read_columns" in finding.hint
    with pytest.raises(sa.FormatError, match="read_columns"):
        sa.read(SAMPLES / "peakflow.csv")


@pytest.mark.parametrize("file", FINDINGS)
def test_check_names_the_cell_of_each_damage(file):
    findings = list(sa.check(DAMAGED / file))
    assert [finding.location for finding in findings] == [location for location, _ in FINDINGS[file]]
    for finding, (_, piece) in zip(findings, FINDINGS[file], strict=True):
        assert finding.severity == "error"
        assert piece in finding.message
        assert ELEMENTS.get(file, "") in finding.message
    with pytest.raises(sa.FormatError) as caught:
        sa.read(DAMAGED / file)
    assert caught.value.location == FINDINGS[file][0][0]


@pytest.mark.parametrize("file", CHANGES)
def test_check_says_what_became_of_a_workbook_and_it_can_be_read(file):
    (finding,) = sa.check(SAMPLES / "changed" / file)
    severity, location, piece = CHANGES[file]
    assert finding.severity == severity
    assert location in (finding.location, str(finding.message).partition(":")[0])
    assert piece in finding.message
    assert sa.read(SAMPLES / "changed" / file)["yearly"].shape == (61,)


def test_the_rounded_workbook_has_fifteen_digits_of_each_mean():
    rounded, exact = fresh("changed/rounded.xlsx")["yearly"], fresh("elnino.xlsx")["yearly"]
    assert 0 < np.abs(rounded / exact - 1).max() < 5e-15


def test_each_damaged_and_each_changed_file_is_expected_here():
    assert {path.name for path in (SAMPLES / "changed").iterdir()} == set(CHANGES)
    assert {path.name for path in DAMAGED.iterdir()} == set(FINDINGS)


def test_the_readme_lists_every_file():
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    held = {path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*") if path.is_file()} - {"README.md"}
    assert {name for name in held if f"`{name}`" not in text} == set()


def test_the_samples_stay_small():
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 1_500_000
