"""Texts as they were written, and harmed ones: the compiled loop and the plain way read them alike."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray import loops

ARRAYS: dict[str, Any] = {
    "doubles": np.array([1.5, -0.0, np.nan, np.inf, 5e-324]),
    "matrix": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "small": np.array([1, 2, 255], "uint8"),
    "half": np.array([1.5, 65504], "float16"),
    "scalar": np.array(7),
    "none": np.zeros((0, 3)),
    "flags": np.array([True, False]),
    "waves": np.array([1 + 2j, -0.0 - 1j]),
    "dates": np.array(["2024-02-29", "NaT"], "datetime64[D]"),
    "spans": np.array([3, -5], "timedelta64[s]"),
    "texts": np.array(["a", "", "  x", "long text"]),
    "objects": np.array([1, "1", None, True], dtype=object),
    "formula": np.array(["=1+1", "'a"]),
    "keys": np.array(["version", "1.0.0", "ndarray", "data"]),
}


def written(arrays: Any, **options: Any) -> bytes:
    """The bytes of a CSV."""
    file = io.BytesIO()
    sa.write_csv(file, arrays, **options)
    return file.getvalue()


def outcome(work: Callable[[], Any]) -> Any:
    """What comes of some work, errors and warnings too, in a form that can be compared."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = work()
        except (sa.SheetArrayError, ValueError) as error:
            result = f"{type(error).__name__}: {error}"
    if isinstance(result, dict):
        result = [
            (name, v.dtype, v.shape, v.flags.f_contiguous, v.flags.writeable, repr(v.tolist()))
            if isinstance(v, np.ndarray)
            else (name, v)
            for name, v in result.items()
        ]
    return result, [str(warning.message) for warning in caught]


def assert_both_ways_agree(content: bytes, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    """Read, scan and check a text by the compiled loop and by the plain way."""
    names = list(ARRAYS)[:1]
    doors: list[Callable[[], Any]] = [
        lambda: sa.read_csv(io.BytesIO(content), **options),
        lambda: sa.read_csv(io.BytesIO(content), missing="nan", **options),
        lambda: sa.read_csv(io.BytesIO(content), names, **options),
        lambda: sa.scan(io.BytesIO(content), format="csv"),
        lambda: [str(finding) for finding in sa.check(io.BytesIO(content), format="csv")],
    ]
    at_once = [outcome(door) for door in doors]
    with monkeypatch.context() as patch:
        patch.setattr(loops, "COMPILED", False)
        assert at_once == [outcome(door) for door in doors]


LONG: dict[str, Any] = {
    "doubles": np.where(np.arange(210) % 100 == 7, -np.inf, np.arange(210) / 7),
    "floats": np.where(np.arange(210) % 100 == 8, np.inf, np.arange(210) / 7).astype("float32"),
    "numbers": np.arange(210, dtype="uint16"),
    "flags": np.arange(210) % 3 == 0,
    "texts": np.char.add(np.array(["ä", "long ", "", "日本"])[np.arange(210) % 4], np.arange(210).astype("U4")),
    "formulas": np.char.add("=", np.arange(210).astype("U4")),
    "dates": np.arange(210).astype("M8[h]"),
    "spans": np.arange(210).astype("m8[s]"),
    "waves": np.arange(210) * (1 - 2j),
    "objects": np.array([1, "1", None, True, 2.5, "x"] * 35, dtype=object),
}


HARMFUL = [b"", b'"', b"\r", b"\n", b",", b";", b"\r\n", b"data", b"ndarray", b"version", b" ", b"7", b"\xff", b"'"]
HARMFUL += [b"1e999", b"Infinity", b"-", b"\x00"]


@pytest.mark.parametrize("arrays", [ARRAYS, LONG], ids=["short", "long"])
@given(data=st.data())
@settings(max_examples=examples(200))
def test_a_harmed_text_is_read_alike_by_both_ways(arrays: dict[str, Any], data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(list(arrays)), min_size=1, max_size=3, unique=True))
    delimiter, decimal = data.draw(st.sampled_from([",.", ";.", ";,", "\t.", "\t,", "|."]))
    bom = data.draw(st.booleans())
    content = written({name: arrays[name] for name in names}, delimiter=delimiter, decimal=decimal, bom=bom)
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, len(content)))
        removed = data.draw(st.sampled_from([0, 0, 1, 2, 9]))
        content = content[:place] + data.draw(st.sampled_from(HARMFUL)) + content[place + removed :]
    with pytest.MonkeyPatch.context() as patch:
        assert_both_ways_agree(content, patch)


def test_options_are_refused_and_heeded_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    content = written({"doubles": np.array([1.5, 2.5]), "'=b": np.array(["'=x"])})
    for options in (
        *({"delimiter": ","}, {"delimiter": ";"}, {"delimiter": "ab"}, {"decimal": "."}, {"decimal": ","}),
        *({"decimal": "x"}, {"encoding": "utf-16"}, {"formulas": "keep"}, {"formulas": "x"}, {"strict": True}),
    ):
        assert_both_ways_agree(content, monkeypatch, **options)


def test_arrays_read_together_share_no_memory() -> None:
    arrays = sa.read_csv(io.BytesIO(written({"a": np.zeros(3), "b": np.ones(3), "c": np.zeros(3, "M8[s]")})))
    arrays["a"][:] = 7
    assert arrays["b"].tolist() == [1, 1, 1]
    for array in arrays.values():
        assert sa.LinearArray.from_numpy(array, base=True).capacity == 3


def test_progress_counts_the_cells_of_headers_and_data() -> None:
    content = written({"a": np.zeros(3)})
    steps: list[tuple[int, int]] = []
    sa.read_csv(io.BytesIO(content), progress=lambda done, total: steps.append((done, total)))
    cells = sa.scan(io.BytesIO(content), format="csv")["a"].cells
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == ((0, cells), (cells, cells))


