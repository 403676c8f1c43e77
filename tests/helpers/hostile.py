"""What hostile content is put through, and what it is made of."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from cases import objects

import sheetarray as sa

FORMATS = ("csv", "tsv", "json")
WORDS = [
    "version",
    "1.0.0",
    "1.1.0",
    "2.0.0",
    "1.0",
    "ndarray",
    "shape",
    "strides",
    "offset",
    "order",
    "row-major",
    "column-major",
    "dtype",
    "float64",
    "int8",
    "bool",
    "string",
    "generic",
    "complex128",
    "datetime64[D]",
    "length",
    "capacity",
    "data",
    "part",
    "unknown",
    "0",
    "1",
    "2",
    "3",
    "-1",
    "1.5",
    "1,5",
    "2.0",
    "1e400",
    "NaN",
    "Infinity",
    "TRUE",
    "x",
    "3+4i",
    "NaT",
    "10000000000000000000",
    "=",
    "'",
    '"',
    '""',
    "[",
    "]",
    "{",
    "}",
    "null",
    "true",
    ":",
    "\\u0000",
    "\\ud800",
]
GLUE = [",", ";", "\t", "|", "\n", "\n", "\n", "\r\n", "\r", '"', " ", "", "\x00", "\ufeff", ", ", ": "]
VERBS: dict[str, Callable[..., Any]] = {
    "read": sa.read,
    "scan": sa.scan,
    "check": lambda *args, **options: list(sa.check(*args, **options)),
    "read_columns": sa.read_columns,
}


def survive(content: bytes, format: str, **options: Any) -> None:
    """Put content through every verb: only a FormatError may come out."""
    for verb, function in VERBS.items():
        if verb == "read_columns" and format == "json":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", sa.SheetArrayWarning)
            try:
                result = function(io.BytesIO(content), format=format, **options)
            except sa.FormatError as error:
                assert verb != "check", f"check raised {error!r} for {content[:2000]!r}"  # noqa: PT017  (no error is right too)
                assert str(error)  # noqa: PT017  (no error is right too)
            except Exception as error:
                raise AssertionError(f"{verb} of {format} raised {error!r} for {content[:2000]!r}") from error
            else:
                assert verb == "check" or all(isinstance(name, str) for name in result)


def agree(content: bytes, format: str) -> None:
    """`check` finds an error exactly where `read` raises one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        findings = list(sa.check(io.BytesIO(content), format=format))
        errors = [finding for finding in findings if finding.severity == "error"]
        try:
            sa.read(io.BytesIO(content), format=format)
        except sa.FormatError as error:
            assert errors, f"read raised {error!r}, check found nothing in {content[:2000]!r}"  # noqa: PT017  (either is right)
        else:
            assert not errors, f"read raised nothing, check found {errors} in {content[:2000]!r}"


def valid(format: str, **options: Any) -> bytes:
    """A file with arrays of several dtypes."""
    arrays = {
        "t": np.array([[1.5, -0.0], [np.nan, 2e300]]),
        "i": np.array([1, 2, 3], dtype="int8"),
        "s": np.array(["a", 'q"q', "x,y", ""]),
        "c": np.array([1 + 2j]),
        "d": np.array(["2020-01-01"], dtype="M8[D]"),
        "g": objects(None, 1, "1", True),
    }
    file = io.BytesIO()
    sa.write(file, arrays, format=format, **options)
    return file.getvalue()


def header(**fields: list[str] | str) -> list[str]:
    given: dict[str, Any] = {
        "shape": ["1"],
        "strides": ["1"],
        "offset": ["0"],
        "order": ["row-major"],
        "dtype": ["float64"],
        "length": ["1"],
        "capacity": ["1"],
        **fields,
    }
    cells = ["version", "1.0.0", "ndarray"]
    for key, values in given.items():
        cells += [key, *([values] if isinstance(values, str) else values)]
    return [*cells, "data"]


def put(cells: list[Any], format: str) -> bytes:
    if format == "json":
        texts = [
            cell
            if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", str(cell))
            else '"' + re.sub(r'(["\\])', r"\\\1", str(cell)) + '"'
            for cell in cells
        ]
        return ('{"x": [' + ", ".join(texts) + "]}").encode()
    return ("x\n" + "".join(f"{cell}\n" for cell in cells)).encode()
