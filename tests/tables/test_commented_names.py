"""Names in a comment above numbers, as `numpy.savetxt` writes them, are the names of the columns."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import pytest

import sheetarray as sa


def read(raw: bytes, **options: Any) -> tuple[dict[str, Any], list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        columns = sa.read_columns(io.BytesIO(raw), format="csv", **options)
    return columns, [str(each.message) for each in caught if each.category is sa.SheetArrayWarning]


@pytest.mark.parametrize("delimiter", [" ", ",", ";", "\t", "|", ", ", "  "])
@pytest.mark.parametrize("header", ["x y z", "{0}x{1}y{1}z", "x, y, z", "a title\nx y z"])
def test_savetxt_with_names(delimiter: str, header: str) -> None:
    values = np.arange(12.0).reshape(4, 3)
    for form in ("%.18e", "%g", "%d", "%10.3f"):
        file = io.BytesIO()
        np.savetxt(file, values, delimiter=delimiter, header=header.format("", delimiter), fmt=form)
        columns, told = read(file.getvalue())
        assert list(columns) == ["x", "y", "z"], form
        assert np.array_equal(np.column_stack(list(columns.values())), values), form
        assert any("begins with '#', and is read as names" in message for message in told), form
