"""How single values look in a cell, and what a cell of text can mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from limits import set_limits

import sheetarray as sa
from sheetarray import dtypes, elements
from sheetarray.elements import scalars as scalar_text
from sheetarray.testing.cases import CASES, GENERIC, TEXTS, assert_same, objects


@pytest.mark.parametrize("case", CASES)
def test_encode_and_decode_are_opposites(case: str) -> None:
    array = np.atleast_1d(CASES[case]).ravel()
    kind = dtypes.from_numpy(array.dtype)
    native = array.astype(array.dtype.newbyteorder("="))
    buffer, problems = elements.decode(elements.encode(native, kind), kind)
    assert problems == []
    assert_same(buffer, array)


@pytest.mark.parametrize("text", TEXTS)
def test_escape_is_undone_and_only_where_it_was_done(text: str) -> None:
    assert scalar_text.unescape_formula(scalar_text.escape_formula(text)) == text
    special = text[:1] in tuple("=+-@'\t\r") and text != ""
    assert (scalar_text.escape_formula(text) == text) != special
    assert not scalar_text.escape_formula(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_an_apostrophe_that_nobody_escaped_stays() -> None:
    assert scalar_text.unescape_formula("'tis") == "'tis"
    assert scalar_text.unescape_formula("'") == "'"
    assert scalar_text.unescape_formula("''") == "'"


@pytest.mark.parametrize("value", GENERIC)
@pytest.mark.parametrize("decimal", [".", ","])
def test_generic_elements_keep_value_and_type_in_text(value: Any, decimal: str) -> None:
    text = scalar_text.generic_to_text(value, formulas="escape", decimal=decimal)
    result = scalar_text.generic_from_text(text, formulas="escape")
    assert (type(result), repr(result)) == (type(value), repr(value))
    assert text is None or isinstance(value, (int, float)) or not text.startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize("value", GENERIC)
def test_generic_elements_are_kept_or_refused_without_escapes(value: Any) -> None:
    try:
        text = scalar_text.generic_to_text(value, formulas="keep")
    except ValueError:
        assert isinstance(value, str)
        return
    result = scalar_text.generic_from_text(text, formulas="keep")
    assert (type(result), repr(result)) == (type(value), repr(value))


@pytest.mark.parametrize(
    "value", [[1], {}, (1,), 1j, b"x", float("nan"), float("inf"), object(), np.float64("nan"), {1}]
)
def test_other_objects_in_generic_arrays_are_refused_with_their_index(value: Any) -> None:
    with pytest.raises(sa.DTypeError, match="element 1 "):
        elements.encode(objects(None, value), dtypes.from_name("generic"))


def test_numpy_scalars_in_generic_arrays_are_unwrapped() -> None:
    cells = elements.encode(
        objects(np.int8(1), np.float32(0.5), np.bool_(True), np.str_("x")), dtypes.from_name("generic")
    )
    assert [type(cell) for cell in cells] == [int, float, bool, str]


def test_generic_integers_beyond_2_53_are_refused_in_json_and_kept_in_text() -> None:
    big = 2**53 + 1
    with pytest.raises(sa.DTypeError, match="2\\^53"):
        elements.encode(objects(big), dtypes.from_name("generic"))
    text = scalar_text.generic_to_text(big, formulas="escape")
    assert scalar_text.generic_from_text(text, formulas="escape") == big


def test_problems_name_every_bad_cell_in_order() -> None:
    _, problems = elements.decode([1, "x", None, 300, 2.5, 4], dtypes.from_name("uint8"))
    assert [problem.index for problem in problems] == [1, 2, 3, 4]
    assert "300 is beyond the range of uint8" in problems[2].reason


@pytest.mark.parametrize(
    ("cell", "text"),
    [(1, "1"), (1.0, "1"), (True, "TRUE"), (False, "FALSE"), (None, ""), (1e300, "1e+300"), (0.1, "0.1"), ("x", "x")],
)
def test_what_a_program_made_of_text_is_turned_back(cell: Any, text: str) -> None:
    assert scalar_text.parse_string(cell) == text


@pytest.mark.parametrize("cell", [True, "TRUE", "true", " True ", 1, 1.0, "1"])
def test_every_look_of_true(cell: Any) -> None:
    assert scalar_text.parse_bool(cell) is True


@pytest.mark.parametrize("cell", [False, "FALSE", "false", 0, 0.0, "0", -0.0])
def test_every_look_of_false(cell: Any) -> None:
    assert scalar_text.parse_bool(cell) is False


@pytest.mark.parametrize("cell", ["", None, "yes", 2, -1, 0.5, "T", "01", "1.0"])
def test_what_is_no_boolean(cell: Any) -> None:
    with pytest.raises(ValueError, match="expected TRUE or FALSE"):
        scalar_text.parse_bool(cell)


@pytest.mark.parametrize(
    ("unit", "text", "same"),
    [
        ("D", "2020-01-01", "2020-01-01"),
        ("s", "2020-01-01", "2020-01-01T00:00:00"),
        ("s", "2020-01-01 10:20:30", "2020-01-01T10:20:30"),
        ("D", "2020-01-01T00:00:00", "2020-01-01"),
        ("ms", "2020-01-01T10:20:30.5", "2020-01-01T10:20:30.500"),
        ("Y", "2020-01-01", "2020"),
        ("s", "nat", "NaT"),
        ("s", "NAT", "NaT"),
        ("ns", "2020-01-01T00:00:00.000000001", "2020-01-01T00:00:00.000000001"),
        ("Y", "-0005", "-0005"),
        ("Y", "12345", "12345"),
        ("M", "2020-02", "2020-02"),
        ("s", "2020-01-01T10:20:30.000", "2020-01-01T10:20:30"),
    ],
)
def test_dates_are_iso_text(unit: str, text: str, same: str) -> None:
    buffer, problems = elements.decode([text], dtypes.from_name(f"datetime64[{unit}]"))
    assert problems == []
    assert elements.dates_to_iso(buffer) == [same]


@pytest.mark.parametrize(
    "text",
    [
        *("2020-02-30", "20200101", "01.02.2020", "today", "now", "2020-01-01T25:00", "2020-01-01T00:00:00Z"),
        *("2020-01-01T00:00:00+01:00", "2020-1-1", "x", 5, 2020.0, True, "2020-W01"),
    ],
)
def test_what_is_no_iso_date_is_refused(text: Any) -> None:
    _, problems = elements.decode([text], dtypes.from_name("datetime64[s]"))
    assert [problem.index for problem in problems] == [0]


def test_a_moment_finer_than_its_unit_is_refused_not_rounded() -> None:
    for unit, text in [
        ("D", "2020-01-01T12:00"),
        ("s", "2020-01-01T00:00:00.5"),
        ("Y", "2020-02-01"),
        ("ns", "2020-01-01T00:00:00.0000000001"),
        ("25s", "2020-01-01T00:00:01"),
    ]:
        _, problems = elements.decode([text], dtypes.from_name(f"datetime64[{unit}]"))
        assert len(problems) == 1, unit


def test_found_is_short_whatever_a_cell_holds() -> None:
    for cell in ["x" * 10**6, 10**5000, [1] * 10**6, {"a": 1}, object(), float("nan"), None, ""]:
        assert len(scalar_text.describe_cell(cell)) <= 60


def test_a_giant_numeral_takes_no_quadratic_time() -> None:
    for kind in ("int64", "float64", "bool", "complex128", "datetime64[s]", "generic"):
        _, problems = elements.decode(["1" * 500_000], dtypes.from_name(kind))
        assert len(problems) == (kind != "generic")
    assert scalar_text.generic_from_text("1" * 500_000, formulas="escape") == "1" * 500_000


@pytest.mark.parametrize("wrong", [2, 3, 4])
@pytest.mark.parametrize(
    ("dtype", "sound", "value"),
    [
        ("float64", "1.5", 1.5),
        ("complex64", "1+2i", 1 + 2j),
        ("complex128", "1+2i", 1 + 2j),
        ("bool", "TRUE", True),
        ("int8", "1", 1),
    ],
)
def test_after_very_many_wrong_cells_no_other_is_taken_for_read(
    dtype: str, sound: str, value: Any, wrong: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, explained_problems=3)
    buffer, refusals = elements.decode(["?"] * wrong + [sound, None], dtypes.from_name(dtype))
    positions = [(problem.index, problem.rest) for problem in refusals]
    if wrong == 2:
        assert positions == [(0, False), (1, False), (3, False)]
        assert buffer[wrong] == value
    else:
        assert positions == [(0, False), (1, False), (2, False), (3, True)]


def test_blanks_that_may_be_missing_are_never_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, explained_problems=3)
    buffer, refusals = elements.decode([None] * 5 + ["1.5"], dtypes.from_name("float32"), missing="nan")
    assert refusals == []
    assert np.isnan(buffer[:5]).all()
    assert buffer[5] == 1.5
