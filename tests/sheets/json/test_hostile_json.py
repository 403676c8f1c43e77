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
