"""Hypothesis strategies of arrays: any dtype, bits, text, shape and layout."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

NUMBERS = [
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bool",
    *(f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64)),
]
UNITS = ["Y", "M", "D", "h", "s", "ms", "us", "ns", "as", "7s"]

# Text that a reader of CSV may stumble over. NumPy drops NULs at the end of its strings, so there are none.
CHARACTERS = st.one_of(
    st.sampled_from("\",;\t|\n\r'=+-@ .:0123456789eENaTRUdata\ufeff\x85\u2028\xa0"),
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"),
)
TEXTS = st.one_of(
    st.text(CHARACTERS, max_size=12),
    st.sampled_from(
        [
            "",
            "version",
            "1.0.0",
            "ndarray",
            "data",
            "shape",
            "TRUE",
            "NaN",
            "007",
            "1,5",
            "1.5",
            "-0",
            "=1+1",
            "'",
            "''",
            '""',
            "\r\n",
            " ",
        ]
    ),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    TEXTS,
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1000, 1000),
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


@st.composite
def numbers(draw: Any, shapes: Any = SHAPES) -> Any:
    """Any bits whatever, under any dtype of numbers or times."""
    dtype = np.dtype(draw(st.sampled_from([*NUMBERS, *(f"{kind}8[{unit}]" for kind in "Mm" for unit in UNITS)])))
    shape = draw(shapes)
    count = int(np.prod(shape))
    if dtype.kind == "b":
        return np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), dtype=bool).reshape(shape)
    if dtype.kind == "M":  # years that NumPy itself prints and reads
        low, high = (
            np.array(["-0400", "2400"], dtype="M8[Y]").astype(dtype).view(np.int64)
            if dtype != "M8[as]"
            else (-(10**18), 10**18)
        )
        near = st.one_of(st.integers(min(low, high), max(low, high)), st.just(np.iinfo(np.int64).min))
        return np.array(draw(st.lists(near, min_size=count, max_size=count)), dtype=np.int64).view(dtype).reshape(shape)
    content = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
    return np.frombuffer(content, dtype=dtype).reshape(shape)


@st.composite
def arrays(draw: Any) -> Any:
    """Any array of any dtype, in any layout of memory."""
    kind = draw(st.sampled_from(["number", "number", "string", "generic"]))
    if kind == "number":
        array = draw(numbers())
    else:
        shape = draw(SHAPES)
        count = int(np.prod(shape))
        values = draw(st.lists(TEXTS if kind == "string" else SCALARS, min_size=count, max_size=count))
        array = np.empty(count, dtype=object)
        array[:] = values
        array = (array.astype(np.str_) if kind == "string" else array).reshape(shape)
    return draw(layouts(array))


@st.composite
def layouts(draw: Any, array: Any) -> Any:
    if array.ndim and draw(st.booleans()):
        array = array.transpose(draw(st.permutations(range(array.ndim))))
    if draw(st.booleans()):
        array = np.asfortranarray(array)
    if array.ndim and draw(st.booleans()):
        step = st.sampled_from(
            [slice(None), slice(None, None, -1), slice(1, None), slice(None, None, 2), slice(None, None, -2)]
        )
        array = array[tuple(draw(step) for _ in range(array.ndim))]
    if draw(st.booleans()):
        array = np.broadcast_to(array, (2, *array.shape))
    if array.dtype.kind not in "bO" and draw(st.booleans()):
        array = array.astype(array.dtype.newbyteorder(">"))
    return array
