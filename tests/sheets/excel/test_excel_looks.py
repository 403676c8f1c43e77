"""How written workbooks look: headers that are out of sight, dates that are dates, widths, what is printed."""

from __future__ import annotations

import io
import re
import zipfile
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from exact_powers import powers_of_ten
from limits import set_limits
from mixtures import edit_cells
from programs import resave

import sheetarray as sa
from sheetarray.testing.cases import assert_same

GRID, SHORT = np.arange(24.0).reshape(2, 3, 4), np.array([True, False])
UNITS, OTHER_UNITS = ["D", "h", "m", "s", "ms"], ["M", "Y", "W", "2D", "25s"]
GENERAL_DIGITS = 10**11  # from here on a number without a format is shown as 1.23E+11


def written(arrays: dict[str, Any], **options: Any) -> io.BytesIO:
    """Return a workbook with some arrays."""
    file = io.BytesIO()
    sa.write_excel(file, arrays, **options)
    file.seek(0)
    return file


def read_again(file: io.BytesIO) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of a workbook."""
    return sa.read_excel(io.BytesIO(file.getvalue()))


def sheet_of(file: io.BytesIO | Path) -> Any:
    """Return the first sheet of a workbook, by openpyxl."""
    return openpyxl.load_workbook(io.BytesIO(file.getvalue()) if isinstance(file, io.BytesIO) else file).worksheets[0]


def sheet_xml(file: io.BytesIO | Path) -> str:
    """Return the XML of the first sheet of a workbook."""
    with zipfile.ZipFile(file) as archive:
        return archive.read("xl/worksheets/sheet1.xml").decode()


# Headers ---------------------------------------------------------------------------------------------------------


def test_the_data_of_all_arrays_begin_in_one_row_and_names_stand_in_the_first() -> None:
    file = written({"grid": GRID, "short": SHORT, "none": np.zeros((0, 2))})
    rows = list(sheet_of(file).iter_rows(values_only=True))
    assert rows[0] == ("grid", "short", "none")
    (data_row,) = (index for index, row in enumerate(rows) if "data" in row)
    assert rows[data_row] == ("data", "data", "data")
    assert rows[data_row + 1][:2] == (0, True)
    assert [rows[index][1] for index in (1, 4, 5)] == [None, None, "version"]
    assert list(sa.check(file, format="xlsx")) == []
    for name, array in {"grid": GRID, "short": SHORT, "none": np.zeros((0, 2))}.items():
        assert_same(read_again(file)[name], array)


@pytest.mark.parametrize("arrays", [{"grid": GRID, "short": SHORT}, {"none": np.zeros(0)}])
def test_rows_of_headers_are_grouped_and_hidden_behind_the_first_row_of_data(arrays: dict[str, Any]) -> None:
    file = written(arrays)
    sheet = sheet_of(file)
    (last,) = {cell.row for row in sheet.iter_rows() for cell in row if cell.value == "data"}
    dimensions = sheet.row_dimensions
    assert not dimensions[1].hidden
    assert all(dimensions[row].hidden and dimensions[row].outlineLevel == 1 for row in range(2, last + 1))
    assert all(cell.font.b for cell in sheet[1])
    assert not any(cell.font.b for row in sheet.iter_rows(min_row=2) for cell in row)
    assert dimensions[last + 1].collapsed
    assert not dimensions[last + 1].hidden
    assert sheet.freeze_panes == f"A{last + 1}"
    assert sheet.sheet_view.pane.ySplit == 1  # of the rows above, one is in view
    assert 'outlineLevelRow="1"' in sheet_xml(file)


def test_columns_for_programs_alone_are_out_of_sight(tmp_path: Path) -> None:
    import awkward as ak

    path = tmp_path / "x.xlsx"
    sa.write(path, {"events": ak.Array([[1, 2], []]), "notes.json": np.array(['{"a": 1}'])})
    sheet = openpyxl.load_workbook(path).worksheets[0]
    hidden = [cell.value for cell in sheet[1] if sheet.column_dimensions[cell.column_letter].hidden]
    assert hidden == ["events.json"]
    assert list(sa.read(path)) == ["events", "notes.json"]


def test_a_click_shows_the_headers_in_libreoffice(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"grid": GRID, "short": SHORT})
    saved = resave(path, "ods", tmp_path / "saved")
    with zipfile.ZipFile(saved) as archive:
        content = archive.read("content.xml").decode()
    assert content.count('<table:table-row-group table:display="false">') == 1
    assert list(sa.read(saved)) == ["grid", "short"]


@pytest.mark.parametrize("word", ["version", "ndarray", "Data"])
def test_names_that_are_words_of_headers_stand_right_above_them(word: str) -> None:
    arrays = {"grid": GRID, word: SHORT, "1.0.0": SHORT, "ndarray ": SHORT}
    file = written(arrays)
    assert list(read_again(file)) == list(arrays)
    assert "hidden" not in sheet_xml(file)  # elements stand beside headers
    assert sheet_of(file).freeze_panes == "A2"


def test_all_parts_of_long_arrays_begin_in_the_row_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, worksheet_rows=60)
    arrays = {"long": np.arange(100.0), "grid": GRID, "b": SHORT, "just": np.arange(60 - 1 - 23)}
    file = written(arrays)
    rows = list(sheet_of(file).iter_rows(values_only=True))
    assert {index for index, row in enumerate(rows) for cell in row if cell == "data"} == {22}
    assert len(rows) == 60
    assert {name: info.parts for name, info in sa.scan(file, format="xlsx").items()} == {
        "long": 3,
        "grid": 1,
        "b": 1,
        "just": 1,
    }
    for name, array in arrays.items():
        assert_same(read_again(file)[name], array)


# Dates -----------------------------------------------------------------------------------------------------------


EDGES = [
    *("1900-02-28T23:59:59.999", "1900-03-01T00:00:00.000", "2026-07-01T12:30:15.001", "2026-07-01T12:30:15.001001"),
    *("2026-07-01T12:30:15.000999", "9999-12-31T23:59:59.999", "9999-12-31T23:59:59.999001"),
    *("10000-01-01T00:00:00.000", "NaT"),
]


def test_moments_that_spreadsheets_count_to_the_millisecond_are_real_dates_and_others_text(tmp_path: Path) -> None:
    moments = {unit: np.array(EDGES, "M8[us]").astype(f"M8[{unit}]") for unit in (*UNITS, "us", *OTHER_UNITS)}
    moments["ns"] = np.array([edge for edge in EDGES if edge[:4] not in ("9999", "1000")], "M8[ns]")
    path = tmp_path / "x.xlsx"
    sa.write(path, moments)
    assert list(sa.check(path)) == []
    for saved in (path, resave(path, "xlsx", tmp_path / "saved")):
        for unit, array in sa.read(saved).items():
            assert_same(array, moments[unit])
    first, last = np.datetime64("1900-03-01", "ms"), np.datetime64("9999-12-31T23:59:59.999", "ms")
    for column in sheet_of(path).iter_cols():
        cells = [cell for cell in column if cell.value is not None]
        array = moments[cells[0].value]
        whole = array.astype("M8[ms]")
        counts = (whole >= first) & (whole <= last) & (whole == array)
        wanted = ["d" if real and cells[0].value not in OTHER_UNITS else "s" for real in counts]
        assert [cell.data_type for cell in cells[-len(array) :]] == wanted, cells[0].value


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["2026-07-01", "2026-07-02"], "yyyy-mm-dd"),
        (["2026-07-01T12:30", "2026-07-02"], "yyyy-mm-dd hh:mm"),
        (["2026-07-01T12:30:15", "NaT"], "yyyy-mm-dd hh:mm:ss"),
        (["2026-07-01T12:30:15.5", "2026-07-01T12:30:15.0000005"], "yyyy-mm-dd hh:mm:ss.000"),
    ],
)
def test_a_column_is_shown_as_finely_as_it_needs(tmp_path: Path, texts: list[str], code: str) -> None:
    sa.write(tmp_path / "dates.xlsx", {"t": np.array(texts, "M8[ns]")})
    cell = openpyxl.load_workbook(tmp_path / "dates.xlsx").worksheets[0]["A"][-2]
    assert cell.number_format == code


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_fine_moments_are_texts_without_zeros_that_say_nothing(unit: str, tmp_path: Path) -> None:
    texts = ["1850-01-01", "1850-01-01T12:30:00", "1850-06-01T00:00:00.500", "NaT", "2024-01-01T00:00:00.120300"]
    texts += ["2024-01-01T00:00:00.000000001"] * (unit == "ns")
    moments, path = np.array(texts, f"M8[{unit}]"), tmp_path / "x.xlsx"
    days = np.datetime64("1850-01-01", unit) + np.arange(300) * np.timedelta64(86_400, "s")
    sa.write(path, {"d": moments, "days": days, "all": np.resize(moments, 300)}, guard=True)
    columns = zip(*sheet_of(path).iter_rows(values_only=True), strict=True)
    shown, days_shown, all_shown = ([cell for cell in column if cell is not None] for column in columns)
    assert shown[-len(texts) :] == texts
    assert days_shown[-300:] == np.datetime_as_string(days, "D").tolist()
    assert all_shown[-300:] == np.resize(np.array(texts), 300).tolist()
    for saved in (path, resave(path, "xlsx", tmp_path / "saved"), resave(path, "ods", tmp_path / "saved")):
        for guard in (True, False):
            actual = sa.read(saved, guard=guard)
            assert_same(actual["d"], moments)
            assert_same(actual["days"], days)
            assert_same(actual["all"], np.resize(moments, 300))
        assert list(sa.check(saved)) == []


def test_numbers_that_lost_the_format_of_a_date_are_dates_still(tmp_path: Path) -> None:
    moments = np.array(["2024-05-06T07", "2024-05-06T08"], "M8[h]")
    path = tmp_path / "x.xlsx"
    sa.write(path, {"d": moments})
    book = openpyxl.load_workbook(path)
    for cell in book.worksheets[0]["A"]:
        cell.number_format = "General"
    book.save(path)
    assert list(sa.check(path)) == []
    assert_same(sa.read(path)["d"], moments)
    book.worksheets[0]["A20"].value = 60  # the day that never was
    book.save(path)
    with pytest.raises(sa.FormatError, match="A20"):
        sa.read(path)


def test_a_time_of_day_where_days_are_counted_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"d": np.array(["2024-05-06", "2024-05-07"], "M8[D]")})
    edit_cells(path, {"A21": 45418.5})
    with pytest.raises(sa.FormatError, match=r"A21.*2024-05-06T12:00:00"):
        sa.read(path)


def test_a_guest_uses_the_date_styles_that_are_there_and_text_otherwise(tmp_path: Path) -> None:
    moments = {"d": np.array(["2024-05-06"], "M8[D]"), "s": np.array(["2024-05-06T07:08:09"], "M8[s]")}
    ours, theirs, counted = tmp_path / "ours.xlsx", tmp_path / "theirs.xlsx", tmp_path / "counted.xlsx"
    sa.write(ours, moments)
    book = openpyxl.Workbook()
    book.active["A1"].number_format = "mm-dd-yy"  # the built-in format of days
    book.save(theirs)
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    book.save(counted)
    kinds = []
    for path in (ours, theirs, counted):
        sa.write(path, moments, mode="a", sheet="more")
        sheet = openpyxl.load_workbook(path)["more"]
        kinds.append([sheet.cell(20, column).data_type for column in (1, 2)])
        for name, array in moments.items():
            assert_same(sa.read_excel(path, sheet="more")[name], array)
    assert kinds == [["d", "d"], ["d", "s"], ["s", "s"]]


# Numbers, widths, printing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("largest", "code"), [(GENERAL_DIGITS - 1, "General"), (GENERAL_DIGITS, "0")])
@pytest.mark.parametrize("sign", [1, -1])
def test_long_integers_are_shown_with_all_their_digits(largest: int, code: str, sign: int) -> None:
    file = written({"i": np.array([1, sign * largest])})
    assert sheet_of(file)["A"][-1].number_format == code


THIRDS = np.array([1.0, 1000.0]) / 3


DECIMALS: list[tuple[Any, str]] = [  # numbers of a column, and the code of its format
    ([0.1, 2.25], "0.00"),
    ([0.1 + 0.2, np.nan, np.inf], "0.0"),
    ([1.123456], "0.000000"),
    ([1.1234567], "0.00"),  # more decimals than six: as many as tell numbers apart, two at least
    (THIRDS, "0.00"),
    ([THIRDS[0], THIRDS[0] + 1e-5], "0.00000"),
    ([THIRDS[0], THIRDS[0] + 2e-7], "0.000000"),
    (
        [0.0, 0.3826834323650898, 0.7071067811865476, 0.9238795325112867, 1.2246467991473532e-16],
        "0.00",
    ),  # in which zero is 1.2e-16
    (np.array([0.1, 20.25], "f4"), "0.00"),
    (np.array([0.1], "f2"), "0.0"),
    (np.append(np.full(2**15, 0.5), 12.0), "0.0"),  # of which every other number is looked at
    ([1.0, 2.0, np.nan], "General"),
    ([np.nan, -np.inf], "General"),
    ([0.0, -0.0], "General"),
    ([1e-9, 1.0], "0E+00"),  # which six decimals would show as zero
    ([1e-9, 1 / 3], "0.00E+00"),
    ([0.0001 / 3], "0.00E+00"),
    ([0.0001 / 3, 0.0, 0.0001 / 3 + 1e-9], "0.0000E+00"),
    ([1e-5 / 3, 1e-5 / 3 + 1e-15], "0.000000E+00"),
    ([9.996e-5, 1.00000004e-4], "0.000E+00"),  # both are 1.00E-04
    ([5e-324, 2.5e-310], "0.000000E+00"),  # whose powers of ten no double has
    ([1.797e308, 1.7976e308], "0.0000E+00"),  # rounded to fewer decimals, both are infinite
    (np.array([1.25e-7, 3.5e-4], "f4"), "0.00E+00"),
    ([0.0034 / 3], "0.000"),
    ([GENERAL_DIGITS - 0.5], "0.0"),
    ([GENERAL_DIGITS + 0.5], "0.0"),
    ([GENERAL_DIGITS - 1.0], "General"),
    ([GENERAL_DIGITS, -GENERAL_DIGITS], "0"),
    ([1e15 - 1], "0"),
    ([1e15], "0E+00"),
    ([1e14, 0.5], "0E+00"),
    ([123456789012.5], "0.0"),
    ([1234567890123.4567], "0.00E+00"),
    ([123456789.123456789], "0.00"),  # of which a spreadsheet program shows six decimals
    ([1e300, 0.5], "0E+00"),
    ([6.02214076e23], "0.00E+00"),
    ([6.02214e23, -6.02e-23], "0.00000E+00"),
    ([np.finfo(float).max, -np.inf], "0.00E+00"),
    (np.array([1, 2]), "General"),
]


def test_floats_of_tables_have_the_decimals_that_tell_them_apart(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    tables = {f"table {number}": np.asarray(numbers) for number, (numbers, _) in enumerate(DECIMALS)}
    sa.write_table(path, {title: pd.DataFrame({"x": array, "o": 1.5}) for title, array in tables.items()})
    book = openpyxl.load_workbook(path)
    for (title, array), (numbers, code) in zip(tables.items(), DECIMALS, strict=True):
        cells = [cell for cell in book[title]["A"][1:] if isinstance(cell.value, float | int)]
        assert {cell.number_format for cell in cells} <= {code}, numbers
        assert book[title]["B2"].number_format == "0.0"
        assert (sa.read_columns(path, ["x"], sheet=title, dtype=str(array.dtype))["x"] == array)[
            np.isfinite(array)
        ].all()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u8", "m8[s]"])
def test_numbers_of_arrays_have_the_general_format_and_those_of_views_few_decimals(dtype: str, tmp_path: Path) -> None:
    arrays = {"x": (np.arange(1, 7).reshape(2, 3) / 7 * 20).astype(dtype), "day": np.array(["2026-07-01"], "M8[D]")}
    path, kind = tmp_path / "x.xlsx", np.dtype(dtype).kind
    views = {"x": sa.View(editable=True)} if kind == "f" else False
    sa.write(path, arrays, views=views)
    book = openpyxl.load_workbook(path)
    assert {cell.number_format for cell in book["arrays"]["A"]} == {"General"}
    assert book["arrays"]["B"][-6].number_format == "yyyy-mm-dd"
    if views:
        grid = {cell.number_format for row in book["x view"].iter_rows() for cell in row if cell.data_type == "n"}
        assert grid & {"0.00", "0.000000"}
    for name, array in arrays.items():
        assert_same(sa.read(path)[name], array)
    assert list(sa.check(path)) == []
    added = openpyxl.Workbook()
    sa.write(added, arrays)
    assert {cell.number_format for cell in added["arrays"]["A"]} == {"General"}


DIGITS = ["18.8248655447465", "0.333333333333333", "-1.5", "1E-05", "6.66666666666667E-10", "3.33333333333333E-20"]
DIGITS += [
    "123456789012.345",
    "999999999999999",
    "1.23456789012346E+18",
    "1.7976931348623E+308",
    "2.22507385850721E-308",
]


def as_15_digits(number: float) -> Decimal:
    """Return the shortest text of a double, rounded half up to 15 digits, as LibreOffice does."""
    return Context(prec=15, rounding=ROUND_HALF_UP).create_decimal(repr(float(number)))


def test_libreoffice_saves_numbers_of_arrays_as_csv_with_15_digits(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    held = np.array([float(text) for text in DIGITS])
    noise = np.random.default_rng(3).normal(size=200) * powers_of_ten(np.arange(-100, 100))
    moments = np.datetime64("2026-07-01T12:30:15") + np.arange(3)
    arrays = {"held": held, "x": np.array([18.824865544746487]), "noise": noise.reshape(20, 10), "t": moments}
    sa.write(path, arrays)
    actual = sa.read(resave(path, "csv", tmp_path / "saved"))
    assert_same(actual["held"], held)
    assert_same(actual["x"], np.array([18.8248655447465]))
    assert_same(actual["noise"], np.array([float(as_15_digits(number)) for number in noise]).reshape(20, 10))
    assert_same(actual["t"], moments)


def test_one_code_is_the_format_of_all_floats(tmp_path: Path) -> None:
    arrays = {"x": THIRDS, "y": np.float32([[0.5, 2.25]]), "i": np.array([1, 2]), "s": np.array(["a"])}
    columns = {name: arrays[name] for name in ("x", "i")}
    sa.write(tmp_path / "x.xlsx", arrays, formats="0.000")
    sa.write_table(tmp_path / "t.xlsx", columns, formats="0.000")
    books = {"x": openpyxl.load_workbook(tmp_path / "x.xlsx"), "t": openpyxl.load_workbook(tmp_path / "t.xlsx")}
    for stem, write, content in (("x", sa.write, arrays), ("t", sa.write_table, columns)):
        book = openpyxl.Workbook()
        write(book, content, formats="0.000")
        for workbook in (books[stem], book):
            rows = workbook["arrays" if stem == "x" else "table"].iter_rows()
            cells = [cell for row in rows for cell in row if cell.number_format != "General"]
            assert {cell.number_format for cell in cells} == {"0.000"}
            assert len(cells) == (4 if stem == "x" else 2)
    sa.write(tmp_path / "none.xlsx", {"i": np.array([1, 2])}, formats="0.000")  # of no floats
    for code in ("", "yyyy", "x0"):
        with pytest.raises(ValueError, match="formats is a code for numbers"):
            sa.write(tmp_path / "no.xlsx", {"x": THIRDS}, formats=code)
    for formats in (3, ["0.0"]):
        with pytest.raises(ValueError, match="formats is a code such as"):
            sa.write(tmp_path / "no.xlsx", {"x": THIRDS}, formats=formats)


def test_number_formats_that_a_caller_chooses_are_shown_and_numbers_stay_exact(tmp_path: Path) -> None:
    arrays = {"t": np.array([[1 / 3, -12345678.9]]), "i": np.array([2**40, 1]), "plain": THIRDS, "none": THIRDS}
    formats = {"t": '#,##0.00 "m/s"', "i": "0.0%", "none": "General"}
    path = tmp_path / "x.xlsx"
    sa.write(path, arrays, formats=formats, views=True, guard=True)
    book = openpyxl.load_workbook(path)
    sheet = book["arrays"]
    assert [sheet.cell(sheet.max_row, column).number_format for column in (1, 2, 3, 4)] == [
        formats["t"],
        formats["i"],
        "General",
        "General",
    ]
    assert sheet.column_dimensions["A"].width >= len("-12,345,678.90 m/s")
    assert sheet.column_dimensions["B"].width >= len("109951162777600.0%")
    assert formats["t"] in {cell.number_format for row in book["t view"].iter_rows() for cell in row}
    for saved in (path, resave(path, "xlsx", tmp_path / "saved"), resave(path, "ods", tmp_path / "saved")):
        for name, array in arrays.items():
            assert_same(sa.read(saved)[name], array)
        assert list(sa.check(saved)) == []


def test_a_guest_uses_the_number_formats_that_are_there_and_says_which_it_lacks(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.xlsx", tmp_path / "theirs.xlsx"
    sa.write(ours, {"x": THIRDS}, formats={"x": "0.0E+00"})
    book = openpyxl.Workbook()
    book.active["A1"].number_format = "0.00"
    book.save(theirs)
    for path, code in ((ours, "0.0E+00"), (theirs, "General")):
        before = zipfile.ZipFile(path).read("xl/styles.xml")
        if code == "General":
            with pytest.warns(sa.SheetArrayWarning, match=r"'x' is shown without the format '0\.0E\+00'"):
                sa.write(path, {"x": THIRDS, "y": THIRDS}, mode="a", sheet="more", formats={"x": "0.0E+00"})
        else:
            sa.write(path, {"x": THIRDS, "y": THIRDS}, mode="a", sheet="more", formats={"x": "0.0E+00"})
        sheet = openpyxl.load_workbook(path)["more"]
        assert [cell.number_format for cell in sheet[sheet.max_row]] == [code, "General"]
        assert zipfile.ZipFile(path).read("xl/styles.xml") == before


@pytest.mark.parametrize(
    "code",
    [
        *("", "yyyy-mm-dd", "0.0;@;0;0;0", '0"', "0[red]", "0.0.0", "h:mm", "\x01", "0\n", "#" * 256, 2, None, "x0"),
        '"\x02"0',
    ],
)
def test_codes_that_are_no_formats_of_numbers_are_refused(code: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    for write in (sa.write, sa.write_table):
        with pytest.raises(ValueError, match="'x' is a code for numbers"):
            write(path, {"x": THIRDS}, formats={"x": code})
    assert not path.exists()


@pytest.mark.parametrize(
    "code", ["0", "#", "General", "#" * 255, "0.0;[Red]-0.0;-;@", '"a;b"0', "\\x0.0?", "0.00E+00", "-0%"]
)
def test_codes_of_formats_of_numbers_are_taken(code: str, tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"x": THIRDS}, formats={"x": code})
    assert sheet_of(path)["A"][-1].number_format == code
    assert_same(sa.read(path)["x"], THIRDS)


def test_formats_are_for_numbers_that_are_written(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    with pytest.raises(sa.NotFoundError, match="'y'"):
        sa.write(path, {"x": THIRDS}, formats={"y": "0.0"})
    with pytest.raises(ValueError, match="string"):
        sa.write(path, {"x": np.array(["a"])}, formats={"x": "0.0"})
    assert not path.exists()


def test_columns_are_as_wide_as_their_largest_number_far_below() -> None:
    numbers = np.full(10**5, 0.25)
    numbers[-2] = -12345678901.25
    (width,) = re.findall(r'<col [^>]*width="([0-9.]+)"', sheet_xml(written({"x": numbers}, formats="0.00")))
    assert float(width) >= len("-12345678901.25")


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_choosers_of_fine_dates_show_dates(unit: str, tmp_path: Path) -> None:
    import xarray as xr

    time = np.array(["2026-01-01", "2026-01-02"], f"M8[{unit}]")
    path = tmp_path / "x.xlsx"
    sa.write(path, xr.DataArray(np.ones((2, 2, 2)), {"time": time}, ("time", "y", "x"), name="t"), views=True)
    assert sheet_of(path)["B2"].value.isoformat() == "2026-01-01T00:00:00"


def test_columns_are_as_wide_as_texts_far_below_their_first_elements() -> None:
    texts = np.array(["x"] * 500 + ["x" * 45] * 500)
    sheet = sheet_of(written({"s": texts, "n" * 30: SHORT, "long": np.array(["y" * 300])}))
    assert [round(sheet.column_dimensions[letter].width) for letter in "ABC"] == [47, 36, 60]


@pytest.mark.parametrize("above", [-1, 0, 1])
def test_long_columns_are_not_printed(above: int) -> None:
    headers = 19
    arrays = {"a": SHORT, "b": np.zeros(1000 - headers + above), "c": SHORT, "d": SHORT}
    file = written(arrays)
    sheet = sheet_of(file)
    wanted = "" if above <= 0 else f"'arrays'!$A$1:$A${headers + 2},'arrays'!$C$1:$D${headers + 2}"
    assert (sheet.print_area or "") == wanted


def test_of_long_columns_alone_the_first_rows_are_printed() -> None:
    sheet = sheet_of(written({"a": np.zeros(5000), "b": np.zeros(5000)}))
    assert sheet.print_area == f"'arrays'!$A$1:$B${19 + 50}"


def test_print_areas_are_names_of_their_sheets_and_go_with_them(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    book = openpyxl.Workbook()
    book.active.title = "other"
    book.active.print_area = "A1:B2"
    book.save(path)
    sa.write(path, {"a": np.zeros(5000), "b": SHORT}, mode="a", sheet="run")
    assert openpyxl.load_workbook(path)["run"].print_area == "'run'!$B$1:$B$21"
    sa.write(path, {"a": np.zeros(5)}, mode="a", sheet="run", if_sheet_exists="replace")
    book = openpyxl.load_workbook(path)
    assert not book["run"].print_area
    assert book["other"].print_area == "'other'!$A$1:$B$2"


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_booleans_are_shown_as_such_and_none_is_a_formula_after_libreoffice(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"b": np.array([True, False, True])})
    assert [cell.data_type for cell in sheet_of(path)["A"][-3:]] == ["b"] * 3
    assert sheet_of(path)["A"][-1].number_format == '"TRUE";"TRUE";"FALSE"'
    saved = resave(path, suffix, tmp_path / "saved")
    assert list(sa.check(saved)) == []
    assert_same(sa.read(saved)["b"], np.array([True, False, True]))


def test_a_column_is_as_wide_as_its_dates_that_are_texts(tmp_path: Path) -> None:
    moment = np.datetime64("2026-03-01T08:15:00.000001")  # finer than serial dates
    sa.write(tmp_path / "a.xlsx", {"fine": np.array([moment, "2026-03-01"], "M8[us]"), "n": np.arange(2)})
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx")["arrays"]
    assert sheet.column_dimensions["A"].width >= len(str(moment))


def test_names_of_a_table_stand_over_their_numbers_beside_the_button_of_the_filter(tmp_path: Path) -> None:
    table = {"name": np.array(["a", "b"]), "t": np.array([1.5, 2.5]), "day": np.array(["2026-01-01"] * 2, "M8[D]")}
    sa.write_table(tmp_path / "t.xlsx", table)
    sa.write_table(tmp_path / "t.xlsx", table, sheet="second", mode="a")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    for title in ("table", "second"):
        looks = [(cell.alignment.horizontal, cell.alignment.indent, cell.font.b) for cell in book[title][1]]
        assert looks == [(None, 0, True), ("right", 2, True), ("right", 2, True)]
