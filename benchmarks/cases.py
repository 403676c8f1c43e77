"""What is compared: the table of cases. A new adapter is a contender, a case here, and a row of `targets`.

Arrays are made from a fixed seed, so that every process that measures a case has the same cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .contenders import (
    AVRO,
    FASTAVRO,
    MSGPACK,
    NPY,
    NUMPY,
    NUMPY_NPY,
    NUMPY_NPZ,
    PANDAS,
    POLARS,
    POLARS_MIXED,
    RA,
    SHEETARRAY,
    Arrays,
    Contender,
)
from .edits import APPEND, APPEND_TABLE, DETECT, DETECT_FEW, DETECT_NUMBERS, EDITS, make_numbers_table, make_sheet
from .events import EVENTS, make_events
from .foreign import KINDS, MIXED, SCANS, TABLES_XLSX, make_wide
from .kinds import COMPLEX, DATES, DAYS, GENERIC, JSON, KIND, make_one
from .saved import ODS, OFFICE, XLS, XLSB, make_mixture, make_numbers
from .wide import FEW, MANY, TABLES, TABLES_OF_KINDS, make_table
from .workbooks import (
    CALAMINE,
    EDITABLE,
    FASTEXCEL,
    FEW_XLSX,
    FOREIGN,
    GUARD,
    OPENPYXL,
    SHEETARRAY_XLSX,
    VIEW,
    XLSXWRITER,
    make_grid,
)


@dataclass(frozen=True)
class Case:
    """Some arrays, and who writes and reads them.

    Attributes:
        key: its name on the command line.
        title: its name in the table.
        rows: elements in each array.
        make: number of rows -> arrays by name.
        contenders: in the order of each round.
        memory: whether the peaks of all are taken, or only of what sheetarray writes.
        program: that makes the files; without it the case is left out, which is said.
    """

    key: str
    title: str
    rows: int
    make: Callable[[int], Arrays]
    contenders: tuple[Contender, ...]
    memory: bool = False
    program: str = ""

    def contender(self, label: str) -> Contender:
        """The contender of a label."""
        return next(contender for contender in self.contenders if contender.label == label)


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


_PLAIN = (SHEETARRAY, POLARS)
_WORKBOOKS = (SHEETARRAY_XLSX, FOREIGN, FASTEXCEL, OPENPYXL, XLSXWRITER)
_FLUSHED = (SHEETARRAY_XLSX, FOREIGN, FASTEXCEL, CALAMINE)
_APPENDED = (SHEETARRAY_XLSX, APPEND)
_REPEATED = (SHEETARRAY_XLSX, TABLES_XLSX[1])
_BINARY = (RA, AVRO, NPY, MSGPACK, NUMPY_NPY, NUMPY_NPZ, FASTAVRO)
_BODY = 1_000_000

CASES = (
    Case("1M", "1 column, 1 M float64", _BODY, _normal(1), (SHEETARRAY, POLARS, PANDAS, NUMPY), memory=True),
    Case("10M", "1 column, 10 M float64", 10 * _BODY, _normal(1), _PLAIN, memory=True),
    Case("wide", "16 columns, 10 M float64", 625_000, _normal(16), _PLAIN, memory=True),
    Case("wider", "64 columns, 10 M float64", 156_250, _normal(64), _PLAIN),
    Case("mixed", "8 dtypes, 4 M cells", 500_000, _mixed, (SHEETARRAY, POLARS_MIXED, PANDAS), memory=True),
    Case("int64", "1 column, 1 M int64", _BODY, make_one("int64"), KIND),
    Case("bool", "1 column, 1 M bool", _BODY, make_one("bool"), KIND),
    Case("dates", "1 column, 1 M datetime64[ms]", _BODY, make_one("dates"), DATES),
    Case("days", "1 column, 1 M datetime64[D]", _BODY, make_one("days"), DAYS),
    Case("ascii", "1 column, 1 M ASCII texts", _BODY, make_one("ascii"), KIND),
    Case("unicode", "1 column, 1 M other texts", _BODY, make_one("unicode"), KIND),
    Case("infinities", "1 column, 1 M float64, 0.1 % infinite", _BODY, make_one("infinities"), KIND),
    Case("complex", "1 column, 1 M complex128", _BODY, make_one("complex"), COMPLEX),
    Case("generic", "1 column, 0.3 M generic", 300_000, make_one("generic"), GENERIC),
    Case("many", "8,000 arrays of 10 float64", 10, _normal(8000), MANY),
    Case("table", "table of 8,000 columns and 10 rows", 10, _normal(8000), TABLES),
    Case("ordinary", "table of 7 columns, 0.7 M cells", 100_000, make_table, TABLES_OF_KINDS),
    Case("detect-10k", "table of 7 columns, 10 kB", 200, make_table, DETECT_FEW),
    Case("detect-1M", "table of 7 columns, 1 MB", 20_000, make_table, DETECT),
    Case("detect-10M", "table of 7 columns, 10 MB", 200_000, make_table, DETECT),
    Case("detect-numbers", "table of 4 columns of numbers, 8 MB", 200_000, make_numbers_table, DETECT_NUMBERS),
    Case("append", "table of 4 columns and 10^6 rows, 100 more", _BODY, make_numbers_table, (APPEND_TABLE,)),
    Case("ten", "100 x 1 column, 10 float64", 10, _normal(1), FEW),
    Case("thousand", "100 x 1 column, 1,000 float64", 1000, _normal(1), FEW),
    Case("json", "JSON, 1 column, 1 M float64", _BODY, _normal(1), JSON),
    Case("json-many", "JSON, 20,000 arrays of 10 float64", 10, _normal(20_000), JSON),
    Case("xlsx", "workbook, 1 column, 1 M float64", _BODY, _normal(1), _WORKBOOKS, memory=True),
    Case("xlsx-wide", "workbook, 16 columns, 1 M float64", 62_500, _normal(16), _WORKBOOKS, memory=True),
    Case("xlsx-10M", "workbook, 16 columns, 10 M float64", 625_000, _normal(16), _WORKBOOKS[:3]),
    Case("xlsx-small", "10 x workbook, 1 column, 100 float64", 100, _normal(1), FEW_XLSX),
    Case("xlsx-append", "workbook, 16 columns, 0.1 M float64, 100 rows more", 6250, _normal(16), _APPENDED),
    Case("xlsx-edits", "workbook, 62,500 x 16 float64, and 10 copies", _BODY, make_sheet(16), EDITS),
    Case("xlsx-repeated", "workbook, 8 columns, 0.1 M words, each many times", 12_500, KINDS["words"], _REPEATED),
    Case("xlsx-table-300", "workbook, table of 300 columns, 20 rows", 20, _normal(300), (FOREIGN, CALAMINE)),
    Case("xlsx-many", "workbook, 1,000 arrays of 10 float64", 10, _normal(1000), (SHEETARRAY_XLSX, FASTEXCEL)),
    Case("xlsx-guard", "workbook, 720 x 30 x 36 float64", 777_600, make_grid, (SHEETARRAY_XLSX, GUARD, VIEW)),
    Case("xlsx-edit", "workbook, 72 x 30 x 36 float64", 77_760, make_grid, (SHEETARRAY_XLSX, VIEW, EDITABLE)),
    Case("xlsx-100", "workbook, 100 columns, 1 M float64", 10_000, _normal(100), _WORKBOOKS),
    Case("xlsx-300", "workbook, 300 columns, 0.1 M float64", 333, _normal(300), _FLUSHED),
    Case("xlsx-100k", "workbook, 16 columns, 0.1 M float64", 6250, _normal(16), _FLUSHED),
    Case("xlsx-10k", "workbook, 16 columns, 10,000 float64", 625, _normal(16), _FLUSHED),
    Case("xlsx-table", "workbook, table of 7 columns, 0.1 M cells", 15_000, MIXED, TABLES_XLSX),
    *(Case(f"xlsx-{kind}", f"workbook, 0.1 M {kind}", 12_500, make, TABLES_XLSX) for kind, make in KINDS.items()),
    Case("xlsx-widest", "workbook, table of 16,384 columns of 4 kinds, 2 rows", 2, make_wide, TABLES_XLSX),
    Case("xlsx-many-kinds", "workbook, 16,384 arrays of 4 kinds of 10", 10, make_wide, (SHEETARRAY_XLSX, FASTEXCEL)),
    Case("xlsx-scan", "workbook, 72 x 30 x 36 float64, scanned", 77_760, make_grid, SCANS),
    Case("ods-1", ".ods, 1 column, 0.1 M float64", 100_000, make_numbers(1), ODS, program=OFFICE),
    Case("ods-16", ".ods, 16 columns, 0.1 M float64", 6250, make_numbers(16), ODS, program=OFFICE),
    Case("ods-1M", ".ods, 16 columns, 1 M float64", 62_500, make_numbers(16), ODS, program=OFFICE),
    Case("ods-table", ".ods, table of 7 columns, 0.1 M cells", 15_000, make_mixture, ODS, program=OFFICE),
    Case("xls-16", ".xls, 16 columns, 0.1 M float64", 6250, make_numbers(16), XLS, program=OFFICE),
    Case("xls-table", ".xls, table of 7 columns, 0.1 M cells", 15_000, make_mixture, XLS, program=OFFICE),
    Case("xlsb-16", ".xlsb, 16 columns, 0.1 M float64", 6250, make_numbers(16), XLSB),
    Case("events", "1 M lists, 3 M float64", 3 * _BODY, make_events, EVENTS, memory=True),
    Case("binary", "binary, 32 M float64", 32_000_000, _normal(1), _BINARY, memory=True),
)
