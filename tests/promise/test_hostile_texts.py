"""Texts that are broken in one particular way, or made of the format's own words; the shipped suite has other bytes."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np
import pytest
from examples import cross, examples
from hostile import FORMATS, WORDS, put, survive

import sheetarray as sa


def read(content: bytes, format: str = "csv", **options: Any) -> dict[str, Any]:
    return sa.read(io.BytesIO(content), format=format, **options)


def findings(content: bytes, format: str = "csv", **options: Any) -> list[sa.Finding]:
    return list(sa.check(io.BytesIO(content), format=format, **options))


# Quotes ------------------------------------------------------------------------------------------------------


def test_a_very_long_cell_is_read():
    long = "y" * 300_000
    array = np.array([long])
    file = io.BytesIO()
    sa.write(file, {"x": array}, format="csv")
    assert read(file.getvalue())["x"].tolist() == [long]


def test_one_long_text_does_not_pad_millions_of_elements():
    cells = ["x", *map(str, sa.to_linear(np.array(["a"] * 400_000)))]
    content = "\n".join([*cells[:-1], "y" * 20_000, ""]).encode()
    array = read(content)["x"]
    assert array.dtype == np.dtypes.StringDType()
    assert array[-1] == "y" * 20_000
    assert set(array[:-1].tolist()) == {"a"}
    assert findings(content) == []


# Words of the format -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("format", "seed"), cross(FORMATS, "012345"))
def test_headers_with_random_fields(format, seed):
    source = random.Random(int(seed))
    for _ in range(examples(120)):
        cells: list[Any] = ["version", source.choice(["1.0.0", "1.1.0", "1.9.0"]), "ndarray"]
        for key in source.sample(
            ["shape", "strides", "offset", "order", "dtype", "length", "capacity", "part", "new"], 8
        ):
            cells += [key, *[source.choice(WORDS) for _ in range(source.randint(0, 3))]]
        cells += ["data", *[source.choice(WORDS) for _ in range(source.randint(0, 5))]]
        survive(put(cells, format), format)
