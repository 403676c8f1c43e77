"""From every format to every other: exact, where both can hold the array."""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from examples import cross, examples

import sheetarray as sa
from sheetarray.registry import FORMATS
from sheetarray.testing.cases import CASES, assert_same, plain

pytestmark = pytest.mark.filterwarnings("ignore:.* keeps no :sheetarray.SheetArrayWarning")  # test_warnings has it

SUFFIXES = sorted({row.suffixes[0] for row in FORMATS.values() if row.suffixes and not row.prefixes})
KEEP_LAYOUT = {".csv", ".tsv", ".txt", ".json", ".npy", ".npz"}
EXACT = {
    case.replace(" ", "_"): array
    for case, array in CASES.items()
    if array.dtype.isnative and case.startswith(("dtype", "0-d", "F", "empty", "swapped", "leading zeros"))
}


@cache
def held(suffix: str) -> frozenset[str]:
    """The arrays that a format can hold; none where it cannot be written."""
    result = set()
    with TemporaryDirectory() as folder:
        for name, array in EXACT.items():
            try:
                sa.write(f"{folder}/x{suffix}", {name: array})
            except (sa.MissingDependencyError, sa.NotFoundError):
                break
            except (sa.DTypeError, sa.LimitError):
                continue
            result.add(name)
    return frozenset(result)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("origins")


def write_once(folder: Path, suffix: str, names: list[str]) -> tuple[Path, list[str]]:
    """Return a file of arrays, which several conversions read, and their names in it."""
    path = folder / f"{zlib.crc32(repr(names).encode())}{suffix}"
    if not path.exists():
        try:
            sa.write(path, {name: EXACT[name] for name in names})
        except sa.LimitError:  # it holds one array
            sa.write(path, {name: EXACT[name] for name in names[:1]})
    return path, list(sa.scan(path))


@pytest.mark.parametrize(("one", "other"), cross(SUFFIXES, SUFFIXES, ".csv"))
def test_every_pair_of_formats_converts_what_both_hold_exactly(folder, tmp_path, one, other):
    names = sorted(held(one) & held(other))
    if not names:
        pytest.skip("one of them cannot be written")
    if examples(100) < 100:  # a fifth of them, beginning anywhere, so that each format gets each array
        names = names[(SUFFIXES.index(one) + SUFFIXES.index(other)) % 5 :: 5]
    goal = tmp_path / f"goal{other}"
    origin, known = write_once(folder, one, names)
    names = names[: len(known)]
    try:
        sa.convert(origin, goal)
    except sa.LimitError:
        names, known = names[:1], known[:1]
        sa.convert(origin, goal, known)
    result = sa.read(goal)
    assert len(result) == len(names)
    for name, expected in zip(names, (result.values() if len(names) == 1 else map(result.get, names)), strict=True):
        if ".awkd" in (one, other) and not EXACT[name].size:
            assert len(expected) == len(EXACT[name])  # NumPy's shape of nothing is not Awkward's
            continue
        assert_same(plain(expected), EXACT[name], layout={one, other} <= KEEP_LAYOUT)
