"""Schemas of the awkward0 protocol, made by hand: each test says what is in them."""

from __future__ import annotations

import json
from typing import Any

import awkward as ak
import numpy as np
import pytest

import sheetarray as sa
from sheetarray.interchange.awkward import deserialize

Json = Any


def call(name: str, *args: Json, **more: Json) -> Json:
    """A call of one of awkward0's own functions, such as `JaggedArray.fromcounts`."""
    return {"call": ["awkward0", *name.split(".")], "args": list(args), **more}


def buffer(read: Json, dtype: Json, count: Json, **more: Json) -> Json:
    """An array from a blob, which is a name or an expression."""
    blob = {"read": read} if isinstance(read, str) else read
    return call("numpy.frombuffer", blob, {"dtype": dtype}, {"json": count}, **more)


class Blobs(dict[str, Any]):
    """A container that is filled by writing its schema: `array` stores an ndarray, and gives its expression."""

    def array(self, values: Any, dtype: Any = None, **more: Json) -> Json:
        array = np.ascontiguousarray(values, dtype)
        name = str(len(self))
        self[name] = array.tobytes()
        text: Json = array.dtype.str if array.dtype.kind in "SU" else str(array.dtype)
        return buffer(name, [text, list(array.shape[1:])] if array.ndim > 1 else text, len(array), **more)

    def read(self, expression: Json, **options: Any) -> ak.Array:
        """The array that an expression makes of these blobs."""
        return deserialize({**self, "": document(expression)}, **options)


def document(expression: Json, **more: Json) -> bytes:
    """The whole schema of an expression."""
    return json.dumps({"awkward0": "0.15.5", "schema": expression, **more}).encode()


def refused(blobs: Blobs, expression: Json, match: str | None, location: str = "schema", **options: Any) -> None:
    """Reading is refused, with this reason, at this place."""
    with pytest.raises(sa.FormatError, match=match) as caught:
        blobs.read(expression, **options)
    assert caught.value.location == location
    assert len(caught.value.reason) > 10


INTS, FLOATS = np.arange(4), np.array([1.5, 2.5, 3.5, 4.5])


def table(blobs: Blobs, **more: Any) -> Any:
    """The expression of a table with the columns x, of integers, and y, of floats."""
    return call("Table.frompairs", {"pairs": [["x", blobs.array(INTS)], ["y", blobs.array(FLOATS)]]}, **more)


ROWS = [{"x": x, "y": y} for x, y in zip(INTS.tolist(), FLOATS.tolist(), strict=True)]
