"""The suite that every adapter passes. To test an adapter of your own, subclass it, and set a suffix and a format.

    from sheetarray.testing.conformance import Conformance

    class TestColors(Conformance):
        suffix, format = ".colors", "colors"

The adapter declares in `keeps_<stem>` what its format keeps. The suite expects that such arrays come back bit for bit.
All other arrays must be refused before anything is written. Describe what is special about your adapter by attributes
of the subclass. If your arrays do not go through a path, override the hooks `place`, `write`, `read`, `scan`, `check`.

Needs pytest: pip install 'sheetarray[testing]'. docs/adapters.md has an example.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sheetarray as sa

from .cases import CASES, assert_same, objects
from .conformance_hooks import BAD, ConformanceHooks
from .hostile import HostileConformance

__all__ = ["Conformance", "HostileConformance"]


class Conformance(ConformanceHooks):
    """Tests that `read` brings back every array bit for bit, unless `write` refuses the array and changes nothing.

    `ConformanceHooks` describes the attributes and hooks that a subclass can set.
    """

    # What comes back -----------------------------------------------------------------------------------------

    def test_comes_back_bit_for_bit_and_scan_and_check_agree(self, place: Path, case: str) -> None:
        if refusal := self.lacks.get(case):
            with pytest.raises(refusal):
                self.write(place, {"x": CASES[case]})
            assert not place.exists()
            return
        array = CASES[case]
        self._write_and_read(place, {"x": array})
        assert self.check(place) == []
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
            if self.every_case:
                pytest.skip("the format holds one array, and each case was tested alone")
            for case in sorted(set(CASES) - set(self.lacks)):
                self._write_and_read(place, {"x": CASES[case]})
                assert self.check(place) == []
            return
        arrays = {f"n{index} {case}": CASES[case] for index, case in enumerate(CASES) if case not in self.lacks}
        self._write_and_read(place, arrays)
        assert self.check(place) == []
        assert list(self.scan(place)) == list(self._names(arrays).values())

    def test_empty_arrays_beside_long_ones(self, place: Path) -> None:
        if not self.holds_several:
            pytest.skip("the format holds one array")
        arrays = {"e": np.empty(0), "l": np.arange(5000), "s": np.array(["", "a", ""]), "z": np.array(1)}
        self._write_and_read(place, self._select_expected(arrays))

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
        self._write_and_read(place, self._select_expected(arrays))

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
        self._write_and_read(place, {name: np.array([index]) for index, name in enumerate(names)})

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
        (array_read,) = self.read(place).values()
        assert_same(array_read, array, layout=False)
        assert array_read.strides == array.strides
        (info,) = self.scan(place).values()
        assert (info.strides, info.offset, info.capacity) == (linear.strides, linear.offset, 24)
        assert self.check(place) == []

    def test_what_is_read_can_be_written_to(self, place: Path) -> None:
        self.write(place, {"x": np.arange(3.0)})
        (array_read,) = self.read(place).values()
        array_read[0] = 9.0
        assert array_read.tolist() == [9.0, 1.0, 2.0]

    # Choosing ------------------------------------------------------------------------------------------------

    def test_names_select_and_a_missing_one_says_what_there_is(self, place: Path) -> None:
        if not self.holds_several:
            pytest.skip("the format holds one array")
        arrays = self._select_expected(
            {"first": np.arange(3), "second": np.array(["a", "b"]), "third": np.array([1.5])}
        )
        self.write(place, arrays)
        name_of = self._names(arrays)
        arrays_read = self.read(place, [name_of["third"], name_of["first"]])
        assert set(arrays_read) == {name_of["third"], name_of["first"]}
        assert_same(arrays_read[name_of["first"]], arrays["first"])
        with pytest.raises(sa.NotFoundError) as caught:
            self.read(place, [name_of["first"], "absent"])
        assert "'absent'" in str(caught.value)
        assert all(name in str(caught.value) for name in name_of.values())
        assert isinstance(caught.value, KeyError)

    def test_no_name_selects_nothing(self, place: Path) -> None:
        self.write(place, {"x": np.arange(3)})
        assert self.read(place, []) == {}

    def test_an_array_alone_is_written_without_a_mapping(self, place: Path) -> None:
        self.write(place, np.array([[1, 2]], dtype="int8"))
        (array_read,) = self.read(place).values()
        assert_same(array_read, np.array([[1, 2]], dtype="int8"))

    def test_awkward_arrays_come_back_or_are_refused(self, place: Path) -> None:
        awkward = pytest.importorskip("awkward")
        if self.format is None:
            pytest.skip("no format is named, so nobody knows what it declares")
        events = awkward.Array([[{"x": 1.5, "tag": "a"}], [], [{"x": -0.0, "tag": "=1"}, {"x": 2.5, "tag": ""}]])
        arrays = {"n": np.arange(2), "events": events}
        for write in (self.write, self._write_directly):
            if not self.keeps.nested:
                with pytest.raises((sa.DTypeError, sa.LimitError)):
                    write(place, arrays)
                assert os.listdir(place.parent) == []
                continue
            write(place, arrays)
            for read, names in ((self.read, None), (self._read_directly, None), (self.read, ["events"])):
                arrays_read = read(place, names)
                assert list(arrays_read) == (names or list(arrays))
                assert arrays_read["events"].to_list() == events.to_list()
                assert arrays_read["events"].type == events.type
            assert self.scan(place)["events"].shape == (3,)
            assert self.check(place) == []

    def test_labels_come_back_where_they_are_kept(self, place: Path) -> None:
        xarray = pytest.importorskip("xarray")
        t = ("site", "day"), np.array([[1.5, 2.5], [-0.0, 4.5]]), {"units": "K"}
        run = xarray.Dataset({"t": t}, {"site": ["p", "q"]}, {"title": "run"})
        if not self.keeps.labels or "string" not in self.keeps.dtypes or not self.holds_several:
            pytest.skip("the format keeps no labels, or has a test of its own")
        for write in (self.write, self._write_directly):
            write(place, run)
            xarray.testing.assert_identical(sa.read_dataset(place, **self.reading), run)
            assert sorted(self.read(place)) == ["site", "t"]
            assert self.scan(place)["t"].dims == ("site", "day")
            assert self.check(place) == []

    def test_unknown_options_are_refused_and_nothing_is_written(self, place: Path) -> None:
        with pytest.raises(TypeError, match="no_such_option"):
            self.write(place, {"x": np.arange(3)}, no_such_option=1)
        assert not place.exists()

    # Refusals ------------------------------------------------------------------------------------------------

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
        (array,) = self.read(str(place)).values()
        (other,) = self.read(place).values()
        assert array.tolist() == other.tolist() == [0, 1, 2]
        assert len(self.scan(str(place))) == 1

    def test_writing_replaces(self, place: Path) -> None:
        self.write(place, {"long": np.arange(10_000)})
        self._write_and_read(place, {"short": np.arange(2)})
        assert os.listdir(place.parent) == [place.name]

    def test_open_files_stay_open_and_hold_the_same(self) -> None:
        kinds = [io.BytesIO] * self.binary + [io.StringIO] * self.text
        if self.format is None:
            pytest.skip("takes paths only")
        for kind in kinds:
            file = kind()
            self.write(file, {"x": self.sample}, format=self.format)
            for verb in (self.read, self.scan, self.check):
                file.seek(0)
                arrays_read: Any = verb(file, format=self.format)
                assert not file.closed
                assert len(arrays_read) == (0 if verb == self.check else 1)
                if verb == self.read:
                    (array,) = arrays_read.values()
                    assert_same(array, self.sample)

    def test_progress_rises_to_the_total(self, place: Path) -> None:
        if not self.has_progress:
            pytest.skip("the format reports none")
        arrays = {"a": np.arange(3000.0), "b": np.array(["", "x", ""]), "c": objects(None, 1, None), "d": np.array(1)}
        arrays = arrays if self.holds_several else {"a": arrays["a"]}
        arrays = self._select_expected(arrays)
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
