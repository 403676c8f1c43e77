"""The suite of hostile files fails where an adapter does what it forbids."""

from __future__ import annotations

import struct
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sheetarray as sa
from sheetarray.formats import Format, register_format
from sheetarray.formats.contract import Keeps
from sheetarray.testing.conformance import Conformance, HostileConformance
from sheetarray.testing.conformance_hooks import OF_THE_FORMAT

MODULE = types.ModuleType("toy_adapter_of_doubles")
keeps_toy = Keeps(dtypes=frozenset({"float64"}), order=False, buffers=False, several=False)


def write_toy(target: Any, arrays: Any) -> None:
    (array,) = arrays.values()
    content = b"TOY" + struct.pack("<I", array.size) + array.astype("<f8").tobytes()
    target.write(content) if hasattr(target, "write") else Path(target).write_bytes(content)


def parse(content: bytes) -> np.ndarray[Any, Any]:
    """The array, of exactly as many doubles as the count says."""
    if len(content) < 7 or content[:3] != b"TOY":
        raise sa.FormatError("no file of doubles: it begins otherwise")
    (count,) = struct.unpack("<I", content[3:7])
    if len(content) != 7 + 8 * count:
        raise sa.FormatError(f"{count} doubles, but {len(content) - 7} bytes")
    return np.frombuffer(content[7:], "<f8").copy()


def bare(content: bytes) -> np.ndarray[Any, Any]:
    struct.unpack("<I", content[3:7])
    return parse(content)


def lenient(content: bytes) -> np.ndarray[Any, Any]:
    return parse(
        content[:3] + struct.pack("<I", max(len(content) - 7, 0) // 8) + content[7 : 7 + (len(content) - 7) // 8 * 8]
    )


def greedy(content: bytes) -> np.ndarray[Any, Any]:
    if len(content) >= 7:
        bytearray(min(8 * struct.unpack("<I", content[3:7])[0], 2**31))
    return parse(content)


def warning(content: bytes) -> np.ndarray[Any, Any]:
    if len(content) > 7:
        warnings.warn("odd", RuntimeWarning, stacklevel=1)
    return parse(content)


def installed(parser: Callable[[bytes], np.ndarray[Any, Any]], *, finds: bool = True) -> None:
    """Let the toy format be read by a parser."""

    def read_toy(source: Any, names: Any = None) -> dict[str, Any]:
        content = source.read() if hasattr(source, "read") else Path(source).read_bytes()
        return {"array": parser(content)}

    def scan_toy(source: Any) -> dict[str, Any]:
        return read_toy(source)

    def check_toy(source: Any) -> Iterator[sa.Finding]:
        try:
            read_toy(source)
        except sa.FormatError as error:
            if finds:
                yield sa.Finding("error", "byte 0", error.reason)

    for function in (read_toy, scan_toy, check_toy, write_toy):
        setattr(MODULE, function.__name__, function)
    MODULE.keeps_toy = keeps_toy  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch, own_registry: None) -> None:
    monkeypatch.setitem(sys.modules, MODULE.__name__, MODULE)
    register_format(Format("toy", (".toy",), MODULE.__name__, "toy", "doubles", compressible=False))


class Toy(HostileConformance):
    suffix, format = ".toy", "toy"
    tries = 60
    __test__ = False


TESTS = [name for name, test in vars(HostileConformance).items() if name.startswith("test_") and test is not None]


def failing(tmp_path: Path) -> set[str]:
    """The tests of the suite that fail."""
    failed = set()
    for name in TESTS:
        try:
            getattr(Toy(), name)(tmp_path / "file.toy")
        except AssertionError:
            failed.add(name.removeprefix("test_"))
    return failed


def test_an_adapter_that_looks_before_it_reads_passes(tmp_path: Path) -> None:
    installed(parse)
    assert failing(tmp_path) == set()


@pytest.mark.parametrize(
    ("parser", "test"),
    [
        (bare, "a_file_that_is_cut_short_is_refused"),
        (bare, "bytes_of_anything_are_read_or_refused"),
        (lenient, "a_file_that_is_cut_short_is_refused"),
        (greedy, "claims_of_sizes_take_no_memory"),
        (warning, "what_is_made_hostile_is_fine_before"),
    ],
)
def test_one_that_does_not_is_found_out(parser: Callable[[bytes], Any], test: str, tmp_path: Path) -> None:
    installed(parser)
    assert test in failing(tmp_path)


def test_a_check_that_finds_nothing_is_found_out(tmp_path: Path) -> None:
    installed(parse, finds=False)
    assert "changed_files_are_read_or_refused" in failing(tmp_path)


# The suite of adapters, as an option or a compression of a format passes it -----------------------------------


class _Option(Conformance):
    every_case = False

    def test_paths_may_be_text(self, place: object) -> None:
        """A test of its own stays."""


class _OptionOfAnOption(_Option):
    pass


class _Format(_Option):
    every_case = True


def collected(suite: type[Conformance]) -> set[str]:
    return {name for name in dir(suite) if name.startswith("test_") and getattr(suite, name) is not None}


def test_an_option_leaves_out_what_no_option_can_change() -> None:
    assert collected(Conformance) > set(OF_THE_FORMAT)
    assert collected(_Option) == collected(Conformance) - set(OF_THE_FORMAT) | {"test_paths_may_be_text"}
    assert collected(_OptionOfAnOption) == collected(Conformance) - set(OF_THE_FORMAT)


def test_a_format_below_an_option_passes_the_whole_suite() -> None:
    assert collected(_Format) == collected(Conformance)
    assert _Format.test_no_name_selects_nothing is Conformance.test_no_name_selects_nothing
