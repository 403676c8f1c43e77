"""The real awkward0 in an environment of its own, and the arrays of every class that it saves."""

from __future__ import annotations

import datetime
import fcntl
import inspect
import json
import math
import os
import shutil
import subprocess
import sys
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import GIVEN_UP_AFTER, ChildServer, run_child

# The real awkward0, in a virtual environment of its own: it needs Python 3.11 and a NumPy that is older than ours.
#
# The environment is made once, in the user's cache folder, by whichever process comes first; others wait for it. A
# marker file tells that it is complete. Where it cannot be made, tests that need it are skipped, and say why.

AWKWARD0, NUMPY, H5PY = "0.15.5", "1.23.5", "3.10.0"
_MARKER = "complete"
_PRELUDE = "import warnings; warnings.simplefilter('ignore'); import sys, json, zlib, numpy as np\n"


def run(script: str, *args: Any, version: str | None = None, package: str | None = None) -> str:
    """Run a script where `import awkward0` is the real one; skips the test where there is none.

    Args:
        script: the text of it; `sys`, `json`, `zlib` and `np` are imported already.
        args: its `sys.argv[1:]`.
        version: of the older package `awkward`, to be imported instead.
        package: another that can be imported too, and its version, such as `uproot3-methods==0.10.1`.

    Returns:
        What it printed.

    Raises:
        AssertionError: it fails.
    """
    package = package if version is None else f"awkward=={version}"
    inserted = "" if package is None else f"sys.path.insert(0, {os.fspath(_installed(package))!r})\n"
    child = run_child(_PRELUDE + inserted + script, *map(str, args), stopped_after=GIVEN_UP_AFTER, server=_server())
    assert child.status == 0, f"awkward0 failed:\n{child.errors[-3000:]}"
    return child.output


def run_json(script: str, *args: Any, version: str | None = None, package: str | None = None) -> Any:
    """The same; what it printed is JSON."""
    return json.loads(run(script, *args, version=version, package=package))


