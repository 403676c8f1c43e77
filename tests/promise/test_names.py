"""Names that collide with what files use themselves: what `write` accepts, `read` gives back under the same names."""

from __future__ import annotations

import shutil
import warnings

import awkward as ak
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sheetarray as sa

DESCRIPTION = '{"coords":{},"attrs":{},"dims":{},"data_vars":{}}'
DAMAGED = '{"awkward0": "2.0", "schema": {}, "prefix": "e-"}'
CALL = '{"call": ["awkward0", "JaggedArray", "fromcounts"], "args": [{"read": "counts"}, {"read": "content"}]}'
SCHEMA = f'{{"awkward0": "2.0", "schema": {CALL}, "prefix": "e-"}}'
NAMES = [
    *("", " ", "e", "e.json", "e-0", "e-counts", "e-content", "-0", ".json", "dataset.json", "dataset", "array", "n"),
    *(
        *("e.raw", "e.npy", "n.ra", ".", "..", "a/b", "a\\b", "a,b", "a;b", "a\tb", 'a"b', "a'b", "'a", "=1", "a\nb"),
        "a\r",
    ),
    *("version", "1.0.0", "ndarray", "shape", "data", "1", "1.5", "TRUE", "NaN", "é", "e\u0301", "E", " e", "e ", "\0"),
    *("__type__", "file", "arr_0", "names", "part", "#", "2026-07-01", "\ufeff", "\ud800", "_xlnm.Print_Area"),
]
VALUES = [
    np.array([1, 0]),
    np.array([1.5]),
    *(np.array([text]) for text in (DESCRIPTION, DAMAGED, SCHEMA, "", "{}", "x")),
]
FORMATS = ["csv", "tsv", "json", "xlsx", "awkd", "npz", "avro", "msgpack"]

LONG_NAMES = ["x" * 255, "x" * 300, "x" * 32_767, "x" * 32_768, "a\0b", "\0", "\ud800", "a\ud800", "\x07", "\u202e"]
LONG_NAMES += ["x" * 256, "é" * 128, "zarr.json", ".zattrs", ".zarray", ".zgroup", ".zmetadata"]
SUFFIXES = [*FORMATS, "csv.gz", "json.zst", "ra", "npy", "parquet", "arrow", "nc", "zarr"]
NAMELESS = ("npy",)
OF_ANY_DTYPE: list[np.ndarray] = [
    *(np.array([30, 31], dtype) for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")),
    *(np.array([0.1, np.nan], dtype) for dtype in ("f2", "f4", "f8")),
    *(np.array([0.1 - 2j, np.inf], dtype) for dtype in ("c8", "c16")),
    *(np.array([18262, "NaT"], f"M8[{unit}]") for unit in ("D", "s", "ms", "us", "ns")),
    *(np.array([5, "NaT"], f"m8[{unit}]") for unit in ("D", "s", "us")),
    np.array([True, False]),
    np.array(["x", ""]),
    np.array(["", ""]),
    np.array(["version", "1.0.0", "ndarray"]),
    np.array([None, 1, "1", 1.5, True], dtype=object),
    np.array([{"a": 1}, [1]], dtype=object),
    np.array(["a\0b", "x"]),
    np.array(["\0", "x"], np.dtypes.StringDType()),
    np.array([None, "a\0"], dtype=object),
    np.array(["\ud800", "x"]),
    np.array([None, "\ud800"], dtype=object),
    np.array(30),
    np.array("x"),
    np.zeros((0, 2)),
    np.zeros(0, "U3"),
    np.arange(6).reshape(2, 3),
]


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(
    names=st.lists(st.one_of(st.sampled_from([*NAMES, *LONG_NAMES]), st.text(max_size=5)), min_size=1, max_size=5),
    values=st.lists(st.sampled_from([*VALUES, *OF_ANY_DTYPE]), min_size=5, max_size=5),
    prefix=st.sampled_from(["", "", "dataset.json", "events.json"]),
)
@example(names=["", "other"], values=[np.array([1.5]), np.array([1])], prefix="")
@example(names=["e.json", "e-content"], values=[np.array([DAMAGED]), np.array([1.5])], prefix="")
@example(
    names=["e", "e.json", "e-counts", "e-content"],
    values=[np.array([1]), np.array([SCHEMA]), *[np.array([1])] * 2],
    prefix="",
)
@example(names=["dataset.json", "t"], values=[np.array([DESCRIPTION]), np.array([1])], prefix="")
@example(names=["ndarray", ",", "shape"], values=[np.array([1])] * 3, prefix="")
@example(names=["dataset.json"], values=[np.array([30, 31])] * 3, prefix="")
@example(names=["dataset.json", "t"], values=[np.array([True])] * 3, prefix="")
@example(names=["t"], values=[np.array([30, 31])] * 3, prefix="dataset.json")
@example(names=["E", "e"], values=[np.array([1])] * 3, prefix="")
@example(names=["zarr.json"], values=[np.array([1])] * 3, prefix="")
@example(names=["x" * 256], values=[np.array([1])] * 3, prefix="")
@example(names=["t"], values=[np.array([None, "a\0"], dtype=object)] * 3, prefix="")
@example(names=["t"], values=[np.array([None, "\ud800"], dtype=object)] * 3, prefix="")
def test_any_name_any_dtype_any_container(suffix, names, values, prefix, tmp_path):
    """`read` gives back what `write` took, or `write` refuses it with an error of ours."""
    path = tmp_path / f"n.{suffix}"
    arrays = dict(zip([*filter(None, [prefix]), *names], values, strict=False))
    if (suffix == "ra" and len(arrays) == 1) or suffix in NAMELESS:
        arrays = {"n": next(iter(arrays.values()))}
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)  # text that looks like a description is warned of
        try:
            sa.write(path, arrays)
        except (sa.LimitError, sa.DTypeError):
            assert not path.exists()
            return
        result = sa.read(path)
        assert list(sa.scan(path)) == list(result)
        assert not [finding for finding in sa.check(path) if finding.severity == "error"]
    if composites := [name for name, array in result.items() if isinstance(array, ak.Array)]:  # columns of one
        assert {"e.json", "e-counts", "e-content"} <= set(arrays) or composites != ["e"]
        return
    assert (list if suffix in FORMATS else sorted)(result) == (list if suffix in FORMATS else sorted)(arrays)  # type: ignore[operator]
    for name, array in arrays.items():
        np.testing.assert_array_equal(result[name], array)
        assert result[name].dtype.kind == array.dtype.kind or array.dtype.kind == "O"