COUNT = 100_000
FLOATS = np.random.default_rng(0).normal(size=COUNT)
FLOATS[::1000] = [np.nan, np.inf, -np.inf, -0.0] * (COUNT // 4000)
WORDS = np.array(["a", "b c", "\xe9", "007", "=1", "TRUE", "x" * 30])
LARGE: dict[str, dict[str, Any]] = {
    "numbers": {
        "f": FLOATS,
        "n": np.arange(COUNT) - 2**60,
        "z": np.nan_to_num(FLOATS[: COUNT // 3]) + 1j,
        "b": FLOATS[:5] > 0,
        "m": FLOATS[: 2 * (COUNT // 4)].reshape(2, -1, order="F"),
        "d": np.datetime64("2024-01-01T00:00") + np.arange(COUNT // 9),
        "s": np.array([1, "NaT"] * (COUNT // 20), "m8[ms]"),
    },
    "words": {
        "t": WORDS[np.arange(2 * COUNT) % 7],
        "late": np.array(["z"] * (2 * COUNT - 1) + ["w" * 90]),
        "n": np.arange(170_000) / 7,
        "o": np.array([True, "x", 7, 2.5], object)[np.arange(50_000) % 4],
        "short": np.array(["above"]),
    },
    "quotes": {"t": np.array(['a "b", c', "d\ne", "f"])[np.arange(3 * COUNT) % 3], "n": np.arange(3 * COUNT) / 7},
}


@pytest.mark.parametrize("kind", LARGE)
def test_progress_of_a_large_text_is_told_piece_by_piece(kind: str) -> None:
    content = written(LARGE[kind])
    steps: list[tuple[int, int]] = []
    got = sa.read_csv(io.BytesIO(content), progress=lambda done, total: steps.append((done, total)))
    cells = sum(info.cells for info in sa.scan(io.BytesIO(content), format="csv").values())
    assert {total for _, total in steps} == {cells}
    counts = [done for done, _ in steps if done]
    assert counts == sorted(counts)
    assert counts[-1] == cells
    assert sum(done < 0.5 * cells for done in counts) > 1
    assert kind == "quotes" or len(steps) > len(content) / 2**20 > 4
    plain = sa.read_csv(io.BytesIO(content))
    for name, array in LARGE[kind].items():
        assert (got[name].dtype, got[name].strides) == (plain[name].dtype, plain[name].strides)
        np.testing.assert_array_equal(got[name], array)
        np.testing.assert_array_equal(plain[name], array)
    if kind == "numbers":
        lines = content.split(b"\n")
        row = 2 * COUNT // 3
        lines[row - 1] = b"x" + lines[row - 1]
        with pytest.raises(sa.FormatError, match=f"A{row}"):  # far below, a cell that is wrong
            sa.read_csv(io.BytesIO(b"\n".join(lines)), progress=lambda *_: None)


@pytest.mark.parametrize(("rows", "orient"), [(199, "columns"), (200, "columns"), (201, "columns"), (201, "rows")])
@pytest.mark.parametrize("kind", ["float64", "int8", "U", "O", "complex128", "datetime64[s]", "bool"])
def test_arrays_below_each_other_are_read_whatever_their_length(orient: Any, rows: int, kind: str) -> None:
    numbers = np.arange(rows) % 100
    array = numbers.astype("U4") if kind == "U" else numbers.astype(object if kind == "O" else kind)
    if kind == "U":
        array[::7] = "=1+1"
        array[-1] = ""
    arrays = {"first": array, "second": array[:1], "third": array[::-1].copy()}
    parts = [written({name: value}, orient=orient, decimal=",", delimiter=";") for name, value in arrays.items()]
    got = sa.read_csv(io.BytesIO(b"".join(parts)))
    assert list(got) == list(arrays)
    turned = sa.read_csv(io.BytesIO(b"".join(parts)), ["third", "first", "third"])
    for name, value in arrays.items():
        np.testing.assert_array_equal(got[name], value)
        assert name == "second" or (turned[name].dtype, turned[name].tolist()) == (value.dtype, value.tolist())


@pytest.mark.parametrize("more", ["", "abc, ~|;:^x"])
@pytest.mark.parametrize("beside", [{}, {"1": np.arange(3)}])
def test_a_column_of_every_control_character_is_read(more: str, beside: dict[str, Any]) -> None:
    marks = [chr(number) for number in range(1, 128) if number < 32 or number == 127]
    text = np.array([mark for mark in marks if mark not in "\t\n\r"] + ["", more])
    file = io.BytesIO()
    sa.write(file, {"0": text, **beside}, format="csv")
    for formulas in ("escape", "keep"):
        read = sa.read(io.BytesIO(file.getvalue()), format="csv", formulas=formulas)["0"]
        assert read.tolist() == text.tolist()


@pytest.mark.parametrize(
    ("first", "last"), [("0000-01-01", "0000-03-01"), ("2024-02-28", "2024-03-01"), ("9999-12-01", "9999-12-31")]
)
@pytest.mark.parametrize("count", [3, 500])  # days that come once, and again and again
@pytest.mark.parametrize("missing", [False, True])
def test_days_are_written_as_numpy_prints_them(first: str, last: str, count: int, missing: bool) -> None:
    days = np.datetime64(first) + np.arange(count) * 7 % (np.datetime64(last) - np.datetime64(first)).astype(int)
    days[-1] = last
    if missing:
        days[1::3] = "NaT"
    lines = written({"days": days}).decode().splitlines()
    assert lines[-count:] == np.datetime_as_string(days).tolist()