@lru_cache
def _server() -> ChildServer:
    """Return the process that runs the scripts of all tests."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return ChildServer([_python(), os.fspath(Path(__file__).with_name("child_server.py")), "awkward0"], environment)


def _python() -> str:
    result, reason = _environment()
    if result is None:
        pytest.skip(reason)
    return result


@lru_cache
def _environment() -> tuple[str | None, str]:
    """The interpreter; or None, and why there is none."""
    interpreter = sys.executable if sys.version_info[:2] == (3, 11) else shutil.which("python3.11")
    if interpreter is None:
        return None, f"awkward0 {AWKWARD0} needs Python 3.11, which is not installed"
    folder = _cache() / f"awkward0-{AWKWARD0}-numpy-{NUMPY}-h5py-{H5PY}"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    with _locked("environment"):
        if not (folder / _MARKER).exists():
            shutil.rmtree(folder, ignore_errors=True)
            for command in (
                [interpreter, "-m", "venv", folder],
                [python, "-m", "pip", "install", "-q", f"awkward0=={AWKWARD0}", f"numpy=={NUMPY}", f"h5py=={H5PY}"],
                [python, "-c", "import awkward0"],
            ):
                if (problem := _failing(command)) is not None:
                    shutil.rmtree(folder, ignore_errors=True)
                    return None, f"no environment for awkward0 {AWKWARD0} could be made: {problem}"
            (folder / _MARKER).touch()
    return os.fspath(python), ""


@lru_cache
def _installed(package: str) -> Path:
    """The folder of another package, without what it depends on."""
    python = _python()
    folder = _cache() / package.replace("==", "-")
    with _locked(folder.name):
        if not (folder / _MARKER).exists():
            shutil.rmtree(folder, ignore_errors=True)
            install = [python, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, package]
            if (problem := _failing(install)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                pytest.skip(f"{package} could not be installed: {problem}")
            (folder / _MARKER).touch()
    return folder


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sheetarray-tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class _locked:  # noqa: N801  (used as a with statement's word)
    """One process at a time."""

    def __init__(self, name: str) -> None:
        self._path = _cache() / f"{name}.lock"

    def __enter__(self) -> None:
        self._file = open(self._path, "w")
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *error: object) -> None:
        self._file.close()


def _failing(command: list[Any]) -> str | None:
    """Why a command fails; None where it does not."""
    try:
        done = subprocess.run(
            list(map(str, command)),
            env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},  # its notice comes last
            capture_output=True,
            text=True,
            timeout=GIVEN_UP_AFTER,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
    return None if done.returncode == 0 else lines[-1]


# Arrays of every class of awkward0, and scripts by which the real one saves them and says what they hold.
#
# A script writes a file `NAME.awkd` for each into the folder that is its first argument, and prints a JSON object of
# what `tolist()` gives. What JSON does not have becomes an object of one key: `{"bytes": hex}`, `{"float": "nan"}`,
# `{"complex": [re, im]}`, `{"time": text}`; `plain` does the same to what awkward 2 gives.

ARRAYS = {
    "ints": "ints",
    "floats": "floats",
    "empty": "np.array([])",
    "bools": "np.array([True, False, True])",
    "int8": 'np.arange(-3, 4, dtype="i1")',
    "uint64": 'np.array([0, 2**64 - 1], dtype="u8")',
    "int64": "np.array([-2**63, 2**63 - 1, 2**53 + 1])",
    "float16": 'np.arange(4, dtype="f2") / 3',
    "float32": 'np.arange(4, dtype="f4") / 3',
    "complex": "np.array([1 + 2j, complex(np.nan, -0.0)])",
    "complex64": 'np.array([1 + 2j], dtype="c8")',
    "bigendian": 'np.arange(4, dtype=">f8")',
    "bigendian16": 'np.arange(4, dtype=">u2")',
    "twod": "ints.reshape(5, 2)",
    "threed": 'np.arange(24, dtype="i4").reshape(2, 3, 4)',
    "fortran": "np.asfortranarray(ints.reshape(5, 2))",
    "strided": "ints[::3]",
    "backwards": "ints[::-1]",
    "times": 'np.array(["2020-01-02T03:04:05", "1969-12-31T23:59:59"], dtype="M8[s]")',
    "spans": 'np.array([1, -2], dtype="m8[ms]")',
    "bytestrings": 'np.array([b"abc", b"", b"a\\0b"])',
    "unicode": 'np.array(["abc", "", "\\u00fc\\u20ac"])',
    "strings2d": 'np.array([["a", "bc"], ["", "d"]])',
    "structured": 'np.array([(1, 2.5, [1, 2, 3]), (-4, np.inf, [4, 5, 6])], dtype=[("x", "i4"), ("y", ">f8"), '
    '("z", "u1", 3)])',
    "structured2d": 'np.array([[(1, b"a")], [(2, b"bc")]], dtype=[("x", "i2"), ("s", "S2")])',
    "structuredin": 'np.array([((1, 2.5), True)], dtype=[("p", [("a", "i8"), ("b", "f4")]), ("q", "?")])',
    # lists
    "jagged": "jagged",
    "jagged_sliced": "jagged[1:]",
    "jagged_backwards": "jagged[::-1]",
    "jagged_picked": "jagged[[3, 0, 0]]",
    "jagged_masked": "jagged[jagged.counts > 0]",
    "jagged_inner": "jagged[:, :1]",
    "jagged_where": "jagged[jagged > 2]",
    "jagged_empty": "JaggedArray.fromiter([])",
    "jagged_empties": "JaggedArray.fromiter([[], [], []])",
    "jagged_none": "jagged[:0]",
    "jagged_offsets": "JaggedArray.fromoffsets([0, 2, 2, 6], np.arange(10))",
    "jagged_starts": "JaggedArray([3, 0, 2], [5, 0, 6], np.arange(6))",
    "jagged_overlapping": "JaggedArray([0, 0, 1], [3, 2, 3], np.arange(3.))",
    "jagged_stops": "JaggedArray([0, 1], [1, 3, 3], np.arange(3))",
    "jagged_2d": "JaggedArray([[0, 2], [3, 3]], [[2, 3], [3, 4]], np.arange(4))",
    "jagged_2d_counts": "JaggedArray.fromcounts(np.array([[2, 1], [0, 1]]), np.arange(4.))",
    "jagged_small": 'JaggedArray(np.array([0, 2], "u1"), np.array([2, 3], "u1"), np.arange(3))',
    "jagged_jagged": "JaggedArray.fromiter([[[1, 2], []], [], [[3]]])",
    "jagged_jagged_sliced": "JaggedArray.fromiter([[[1, 2], []], [], [[3]]])[::2]",
    "jagged_regular": "JaggedArray.fromcounts([1, 2], np.arange(6).reshape(3, 2))",
    "jagged_table": "JaggedArray.fromcounts([2, 0, 2], table)",
    "jagged_view": "JaggedArray.fromcounts([1, 0, 2], table[1:])",
    "jagged_structured": 'JaggedArray.fromcounts([1, 1], np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i8"), ("b", '
    '"f8")]))',
    # records
    "table": "table",
    "table_slice": "table[1:]",
    "table_step": "table[::2]",
    "table_backwards": "table[::-1]",
    "table_twice": "table[1:][::-1][1:]",
    "table_index": "table[[3, 0, 0]]",
    "table_bools": "table[np.array([True, False, True, True])]",
    "table_none": "table[:0]",
    "table_index_none": "table[np.array([], dtype=int)]",
    "table_uneven": "Table(x=[1, 2, 3], y=[1.5, 2.5])",
    "table_tuple": "Table([1, 2, 3], [1.5, 2.5, 3.5])",
    "table_named": 'Table.named("Point", x=[1, 2])',
    "table_table": "Table(a=Table(b=[1, 2], c=words[:2]), d=[1.5, 2.5])",
    "table_columns": 'table[["y"]]',
    "table_empty": "Table()",
    "table_long_names": 'Table({"a b-c/\\u00fc\\"": np.arange(2)})',
    "table_strings": "Table(n=words, k=np.arange(5))",
    "table_viewed_table": "Table(t=table[1:3], u=table[::-1][:2])",
    # chunks
    "chunked": "ChunkedArray([ints, np.array([], dtype=int), ints[:2]])",
    "chunked_none": "ChunkedArray([])",
    "chunked_jagged": "ChunkedArray([jagged, jagged[::-1]])",
    "chunked_table": "ChunkedArray([table, table[1:]])",
    "chunked_words": "ChunkedArray([words, words[:2]])",
    "chunked_2d": "ChunkedArray([np.arange(4).reshape(2, 2), np.arange(6).reshape(3, 2)])",
    "chunked_masked": "ChunkedArray([MaskedArray([True, False], [1, 2]), MaskedArray([False, True], [3, 4])])",
    # missing elements
    "masked": "MaskedArray([True, False, True, False], [1, 2, 3, 4])",
    "masked_false": "MaskedArray([True, False, True, False], [1, 2, 3, 4], maskedwhen=False)",
    "masked_shorter": "MaskedArray([False, True], [1.5, 2.5, 3.5])",
    "masked_jagged": "MaskedArray([False, True, False, True], jagged)",
    "masked_table": "MaskedArray([True, False, False, True], table)",
    "masked_masked": "MaskedArray([True, False, False], MaskedArray([False, True, False], [1, 2, 3]))",
    "masked_words": "MaskedArray([True, False, False, True, False], words)",
    "masked_2d": "MaskedArray([True, False], np.arange(4).reshape(2, 2))",
    "masked_empty": "MaskedArray(np.array([], dtype=bool), np.array([]))",
    **{
        f"bits_{when:d}_{order:d}": "BitMaskedArray.fromboolmask("
        f"np.arange(11) % 3 == 0, np.arange(11) * 1.5, maskedwhen={when}, lsborder={order})"
        for when in (False, True)
        for order in (False, True)
    },
    "bits_jagged": "BitMaskedArray.fromboolmask([False, True, True, False], jagged, lsborder=True)",
    "bits_masked": "BitMaskedArray.fromboolmask([False, True, False], MaskedArray([True, False, False], [1, 2, 3]))",
    "bits_longer": 'BitMaskedArray(np.array([0b10100000, 255, 255], dtype="u1"), np.arange(4))',
    "indexmasked": "IndexedMaskedArray([2, -1, 0, -1], np.array([1.5, 2.5, 3.5]))",
    "indexmasked_other": "IndexedMaskedArray([2, 3, 0, 2], [1, 2, 3], maskedwhen=3)",
    "indexmasked_jagged": "IndexedMaskedArray([3, -1, 0], jagged)",
    "indexmasked_all": "IndexedMaskedArray([-1, -1], np.array([]))",
    "indexmasked_masked": "IndexedMaskedArray([1, -1, 0], MaskedArray([True, False], [1, 2]))",
    "padded": "jagged.pad(2)",
    "padded_regular": "jagged.pad(2, clip=True)",
    "nan_to_masked": "jagged.content[jagged.content > 100]",
    # indices
    "indexed": "IndexedArray([3, 0, 0, 2], np.array([1.5, 2.5, 3.5, 4.5]))",
    "indexed_2d": "IndexedArray(np.array([[3, 0], [0, 2]]), np.arange(4))",
    "indexed_jagged": "IndexedArray([3, 0, 1], jagged)",
    "indexed_table": "IndexedArray([3, 0], table)",
    "indexed_indexed": "IndexedArray([1, 0], IndexedArray([2, 3], ints))",
    "indexed_words": "IndexedArray([4, 2, 2], words)",
    "indexed_masked": "IndexedArray([1, 0, 1], MaskedArray([True, False], [1, 2]))",
    "indexed_none": "IndexedArray(np.array([], dtype=int), ints)",
    "sparse": "SparseArray(8, [1, 3, 5], [1.1, 3.3, 5.5])",
    "sparse_default": "SparseArray(8, [1, 3, 5], [1, 3, 5], default=-7)",
    "sparse_nan": 'SparseArray(5, [0, 4], [1.5, 2.5], default=float("nan"))',
    "sparse_inf": 'SparseArray(3, [1], [1.5], default=float("-inf"))',
    "sparse_2d": "SparseArray(4, [1, 2], np.arange(4).reshape(2, 2))",
    "sparse_none": "SparseArray(3, np.array([], dtype=int), np.array([], dtype=float))",
    "sparse_bool": "SparseArray(3, [2], [True])",
    "sparse_fraction": "SparseArray(3, [1], [7], default=2.5)",
    "sparse_jagged_in": "JaggedArray.fromcounts([1, 2], SparseArray(3, [1], [9]))",
    # unions
    "union": "UnionArray.fromtags([0, 1, 0, 1, 1], [np.array([1, 2]), np.array([1.5, 2.5, 3.5])])",
    "union_index": "UnionArray([0, 1, 0, 1], [1, 0, 0, 0], [np.array([2**60 + 1, 7]), np.array([2.5])])",
    "union_jagged": "UnionArray.fromtags([0, 1, 1, 0], [ints[:2], jagged[:2]])",
    "union_table": "UnionArray.fromtags([1, 0, 1], [words[:1], table[:2]])",
    "union_three": "UnionArray.fromtags([2, 0, 1], [ints[:1], jagged[:1], words[2:3]])",
    "union_union": "UnionArray.fromtags([0, 1, 0], [UnionArray.fromtags([1, 0], [ints[:1], words[:1]]), "
    "np.array([True])])",
    "union_one": "UnionArray.fromtags([0, 0], [np.array([5, 6])])",
    "union_masked": "UnionArray.fromtags([0, 1, 0], [MaskedArray([True, False], [1, 2]), words[2:3]])",
    "union_indexed": "UnionArray.fromtags([0, 1], [IndexedArray([1], ints), words[:1]])",
    "jagged_union": "JaggedArray.fromcounts([1, 2], UnionArray.fromtags([0, 1, 0], [np.array([1, 2]), words[:1]]))",
    "masked_union": "MaskedArray([True, False, False], UnionArray.fromtags([0, 1, 0], [np.array([1, 2]), words[:1]]))",
    "indexed_union": "IndexedArray([2, 0], UnionArray.fromtags([0, 1, 0], [np.array([1, 2]), words[:1]]))",
    "union_fromiter": 'fromiter([1, [2.5, "three"], None, {"x": 4}, {"x": 5, "y": [6]}])',
    "chunked_union": "ChunkedArray([UnionArray.fromtags([0, 1], [ints[:1], words[:1]]), UnionArray.fromtags([1, 0], "
    "[ints[1:2], words[1:2]])])",
    # text
    "words": "words",
    "words_sliced": "words[1:]",
    "words_picked": "words[[2, 0, 2]]",
    "words_backwards": "words[::-1]",
    "words_none": "words[:0]",
    "words_jagged": "JaggedArray.fromcounts([2, 0, 3], words)",
    "raw_words": 'StringArray.fromiter([b"one", b"", b"\\xff\\x00"], encoding=None)',
    "words_utf16": 'StringArray.fromiter(["a", "", "\\u20ac\\U0001d53d"], encoding="utf-16le")',
    "words_utf16bom": 'StringArray.fromiter(["a\\u20ac", ""], encoding="utf-16")',
    "words_utf32": 'StringArray.fromnumpy(np.array(["one", "", "d\\u00fcrfen\\U0001d53d"]))',
    "words_bytes": 'StringArray.fromnumpy(np.array([b"one", b"", b"two"]))',
    "words_utf32be": 'StringArray.fromiter(["\\u20ac", ""], encoding="utf-32be")',
    "words_starts": 'StringArray([4, 0], [7, 3], np.frombuffer(b"one two", dtype="u1"))',
    "words_empties": 'StringArray.fromiter(["", ""])',
    # together
    "fromiter": 'fromiter([{"x": 1, "y": [{"z": "a"}, {"z": None}]}, {"x": None, "y": []}])',
    "deep": 'fromiter([[[[[["a"], []]], []]], []])',
    "shared": "Table(a=jagged, b=jagged, c=jagged.content[:4])",
    "shared_lengths": "Table(a=ints[:4], b=ints[4:8], c=table)",
    "compressed": "JaggedArray.fromcounts(np.arange(3000) % 3, np.arange(3000))",
    "compressed_all": "JaggedArray.fromcounts([2, 1], np.arange(3.))",
    "uncompressed": "JaggedArray.fromcounts(np.arange(3000) % 3, np.arange(3000))",
    "compressed_lzma": "JaggedArray.fromcounts([2, 1], np.arange(3.))",
    "compressed_empty": "JaggedArray.fromiter([[], []])",
    "appendable": "appended((3,), np.arange(7, dtype='i4'))",
    "appendable_2d": "appended((2, 3), np.arange(15, dtype='>f8').reshape(5, 3))",
    "appendable_none": "AppendableArray((3,), np.dtype('f8'))",
    "materialised": "VirtualArray(lambda: jagged, persistvirtual=False)",
    "materialised_in": "Table(x=VirtualArray(lambda: ints[:4], persistvirtual=False), y=ints[4:8])",
}
OPTIONS = {
    "compressed_all": "compression=True",
    "compressed_empty": "compression=True",
    "compressed_lzma": "compression=[(lzma.compress, ('lzma', 'decompress'))]",
    "uncompressed": "compression=None",
}


def plain(value):  # type: ignore[no-untyped-def]  # the text of it is a part of each script, also of old packages
    """Return what `tolist()` gives in the form in which a script says it."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.astype("O") if value.dtype.kind in "mM" else value.item()
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, complex):
        return {"complex": [plain(value.real), plain(value.imag)]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, (datetime.datetime, datetime.timedelta)):
        return {"time": str(value)}
    return value


