"""Text of out-of-proportion padding: `<U` up to 64 MB or eight times the text, `StringDType` beyond, both written."""

from __future__ import annotations

import io
import os
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from children import measured, run_limited
from command_line import run_command
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import get_limit, set_limits

import sheetarray as sa
from sheetarray import dtypes, elements
from sheetarray.elements import TextLook, buffer_from_text, buffer_to_text, buffer_to_typed
from sheetarray.sheets.excel.checksums.hashes import exact_hashes
from sheetarray.testing.cases import assert_same

VARIABLE = np.dtypes.StringDType()
STRING = dtypes.from_name("string")
LONG = "x" * 3000
CONTAINERS = [
    {"format": "csv"},
    {"format": "csv", "orient": "rows"},
    {"format": "tsv"},
    {"format": "json"},
    {"format": "xlsx"},
    {"format": "xlsx", "cells": "text"},
]


def uneven(count: int = 6000, last: str = LONG) -> Any:
    """Many short texts and a long one: 72 MB as `<U`."""
    return np.array([*(["ab", "", "=1+1", "007", "ü"] * (count // 5))[: count - 1], last], dtype=VARIABLE)


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rule at a size that many arrays can be tried at."""
    set_limits(monkeypatch, padding=100)


def same_texts(read: Any, expected: Any) -> None:
    assert read.shape == expected.shape
    assert read.tolist() == expected.tolist()


# The rule ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "longest", "size", "expected"),
    [
        (16_000, 1000, 1, False),  # 64 MB
        (15_999, 1000, 1, False),
        (16_000_000 + 1, 1, 1, True),  # four bytes more
        (16_001, 1000, 1, True),
        (20_000, 1000, 10_000_000 - 1, True),  # 8 times the text, less a byte
        (20_000, 1000, 10_000_000, False),
        (20_000, 1000, 10_000_000 + 1, False),
        (10**9, 0, 0, False),
        (0, 0, 0, False),
    ],
)
def test_the_rule_at_its_two_limits(count: int, longest: int, size: int, expected: bool) -> None:
    assert elements.is_mostly_padding(count, longest, size) is expected


@pytest.mark.parametrize(("more", "kind"), [(-1, "T"), (0, "U"), (1, "U")])
@pytest.mark.parametrize("letter", ["y", "ü"])
def test_eight_times_the_text_is_counted_in_bytes_of_utf_8(
    more: int, kind: str, letter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, padding=get_limit("padding") // 100)
    count, longest = 1640, 100  # 656 kB, eighths of which are 82,000 bytes
    size = count * longest * 4 // 8 + more - longest
    letter_size = len(letter.encode())
    part, rest = divmod(size, count - 1)
    texts = [letter * (part // letter_size) + "z" * (part % letter_size)] * (count - 1) + ["x" * longest]
    for place in range(rest):
        texts[place] += "z"
    assert sum(len(text.encode()) for text in texts) == count * longest * 4 // 8 + more
    assert elements.decode(texts, STRING)[0].dtype.kind == kind
    assert buffer_from_text(pl.Series(texts), STRING, TextLook())[0].dtype.kind == kind


@pytest.mark.usefixtures("tight")
@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40), max_size=12))
def test_scalar_and_bulk_choose_the_same_and_keep_every_text(texts: list[str]) -> None:
    single, problems = elements.decode(list(texts), STRING)
    look = TextLook(formulas="keep")
    bulk, bulk_problems = buffer_from_text(pl.Series(texts, dtype=pl.String), STRING, look)
    assert problems == bulk_problems == []
    assert single.dtype == bulk.dtype
    assert single.tolist() == bulk.tolist() == texts
    variable, fixed = np.array(texts, dtype=VARIABLE), np.array(texts, dtype=np.str_)
    assert elements.encode(variable, STRING) == elements.encode(fixed, STRING) == texts
    assert buffer_to_text(variable, STRING, look).to_list() == buffer_to_text(fixed, STRING, look).to_list() == texts
    typed = [buffer_to_typed(array, STRING, exact=10**15).texts.to_list() for array in (variable, fixed)]
    assert typed[0] == typed[1] == [text or None for text in texts]
    assert exact_hashes(variable, STRING).tolist() == exact_hashes(fixed, STRING).tolist()


# There and back ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "shape"), [(CONTAINERS[0], "C"), *product(CONTAINERS, ["flat", "F"])])
def test_uneven_text_comes_back_from_every_container(options: dict[str, Any], shape: str, tmp_path: Path) -> None:
    array = uneven() if shape == "flat" else uneven().reshape(60, 100)
    array = array.T if shape == "F" else array
    path = tmp_path / f"t.{options['format']}"
    arrays = {"t": array, "n": np.arange(7000), "small": np.array(["a", "bb"], dtype=VARIABLE)}
    sa.write(path, arrays, **{key: value for key, value in options.items() if key != "format"})
    for read in (sa.read(path), sa.read(path, names=["t", "small"])):
        assert read["t"].dtype == VARIABLE
        same_texts(read["t"], array)
        assert read["t"].flags.f_contiguous == array.flags.f_contiguous
        assert_same(read["small"], np.array(["a", "bb"]))
    info = sa.scan(path)["t"]
    assert (info.dtype, info.shape) == ("string", array.shape)
    assert list(sa.check(path)) == []


def test_flat_lists_take_it() -> None:
    array = uneven().reshape(2, -1)
    result = sa.from_linear(sa.to_linear(array))
    assert result.dtype == VARIABLE
    same_texts(result, array)


def test_ordinary_tables_have_such_columns_too() -> None:
    array = uneven()
    file = io.StringIO("t,n\n" + "\n".join(f"{text or 'z'},{place}" for place, text in enumerate(array.tolist())))
    read = sa.read_columns(file, format="csv")
    assert read["t"].dtype == VARIABLE
    assert read["t"].tolist() == [text or "z" for text in array.tolist()]
    assert read["n"].tolist() == list(range(len(array)))


def test_an_array_in_parts_comes_back(tmp_path: Path) -> None:
    sa.write(tmp_path / "t.csv", {"t": uneven()}, max_rows=2500)
    assert sa.scan(tmp_path / "t.csv")["t"].parts == 3
    same_texts(sa.read(tmp_path / "t.csv")["t"], uneven())


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::2, ::-1],
        lambda a: a.T[3:],
        lambda a: np.broadcast_to(a[5], (3, 1000)),
        lambda a: a[2:3, 7:9],
        lambda a: a[:0],
    ],
)
def test_base_buffers_keep_strides_in_what_they_mean(view: Any) -> None:
    fixed = np.array(uneven().tolist()).reshape(6, 1000)
    linear = sa.LinearArray.from_numpy(view(fixed), base=True)
    read = sa.from_linear(linear.to_cells())
    same_texts(read, view(fixed))


def test_elements_that_share_places_are_refused() -> None:
    buffer = uneven()
    linear = sa.LinearArray("string", (3000, 3000), (1, 1), 0, "row-major", buffer)
    with pytest.raises(sa.FormatError, match="overlap"):
        linear.to_numpy()


def test_edits_are_named_in_workbooks_and_by_diff(tmp_path: Path) -> None:
    array = uneven()
    sa.write(tmp_path / "a.xlsx", {"t": array})
    array[1] = "edited"
    sa.write(tmp_path / "b.json", {"t": array})
    done = run_command("diff", tmp_path / "a.xlsx", tmp_path / "b.json")
    assert "t[1]: '' -> 'edited'" in done.stdout
    array[-1] = "short"
    sa.write(tmp_path / "c.csv", {"t": array})
    done = run_command("diff", tmp_path / "b.json", tmp_path / "c.csv")
    assert "1 of 6,000 elements differs" in done.stdout
    shown = run_command("show", tmp_path / "b.json", "t", "--slice", "[:2]", "--json")
    assert '"values": ["ab", "edited"]' in shown.stdout
    assert run_command("show", tmp_path / "b.json", "t").exit_code == 0


# Refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "json", "xlsx", "npy"])
def test_missing_text_is_none_and_nul_at_the_end_is_refused_by_name(suffix: str) -> None:
    with pytest.raises(sa.DTypeError, match=r"^t: .*NUL"):
        sa.write(io.BytesIO(), {"t": np.array(["a\0"], dtype=VARIABLE)}, format=suffix)
    missing, file = {"t": np.array(["a", None], dtype=np.dtypes.StringDType(na_object=None))}, io.BytesIO()
    if suffix == "npy":
        with pytest.raises(sa.DTypeError, match=r"^t: "):
            sa.write(file, missing, format=suffix)
        return
    sa.write(file, missing, format=suffix)
    assert sa.read(io.BytesIO(file.getvalue()), format=suffix)["t"].tolist() == ["a", None]


@pytest.mark.parametrize("format", ["npy", "npz", "ra", "avro", "msgpack"])
def test_containers_of_bytes_say_what_to_do(format: str, tmp_path: Path) -> None:
    options = {"extensions": True} if format == "msgpack" else {}
    with pytest.raises(sa.DTypeError) as caught:
        sa.write(tmp_path / f"t.{format}", {"t": uneven()}, **options)
    assert str(caught.value).startswith("t: ")
    assert "CSV" in str(caught.value)
    assert format == "avro" or "astype('U3000')" in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_awkd_holds_text_that_is_mostly_padding_as_it_is(tmp_path: Path) -> None:
    sa.write(tmp_path / "t.awkd", {"t": uneven()})
    array = sa.read(tmp_path / "t.awkd")["t"]
    assert array.dtype == uneven().dtype
    assert array.tolist() == uneven().tolist()


@pytest.mark.parametrize("format", ["npy", "npz"])
def test_containers_of_bytes_hold_text_that_is_not_mostly_padding(format: str, tmp_path: Path) -> None:
    array = np.array([["a", "bb"], ["", "ü"]], dtype=VARIABLE, order="F")
    sa.write(tmp_path / f"t.{format}", {"t": array})
    assert_same(sa.read(tmp_path / f"t.{format}")["t"], np.asfortranarray(array.astype("U2")))


def test_a_text_longer_than_a_cell_is_refused_by_element(tmp_path: Path) -> None:
    array = uneven(last="x" * 32_768)
    with pytest.raises(sa.LimitError, match=r"t\[5999\] has 32,768 characters"):
        sa.write(tmp_path / "t.xlsx", {"t": array})
    sa.write(tmp_path / "t.xlsx", {"t": uneven(last="x" * 32_767)})
    assert sa.read(tmp_path / "t.xlsx")["t"][-1] == "x" * 32_767


# Memory ------------------------------------------------------------------------------------------------------


@measured
@pytest.mark.parametrize("format", ["csv", "json", "xlsx"])
def test_half_a_megabyte_with_one_long_text_takes_memory_in_proportion(format: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{format}"
    sa.write(path, {"t": uneven(100_000, "x" * 20_000)})  # 8 GB as `<U`
    assert path.stat().st_size < 1_500_000
    child = run_limited(
        """
        import sys, sheetarray as sa
        array = sa.read(sys.argv[1])["t"]
        sa.write(sys.argv[1], {"t": array})
        print(len(array[-1]), array.shape, list(sa.check(sys.argv[1])))
        """,
        path,
        seconds=30,
        mebibytes=400,
    )
    assert child.output.split(maxsplit=1) == ["20000", "(100000,) []\n"]
