"""How sheetarray's times are to compare with its peers': a row for each figure of the design."""

from __future__ import annotations

from dataclasses import dataclass

from .contenders import AVRO, NPY, NUMPY_NPY, NUMPY_NPZ, PANDAS, POLARS, RA, SHEETARRAY, Contender, Verb
from .events import AWKD, PARQUET
from .foreign import KINDS, SCAN, SCAN_EDITABLE, SCAN_REPORT, SCAN_VIEW
from .kinds import JSON
from .saved import ODS, XLS, XLSB
from .wide import ONE_BY_NAME, TABLE
from .workbooks import CALAMINE, FASTEXCEL, FOREIGN, GUARD, OPENPYXL, SHEETARRAY_XLSX, VIEW


@dataclass(frozen=True)
class Target:
    """How long sheetarray may take, beside a peer.

    Attributes:
        text: as the design has it.
        verb: writing or reading.
        times: ours / theirs is to be at most this.
        peer: the label of the other contender.
        measured: the label of the contender that it is about.
        cases: the keys of the cases that it is about; none for all that have the two.
        reason: for a target that is missed, as a profile shows it.
    """

    text: str
    verb: Verb
    times: float
    peer: str = POLARS.label
    measured: str = SHEETARRAY.label
    cases: tuple[str, ...] = ()
    reason: str = ""


_FLOATS = ("1M", "10M", "wide", "wider")
_BOOKS = ("xlsx", "xlsx-wide", "xlsx-10M", "xlsx-100", "xlsx-100k")
_BOOKS_READ = ((0.4, _BOOKS[:4]), (0.7, ("xlsx-100k", "xlsx-300")), (1.5, ("xlsx-10k",)))
_TABLES = ("xlsx-table", *(f"xlsx-{kind}" for kind in KINDS))
_BESIDE = (SCAN_VIEW.label, SCAN_EDITABLE.label, SCAN_REPORT.label)
_ORJSON, _OURS_JSON = JSON[1].label, JSON[0].label
_OLD_BOOK = (
    "beyond the start, a third of the time is calamine's, a third sorts its Python cells into columns of one kind and "
    "sends them, a third finds names, marks and dtypes as for every table; calamine ends at lists of Python objects"
)
_SAVED: tuple[tuple[str, float, tuple[Contender, Contender], str], ...] = (
    (
        ".ods read",
        1,
        ODS,
        "a cell of LibreOffice takes 160 bytes: a quarter of the time finds tags, a quarter compares them and cuts out "
        "values, a sixth looks for the titles of sheets; calamine goes over these bytes once",
    ),
    (".xls read, with the start of a process,", 1.5, (XLS[0], XLS[2]), _OLD_BOOK),
    (".xlsb read, with the start of a process,", 1.5, (XLSB[0], XLSB[2]), _OLD_BOOK),
)
_CSV_READ = (
    "half of the time goes into digits, a fifth into records and fields, a tenth into searches for quotes and headers: "
    "about what polars takes"
)
_ONE_OF_MANY = "the headers of all arrays are looked at, so that no name stands twice and no array is damaged unseen"
_MANY_CSV = "each array has a header and a layout of its own, made in Python"
_MANY_WRITTEN = (
    "each array has a header, a layout and a name of its own, made in Python: 66 µs of the processor an array"
)
_MANY_READ = (
    "each array has a header, which is parsed and checked in Python, and a record: 0.12 ms of the processor an array"
)
_MANY_JSON = (
    "each array is checked and gets a header in Python, 7 us to write it and 10 us to read it; orjson takes 0.4 us for "
    "ten numbers"
)
_XML = (
    "of 380 ms of the processor for a million cells deflate takes a third, checksums a quarter, printing "
    "doubles and cells a quarter: three threads share two cores"
)
_WIDE_TABLE = "columns of anything but doubles are inferred one by one in Python: runs differ by a tenth"
_ARCHIVE = "deflate takes a third of the processor's time, and the flush to the disk differs from run to run"
_ALIKE = "the file is read in the same way as .ra, and as by NumPy: runs differ by as much"
_SMALL_BOOK = (
    "parts, headers and the record of a workbook are read in Python: 1.4 ms of the processor; calamine has 0.13 ms"
)
_BOOK_READ = (
    "inflating and the compiled loop take nearly all of the time, one after the other on small files; headers and "
    "arrays are made in Python"
)
_TABLE_CELLS = (
    "half of the time goes over tags, references and values, which a compiled loop does at once; "
    "then dtypes are inferred"
)
_SCANNED = "each sheet more is an entry in four parts of the workbook; runs of five milliseconds differ by a tenth"
_GUARDED = "the guard writes the bits of every element once more, in a sheet of its own"
_DISK = "five sixths of the time are the system's, which takes the bytes and flushes them"