PLAIN = "import datetime, math\n" + inspect.getsource(plain)

_COMMON = """
import lzma
import awkward0
from awkward0 import *
from awkward0.persist import save

ints = np.arange(10) - 3
floats = np.array([1.5, -0.0, np.nan, np.inf, 1e300, 5e-324])
jagged = JaggedArray.fromiter([[1.1, 2.2, 3.3], [], [4.4, 5.5], [6.6]])
table = Table(x=[1, 2, 3, 4], y=jagged)
words = StringArray.fromiter(["one", "", "d\\u00fcrfen", "\\U0001d53d\\u00df", "z"])

def appended(chunkshape, values):
    array = AppendableArray(chunkshape, values.dtype)
    array.extend(values)
    return array
"""

_OLD = """
import awkward
from awkward import *
from awkward.persist import save

ints, floats = np.arange(4), np.array([1.5, 2.5, 3.5, 4.5])
jagged = JaggedArray.fromcounts(np.array([2, 0, 1, 1]), floats)
table = Table(x=ints, y=jagged)
numbers = np.array([7, 8, 9, -1], "i4").view("u1")

def appended(chunkshape, values):
    array = AppendableArray(chunkshape, values.dtype, [])
    array.extend(values)
    return array

def words():
    return StringArray.fromcounts(np.array([3, 0, 2]), np.frombuffer(b"one\\xc3\\xbc", "u1"))
"""

