"""Names that collide with what files use themselves: what `write` accepts, `read` gives back under the same names."""

from __future__ import annotations

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

arrays_by_name = st.dictionaries(
    st.one_of(st.sampled_from(NAMES), st.text(max_size=5)), st.sampled_from(VALUES), min_size=1, max_size=5
)


@pytest.mark.parametrize("suffix", FORMATS)
@given(arrays=arrays_by_name)
@example(arrays={"": np.array([1.5]), "other": np.array([1])})
@example(arrays={"e.json": np.array([DAMAGED]), "e-content": np.array([1.5])})
@example(
    arrays={"e": np.array([1]), "e.json": np.array([SCHEMA]), "e-counts": np.array([1]), "e-content": np.array([1])}
)
@example(arrays={"dataset.json": np.array([DESCRIPTION]), "t": np.array([1])})
@example(arrays={"ndarray": np.array([1]), ",": np.array([1]), "shape": np.array([1])})
def test_what_is_written_is_read_under_the_same_names(suffix, arrays, tmp_path):
    path = tmp_path / f"n.{suffix}"
    path.unlink(missing_ok=True)
    try:
        sa.write(path, arrays)
    except (sa.LimitError, sa.DTypeError):
        assert not path.exists()
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)  # text that looks like a description is warned of
        result = sa.read(path)
        assert list(sa.scan(path)) == list(result)
    if isinstance(result.get("e"), ak.Array):  # written as the columns of one
        assert {"e.json", "e-counts", "e-content"} <= set(arrays)
        return
    assert list(result) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(result[name], array)
