"""Each file of the corpus gives what its expect.toml says; tests/helpers/corpus.py describes a case."""

from __future__ import annotations

import numpy as np
import pytest
from corpus import CORPUS, ROOT, compare_array, find_problem, list_calls

CALLS = list(list_calls())


@pytest.mark.parametrize(
    ("folder", "verb", "number"), CALLS, ids=[f"{folder}-{verb}{number or ''}" for folder, verb, number in CALLS]
)
def test_a_file_gives_what_its_case_says(folder, verb, number):
    if problem := find_problem(folder, verb, number):
        pytest.fail(problem, pytrace=False)


def test_each_sample_sheet_has_a_case():
    text = "".join(path.read_text(encoding="utf-8") for path in CORPUS.glob("*/expect.toml"))
    samples = [path.relative_to(ROOT).as_posix() for path in (ROOT / "sample_sheets").rglob("*.*")]
    data = [path for path in samples if not path.endswith((".md", ".gitattributes"))]
    assert len(data) > 20
    assert [path for path in data if f'file = "{path}"' not in text] == []


@pytest.mark.parametrize(
    ("array", "expected", "difference"),
    [
        (np.array([1.0, 2.0]), {"float64": [1, "0x1p+1"]}, None),
        (np.array([1.0, np.nextafter(2, 3)]), {"float64": [1, 2]}, "x[1] is 2.0000000000000004, not 2"),
        (np.array([-0.0]), {"float64": [0.0]}, "x[0] is -0.0, not 0.0"),
        (np.array([np.nan]), {"float64": [float("nan")]}, None),
        (np.array([1]), {"float64": [1]}, "x is int64 of shape (1,), not float64 of shape (1,)"),
        (np.array([[1, 2]]), {"int64": [1, 2]}, "x is int64 of shape (1, 2), not int64 of shape (2,)"),
        (np.array([[1, 2], [3, 4]]), {"int64": [[1, 2], [3, 5]]}, "x[1, 1] is 4, not 5"),
        (np.array([[1, 2]] * 2).T, {"int64": [[1, 1], [2, 2]]}, "x has the strides [1, 2], not [2, 1]"),
        (np.array([[1, 2]] * 2).T, {"int64": [[1, 1], [2, 2]], "order": "column-major"}, None),
        (np.arange(3)[::-1], {"int64": [2, 1, 0], "strides": [-1]}, None),
        (np.array(2**63, "u8"), {"uint64": 2**63}, None),
        (np.array(["a", "bc"]), {"string": ["a", "bc"]}, None),
        (np.array(["a", "bc"], "<U3"), {"string": ["a", "bc"]}, "x is <U3, wider than its texts"),
        (np.array(["2026-01-05", "NaT"], "M8[D]"), {"datetime64[D]": ["2026-01-05", "NaT"]}, None),
        (np.array(["NaT"], "M8[D]"), {"datetime64[D]": ["2026-01-05"]}, 'x[0] is "NaT", not "2026-01-05"'),
        (np.array([complex(0, -0.0)]), {"complex128": ["0+0j"]}, 'x[0] is "-0j", not "0+0j"'),
        (np.array([1, None, 1.0], object), {"generic": [1, {}, 1.0]}, None),
        (np.array([1, True], object), {"generic": [1, 1]}, "x[1] is true, not 1"),
        (np.zeros((0, 3)), {"float64": [], "shape": [0, 3]}, None),
        (np.arange(99), {"int64": [0, "...", 98], "shape": [99], "sha256": "0" * 16}, "an element of x that is not"),
        (np.arange(99), {"int64": [0, "...", 97], "shape": [99], "sha256": ""}, "x[98] is 98, not 97"),
    ],
    ids=str,
)
def test_arrays_are_compared_by_dtype_shape_order_and_bits(array, expected, difference):
    told = compare_array("x", array, expected)
    assert told == difference if difference is None or told is None else told.startswith(difference)
