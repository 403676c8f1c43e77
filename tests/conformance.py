"""The suite that every adapter passes: `class TestMine(Conformance)` with a suffix is a whole test.

Attributes of a subclass say what its format cannot do; hooks (`write`, `read`, `scan`, `check`) may be replaced where
arrays do not go through a path.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import CASES, assert_same, objects

import sheetarray as sa

BAD = {
    "longdouble": np.zeros(2, dtype=np.longdouble),
    "structured": np.zeros(2, dtype=[("a", "i4")]),
    "void": np.zeros(2, dtype="V3"),
    "bytes": np.array([b"ab"]),
    "masked": np.ma.masked_array([1.0, 2.0], mask=[False, True]),
    "timeless": np.zeros(2, dtype="timedelta64"),
    "a list object": objects([1, 2], "x"),
    "a generic NaN": objects(1, float("nan")),
    "lone surrogates": np.array(["ok", "\ud800"]),
}  # fmt: skip


class Conformance:
    """Whatever `write` puts into a file, `read` brings back bit for bit, or `write` refuses it and nothing changes."""

    suffix = ""
    format: str | None = None  # what format= calls it, for file objects; None where none are taken
    writing: dict[str, Any] = {}  # noqa: RUF012  (options of every write, read and scan)
    reading: dict[str, Any] = {}  # noqa: RUF012
    scanning: dict[str, Any] = {}  # noqa: RUF012
    lacks: dict[str, type[Exception]] = {}  # noqa: RUF012  (cases that the format refuses, and with what)
    holds_too: frozenset[str] = frozenset()  # of BAD, what the format does hold
    sample: Any = np.array(["ü", "a,b"])  # an array that it holds, for open files
    keeps_layout = True  # the order in memory comes back
    keeps_buffers = True  # a base buffer comes back with strides and offset
    has_progress = True
    progress_of = ("write", "read")
    holds_several = True
    binary = True  # takes io.BytesIO
    text = True  # takes io.StringIO

    # Hooks ---------------------------------------------------------------------------------------------------

    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        return tmp_path / f"file{self.suffix}"

    def write(self, place: Any, arrays: Any, **options: Any) -> None:
        sa.write(place, arrays, **{**self.writing, **options})

    def read(self, place: Any, names: Any = None, **options: Any) -> dict[str, Any]:
        return sa.read(place, names, **{**self.reading, **options})

    def scan(self, place: Any, **options: Any) -> dict[str, sa.ArrayInfo]:
        return sa.scan(place, **{**self.scanning, **options})

    def check(self, place: Any, **options: Any) -> list[sa.Finding]:
        return list(sa.check(place, **{**self.reading, **options}))

    def name(self, nth: int, name: str) -> str:
        """The name under which the nth array, written as `name`, comes back."""
        return name

    def cells(self, array: Any) -> int:
        """How many cells `scan` has to report."""
        return len(sa.to_linear(array))

    def _names(self, arrays: dict[str, Any]) -> dict[str, str]:
        return {name: self.name(nth, name) for nth, name in enumerate(arrays)}

    def _held(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """Those of a dtype that the format holds."""
        return {n: a for n, a in arrays.items() if f"dtype {sa.LinearArray.from_numpy(a).dtype}" not in self.lacks}

    def _there_and_back(self, place: Any, arrays: dict[str, Any]) -> None:
        self.write(place, arrays)
        found = self.read(place)
        assert list(found) == list(self._names(arrays).values())
        for name, known in self._names(arrays).items():
            assert_same(found[known], arrays[name], layout=self.keeps_layout)

    # What comes back -----------------------------------------------------------------------------------------

    @pytest.mark.parametrize("case", CASES)
    def test_comes_back_bit_for_bit_and_check_finds_nothing(self, place: Path, case: str) -> None:
        if refusal := self.lacks.get(case):
            with pytest.raises(refusal):
                self.write(place, {"x": CASES[case]})
            assert not place.exists()
            return
        self._there_and_back(place, {"x": CASES[case]})
        assert self.check(place) == []

    @pytest.mark.parametrize("case", CASES)
    def test_scan_agrees_with_what_was_written(self, place: Path, case: str) -> None:
        if case in self.lacks:
            pytest.skip("the format does not hold it")
        array = CASES[case]
        self.write(place, {"x": array})
        linear = sa.LinearArray.from_numpy(array)
        (info,) = self.scan(place).values()
        assert info.shape == array.shape
        assert info.dtype == linear.dtype
        assert info.location
        if self.keeps_layout:
            assert (info.order, info.strides, info.offset) == (linear.order, linear.strides, 0)
            assert (info.cells, info.capacity) == (self.cells(array), linear.capacity)

    def test_ragged_columns_of_every_dtype_stand_side_by_side(self, place: Path) -> None:
        if not self.holds_several:
            pytest.skip("the format holds one array")
        arrays = {f"n{nth} {case}": CASES[case] for nth, case in enumerate(CASES) if case not in self.lacks}
        self._there_and_back(place, arrays)
        assert self.check(place) == []
        assert list(self.scan(place)) == list(self._names(arrays).values())

    def test_empty_arrays_beside_long_ones(self, place: Path) -> None:
        if not self.holds_several:
            pytest.skip("the format holds one array")
        arrays = {"e": np.empty(0), "l": np.arange(5000), "s": np.array(["", "a", ""]), "z": np.array(1)}
        self._there_and_back(place, self._held(arrays))

    def test_a_long_array_of_each_bulk_path(self, place: Path) -> None:
        random = np.random.default_rng(0)
        arrays = {
            "f": random.integers(0, 2**64, 30_000, dtype=np.uint64, endpoint=False).view(np.float64),
            "i": random.integers(-(2**63), 2**63 - 1, 20_000),
            "b": random.random(25_000) < 0.5,
            "t": np.array([f"{n:05d}" for n in range(10_000)]),
            "h": random.integers(0, 2**16, 20_000, dtype=np.uint16).view(np.float16),
        }
        if not self.holds_several:
            arrays = {"f": arrays["f"]}
        self._there_and_back(place, self._held(arrays))

    def test_names_come_back_in_the_order_written(self, place: Path) -> None:
        names = [
            "z",
            "a",
            "10",
            "9",
            "B",
            "b",
            " padded ",
            "ü",
            'with, comma; and "quote"',
            "=formula",
            "'q",
            "two\nlines",
            "data",
            "shape",
        ]
        if not self.holds_several:
            pytest.skip("the format holds one array")
        self._there_and_back(place, {name: np.array([nth]) for nth, name in enumerate(names)})

    @pytest.mark.parametrize("view", ["negative", "zero", "offset", "transposed", "big-endian"])
    def test_a_base_buffer_comes_back_with_strides_and_offset(self, place: Path, view: str) -> None:
        if not self.keeps_buffers:
            pytest.skip("the format holds elements, not buffers")
        base = np.arange(24, dtype="float32").reshape(4, 6)
        array = {
            "negative": base[::-1, ::-2],
            "zero": np.broadcast_to(base[1, 2:5], (3, 3)),
            "offset": base[2:, 3:],
            "transposed": base.T[1:, :2],
            "big-endian": base.astype(">f4")[1:, ::3],
        }[view]
        linear = sa.LinearArray.from_numpy(array, base=True)
        self.write(place, {"x": linear})
        (found,) = self.read(place).values()
        assert_same(found, array, layout=False)
        assert found.strides == array.strides
        (info,) = self.scan(place).values()
        assert (info.strides, info.offset, info.capacity) == (linear.strides, linear.offset, 24)
        assert self.check(place) == []

    def test_what_is_read_can_be_written_to(self, place: Path) -> None:
        self.write(place, {"x": np.arange(3.0)})
        (found,) = self.read(place).values()
        found[0] = 9.0
        assert found.tolist() == [9.0, 1.0, 2.0]

    # Choosing ------------------------------------------------------------------------------------------------

    def test_names_select_and_a_missing_one_says_what_there_is(self, place: Path) -> None:
        if not self.holds_several:
            pytest.skip("the format holds one array")
        arrays = self._held({"first": np.arange(3), "second": np.array(["a", "b"]), "third": np.array(1.5)})
        self.write(place, arrays)
        known = self._names(arrays)
        found = self.read(place, [known["third"], known["first"]])
        assert set(found) == {known["third"], known["first"]}
        assert_same(found[known["first"]], arrays["first"])
        with pytest.raises(sa.NotFoundError) as caught:
            self.read(place, [known["first"], "absent"])
        assert "'absent'" in str(caught.value)
        assert all(name in str(caught.value) for name in known.values())
        assert isinstance(caught.value, KeyError)

    def test_no_name_selects_nothing(self, place: Path) -> None:
        self.write(place, {"x": np.arange(3)})
        assert self.read(place, []) == {}

    def test_an_array_alone_is_written_without_a_mapping(self, place: Path) -> None:
        self.write(place, np.array([[1, 2]], dtype="int8"))
        (found,) = self.read(place).values()
        assert_same(found, np.array([[1, 2]], dtype="int8"))

    def test_unknown_options_are_refused_and_nothing_is_written(self, place: Path) -> None:
        with pytest.raises(TypeError, match="no_such_option"):
            self.write(place, {"x": np.arange(3)}, no_such_option=1)
        assert not place.exists()

    # Refusals ------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("kind", BAD)
    def test_what_the_format_cannot_hold_leaves_the_old_file(self, place: Path, kind: str) -> None:
        if kind in self.holds_too:
            pytest.skip("the format holds it")
        self.write(place, {"old": np.arange(3)})
        before = place.read_bytes()
        arrays = {"fine": np.arange(200_000), "bad": BAD[kind]} if self.holds_several else {"bad": BAD[kind]}
        with pytest.raises(sa.DTypeError) as caught:
            self.write(place, arrays)
        assert isinstance(caught.value, TypeError)
        assert len(str(caught.value)) > 20
        assert place.read_bytes() == before
        assert os.listdir(place.parent) == [place.name]

    @pytest.mark.parametrize("kind", BAD)
    def test_what_the_format_cannot_hold_makes_no_new_file(self, place: Path, kind: str) -> None:
        if kind in self.holds_too:
            pytest.skip("the format holds it")
        with pytest.raises(sa.DTypeError):
            self.write(place, {"bad": BAD[kind]})
        assert os.listdir(place.parent) == []

    def test_a_late_refusal_leaves_the_old_file(self, place: Path) -> None:
        if "dtype generic" in self.lacks:
            pytest.skip("the format refuses an array as a whole")
        self.write(place, {"old": np.arange(3)})
        before = place.read_bytes()
        late = objects(*range(150_000), {"no": "cell"})
        with pytest.raises(sa.DTypeError, match="150000"):
            self.write(place, {"late": late})
        assert place.read_bytes() == before
        assert os.listdir(place.parent) == [place.name]

    def test_a_missing_file_is_the_systems_error(self, place: Path) -> None:
        for verb in (self.read, self.scan, self.check):
            with pytest.raises(FileNotFoundError):
                verb(place)

    def test_a_missing_folder_is_the_systems_error(self, place: Path) -> None:
        with pytest.raises(FileNotFoundError):
            self.write(place.parent / "absent" / place.name, {"x": np.arange(3)})

    # Paths, files, progress ----------------------------------------------------------------------------------

    def test_paths_may_be_text(self, place: Path) -> None:
        self.write(str(place), {"x": np.arange(3)})
        (one,) = self.read(str(place)).values()
        (other,) = self.read(place).values()
        assert one.tolist() == other.tolist() == [0, 1, 2]
        assert len(self.scan(str(place))) == 1

    def test_writing_replaces(self, place: Path) -> None:
        self.write(place, {"long": np.arange(10_000)})
        self._there_and_back(place, {"short": np.arange(2)})
        assert os.listdir(place.parent) == [place.name]

    def test_open_files_stay_open_and_hold_the_same(self, place: Path) -> None:
        kinds = [io.BytesIO] * self.binary + [io.StringIO] * self.text
        if self.format is None:
            pytest.skip("takes paths only")
        for kind in kinds:
            file = kind()
            self.write(file, {"x": self.sample}, format=self.format)
            for verb in (self.read, self.scan, self.check):
                file.seek(0)
                found = verb(file, format=self.format)
                assert not file.closed
                assert len(found) == (0 if verb == self.check else 1)
                if verb == self.read:
                    (array,) = found.values()
                    assert_same(array, self.sample)

    def test_progress_rises_to_the_total(self, place: Path) -> None:
        if not self.has_progress:
            pytest.skip("the format reports none")
        arrays = {"a": np.arange(3000.0), "b": np.array(["", "x", ""]), "c": objects(None, 1, None), "d": np.array(1)}
        arrays = arrays if self.holds_several else {"a": arrays["a"]}
        arrays = self._held(arrays)
        for verb, given in ((self.write, [arrays]), (self.read, [])):
            if verb.__name__ not in self.progress_of:
                continue
            calls: list[tuple[int, int]] = []
            verb(place, *given, progress=lambda done, total, calls=calls: calls.append((done, total)))
            done, totals = [d for d, _ in calls], {t for _, t in calls}
            assert len(calls) >= 2
            assert len(totals) == 1
            assert done == sorted(done)
            assert done[0] == 0
            assert done[-1] == totals.pop() >= 3000
