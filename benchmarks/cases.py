"""What is compared: the table of cases, and the targets. A new adapter is a contender, a case and a target here.

Arrays are made from a fixed seed, so that every process that measures a case has the same cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .contenders import (
    AVRO,
    FASTAVRO,
    MSGPACK,
    NPY,
    NUMPY,
    NUMPY_NPY,
    PANDAS,
    POLARS,
    RA,
    SHEETARRAY,
    Arrays,
    Contender,
)
from .kinds import JSON, KIND, TEXT, make_one
from .wide import FEW, MANY, ONE_BY_NAME, TABLE, TABLES
from .workbooks import (
    EDITABLE,
    FASTEXCEL,
    GUARD,
    OPENPYXL,
    PANDAS_XLSX,
    RUSTPY,
    SHEETARRAY_XLSX,
    VIEW,
    XLSXWRITER,
    make_grid,
)

Verb = Literal["write", "read"]


@dataclass(frozen=True)
class Case:
    """Some arrays, and who writes and reads them.

    Attributes:
        key: its name on the command line.
        title: its name in the table.
        rows: elements in each array.
        make: number of rows -> arrays by name.
        contenders: in the order of each round.
    """

    key: str
    title: str
    rows: int
    make: Callable[[int], Arrays]
    contenders: tuple[Contender, ...]

    def contender(self, label: str) -> Contender:
        """The contender of a label."""
        return next(contender for contender in self.contenders if contender.label == label)


@dataclass(frozen=True)
class Target:
    """How sheetarray's time is to compare with a peer's: at most `times` as long.

    Attributes:
        text: as the design has it.
        verb: writing or reading.
        peer: the label of the other contender.
        times: ours / theirs is to be at most this.
        suffix: of the files that it is about.
        measured: the label of the contender that it is about; "" is sheetarray in each of its ways.
        cases: the keys of the cases that it is about; none for all that have the two.
    """

    text: str
    verb: Verb
    peer: str
    times: float
    suffix: str = ".csv"
    measured: str = ""
    cases: tuple[str, ...] = ()


def _normal(columns: int) -> Callable[[int], Arrays]:
    def make(rows: int) -> Arrays:
        rng = np.random.default_rng(20240229)
        return {f"x{column}": rng.standard_normal(rows) for column in range(columns)}

    return make


def _mixed(rows: int) -> Arrays:
    rng = np.random.default_rng(20240229)
    moments = rng.integers(0, 4_000_000_000_000, rows)
    return {
        "float64": rng.standard_normal(rows),
        "float32": rng.standard_normal(rows).astype(np.float32),
        "int64": rng.integers(-(2**63), 2**63 - 1, rows, endpoint=True),
        "uint8": rng.integers(0, 256, rows, dtype=np.uint8),
        "bool": rng.integers(0, 2, rows).astype(bool),
        "complex128": rng.standard_normal(2 * rows).view(np.complex128),
        "datetime64": moments.astype("datetime64[ms]"),
        "string": np.char.add("sample ", rng.integers(0, 100_000, rows).astype("<U6")),
    }


_WORKBOOKS = (SHEETARRAY_XLSX, RUSTPY, OPENPYXL, XLSXWRITER, PANDAS_XLSX)
_TEXT = (SHEETARRAY, POLARS, PANDAS, NUMPY)

CASES = (
    Case("1M", "1 column, 1 M float64", 1_000_000, _normal(1), _TEXT),
    Case("10M", "1 column, 10 M float64", 10_000_000, _normal(1), _TEXT),
    Case("wide", "16 columns, 10 M float64", 625_000, _normal(16), _TEXT),
    Case("mixed", "8 dtypes, 4 M cells", 500_000, _mixed, (SHEETARRAY, POLARS, PANDAS)),
    Case("many", "8,000 arrays of 10 float64", 10, _normal(8000), MANY),
    Case("table", "table of 8,000 columns and 10 rows", 10, _normal(8000), TABLES),
    Case("ten", "100 x 1 column, 10 float64", 10, _normal(1), FEW),
    Case("thousand", "100 x 1 column, 1,000 float64", 1000, _normal(1), FEW),
    Case("int64", "1 column, 1 M int64", 1_000_000, make_one("int64"), KIND),
    Case("bool", "1 column, 1 M bool", 1_000_000, make_one("bool"), KIND),
    Case("dates", "1 column, 1 M datetime64[ms]", 1_000_000, make_one("dates"), KIND),
    Case("ascii", "1 column, 1 M ASCII texts", 1_000_000, make_one("ascii"), TEXT),
    Case("unicode", "1 column, 1 M other texts", 1_000_000, make_one("unicode"), TEXT),
    Case("infinities", "1 column, 1 M float64, 0.1 % infinite", 1_000_000, make_one("infinities"), KIND),
    Case("json", "JSON, 1 column, 1 M float64", 1_000_000, _normal(1), JSON),
    Case("xlsx", "workbook, 1 column, 1 M float64", 1_000_000, _normal(1), _WORKBOOKS),
    Case("xlsx-wide", "workbook, 16 columns, 1 M float64", 62_500, _normal(16), _WORKBOOKS),
    Case("xlsx-10M", "workbook, 16 columns, 10 M float64", 625_000, _normal(16), (SHEETARRAY_XLSX, RUSTPY)),
    Case("xlsx-many", "workbook, 1,000 arrays of 10 float64", 10, _normal(1000), (SHEETARRAY_XLSX, FASTEXCEL)),
    Case("xlsx-guard", "workbook, 720 x 30 x 36 float64", 777_600, make_grid, (SHEETARRAY_XLSX, GUARD, VIEW)),
    Case("xlsx-edit", "workbook, 72 x 30 x 36 float64", 77_760, make_grid, (SHEETARRAY_XLSX, VIEW, EDITABLE)),
    Case("binary", "binary, 32 M float64", 32_000_000, _normal(1), (RA, AVRO, NPY, MSGPACK, NUMPY_NPY, FASTAVRO)),
)

TARGETS = (
    Target("CSV write at most 1.5 x polars", "write", "polars", 1.5),
    Target("CSV write at least 15 x faster than pandas", "write", "pandas", 1 / 15),
    Target("CSV read at most 1.5 x polars", "read", "polars", 1.5),
    Target("JSON written at most 2 x orjson", "write", "orjson", 2, ".json"),
    Target("JSON read at most 2 x orjson", "read", "orjson", 2, ".json"),
    Target("int64 written at most 1.2 x polars", "write", "polars to NumPy", 1.2, cases=("int64",)),
    Target("bool and dates written at most 1.5 x polars", "write", "polars to NumPy", 1.5, cases=("bool", "dates")),
    Target("ASCII text written at most 2 x polars", "write", "polars to NumPy", 2, cases=("ascii",)),
    Target("other text written at most 3 x polars", "write", "polars to NumPy", 3, cases=("unicode",)),
    Target("numbers read at most 1.2 x polars", "read", "polars to NumPy", 1.2, cases=("int64", "infinities")),
    Target("bool and dates read at most 1.5 x polars", "read", "polars to NumPy", 1.5, cases=("bool", "dates")),
    Target("text read at most 2 x polars", "read", "polars to NumPy", 2, cases=("ascii", "unicode")),
    Target("8,000 arrays written at most 3 x polars", "write", "polars to NumPy", 3, cases=("many",)),
    Target("8,000 arrays read at most 3 x polars", "read", "polars to NumPy", 3, cases=("many",)),
    Target("one of 8,000 arrays at most 0.3 x all", "read", "sheetarray", 0.3, measured=ONE_BY_NAME.label),
    Target("read_columns of 8,000 columns at most 2 x pandas", "read", "pandas to NumPy", 2, measured=TABLE.label),
    Target("few cells written at most 2 x pandas", "write", "pandas to NumPy", 2, measured="sheetarray"),
    Target("few cells read at most 1.5 x pandas", "read", "pandas to NumPy", 1.5, measured="sheetarray"),
    Target("xlsx write at least 25 x faster than openpyxl", "write", OPENPYXL.label, 1 / 25, ".xlsx"),
    Target("xlsx write at least 4 x faster than rustpy-xlsxwriter", "write", RUSTPY.label, 1 / 4, ".xlsx"),
    Target("xlsx read at least 10 x faster than openpyxl", "read", OPENPYXL.label, 1 / 10, ".xlsx"),
    Target(
        "1,000 arrays in a workbook written at most 3 x rustpy",
        "write",
        FASTEXCEL.label,
        3,
        ".xlsx",
        cases=("xlsx-many",),
    ),
    Target(
        "1,000 arrays in a workbook read at most 3 x fastexcel",
        "read",
        FASTEXCEL.label,
        3,
        ".xlsx",
        cases=("xlsx-many",),
    ),
    Target("a guard written at most 2 x without", "write", "sheetarray", 2, ".xlsx", GUARD.label),
    Target("a guard read at most 2 x without", "read", "sheetarray", 2, ".xlsx", GUARD.label),
    Target("a view written at most 1.3 x without", "write", "sheetarray", 1.3, ".xlsx", VIEW.label, ("xlsx-guard",)),
    Target("a view read at most 1.2 x without", "read", "sheetarray", 1.2, ".xlsx", VIEW.label, ("xlsx-guard",)),
    Target("RawArray read and sum at most 1.2 x numpy.load and sum", "read", "numpy .npy", 1.2, ".ra"),
    Target("Avro read and sum at most 1.2 x numpy.load and sum", "read", "numpy .npy", 1.2, ".avro"),
)

MEMORY_TIMES, MEMORY_PLUS = 3, 200_000_000  # a write takes at most 3 x the arrays' bytes, and 200 MB
