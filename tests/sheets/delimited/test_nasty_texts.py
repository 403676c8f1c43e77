"""Text of the characters that readers treat in a way of their own comes back from every container as it was.

Byte order marks, line ends of other scripts, controls, quotes at the ends of cells, white space alone: in names and in
elements, above the body and in it, as the first cell of the file, in every dialect.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from examples import STRIDE, examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray import DTypeError

MARK = "\ufeff"
NASTY = (
    "\ufeff\ufffe\ufffd\x00\x01\x07\x0b\x0c\x1a\x1c\x1d\x1e\x1f\x7f\x85\xa0\u2028\u2029\u200b\u3000"
    " \t\r\n\"'`,;|:=+-@#\\_ab1.5\U0001f600\u0301"
)
WORDS = ("", "version", "data", "1.0.0", "ndarray", "sep=;", "NaN", "TRUE", "_x0041_", "x" * 300, f"{MARK}version")
CHARACTERS = st.sampled_from(NASTY)
ELEMENTS = st.one_of(st.text(CHARACTERS, max_size=6), st.sampled_from(WORDS)).map(lambda text: text.rstrip("\0"))
NAMES = st.text(CHARACTERS, min_size=1, max_size=5).filter(str.strip)
SCALARS = st.one_of(ELEMENTS, st.none(), st.booleans(), st.integers(-5, 5))
DIALECTS = [
    {"encoding": encoding, "bom": bom, "delimiter": delimiter, "orient": orient}
    for encoding, bom in [
        ("utf-8", False),
        ("utf-8", True),
        ("utf-8-sig", False),
        ("utf-16", False),
        ("utf-16-be", True),
        ("utf-16-le", False),
        ("utf-32", False),
        ("utf-32-be", False),
        ("gb18030", False),
    ]
    for delimiter in (",", "\t", ";", "|")
    for orient in ("columns", "rows")
]


def as_objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@st.composite
def named_arrays(draw: Any) -> dict[str, Any]:
    """A few arrays of text, of objects and of numbers, in any order."""
    arrays: dict[str, Any] = {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
        kind = draw(st.sampled_from(["text", "objects", "numbers"]))
        repeats = draw(st.sampled_from([1, 1, 40]))  # beyond the rows that are looked at one by one
        if kind == "text":
            arrays[name] = np.array(draw(st.lists(ELEMENTS, max_size=8)) * repeats, dtype=np.str_)
        elif kind == "objects":
            arrays[name] = as_objects(draw(st.lists(SCALARS, max_size=8)) * repeats)
        else:
            arrays[name] = np.arange(draw(st.integers(0, 5)) * repeats, dtype="f8")
    return arrays


def assert_equal(back: dict[str, Any], arrays: dict[str, Any]) -> None:
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        assert back[name].dtype.kind == array.dtype.kind, name
        assert back[name].tolist() == array.tolist(), name


def through_csv(arrays: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    file = io.BytesIO()
    sa.write_csv(file, arrays, **options)
    unmarked = options["encoding"] == "gb18030" or (options["encoding"][-2:] in ("le", "be") and not options["bom"])
    return sa.read_csv(io.BytesIO(file.getvalue()), encoding=options["encoding"] if unmarked else None)


@settings(deadline=None, max_examples=examples(300))
@given(named_arrays(), st.sampled_from(DIALECTS))
@example({f"{MARK}x": np.array([f"{MARK}x", "y"])}, DIALECTS[0])
@example({MARK: np.array([MARK, MARK])}, DIALECTS[0])
@example({f"{MARK}{MARK}": as_objects([f"{MARK}{MARK}", None])}, DIALECTS[1])
@example({"\0\n": np.arange(3.0)}, next(options for options in DIALECTS if options["encoding"] == "utf-16"))
@example({"a": np.arange(3.0), "a\n\n\n": np.array(["b"])}, DIALECTS[2])
def test_texts_come_back_from_every_dialect(arrays: dict[str, Any], options: dict[str, Any]) -> None:
    assert_equal(through_csv(arrays, options), arrays)


MARKED = [f"{MARK}x", f"x{MARK}", f"a{MARK}b", MARK, MARK * 2, f"{MARK} ", f' {MARK}"', f"={MARK}"]


@pytest.mark.parametrize("orient", ["columns", "rows"])
@pytest.mark.parametrize("options", [{}, {"bom": True}, {"encoding": "utf-16"}, {"delimiter": "\t"}])
@pytest.mark.parametrize("count", [1, 2, 3, 400])
def test_a_mark_in_each_position(orient: Any, options: dict[str, Any], count: int) -> None:
    for number, text in enumerate(MARKED, count + len(options)):
        texts, objects = np.array([text] * count), as_objects([text, None, 1][:count] * count)
        tables = [
            {text: texts},
            {text: objects, "b": texts},
            {"a": np.arange(3.0), text: texts},
            {"a": np.arange(3.0), "b": objects},
            {"a": np.array(["x", text]), "b": np.arange(500)},
        ]
        for arrays in tables[number % STRIDE :: STRIDE]:
            file = io.BytesIO()
            sa.write_csv(file, arrays, orient=orient, **options)
            assert_equal(sa.read_csv(io.BytesIO(file.getvalue())), arrays)


@pytest.mark.parametrize("rows", [3, 400])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_table_loses_one_mark_and_no_more(rows: int, encoding: str) -> None:
    text = f"{MARK}{MARK}a,b\n" + f"{MARK}1,{MARK}x\n" * rows
    content = text.encode("utf-8" if encoding == "utf-8" else "utf-16-le")
    columns = sa.read_columns(io.BytesIO(content), format="csv")
    assert list(columns) == [f"{MARK}a", "b"]
    assert columns["b"].tolist() == [f"{MARK}x"] * rows


def test_a_file_on_disk_is_parsed_with_its_marks(tmp_path: Any) -> None:
    arrays = {"a": np.array([f"{MARK}x", "y", MARK] * 50), "b": np.arange(150)}
    sa.write_csv(tmp_path / "x.csv", arrays)
    assert_equal(sa.read_csv(tmp_path / "x.csv"), arrays)


@settings(deadline=None, max_examples=examples(150))
@given(named_arrays())
@example({f"{MARK}x": np.array([f"{MARK}x", MARK])})
def test_texts_come_back_from_json(arrays: dict[str, Any]) -> None:
    file = io.BytesIO()
    sa.write(file, arrays, format="json")
    assert_equal(sa.read(io.BytesIO(file.getvalue()), format="json"), arrays)


@settings(deadline=None, max_examples=examples(100))
@given(named_arrays(), st.sampled_from(["numeric", "text"]))
@example({f"{MARK}x": np.array([f"{MARK}x", MARK])}, "text")
def test_texts_come_back_from_workbooks(arrays: dict[str, Any], cells: Any) -> None:
    file = io.BytesIO()
    sa.write_excel(file, arrays, cells=cells)
    assert_equal(sa.read_excel(io.BytesIO(file.getvalue())), arrays)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
@pytest.mark.parametrize("format", ["csv", "tsv", "xlsx"])
@pytest.mark.parametrize("count", [1, 3, 400])
def test_lone_surrogates_are_refused_where_no_file_holds_them(text: str, format: str, count: int) -> None:
    for array in (np.array([text] * count), as_objects([text] * count)):
        with pytest.raises(DTypeError, match="not valid Unicode"):
            sa.write(io.BytesIO(), {"a": array}, format=format)


@pytest.mark.parametrize("rows", [1, 40, 4000])
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_quote_that_is_never_closed_takes_no_rows_of_a_table_with_it(rows: int, delimiter: str) -> None:
    lines = ["a,b", *["1,2"] * rows, '3,"4', *["5,6"] * rows]
    text = "\n".join(lines).replace(",", delimiter)
    with pytest.raises(sa.FormatError, match="never closed") as caught:
        sa.read_columns(io.BytesIO(text.encode()), format="csv")
    assert caught.value.location == f"line {rows + 2}"
    closed = text.replace('"4', '"4"')
    assert len(sa.read_columns(io.BytesIO(closed.encode()), format="csv")["a"]) == 2 * rows + 1


def test_a_quote_that_is_never_closed_changes_no_element() -> None:
    file = io.BytesIO()
    sa.write_csv(file, {"s": np.array(["x", "z"])})
    cut = file.getvalue().replace(b"z", b'"z')
    with pytest.raises(sa.FormatError, match="never closed"):
        sa.read_csv(io.BytesIO(cut))
    (finding,) = sa.check(io.BytesIO(cut), format="csv")
    assert finding.severity == "error"
    assert finding.location == "line 21"
    assert sa.read_csv(io.BytesIO(cut.replace(b'"z', b'"z"')))["s"].tolist() == ["x", "z"]
