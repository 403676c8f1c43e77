"""How sheetarray's times are to compare with its peers': the rows of the design's table of figures, and no others."""

from __future__ import annotations

from dataclasses import dataclass

from .contenders import AVRO, NPY, NUMPY_NPY, NUMPY_NPZ, PANDAS, POLARS, RA, SHEETARRAY, Contender, Verb
from .edits import APPEND, APPEND_TABLE, CHECK, DIFF, MERGE
from .events import AWKD, PARQUET
from .foreign import KINDS, SCAN, SCAN_EDITABLE, SCAN_REPORT, SCAN_VIEW
from .kinds import JSON
from .saved import ODS, XLS, XLSB
from .wide import ONE_BY_NAME, TABLE
from .workbooks import CALAMINE, FASTEXCEL, FOREIGN, NO_SNAPSHOT, OPENPYXL, SHEETARRAY_XLSX


@dataclass(frozen=True)
class Target:
    """How long sheetarray may take, beside a peer.

    Attributes:
        text: as the design has it.
        verb: writing or reading.
        times: ours / theirs is to be at most this; without a peer, the seconds of one call.
        peer: the label of the other contender; "" for none.
        started: the label of the same contender after the start of a process: what that takes longer is taken off our
            time, too.
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
    started: str = ""


_FLOATS = ("1M", "wide", "wider")
_BOOKS = ("xlsx", "xlsx-wide", "xlsx-100")
_BOOKS_READ = ((0.4, (*_BOOKS, "xlsx-10M")), (0.65, ("xlsx-100k", "xlsx-300")), (1.5, ("xlsx-10k",)))
_TABLES = ("xlsx-table", *(f"xlsx-{kind}" for kind in KINDS))
_BESIDE = (SCAN_VIEW.label, SCAN_EDITABLE.label, SCAN_REPORT.label)
_ORJSON, _OURS_JSON = JSON[1].label, JSON[0].label
_EDITS: tuple[tuple[str, float, Contender, str], ...] = (
    ("check", 2, CHECK, ""),
    ("diff", 2, DIFF, "both workbooks are read, each once; the other tenth of the time maps and compares the elements"),
    (
        "merge of 10 copies",
        12,
        MERGE,
        "nine tenths of the time read eleven workbooks, each once; the rest compares the copies with the base",
    ),
)
_OLD_BOOK = (
    "beyond the start of the process, a quarter of the time is calamine's, a third makes Python's objects of cells, "
    "packs and sends them in a process whose memory is new, and two fifths find names, marks and dtypes as for every "
    "table; calamine ends at lists of Python objects"
)
_SAVED: tuple[tuple[str, float, tuple[Contender, ...], str], ...] = (
    (
        ".ods read",
        1,
        ODS,
        "a cell of LibreOffice takes 160 bytes: a quarter of the time finds tags, a quarter compares them and cuts out "
        "values, a sixth looks for the titles of sheets; calamine goes over these bytes once",
    ),
    (".xls read, beyond the start of the child,", 1.5, XLS, _OLD_BOOK),
    (".xlsb read, beyond the start of the child,", 1.5, XLSB, _OLD_BOOK),
)
_CSV_READ = (
    "three fifths of the time go over fields and their digits in one compiled loop; an eighth takes the file into "
    "memory, and the rest looks for quotes and headers and copies, and polars looks for no headers"
)
_ONE_OF_MANY = "the headers of all arrays are looked at, so that no name stands twice and no array is damaged unseen"
_MANY_CSV = (
    "each array has a header and a layout of its own, made and checked in Python; polars writes and reads one table"
)
_MANY_WRITTEN = (
    "each array has a header, a layout, a name, widths and a snapshot of its own, made in Python: 57 us of the "
    "processor an array, in 160 calls; rustpy writes one table"
)
_MANY_READ = (
    "each array has a header, which is parsed, and a record and checksums, which are compared, in Python: 60 us of "
    "the processor an array, in 180 calls; fastexcel reads one table"
)
_MANY_JSON = (
    "each array is checked and gets a header in Python, 7 us to write it and 10 us to read it; orjson takes 0.4 us for "
    "ten numbers"
)
_XML = (
    "of 380 ms of the processor for a million cells deflate takes a third, checksums a quarter, printing "
    "doubles and cells a quarter: three threads share two cores"
)
_WIDE = (
    "names, kinds and doubts are looked for column by column in Python, some 24 us of the processor each; pandas makes "
    "one block of all columns of a kind"
)
_ARCHIVE = "deflate takes a third of the processor's time, and the flush to the disk differs from run to run"
_ALIKE = "the file is read as NumPy reads it, whole and to memory of its own; runs differ by a tenth"
_BOOK = (
    "a fifth of a read opens the package and its lists of parts, a fifth parses the sheet, a quarter finds words and "
    "headers among its cells, a sixth makes elements, a tenth compares checksums, in 2,300 calls of Python; calamine "
    "lists the cells of one sheet"
)
_BOOK_WRITTEN = (
    "a quarter of a write plans ten parts, their names and relationships, a third makes and deflates them, a sixth "
    "takes checksums and the snapshot, a fifth opens, flushes and renames the file, in 2,140 calls of Python"
)
_WIDE_BOOK = (
    "a third of the time reads the file and its XML, a quarter finds names, kinds and doubts, a quarter makes arrays, "
    "column by column in Python: 15 us of the processor each; calamine ends at lists of rows"
)
_BOOLS = (
    "half of the time goes over fields, in which words are compared at once, the rest into searches for quotes and "
    "for headers below; polars looks for neither"
)
_BOOK_READ = (
    "a quarter of the time inflates, two fifths go over cells in the compiled loop, of which a third reads digits; the "
    "rest passes blocks from thread to thread and sorts cells into columns, and small files have headers read in Python"
)
_TABLE_CELLS = (
    "half of the time goes over tags, references and values, which a compiled loop does at once; "
    "then dtypes are inferred"
)
_CSV_WRITTEN = (
    "the engine prints the cells in nine tenths of the time, as it does for polars; headers, the flush and the new "
    "name take the rest, and runs of 50 ms differ by a tenth"
)
_JSON_WRITTEN = (
    "orjson prints the elements in two thirds of the time, block by block; a sixth writes the blocks to the file, and "
    "the flush and the new name take the rest"
)
_JSON_READ = (
    "two fifths of the time are orjson's; a quarter counts brackets and commas first, which bounds depth and memory, "
    "and a fifth makes doubles of Python's numbers"
)
_SNAPSHOT = (
    "a snapshot is a sheet more, with a part, a name and a relationship: 0.6 ms, of which a tenth encodes the elements"
)
_SPLICED = (
    "three tenths of the time splice rows into the XML, a sixth makes their cells, and a quarter reads the guard and "
    "makes its snapshots anew, all of it in Python; a write makes each column at once"
)
_SCANNED = "each sheet more is an entry in four parts of the workbook; runs of five milliseconds differ by a tenth"
_DISK = "five sixths of the time are the system's, which takes the bytes and flushes them, for NumPy as for us"

_SMALL = (
    "a write makes 780 calls of Python, which look at names, dtypes and the target; a sixth of the time is the "
    "system's, which opens, flushes and renames"
)
_DETECTION = (
    "three fifths of the time of numbers go over fields and digits, each of which is shown to lose nothing as a "
    "double, as polars does not do; a sixth finds marks in a sample, the rest copies and looks for control characters "
    "and names, and a small file passes 450 functions of Python"
)
_VERBS: tuple[tuple[str, Verb], ...] = (("written", "write"), ("read", "read"))

TARGETS = (
    # CSV write
    Target("CSV, float64 written at most 1.1 x polars", "write", 1.1, cases=_FLOATS, reason=_CSV_WRITTEN),
    Target("CSV, int64 written at most 1.1 x polars", "write", 1.1, cases=("int64",), reason=_CSV_WRITTEN),
    Target(
        "CSV, bool and dates written at most 1.2 x polars",
        "write",
        1.2,
        cases=("bool", "dates", "days"),
        reason=_CSV_WRITTEN,
    ),
    Target("CSV, ASCII text written at most 1.5 x polars", "write", 1.5, cases=("ascii",)),
    Target("CSV, other text written at most 2 x polars", "write", 2, cases=("unicode",)),
    # CSV read
    Target(
        "CSV, numbers read at most 1 x polars", "read", 1, cases=(*_FLOATS, "int64", "infinities"), reason=_CSV_READ
    ),
    Target(
        "CSV, bool and dates read at most 1.3 x polars", "read", 1.3, cases=("bool", "dates", "days"), reason=_BOOLS
    ),
    Target("CSV, text read at most 1.5 x polars", "read", 1.5, cases=("ascii", "unicode")),
    # Wide or many
    Target(
        "read_columns of 8,000 columns at most 1.5 x pandas", "read", 1.5, PANDAS.label, TABLE.label, ("table",), _WIDE
    ),
    Target("8,000 arrays written at most 2 x polars", "write", 2, cases=("many",), reason=_MANY_CSV),
    Target("8,000 arrays read at most 1 x polars", "read", 1, cases=("many",), reason=_MANY_CSV),
    Target(
        "one of 8,000 arrays at most 0.4 x all", "read", 0.4, SHEETARRAY.label, ONE_BY_NAME.label, reason=_ONE_OF_MANY
    ),
    # Small
    Target(
        "small CSV written at most 1.5 x pandas", "write", 1.5, PANDAS.label, cases=("ten", "thousand"), reason=_SMALL
    ),
    Target("small CSV read at most 1 x pandas", "read", 1, PANDAS.label, cases=("ten", "thousand"), reason=_SMALL),
    Target(
        "a workbook of 100 cells read at most 8 x calamine",
        "read",
        8,
        CALAMINE.label,
        cases=("xlsx-small",),
        reason=_BOOK,
    ),
    Target(
        "a workbook of 100 cells written with its snapshot in at most 2 ms",
        "write",
        2e-3,
        "",
        cases=("xlsx-small",),
        reason=_BOOK_WRITTEN,
    ),
    # Detection
    Target(
        "read_columns, marks, names and dtypes found, at most 1.3 x polars",
        "read",
        1.3,
        measured=TABLE.label,
        cases=("detect-1M", "detect-10M", "detect-numbers"),
        reason=_DETECTION,
    ),
    Target("read_columns of 10 kB in at most 2 ms", "read", 2e-3, "", TABLE.label, ("detect-10k",), _DETECTION),
    # JSON
    Target("JSON written at most 1.2 x orjson", "write", 1.2, _ORJSON, _OURS_JSON, ("json",), _JSON_WRITTEN),
    Target("JSON read at most 1.7 x orjson", "read", 1.7, _ORJSON, _OURS_JSON, ("json",), _JSON_READ),
    *(
        Target(
            f"20,000 arrays of ten in JSON {what} at most 10 x orjson",
            verb,
            10,
            _ORJSON,
            _OURS_JSON,
            ("json-many",),
            _MANY_JSON,
        )
        for what, verb in _VERBS
    ),
    # xlsx write
    Target(
        "xlsx written at least 40 x faster than by openpyxl", "write", 1 / 40, OPENPYXL.label, cases=_BOOKS, reason=_XML
    ),
    Target(
        "xlsx written at least 4 x faster than by rustpy", "write", 1 / 4, FASTEXCEL.label, cases=_BOOKS, reason=_XML
    ),
    # xlsx read
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
    # Tables in workbooks
    Target(
        "a table of 300 columns x 20 rows at most 1.5 x calamine",
        "read",
        1.5,
        CALAMINE.label,
        FOREIGN.label,
        ("xlsx-table-300",),
        reason=_WIDE_BOOK,
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
    Target("repeated text at most 1 x fastexcel", "read", 1, FASTEXCEL.label, cases=("xlsx-repeated",)),
    # .ods, .xls, .xlsb
    *(
        Target(
            f"{kind} at most {times} x calamine",
            "read",
            times,
            peer.label,
            ours.label,
            reason=why,
            started="".join(contender.label for contender in started),
        )
        for kind, times, (ours, peer, *started), why in _SAVED
    ),
    # 1,000 arrays in a workbook
    Target(
        "1,000 arrays in a workbook written at most 2.5 x rustpy",
        "write",
        2.5,
        FASTEXCEL.label,
        cases=("xlsx-many",),
        reason=_MANY_WRITTEN,
    ),
    Target(
        "1,000 arrays in a workbook read at most 4 x fastexcel",
        "read",
        4,
        FASTEXCEL.label,
        cases=("xlsx-many",),
        reason=_MANY_READ,
    ),
    # Snapshot
    *(
        Target(
            f"a small workbook {what} at most 1.3 x without its snapshot",
            verb,
            1.3,
            NO_SNAPSHOT.label,
            cases=("xlsx-small",),
            reason=_SNAPSHOT,
        )
        for what, verb in _VERBS
    ),
    *(
        Target(
            f"{what} of 1 M elements at most {times} x a read",
            "read",
            times,
            SHEETARRAY_XLSX.label,
            edit.label,
            reason=why,
        )
        for what, times, edit, why in _EDITS
    ),
    # Append
    Target("100 rows more in a CSV of 10^6 rows in at most 20 ms", "write", 20e-3, "", APPEND_TABLE.label, ("append",)),
    Target(
        "100 rows more in a workbook of 10^5 cells at most 1 x a write",
        "write",
        1,
        SHEETARRAY_XLSX.label,
        APPEND.label,
        ("xlsx-append",),
        _SPLICED,
    ),
    # Scan
    *(
        Target("a scan at most 1.2 x that of arrays alone", "read", 1.2, SCAN.label, label, reason=_SCANNED)
        for label in _BESIDE
    ),
    # Binary
    Target(".awkd written at most 0.45 x Parquet with zstd", "write", 0.45, PARQUET.label, AWKD.label, reason=_ARCHIVE),
    Target("Avro written at most 0.6 x np.savez", "write", 0.6, NUMPY_NPZ.label, AVRO.label, reason=_DISK),
    Target(".ra read and sum at most 1.1 x np.load and sum", "read", 1.1, NUMPY_NPY.label, RA.label, reason=_ALIKE),
    Target(".npy read and sum at most 1.1 x np.load and sum", "read", 1.1, NUMPY_NPY.label, NPY.label, reason=_ALIKE),
)

IMPORT = 0.4  # `import sheetarray` takes at most this many times `import numpy`
MEMORY_TIMES, MEMORY_PLUS = 3, 200_000_000  # a write takes at most 3 x the arrays' bytes, and 200 MB
BLOCKS_MEMORY = 150_000_000  # beyond imports, to write and to read 1 GB of CSV block by block
GROWTH = 2  # time per cell, column or array at the largest size is at most this many times that of any smaller size
GROWTH_REASONS = {
    "array": "with Python's collector off, 10,000 arrays take half of the time: it goes over all objects as they "
    "become more",
    "cell": "what the system takes to give memory grows from a quarter of the time to half of it, as for orjson alone; "
    "the time of the loops stays",
}
