"""JSON that is broken, deep, or holds something else than flat lists."""

from __future__ import annotations

import io
import json
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hostile import survive

import sheetarray as sa


def read(content: bytes, format: str = "json") -> dict[str, Any]:
    return sa.read(io.BytesIO(content), format=format)


def findings(content: bytes, format: str = "json") -> list[sa.Finding]:
    return list(sa.check(io.BytesIO(content), format=format))


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "null", "1", '"x"', "{}", "[]", "[[]]", "[{}]", '{"x": null}', '{"x": 1}', '{"x": []}'),
        *('{"x": {}}', '{"x": [[]]}', "[null]", '["version"]', '["version", null]', '["version", {}]'),
        *('[["version"], 1]', "NaN", "[NaN]", "[Infinity]", '{"a": [], "a": []}'),
        *('{"x": ["version", ["1.0.0"], "ndarray"]}', "\ufeff{}", "{'x': 1}", "[1,]", '{"x": [1]} {"y": [2]}'),
        *('{"\\ud800": [1]}', '["\\ud800"]'),
    ],
)
def test_json_that_holds_no_array(text: str) -> None:
    content = text.encode()
    survive(content, "json")
    for verb in (sa.read, sa.scan):
        with pytest.raises(sa.FormatError):
            verb(io.BytesIO(content), format="json")
    assert findings(content, "json")


@pytest.mark.parametrize(
    "value",
    [
        *([], {}, [1], {"type": "float64"}, {"type": "float64", "value": None}, {"type": "float64", "value": [1]}),
        *({"value": "NaN", "x": 1}, True, None, "abc", ""),
    ],
)
@pytest.mark.parametrize(
    "dtype",
    [
        *("float64", "float16", "complex64", "int8", "uint64", "bool", "string", "generic", "datetime64[s]"),
        "timedelta64[D]",
    ],
)
def test_any_json_value_as_an_element_is_read_or_named(value: Any, dtype: str) -> None:
    cells = [
        *("version", "1.0.0", "ndarray", "shape", 1, "strides", 1, "offset", 0, "order", "row-major", "dtype", dtype),
        *("length", 1, "capacity", 1, "data", value),
    ]
    content = json.dumps({"x": cells}).encode()
    survive(content, "json")
    try:
        read(content, "json")
    except sa.FormatError as error:
        assert error.location == "x[18]"  # noqa: PT017  (some values are elements)


@pytest.mark.parametrize("value", [[], {}, None, True, 1.5, 1e300, -1, "x", 10**30])
def test_any_json_value_anywhere_in_a_header(value: Any) -> None:
    flat = sa.to_linear(np.array([1.5]))
    assert len(flat) == 19
    for place in range(19):
        cells = [*flat[:place], value, *flat[place + 1 :]]
        survive(json.dumps({"x": cells}).encode(), "json")
        survive(json.dumps(cells).encode(), "json")
        survive(json.dumps([cells, cells]).encode(), "json")


def test_scan_of_json_agrees_with_read_on_brackets_in_text() -> None:
    arrays = {"]": np.array(["]", "[", '"]"', "\\", "{", "}"]), "b": np.arange(3)}
    file = io.BytesIO()
    sa.write(file, arrays, format="json")
    assert (
        list(read(file.getvalue(), "json")) == list(sa.scan(io.BytesIO(file.getvalue()), format="json")) == ["]", "b"]
    )


@pytest.mark.parametrize(("count", "length"), [(999, 999), (1000, 1001), (1001, 1001), (50_000, 1001)])
def test_a_thousand_broken_arrays_are_told_one_by_one(count: int, length: int) -> None:
    content = json.dumps({f"a{number}": [] for number in range(count)}).encode()
    result = findings(content)
    assert len(result) == length
    assert ("were not checked" in result[-1].message) == (length == 1001)


def test_lists_with_the_same_header_are_scanned_like_one_with_another() -> None:
    lists = {f"a{number}": sa.to_linear(np.array([1.5, number])) for number in range(2000)}
    lists["long"] = sa.to_linear(np.arange(100_000.0))
    lists["other"] = [1.0 if cell == 1 else cell for cell in lists["a0"]]  # equal, and another text
    content = json.dumps(lists).encode()
    infos = sa.scan(io.BytesIO(content), format="json")
    assert {name: info.shape for name, info in infos.items()} == dict.fromkeys(lists, (2,)) | {"long": (100_000,)}


@pytest.mark.parametrize("text", ["x" * 2**20, "\\n" * 2**19, "a\\n" * 2**18], ids=["plain", "escapes", "both"])
def test_scanning_a_long_text_takes_memory_for_the_text_alone(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(sa.FormatError, match="expected a flat list"):
            sa.scan(io.BytesIO(b'{"a": "%s"}' % text.encode()), format="json")
        assert tracemalloc.get_traced_memory()[1] < 20 * len(text)
    finally:
        tracemalloc.stop()