TARGETS = (
    Target("CSV, float64 written at most 1.15 x polars", "write", 1.15, cases=_FLOATS),
    Target("CSV, int64 written at most 1.2 x polars", "write", 1.2, cases=("int64",)),
    Target("CSV, bool and dates written at most 1.5 x polars", "write", 1.5, cases=("bool", "dates")),
    Target("CSV, ASCII text written at most 2 x polars", "write", 2, cases=("ascii",)),
    Target("CSV, other text written at most 3 x polars", "write", 3, cases=("unicode",)),
    Target(
        "CSV, numbers read at most 1.2 x polars", "read", 1.2, cases=(*_FLOATS, "int64", "infinities"), reason=_CSV_READ
    ),
    Target("CSV, bool and dates read at most 1.5 x polars", "read", 1.5, cases=("bool", "dates")),
    Target("CSV, text read at most 2 x polars", "read", 2, cases=("ascii", "unicode")),
    Target(
        "read_columns of 8,000 columns at most 2 x pandas",
        "read",
        2,
        PANDAS.label,
        TABLE.label,
        ("table",),
        reason=_WIDE_TABLE,
    ),
    Target("8,000 arrays written at most 3 x polars", "write", 3, cases=("many",), reason=_MANY_CSV),
    Target("8,000 arrays read at most 3 x polars", "read", 3, cases=("many",)),
    Target(
        "one of 8,000 arrays at most 0.3 x all", "read", 0.3, SHEETARRAY.label, ONE_BY_NAME.label, reason=_ONE_OF_MANY
    ),
    Target("small CSV written at most 2 x pandas", "write", 2, PANDAS.label, cases=("ten", "thousand")),
    Target("small CSV read at most 1.5 x pandas", "read", 1.5, PANDAS.label, cases=("ten", "thousand")),
    Target(
        "a workbook of 100 cells read at most 6 x calamine",
        "read",
        6,
        CALAMINE.label,
        cases=("xlsx-small",),
        reason=_SMALL_BOOK,
    ),
    Target("JSON written at most 2 x orjson", "write", 2, _ORJSON, _OURS_JSON, ("json",)),
    Target("JSON read at most 2 x orjson", "read", 2, _ORJSON, _OURS_JSON, ("json",)),
    Target(
        "20,000 arrays of ten in JSON written at most 4 x orjson",
        "write",
        4,
        _ORJSON,
        _OURS_JSON,
        ("json-many",),
        reason=_MANY_JSON,
    ),
    Target(
        "20,000 arrays of ten in JSON read at most 4 x orjson",
        "read",
        4,
        _ORJSON,
        _OURS_JSON,
        ("json-many",),
        reason=_MANY_JSON,
    ),
    Target(
        "xlsx written at least 60 x faster than by openpyxl",
        "write",
        1 / 60,
        OPENPYXL.label,
        cases=_BOOKS[:2],
        reason=_XML,
    ),
    Target(
        "xlsx written at least 8 x faster than by rustpy", "write", 1 / 8, FASTEXCEL.label, cases=_BOOKS, reason=_XML
    ),
    *(
        Target(
            f"{what} read at most {times} x fastexcel",
            "read",
            times,
            FASTEXCEL.label,
            ours.label,
            cases,
            reason=_BOOK_READ,
        )
        for what, ours in (("xlsx", SHEETARRAY_XLSX), ("foreign xlsx", FOREIGN))
        for times, cases in _BOOKS_READ
    ),
    Target(
        "1,000 arrays in a workbook written at most 3 x rustpy",
        "write",
        3,
        FASTEXCEL.label,
        cases=("xlsx-many",),
        reason=_MANY_WRITTEN,
    ),
    Target(
        "1,000 arrays in a workbook read at most 5 x fastexcel",
        "read",
        5,
        FASTEXCEL.label,
        cases=("xlsx-many",),
        reason=_MANY_READ,
    ),
    Target(
        "read_columns of a sheet of 16,384 columns of 4 kinds at most 4 x fastexcel",
        "read",
        4,
        FASTEXCEL.label,
        FOREIGN.label,
        ("xlsx-widest",),
    ),
    Target(
        "foreign tables at most 0.8 x fastexcel",
        "read",
        0.8,
        FASTEXCEL.label,
        FOREIGN.label,
        _TABLES,
        reason=_TABLE_CELLS,
    ),
    *(
        Target(f"{kind} at most {times} x calamine", "read", times, peer.label, ours.label, reason=why)
        for kind, times, (ours, peer), why in _SAVED
    ),
    *(
        Target("a scan at most 1.2 x that of arrays alone", "read", 1.2, SCAN.label, label, reason=_SCANNED)
        for label in _BESIDE
    ),
    Target("a guard written at most 2 x without", "write", 2, SHEETARRAY_XLSX.label, GUARD.label, reason=_GUARDED),
    Target("a guard read at most 2 x without", "read", 2, SHEETARRAY_XLSX.label, GUARD.label),
    Target("a view written at most 1.3 x without", "write", 1.3, SHEETARRAY_XLSX.label, VIEW.label, ("xlsx-guard",)),
    Target("a view read at most 1.2 x without", "read", 1.2, SHEETARRAY_XLSX.label, VIEW.label, ("xlsx-guard",)),
    Target(".awkd written at most 0.4 x Parquet with zstd", "write", 0.4, PARQUET.label, AWKD.label, reason=_ARCHIVE),
    Target("Avro written at most 0.5 x np.savez", "write", 0.5, NUMPY_NPZ.label, AVRO.label, reason=_DISK),
    Target(
        "Avro read and sum at most 1.1 x np.load and sum",
        "read",
        1.1,
        NUMPY_NPY.label,
        AVRO.label,
        reason="the bytes are read once and summed, as NumPy does it: runs differ by as much",
    ),
    Target(".ra read and sum at most 1.1 x np.load and sum", "read", 1.1, NUMPY_NPY.label, RA.label),
    Target(".npy read and sum at most 1.1 x np.load and sum", "read", 1.1, NUMPY_NPY.label, NPY.label, reason=_ALIKE),
    Target(".ra written at most 1.1 x np.save", "write", 1.1, NUMPY_NPY.label, RA.label, reason=_DISK),
    Target(
        ".npy written at most 1.1 x np.save",
        "write",
        1.1,
        NUMPY_NPY.label,
        NPY.label,
        reason="nearly all of the time is the system's, which takes 256 MB and flushes them: 1.07 x in the run before",
    ),
)

IMPORT = 1.6  # `import sheetarray` takes at most this many times `import numpy`
MEMORY_TIMES, MEMORY_PLUS = 3, 200_000_000  # a write takes at most 3 x the arrays' bytes, and 200 MB
BLOCKS_MEMORY = 150_000_000  # beyond imports, to write and to read 1 GB of CSV block by block
GROWTH = 2  # time per cell, column or array at the largest size is at most this many times that of any smaller size
