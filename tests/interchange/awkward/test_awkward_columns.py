"""Awkward arrays as columns: through CSV and JSON and back, named by their paths, the schema cut to fit into cells."""

from __future__ import annotations

import json
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
from awkward_layouts import arrays, assert_kept, contents, every_class
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray.interchange.awkward import from_columns, to_columns
from sheetarray.interchange.awkward.columns import blobs_of, gather

CASES = every_class()
EVENTS = ak.Array(
    [
        [{"x": 1, "y": [1.5, 2.5], "who": "Ada"}, {"x": 2, "y": [], "who": ""}],
        [],
        [{"x": 3, "y": [3.5], "who": "漢字"}],
    ]
)
LIMIT = 32_767


# There and back ----------------------------------------------------------------------------------------------


@settings(max_examples=examples(200))
@given(arrays(), st.integers(80, 400), st.booleans())  # a name of five steps has to fit
def test_whatever_an_array_is_made_of_comes_back(array: ak.Array, limit: int, pack: bool) -> None:
    columns = to_columns("t", array, limit=limit, pack=pack)
    assert {"t.json", *blobs_of(columns["t.json"].tolist())} == set(columns)
    assert_kept(from_columns(columns, "t"), array)


@pytest.mark.parametrize("suffix", [".csv", ".json", ".xlsx"])
def test_every_layout_comes_back_from_a_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    numbers = np.arange(6.0).reshape(2, 3)
    sa.write(path, {**CASES, "plain": numbers})
    assert list(sa.check(path)) == []
    result = sa.read(path)
    assert list(result) == [*CASES, "plain"]
    for name, array in CASES.items():
        assert_kept(result[name], array)
    assert result["plain"].tolist() == numbers.tolist()


@pytest.mark.parametrize(
    ("words", "limit", "is_text"),
    [
        (["a", "", "ü\0b"], 80, True),
        ([], 80, True),
        (["", ""], 80, True),
        (["a\0"], 80, False),
        (["a", "\0"], 80, False),
        (["x" * 79, "x" * 80], 80, True),
        (["x" * 81], 80, False),
        (["ü" * 80], 80, True),
        (["ü" * 81], 80, False),
        (["😀" * 40], 80, True),  # two units of UTF-16 each
        (["😀" * 40 + "a"], 80, False),
    ],
)
def test_strings_are_text_where_cells_hold_it_and_else_bytes(words: list[str], limit: int, is_text: bool) -> None:
    for array in (
        ak.Array(words) if words else CASES["no strings"],
        ak.Array([words, words] if words else [["a"]])[1:],
    ):
        columns = to_columns("t", array, limit=limit)
        assert any(column.dtype.kind == "U" for name, column in columns.items() if name != "t.json") == is_text
        assert_kept(from_columns(columns, "t"), array)


def test_text_whose_padding_is_out_of_proportion_is_not_padded() -> None:
    words = ak.Array(["x" * 30_000] + ["ü"] * 3000)
    column = to_columns("t", words, limit=LIMIT)["t-content"]
    assert column.dtype == np.dtypes.StringDType()
    assert from_columns(to_columns("t", words, limit=LIMIT), "t").to_list() == words.to_list()


# Names -------------------------------------------------------------------------------------------------------


def test_columns_are_named_by_their_paths_and_nothing_is_bytes() -> None:
    columns = to_columns("events", EVENTS, limit=LIMIT)
    assert {name: column.tolist() for name, column in columns.items() if name != "events.json"} == {
        "events-counts": [2, 0, 1],
        "events-x": [1, 2, 3],
        "events-y-counts": [2, 0, 1],
        "events-y-content": [1.5, 2.5, 3.5],
        "events-who": ["Ada", "", "漢字"],
    }
    assert columns["events-who"].dtype == "<U3"
    schema = json.loads("".join(columns["events.json"].tolist()))
    assert schema["prefix"] == "events-"
    assert "frombuffer" not in json.dumps(schema)
    assert "decompress" not in json.dumps(schema)


def test_ids_stand_in_where_paths_meet_or_say_nothing() -> None:
    fields = ["counts", "x", "X", "a-b", "line\nbreak", "z" * 300, "content", "1"]
    array = ak.Array([[{name: number for number, name in enumerate(fields)}, dict.fromkeys(fields, 0)], []])
    nested = ak.Array([{"a": {"b": 1}, "a-b": 2, "3": 3, "8": 4}])
    for value in (array, nested):
        columns = to_columns("t", value, limit=LIMIT)
        names = [name.casefold() for name in columns]
        assert len(set(names)) == len(names)
        assert all(name.isprintable() and len(name) < 250 for name in names)
        assert_kept(from_columns(columns, "t"), value)


def test_refusals_name_the_array() -> None:
    with pytest.raises(sa.DTypeError, match=r"^t: records without any field"):
        to_columns("t", contents.RecordArray([], [], 3), limit=LIMIT)
    with pytest.raises(sa.LimitError, match=r"^t: .*does not fit into a cell of 30 characters"):
        to_columns("t", ak.Array([{"n" * 40: 1}]), limit=30)


# The schema in cells -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [60, 100, 1000, LIMIT, 50_000])
def test_no_piece_of_a_schema_is_taken_for_something_else(limit: int) -> None:
    array = ak.Array([{f"=field {number} ": number for number in range(40 + limit // 40)}])
    columns = to_columns("t", array, limit=limit)
    pieces = columns["t.json"].tolist()
    assert len(pieces) > 1
    assert all(0 < len(piece) <= limit for piece in pieces)
    assert all(piece[0] in '{["' and piece == piece.strip() and piece.isascii() for piece in pieces)
    assert len(pieces) <= 2 * len("".join(pieces)) // limit + 1
    json.loads("".join(pieces))
    assert_kept(from_columns(columns, "t"), array)


def test_a_broken_array_among_columns_is_named() -> None:
    columns = to_columns("t", EVENTS, limit=LIMIT)
    with pytest.raises(sa.NotFoundError, match=r"'u\.json'"):
        from_columns(columns, "u")
    for broken in (
        {name: column for name, column in columns.items() if name != "t-counts"},
        columns | {"t-counts": np.array([2, 0, 9])},
        columns | {"t-counts": np.array(["a", "b", "c"])},
        columns | {"t.json": columns["t.json"][:1].astype("U100")},
    ):
        with pytest.raises(sa.FormatError) as caught:
            from_columns(broken, "t")
        assert str(caught.value.location).startswith("t.json")
        with pytest.raises(sa.FormatError) as caught:
            gather(broken)
        assert str(caught.value.location).startswith("t.json")
    with pytest.raises(sa.FormatError, match="two arrays have the name 't'"):
        gather(columns | {"t": np.arange(3)})
    with pytest.raises(TypeError, match="whitlist"):
        from_columns(columns, "t", whitlist="*")
