"""What hostile content is put through, and what it is made of; the suite of hostile files is shipped."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from examples import PART, examples

import sheetarray as sa
from sheetarray.testing.hostile import HostileConformance, limited_memory

FORMATS = ("csv", "tsv", "json")
MOST_MEMORY = 200_000_000  # bytes, for any file of a few kilobytes
WORDS = [
    *("version", "1.0.0", "1.1.0", "2.0.0", "1.0", "ndarray", "shape", "strides", "offset", "order", "row-major"),
    *("column-major", "dtype", "float64", "int8", "bool", "string", "generic", "complex128", "datetime64[D]"),
    *("length", "capacity", "data", "part", "unknown", "0", "1", "2", "3", "-1", "1.5", "1,5", "2.0", "1e400", "NaN"),
    *("Infinity", "TRUE", "x", "3+4i", "NaT", "10000000000000000000", "=", "'", '"', '""', "[", "]", "{", "}"),
    *("null", "true", ":", "\\u0000", "\\ud800"),
]
GLUE = [",", ";", "\t", "|", "\n", "\n", "\n", "\r\n", "\r", '"', " ", "", "\x00", "\ufeff", ", ", ": "]


class Hostile(HostileConformance):
    """The shipped suite, with as many files as this run is worth."""

    tries = examples(200)
    inflated = 2**30 // PART
    part = 1 if PART == 1 else 32 * PART  # tests/testing/test_bombs.py has them in the size that this run is worth


class HostileSamples(Hostile):
    """The part of it that depends on samples, which are special here: `test_hostile_formats.py` has the rest."""

    test_bytes_of_anything_are_read_or_refused = None
    test_compressed_files_are_cut_and_changed_too = None
    test_bombs_take_no_memory = None
    test_what_is_repeated_is_counted = None


@contextmanager
def bounded_memory(most: int = MOST_MEMORY) -> Iterator[None]:
    """Let a block take no more memory than that."""
    with limited_memory(most):
        yield


def survive(content: bytes, format: str, **options: Any) -> bool:
    """Put content through every verb that the format has; whether it could be read.

    Only a `FormatError` may come out, with a reason; `check` finds an error exactly where `read` raises one.
    """
    outcomes: dict[str, list[Any]] = {}
    for verb in ("read", "scan", "check", *(["read_columns"] if format in ("csv", "tsv", "xlsx") else [])):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", sa.SheetArrayWarning)
            try:
                result = getattr(sa, verb)(io.BytesIO(content), format=format, **options)
                outcomes[verb] = list(result)
            except Exception as error:
                if verb == "check" or not isinstance(error, sa.FormatError) or not error.reason:
                    raise AssertionError(f"{verb} of {format} raised {error!r} for {content[:2000]!r}") from error
                outcomes[verb] = []
    errors = [finding for finding in outcomes["check"] if finding.severity == "error"]
    assert bool(outcomes["read"]) != bool(errors), f"{outcomes} for {content[:2000]!r}"
    return bool(outcomes["read"])


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