OLD = {
    "ints": "ints",
    "twod": "np.arange(6).reshape(3, 2)",
    "long": "np.arange(3000)",
    "jagged": "jagged",
    "jagged_sliced": "jagged[1:]",
    "jagged_starts": "JaggedArray(np.array([2, 0]), np.array([4, 1]), floats)",
    "table": "table",
    "view": "table[1:]",
    "step": "table[::-2]",
    "index": "table[np.array([3, 0])]",
    "masked": "MaskedArray(np.array([True, False, True, False]), floats)",
    "indexed": "IndexedArray(np.array([2, 0, 0]), floats)",
    "indexmasked": "IndexedMaskedArray(np.array([2, -1, 0]), floats)",
    "chunked": "ChunkedArray([ints, ints[:2]])",
    "appendable": "appended((3,), np.arange(7, dtype='i4'))",
    "union": "UnionArray.fromtags(np.array([0, 1, 0, 1]), [ints, floats])",
    "union_index": "UnionArray(np.array([0, 1, 0]), np.array([3, 1, 2]), [ints, floats])",
    "sparse": "SparseArray(5, np.array([1, 3]), floats[:2])",
    "sparse_default": "SparseArray(3, np.array([1]), floats[:1], 7.5)",
    "shared": "Table(a=jagged, b=jagged)",
    **{
        f"bits_{when:d}_{order:d}": "BitMaskedArray("
        f"np.array([0b10100001, 0b01000010], 'u1'), np.arange(11.0), {when}, {order})"
        for when in (False, True)
        for order in (False, True)
    },
}
OLD_NAN = {"sparse_nan": "SparseArray(3, np.array([1]), floats[:1], float('nan'))"}
OLD_TEXT = {"words": "words()", "words_sliced": "words()[1:]"}
OLD_BYTES = {
    "byte_jagged": "ByteJaggedArray.fromoffsets(np.array([0, 8, 8, 16]), numbers, np.dtype('i4'))",
    "byte_jagged_starts": "ByteJaggedArray(np.array([1, 9, 4]), np.array([5, 13, 4]), "
    "np.concatenate([np.zeros(1, 'u1'), numbers]), np.dtype('i4'))",
    "byte_indexed": "ByteIndexedArray(np.array([4, 0, 12]), numbers, np.dtype('i4'))",
}


def saving(arrays: dict[str, str], *, old: bool = False) -> str:
    """The script that saves arrays.

    Args:
        arrays: an expression for each, by name.
        old: by the package awkward, not by awkward0.
    """
    lines = [PLAIN, _OLD if old else _COMMON, "said = {}"]
    for name, expression in arrays.items():
        lines.append(f"array = {expression}")
        lines.append(f"save(sys.argv[1] + '/{name}.awkd', array, mode='w', {OPTIONS.get(name, '')})")
        lines.append(f"said[{name!r}] = plain(array.tolist())")
    return "\n".join([*lines, "print(json.dumps(said))"])


def without_names(value: Any) -> Any:
    """The same, with tuples for records: as NumPy lists a structured array."""
    if isinstance(value, dict) and not {"bytes", "float", "complex", "time"} & set(value):
        return [without_names(item) for item in value.values()]
    return [without_names(item) for item in value] if isinstance(value, list) else value


def members(path: Path) -> dict[str, bytes]:
    """The blobs of a file."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
