"""Arrays that a format has to bring back bit for bit, and what "the same array" means."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import Array

TIMES = ("datetime64", "timedelta64")
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "25s", "10ms")


def objects(*values: Any) -> Array:
    """Return a 1-D object array whose elements are the arguments, even if they are lists."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _floats(name: str) -> Array:
    dtype = np.dtype(name)
    info = np.finfo(dtype)
    plain = [0.0, -0.0, 1.0, -1.5, 0.1, 1 / 3, np.nan, np.inf, -np.inf]
    edges = [info.max, info.min, info.tiny, info.smallest_subnormal, -info.smallest_subnormal, info.eps]
    near = np.nextafter(np.array([1, -1, info.max, 0], dtype), dtype.type(0.5))
    return np.concatenate([np.array(plain, dtype), np.array(edges, dtype), near])


def _complexes(name: str) -> Array:
    dtype = np.dtype(name)
    part = np.dtype(f"f{dtype.itemsize // 2}")
    info = np.finfo(part)
    parts = [0.0, -0.0, 1.0, -2.5, 1e-7, 1e20, np.nan, np.inf, -np.inf, info.max, info.smallest_subnormal]
    pairs = [(re, im) for re in parts for im in parts]
    return np.array(pairs, dtype=part).view(dtype).ravel()


def _integers(name: str) -> Array:
    info = np.iinfo(name)
    return np.array([0, 1, info.min, info.max, info.max - 1, info.min + 1, 7, 100], dtype=name)


def _moments(base: str, unit: str) -> Array:
    counts = np.array([0, 1, -1, 12345, -700, np.iinfo(np.int64).min], dtype=np.int64)
    return counts.view(f"{base}[{unit}]")


# texts and objects that formats easily take for something else, by what that is; an empty one begins and ends them
_NUMERALS = ("007", "1", "1.0", "-0", "1e5", "1,5")
_FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "'quoted", "''", "'", "'=1", "'1", "''1", "'TRUE")
_MARKS = ("\ttab", "\rcr", 'a "quote"', '"', '""', "a,b;c\td|e", "line\nbreak", "cr\r\nlf", "lone\rcr", "#", "sep=;")
_BLANKS = (" space ", "   ", " ", " 1", "1 ", " TRUE ", "\t", "\r", "a\nb")
_WORDS = ("TRUE", "false", "True", "NaN", "Infinity", "NaT", "nan", "None", "null", "NA", "#N/A")
_HEADER_WORDS = ("data", "version", "1.0.0", "ndarray", "shape")
_LETTERS = ("a", "ü", "漢字", "😀", "\ufeffbom", "\u2028", "\x01", "\x1f", "a\x1fb", "\x7f", "\x85", "\xa0", "e\u0301")
_ALL_TEXTS = (*_NUMERALS, *_FORMULAS, *_MARKS, *_BLANKS, *_WORDS, *_HEADER_WORDS, *_LETTERS, "x" * 300, "end")
_SCALARS = (True, False, 0, 1, -1, 2**53, -(2**53), 1.0, 0.5, -0.0, 1e300, 5e-324, 1e16)

TEXTS = ["", *_ALL_TEXTS, "", ""]
GENERIC = [None, *_SCALARS, "", *_NUMERALS, *_FORMULAS, *_BLANKS, *_WORDS, *_HEADER_WORDS, '"', "text", None, "", None]


