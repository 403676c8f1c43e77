"""CSV and TSV pass the shared suite under each of their options."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from addresses import column_letters
from examples import cross

import sheetarray as sa
from sheetarray.testing.conformance import Conformance


class TestCsv(Conformance):
    suffix, format = ".csv", "csv"


# An option and another, or a compression, that do not meet in one place stand together.
SEMICOLON = {"delimiter": ";", "decimal": ","}
OPTIONS: dict[str, dict[str, Any]] = {
    "TxtAndBom": {"suffix": ".txt", "format": "txt", "writing": {"bom": True}},
    "Rows": {"writing": {"orient": "rows"}},
    "RowsOfTsvAndDecimalComma": {"suffix": ".tsv", "format": "tsv", "writing": {"orient": "rows", "decimal": ","}},
    "SemicolonAndDecimalComma": {"writing": SEMICOLON},
    "Said": {"suffix": ".csv.gz", "writing": SEMICOLON, "reading": SEMICOLON, "scanning": {"delimiter": ";"}},
    "Utf16": {"text": False, "writing": {"encoding": "utf-16"}},
    "TsvAndZstandard": {"suffix": ".tsv.zst", "format": "tsv"},
    "RowsInUtf16": {
        "suffix": ".csv.gz",
        "text": False,
        "writing": SEMICOLON | {"orient": "rows", "encoding": "utf-16"},
    },
}
for option, special in OPTIONS.items():
    of_csv = {"every_case": False, "suffix": ".csv", "format": "csv"}
    globals()[f"Test{option}"] = type(f"Test{option}", (Conformance,), of_csv | special)


class TestNameless(Conformance):
    every_case = False
    suffix, format = ".csv", "csv"
    writing = {"names": False}  # noqa: RUF012

    def name(self, index: int, name: str) -> str:
        return column_letters(index)


class TestFormulasKept(Conformance):
    every_case = False
    suffix, format = ".csv", "csv"
    writing = reading = scanning = {"formulas": "keep"}  # noqa: RUF012
    lacks = dict.fromkeys(["dtype string", "dtype generic", "generic blanks", "formula"], sa.DTypeError)


class TestParts(Conformance):
    """Every array that is long goes on in the next columns."""

    every_case = False
    suffix, format = ".csv", "csv"
    writing = {"max_rows": 2000}  # noqa: RUF012

    def cells(self, array: Any) -> int:
        return len(sa.to_linear(array))


class TestShortParts(Conformance):
    """Even the shortest arrays go on in the next columns."""

    every_case = False
    suffix, format = ".csv", "csv"
    writing = {"max_rows": 160}  # noqa: RUF012

    def cells(self, array: Any) -> int:
        linear = sa.LinearArray.from_numpy(array)
        header = len(linear.header.to_cells())
        if 1 + header + linear.capacity <= 160:
            return header + linear.capacity
        parts = -(-linear.capacity // (160 - 1 - header - 3))
        return parts * (header + 3) + linear.capacity

    def test_a_long_array_of_each_bulk_path(self, place: Any) -> None:
        arrays = {"f": np.random.default_rng(1).normal(size=1000), "t": np.array([f"{n:05d}" for n in range(900)])}
        self._write_and_read(place, arrays)
        assert {info.parts for info in self.scan(place).values()} == {8, 7}


# A column beside which something else begins, below lines that have no delimiter ---------------------------------


def write_column(array: np.ndarray) -> list[str]:
    """Return the lines of a text of one array, `a`."""
    file = io.StringIO()
    sa.write(file, {"a": array}, format="csv")
    return file.getvalue().splitlines()


def make_uneven(beside: dict[str, np.ndarray], row: int, mark: str) -> str:
    """Return a text of one array, with others beside it from a row on; blanks at the ends of lines are left out."""
    right = io.StringIO()
    sa.write(right, beside, format="csv", delimiter=mark)
    lines = write_column(np.arange(200) / 4)
    for index, line in enumerate(right.getvalue().splitlines(), row):
        lines[index] += mark + line
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("mark", "row"), cross(",;\t|:^~", ["1", "2", "3", "5", "6", "8", "15", "23", "24", "25", "120"], ",")
)
def test_an_array_beside_a_column_is_seen_wherever_it_begins(row: str, mark: str) -> None:
    text = make_uneven({"k": np.arange(9) / 2, "n": np.arange(4)}, int(row), mark)
    for made in (text, text.replace(f"{mark}version", f'{mark}"version"')):
        arrays = sa.read(io.StringIO(made), format="csv")
        assert {name: array.tolist() for name, array in arrays.items()} == {
            "a": (np.arange(200) / 4).tolist(),
            "k": (np.arange(9) / 2).tolist(),
            "n": [0, 1, 2, 3],
        }
        assert list(sa.scan(io.StringIO(made), format="csv")) == list(arrays)
        assert list(sa.check(io.StringIO(made), format="csv")) == []


def test_an_array_in_a_row_beside_a_column_is_seen() -> None:
    row = io.StringIO()
    sa.write(row, {"k": np.array([7, 8])}, format="csv", orient="rows")
    lines = write_column(np.arange(60) / 4)
    lines[40] += "," + row.getvalue().strip()
    infos = sa.scan(io.StringIO("\n".join(lines)), format="csv")
    assert {name: info.shape for name, info in infos.items()} == {"a": (60,), "k": (2,)}


def test_text_with_the_words_of_a_header_after_delimiters_stays_one_column() -> None:
    texts = np.array(["x,k", "x,version", "x,1.0.0", "x,ndarray", "x,shape", "x;version", "x;ndarray"] * 30)
    file = io.StringIO()
    sa.write(file, {"a": texts}, format="csv", delimiter="|")
    assert sa.read(io.StringIO(file.getvalue()), format="csv")["a"].tolist() == texts.tolist()


def test_a_wrong_cell_that_holds_a_delimiter_hints_at_it() -> None:
    lines = write_column(np.arange(60) / 4)
    lines[40] += ";a note"
    for text in ("\n".join([*lines, ""]), "\r\n".join([*lines, ""])):
        with pytest.raises(sa.FormatError, match=r"A41 .*name the delimiter, delimiter=';'"):
            sa.read(io.StringIO(text), format="csv")
        (finding,) = sa.check(io.StringIO(text), format="csv")
        assert "delimiter=';'" in finding.hint
        with pytest.warns(sa.SheetArrayWarning, match="B41: a cell to the right of all columns"):
            assert sa.read(io.StringIO(text), format="csv", delimiter=";")["a"].tolist() == (np.arange(60) / 4).tolist()
    lines[40] = "x"
    with pytest.raises(sa.FormatError) as error:
        sa.read(io.StringIO("\n".join(lines)), format="csv")
    assert error.value.hint is None


# Text that begins with an apostrophe ------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["'=1", "''", "'+x", "'-", "'@a", "'\ta", "'\ra", "'''"])
@pytest.mark.parametrize("kind", ["string", "generic", "variable"])
def test_text_that_would_lose_its_apostrophe_is_refused(text: str, kind: str) -> None:
    dtype: Any = {"string": None, "generic": object, "variable": np.dtypes.StringDType()}[kind]
    array = np.array(["a", "'", text, text] if kind != "generic" else ["a", 1, text, text], dtype)
    for orient in ("columns", "rows"):
        file = io.BytesIO()
        with pytest.raises(sa.DTypeError, match=r"t\[2\]: the text .* lose its apostrophe .*formulas='escape'"):
            sa.write_csv(file, {"t": array}, formulas="keep", orient=orient)
        assert file.getvalue() == b""
        with pytest.raises(sa.LimitError, match=r"the name .* lose its apostrophe .*formulas='escape'"):
            sa.write_csv(file, {text: np.arange(2)}, formulas="keep", orient=orient)
        sa.write_csv(file, {"t": array, text: array}, orient=orient)  # as the hint says
        read = sa.read_csv(io.BytesIO(file.getvalue()))
        assert {name: one.tolist() for name, one in read.items()} == {"t": array.tolist(), text: array.tolist()}
    sa.write_csv(file, {text: np.arange(2)}, formulas="keep", names=False)


@pytest.mark.parametrize("text", ["'", "'a", "=1", "a'=1", "'5", "-", "@x"])
def test_all_other_text_comes_back_both_ways(text: str) -> None:
    file = io.BytesIO()
    sa.write_csv(file, {text: np.array([text])}, formulas="keep")
    for formulas in ("escape", "keep"):
        ((name, read),) = sa.read_csv(io.BytesIO(file.getvalue()), formulas=formulas).items()  # type: ignore[arg-type]
        assert (name, read.tolist()) == (text, [text])


@pytest.mark.parametrize("text", ["'5", "'TRUE", "'"])
def test_generic_text_of_an_apostrophe_and_a_value_is_refused(text: str) -> None:
    with pytest.raises(sa.DTypeError, match="lose its apostrophe"):
        sa.write_csv(io.BytesIO(), {"g": np.array([None, text], object)}, formulas="keep")


def test_labels_that_would_lose_an_apostrophe_are_refused() -> None:
    xr = pytest.importorskip("xarray")
    labelled = xr.Dataset({"t": ("x", [1.5])}, {"x": np.array(["'=1"])})
    with pytest.raises(sa.DTypeError, match="lose its apostrophe"):
        sa.write_csv(io.BytesIO(), labelled, formulas="keep")
    file = io.BytesIO()
    sa.write_csv(file, labelled)
    assert sa.read_dataset(io.BytesIO(file.getvalue()), format="csv").identical(labelled)


@pytest.mark.parametrize("shift", [-8, -7, -6, -1, 0, 1])
def test_an_array_far_down_is_found_wherever_its_words_stand(shift: int) -> None:
    size = 2**21 + shift - len("t,\nVersion,\n1.0.0,\n")  # so that `NDArray` begins beside a multiple of 2**20
    above = "1,2\n" * (size // 4 - 2)
    above += f"1,{'2' * (size - len(above) - 3)}\n"
    words = [*map(str, sa.to_linear(np.array([1.5, 2.5])))]
    words[0], words[2] = "Version", "NDArray"
    text = above + "t,\n" + "".join(f"{word},\n" for word in words)
    assert text.index("NDArray") == 2**21 + shift
    assert sa.read_csv(io.BytesIO(text.encode()))["t"].tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("array", "cell", "said"),
    [
        (np.array([1234.5]), "1,234.5", "take them out of the format"),
        (np.array([1234.5]), "-1.234.567,25", "take them out of the format"),
        (np.array([1234]), "1 234", "take them out of the format"),
        (np.array([1234.5]), "1,2345.5", None),
        (np.array([1234.5]), "12 m", None),
        (np.array(["2020-01-02"], "M8[D]"), "1/2/2020", "YYYY-MM-DD"),
        (np.array(["2020-01-02"], "M8[D]"), "02.01.2020", "YYYY-MM-DD"),
        (np.array(["2020-01-02T10:30:00"], "M8[s]"), "1/2/20 10:30 AM", "YYYY-MM-DD"),
        (np.array(["2020-01-02"], "M8[D]"), "1/2-2020", None),
        (np.array(["2020-01-02"], "M8[D]"), "soon", None),
    ],
)
def test_a_cell_that_a_spreadsheet_saved_as_it_shows_it_has_a_hint(array, cell, said, tmp_path):
    path = tmp_path / "t.csv"
    sa.write(path, {"t": array, "n": np.array([1.5])})
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], f'"{cell}",1.5']) + "\n")
    (finding,) = sa.check(path)
    assert finding.index == (0,)
    assert (said in finding.hint) if said else not finding.hint
