"""Text that ends with NUL, which NumPy's `<U` drops, is read as `StringDType`, with each NUL."""

from __future__ import annotations

import io
import json

import numpy as np
import openpyxl
import pytest
from adapters_deleted import needing

import sheetarray as sa

TEXTS = ["a\0", "b", "\0", "a\0b", ""]


def flat_list(texts: list[str]) -> list[object]:
    header = ["version", "1.0.0", "ndarray", "shape", len(texts), "strides", 1, "offset", 0, "order", "row-major"]
    return [*header, "dtype", "string", "length", len(texts), "capacity", len(texts), "data", *texts]


def as_csv(texts: list[str]) -> bytes:
    return ("t,other\n" + "\n".join(f'"{cell}",1' for cell in flat_list(texts)) + "\n").encode()


@needing("workbook")
@pytest.mark.parametrize("count", [1, 10_000])
def test_no_text_loses_a_nul(count: int) -> None:
    texts = TEXTS * count
    book = openpyxl.Workbook()
    for cell in ["t", *flat_list([text.replace("\0", "_x0000_") for text in texts])]:
        book.active.append([cell])
    file = io.BytesIO()
    book.save(file)
    file.seek(0)
    for array in (
        sa.from_linear(flat_list(texts)),
        sa.read(io.BytesIO(json.dumps({"t": flat_list(texts)}).encode()), format="json")["t"],
        sa.read(io.BytesIO(as_csv(texts)), format="csv")["t"],
        sa.read(file, format="xlsx")["t"],
        sa.read(book)["t"],
    ):
        assert array.tolist() == texts
        assert array.dtype == np.dtypes.StringDType()


def test_other_text_is_of_fixed_width() -> None:
    texts = ["a\0b", "\0a"]
    assert sa.from_linear(flat_list(texts)).dtype.kind == "U"
    array = sa.read(io.BytesIO(as_csv(texts)), format="csv")["t"]
    assert (array.dtype.kind, array.tolist()) == ("U", texts)
