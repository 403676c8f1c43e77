"""The attributes and hooks of the conformance suite. A test sets attributes, and may replace hooks."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import sheetarray as sa

from ..formats import FORMATS
from ..formats.contract import Keeps
from .cases import CASES, assert_same, objects

BAD = {
    "longdouble": np.zeros(2, dtype=np.longdouble),
    "void": np.zeros(2, dtype="V3"),
    "bytes": np.array([b"ab"]),
    "masked and NaN": np.ma.masked_array([1.0, 2.0, np.nan], mask=[False, True, False]),
    "timeless": np.zeros(2, dtype="timedelta64"),
    "a list object": objects([1, 2], "x"),
    "a generic NaN": objects(1, float("nan")),
    "lone surrogates": np.array(["ok", "\ud800"]),
}

# The cases that an option or a compression may change: one of each kind of cell, one without cells, one like a header
SOME_CASES = (
    "dtype float64",
    "dtype int64",
    "dtype bool",
    "dtype complex128",
    "dtype datetime64[us]",
    "dtype string",
    "dtype generic",
    "0-d string",
    "empty",
    "F",
    "whole header",
)
# The tests whose result no option and no compression can change; a subclass may define one of them all the same
OF_THE_FORMAT = (
    "test_a_base_buffer_comes_back_with_strides_and_offset",
    "test_what_is_read_can_be_written_to",
    "test_names_select_and_a_missing_one_says_what_there_is",
    "test_no_name_selects_nothing",
    "test_an_array_alone_is_written_without_a_mapping",
    "test_awkward_arrays_come_back_or_are_refused",
    "test_labels_come_back_where_they_are_kept",
    "test_unknown_options_are_refused_and_nothing_is_written",
    "test_what_the_format_cannot_hold_leaves_the_old_file",
    "test_what_the_format_cannot_hold_makes_no_new_file",
    "test_a_late_refusal_leaves_the_old_file",
    "test_a_missing_file_is_the_systems_error",
    "test_a_missing_folder_is_the_systems_error",
    "test_paths_may_be_text",
)

_DTYPES = {name: sa.LinearArray.from_numpy(array).dtype.partition("[")[0] for name, array in CASES.items()}


class ConformanceHooks:
    """The attributes and hooks by which a subclass of `Conformance` describes its adapter.

    Attributes:
        suffix: the suffix of the files that the tests write.
        format: the name of the format for open files; None if the adapter takes no open files.
        writing: options for every write. `reading` has those for every read and check, `scanning` those for every scan.
        lacks: the names of the cases that the format refuses, with the class of the error. By default, these are the
            cases of dtypes that the adapter does not declare, with `DTypeError`.
        holds_too: the names of the cases in `BAD` that the format holds although most formats refuse them.
        sample: an array that the format holds, for tests with open files.
        keeps_layout: whether an array in Fortran order comes back in Fortran order; by default as declared.
        keeps_buffers: whether a base buffer comes back with strides and offset; by default as declared.
        holds_several: whether a file holds several arrays of any lengths; by default as declared.
        has_progress: whether the verbs in `progress_of` have the option `progress=`.
        every_case: whether each case gets a file of its own. Set False to test an option or a compression of a format
            that already passes the whole suite. Then some cases get a file of their own, all cases together get one
            more, and tests that no option can change are left out.
        binary: whether the adapter takes files opened for bytes. `text` says the same of files opened for text.
    """

    suffix = ""
    format: str | None = None
    writing: Mapping[str, Any] = MappingProxyType({})
    reading: Mapping[str, Any] = MappingProxyType({})
    scanning: Mapping[str, Any] = MappingProxyType({})
    holds_too: frozenset[str] = frozenset()
    has_progress = True
    progress_of = ("write", "read")
    every_case = True
    binary = True
    text = True

    def __init_subclass__(cls, **options: Any) -> None:
        """Remove the tests of `OF_THE_FORMAT` from a class with `every_case` False, unless it defines them itself."""
        super().__init_subclass__(**options)
        for name in OF_THE_FORMAT:
            if name not in vars(cls):
                tests = [vars(parent)[name] for parent in cls.__mro__ if vars(parent).get(name) is not None]
                if tests:
                    setattr(cls, name, tests[0] if cls.every_case else None)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Parametrize tests of one case by all cases or by `SOME_CASES`, and tests of refusals by `BAD`."""
        for argument, names in (("case", CASES if self.every_case else SOME_CASES), ("kind", BAD)):
            if argument in metafunc.fixturenames:
                metafunc.parametrize(argument, list(names))

    @property
    def keeps(self) -> Keeps:
        """The `Keeps` that the adapter declares. If no format is named, everything is kept."""
        if self.format is None:
            return Keeps()
        row = FORMATS[self.format]
        declared = getattr(import_module(row.module), f"keeps_{row.stem}")
        assert isinstance(declared, Keeps), f"{row.module} has no keeps_{row.stem}"
        return declared

    @property
    def lacks(self) -> Mapping[str, type[Exception]]:
        """A mapping of the cases that the format refuses to the class of the error."""
        keeps = self.keeps.dtypes
        return {name: sa.DTypeError for name, dtype in _DTYPES.items() if dtype not in keeps}

    @property
    def sample(self) -> Any:
        """An array that the format holds, which is written to open files."""
        return np.array(["ü", "a,b"]) if "string" in self.keeps.dtypes else np.array([[1.5, np.nan]])

    @property
    def keeps_layout(self) -> bool:
        """Whether the order in memory comes back."""
        return self.keeps.order

    @property
    def keeps_buffers(self) -> bool:
        """Whether strides and offset come back."""
        return self.keeps.buffers

    @property
    def holds_several(self) -> bool:
        """Whether a file holds several arrays of any lengths."""
        return self.keeps.several and not self.keeps.table

    # Hooks ---------------------------------------------------------------------------------------------------

    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        """Return the place to which arrays are written."""
        return tmp_path / f"file{self.suffix}"

    def write(self, place: Any, arrays: Any, **options: Any) -> None:
        """Write arrays to a place."""
        with warnings.catch_warnings():  # what a format changes, it declares
            warnings.filterwarnings("ignore", ".* keeps no ", sa.SheetArrayWarning)
            sa.write(place, arrays, **{**self.writing, **options})

    def read(self, place: Any, names: Any = None, **options: Any) -> dict[str, Any]:
        """Read arrays from a place, by name."""
        arrays: dict[str, Any] = sa.read(place, names, **{**self.reading, **options})
        return arrays

    def scan(self, place: Any, **options: Any) -> dict[str, sa.ArrayInfo]:
        """Return an `ArrayInfo` of each array at a place, by name."""
        return sa.scan(place, **{**self.scanning, **options})

    def check(self, place: Any, **options: Any) -> list[sa.Finding]:
        """Return the findings about a place."""
        return list(sa.check(place, **{**self.reading, **options}))

    def _goes_through_files(self) -> bool:
        """Return whether the functions of the adapter take the places of the tests."""
        own = type(self)
        return (own.write, own.read) == (ConformanceHooks.write, ConformanceHooks.read) and self.format is not None

    def _write_directly(self, place: Any, arrays: Any) -> None:
        """Write arrays by the adapter's own function."""
        if not self._goes_through_files():
            self.write(place, arrays)
        else:
            row = FORMATS[str(self.format)]
            row.function("write")(place, arrays, **{**row.writing, **self.writing})

    def _read_directly(self, place: Any, names: Any = None) -> dict[str, Any]:
        """Read arrays by the adapter's own function."""
        if not self._goes_through_files():
            return self.read(place, names)
        arrays: dict[str, Any] = FORMATS[str(self.format)].function("read")(place, names, **self.reading)
        return arrays

    def name(self, number: int, name: str) -> str:  # noqa: ARG002  (for subclasses)
        """Return the name of an array after reading, from its number (counted from 0) and its name before writing."""
        return name

    def cells(self, array: Any) -> int:
        """Return the number of cells that `scan` has to return for an array."""
        return len(sa.to_linear(array))

    def _names(self, arrays: dict[str, Any]) -> dict[str, str]:
        """Return the names under which arrays come back, by those under which they were written."""
        return {name: self.name(index, name) for index, name in enumerate(arrays)}

    def _select_expected(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """Return the arrays that the format holds, by their dtypes, and whether it holds arrays without dimensions."""
        lacks = self.lacks
        least = 0 if any(not array.ndim and name not in lacks for name, array in CASES.items()) else 1
        fits = {n: a for n, a in arrays.items() if np.ndim(a) >= least}
        return {n: a for n, a in fits.items() if f"dtype {sa.LinearArray.from_numpy(a).dtype}" not in lacks}

    def _write_and_read(self, place: Any, arrays: dict[str, Any]) -> None:
        """Write arrays, read them, and compare each element and the names."""
        self.write(place, arrays)
        arrays_read = self.read(place)
        assert list(arrays_read) == list(self._names(arrays).values())
        for name, name_read in self._names(arrays).items():
            assert_same(arrays_read[name_read], arrays[name], layout=self.keeps_layout)