def dtype_cases() -> dict[str, Array]:
    """Return an array for each dtype of the exchange format, with the values that formats easily lose or change."""
    cases: dict[str, Array] = {"bool": np.array([True, False, True])}
    cases |= {name: _floats(name) for name in ("float16", "float32", "float64")}
    cases |= {name: _complexes(name) for name in ("complex64", "complex128")}
    cases |= {f"{sign}int{bits}": _integers(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}
    cases |= {f"{base}[{unit}]": _moments(base, unit) for base in TIMES for unit in UNITS}
    cases["string"] = np.array(TEXTS)
    cases["generic"] = objects(*GENERIC)
    return cases


def shape_cases() -> dict[str, Array]:
    """Return arrays with shapes, strides and byte orders that formats easily lose."""
    cube = np.arange(24.0).reshape(2, 3, 4)
    return {
        "0-d float": np.array(1.5),
        "0-d int": np.array(-7, dtype="int8"),
        "0-d string": np.array("data"),
        "0-d empty string": np.array(""),
        "0-d complex": np.array(-0.0 + 2j),
        "0-d generic": np.array(None, dtype=object),
        "0-d datetime": np.array("2024-02-29", dtype="datetime64[D]"),
        "empty": np.empty(0),
        "empty int": np.empty((3, 0, 2), dtype="uint16"),
        "empty string": np.empty((0, 4), dtype="<U3"),
        "empty generic": np.empty((0,), dtype=object),
        "one": np.array([3.0]),
        "ones": np.ones((1, 1, 1, 1)),
        "C": cube,
        "F": np.asfortranarray(cube),
        "F of strings": np.asfortranarray(np.array([["a", "bb"], ["", "=c"]])),
        "transposed": cube.T,
        "swapped": np.swapaxes(cube, 0, 1),
        "negative strides": cube[::-1, :, ::-1],
        "zero strides": np.broadcast_to(np.array([1.0, 2.0]), (3, 2)),
        "sparse": cube[:, ::2, 1::2],
        "big-endian float": np.array([1.5, -0.0, np.nan], dtype=">f8"),
        "big-endian int": np.array([[1, 2**60], [3, 4]], dtype=">i8"),
        "big-endian complex": np.array([1 + 2j], dtype=">c16"),
        "big-endian text": np.array(["a", "ü"], dtype=">U4"),
        "big-endian date": np.array(["2020-01-01"], dtype=">M8[D]"),
        "10-d": np.arange(2**10, dtype="int16").reshape((2,) * 10),
        "64-d": np.zeros((1,) * 64),
        "record field": np.array([(1, 2.5), (3, 4.5)], dtype=[("i", "i2"), ("f", "f8")])["f"],
        "read-only": _read_only(),
    }


def text_cases() -> dict[str, Array]:
    """Return arrays of text that formats take for formulas, numbers, headers or padding."""
    return {
        "leading zeros": np.array(["007", "0", "00", "1e5"]),
        "formula": np.array(["=1+1", "+A1", "-A1", "@A1", "'=1+1"]),
        "trailing empty": np.array(["a", "", ""]),
        "all empty": np.array(["", "", ""]),
        "header words": np.array(["data", "version", "1.0.0", "ndarray", "shape", "data"]),
        "whole header": np.array(
            ["x", "version", "1.0.0", "ndarray", "shape", "1", "strides", "1", "offset", "0", "data", "5"]
        ),
        "blanks": np.array([" ", "\t", "\n", "\u2003", ""]),
        "generic blanks": objects(None, "", None, "", None),
        "generic header words": objects("data", "version", "1.0.0", "ndarray", 1, None),
    }


def _read_only() -> Array:
    array = np.arange(4.0)
    array.flags.writeable = False
    return array


CASES = {**{f"dtype {name}": array for name, array in dtype_cases().items()}, **shape_cases(), **text_cases()}


def plain(array: Any) -> Array:
    """Return an array that was read as an ndarray, be it one or something with `to_numpy`."""
    return array if isinstance(array, np.ndarray) else array.to_numpy()


def assert_same(actual: Any, expected: Any, *, layout: bool = True) -> None:
    """Assert that two arrays have the same dtype but for byte order, the same shape, and the same bits in each element.

    Any NaN is the same as any other. With `layout`, the order in memory must be the same as well.
    """
    expected = np.asarray(expected)
    assert isinstance(actual, np.ndarray)
    assert actual.dtype.isnative
    assert actual.shape == expected.shape
    if expected.dtype.kind in "US":
        assert actual.dtype.kind == "U"
        assert actual.tolist() == expected.tolist()
    elif expected.dtype.kind == "O":
        assert actual.dtype == expected.dtype
        actual_items, expected_items = actual.ravel().tolist(), expected.ravel().tolist()
        assert [(type(a), repr(a)) for a in actual_items] == [(type(b), repr(b)) for b in expected_items]
    else:
        native = expected.astype(expected.dtype.newbyteorder("="))
        assert actual.dtype == native.dtype
        bits, native_bits = _bits(actual), _bits(native)
        differing = np.flatnonzero(bits != native_bits)
        assert not differing.size, (
            f"element {differing[0]}: {actual.ravel()[differing[0]]!r} is not {native.ravel()[differing[0]]!r}"
        )
    if layout:
        only_f = expected.flags.f_contiguous and not expected.flags.c_contiguous
        assert (actual.flags.f_contiguous and not actual.flags.c_contiguous) == only_f


def _bits(array: Array) -> Array:
    """Return the bytes of each element, with all kinds of NaN made one."""
    flat = np.array(array.ravel(), copy=True)
    if flat.dtype.kind == "c":
        parts = flat.view(f"f{flat.dtype.itemsize // 2}")
        parts[np.isnan(parts)] = np.nan
    elif flat.dtype.kind == "f":
        flat[np.isnan(flat)] = np.nan
    return flat.view(np.dtype((np.void, flat.dtype.itemsize)))
