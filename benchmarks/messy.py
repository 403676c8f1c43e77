"""The Pollock benchmark of messy CSV, beside peers: `python -m benchmarks.messy FOLDER [--dataset D] [--only READER]`.

FOLDER is a checked-out copy of https://github.com/HPI-Information-Systems/Pollock, whose own rules say when two cells
are the same. A score has ten parts: success, and precision, recall and F1 of the header, of records and of cells.
Where the marks are given, each reader of a file without names gets the names of its parameters, if they have some, as
the drivers of the benchmark do.

A file in which a reader finds no row of names, or is told that there is none, gives its rows and no names: the letters
or numbers that the reader calls such columns by stand in no file.

Each score is taken twice: of the names as a reader returns them, which is the rule of the benchmark; and of the names
as the file spells them, where `name_2` or `name_1` is a second `name`, and the letter or number of a column without a
name is blank. What lies between the two is spelling alone.

A file that takes a reader longer than `--limit` counts as failed. `--cache FOLDER` keeps the scores of each file, so
that a run that was stopped goes on. `--write` writes the table into MESSY.md; rows of readers that `--only` leaves out
stay.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import json
import re
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

Rows = list[list[str]]
Loaded = tuple[list[str] | None, Rows]  # names, if a reader tells them from rows and finds some; the rows
Parameters = dict[str, Any]
_PAGE = Path(__file__).with_name("MESSY.md")
_DATASETS = ("polluted_files", "survey_sample")
_TITLES = {"polluted_files": "2,290 polluted files", "survey_sample": "97 real files"}
_FIND_ONLY = ("clevercsv",)
_ENGINES = {"sheetarray": "polars", "DuckDB": "duckdb"}  # what a reader imports, if that has another name
_HEAD = """# Messy CSV

Written by `python -m benchmarks.messy FOLDER --write`: do not edit. Scores of the Pollock benchmark, ten at most, all
cells as text. *Found*: a reader gets no options; *given*: delimiter, quote, escape, encoding, the rows above and those
of names. A file in which a reader finds no row of names gives none; one polluted file has none, and with the letters of
columns as its names sheetarray's weighted scores would be about 0.30 lower. The first two figures follow the rules of
the benchmark. The next two take names as the file spells them: `name_2` (sheetarray) or `name_1` (DuckDB) as a second
`name`, the letter or number of a column without a name as blank. The difference is spelling alone. csv, pandas, polars
and clevercsv are asked for rows without names, so that there is nothing to spell.

What sheetarray loses is mostly what `read_columns` does by design. A second `name` is `name_2` and a column without a
name gets its letter (15 real files, ten of which call all columns `x`). It changes no cell and leaves out no row: a
second table and rows below stay (3 polluted files, which cost 0.07 of the weighted score, and 7 real ones), while
beside names a column without name and cell is no column (11 real files) and names lose the blanks around them (10 real
files). The benchmark calls the columns of 13 real files `col_0`, `col_1`, which stands in none of them.

Rows above the names are found in 13 of the 14 real files that have some, several rows of names in 5 of 8. In the other
three the annotation counts titles above the names among them."""


def read_sheetarray(path: Path, given: Parameters | None) -> Loaded:
    """Return the names and the rows that sheetarray reads as text."""
    import sheetarray as sa

    options: dict[str, Any] = {}
    if given is not None:
        escape = given["escapechar"]
        options = {
            "delimiter": given["delimiter"] or None,
            "quotechar": given["quotechar"] or None,
            "escapechar": escape if escape not in ("", '"', given["quotechar"]) else "",
            "header": int(given["header_lines"]),
            "skip_rows": int(given["preamble_lines"]),
            "encoding": None if given["encoding"] == "ascii" else given["encoding"],
        }
    try:
        columns = sa.read_columns(path, dtype=str, format="csv", **options)
    except sa.FormatError as error:
        if "empty" in str(error):
            return None, []
        raise
    rows = [list(row) for row in zip(*(column.tolist() for column in columns.values()), strict=True)]
    dialect = sa.scan(path, format="csv").dialect if given is None else None
    has_names = options["header"] if dialect is None else dialect.names
    return list(columns) if has_names else None, rows


def _spell_sheetarray(names: Sequence[str]) -> list[str]:
    """Return names as they are written: twice, or blank where the name is the letter of a column."""
    from sheetarray.columns import column_letters

    spelled = ["" if name == column_letters(place) else name for place, name in enumerate(names)]
    return _without_counts(spelled)


def _spell_duckdb(names: Sequence[str]) -> list[str]:
    """Return names as they are written: twice, or blank where the name is the number of a column."""
    blank = re.compile(r"column\d+|col_\d+")
    return _without_counts(["" if blank.fullmatch(name) else name for name in names])


def _without_counts(names: Sequence[str]) -> list[str]:
    bases = [name.rpartition("_")[0] for name in names]
    return [base if base and base in names else name for name, base in zip(names, bases, strict=True)]


def read_duckdb(path: Path, given: Parameters | None) -> Loaded:
    """Return the names and the rows that DuckDB reads as text."""
    import duckdb

    connection = duckdb.connect()
    options: dict[str, Any] = {"null_padding": True, "strict_mode": False, "ignore_errors": True, "parallel": False}
    if given is None:
        options |= {"all_varchar": True}
    else:
        names = [name.strip() for name in given["column_names"]] or [f"col_{at}" for at in range(given["n_columns"])]
        options |= {"sep": given["delimiter"] or ",", "quotechar": given["quotechar"] or '"', "header": False}
        options |= {"escapechar": given["escapechar"] or '"', "auto_detect": False}
        options |= {"skiprows": int(given["preamble_lines"]) + int(given["header_lines"])}
        options |= {"columns": dict.fromkeys(names or ["col_0"], "VARCHAR")}
    relation = connection.read_csv(str(path), **options)
    rows = [["" if cell is None else str(cell) for cell in row] for row in relation.fetchall()]
    if given is None:
        loose = "null_padding = true, strict_mode = false, ignore_errors = true"
        (has_names,) = connection.execute(f"SELECT HasHeader FROM sniff_csv(?, {loose})", [str(path)]).fetchone() or (
            0,
        )
    else:
        has_names = int(given["header_lines"])
    return list(relation.columns) if has_names else None, rows


def read_csv_module(path: Path, given: Parameters | None) -> Loaded:
    """Return the rows that Python's csv module reads with what it is given, or sniffs."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    if given is None:
        return None, list(csv.reader(io.StringIO(text, newline=""), csv.Sniffer().sniff(text)))
    quote, escape = given["quotechar"] or '"', given["escapechar"]
    marks = {"quotechar": quote, "escapechar": escape if escape not in ("", quote, '"') else None}
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=(given["delimiter"] or ",")[0], **marks))  # type: ignore[arg-type]
    return None, rows[int(given["preamble_lines"]) :]


def read_pandas(path: Path, given: Parameters | None) -> Loaded:
    """Return the rows that pandas reads as text."""
    import pandas as pd

    options: dict[str, Any] = {"header": None, "dtype": str, "keep_default_na": False, "on_bad_lines": "warn"}
    if given is not None:
        options |= {"sep": given["delimiter"] or ",", "quotechar": given["quotechar"] or '"', "engine": "python"}
        options |= {"skiprows": int(given["preamble_lines"])}
    frame = pd.read_csv(path, **options)
    return None, [["" if cell is None or cell != cell else cell for cell in row] for row in frame.to_numpy().tolist()]


def read_clevercsv(path: Path, given: Parameters | None) -> Loaded:  # noqa: ARG001  (it finds its marks)
    """Return the rows that clevercsv reads with the marks that it finds."""
    import clevercsv

    return None, [list(map(str, row)) for row in clevercsv.read_table(str(path))]


def read_polars(path: Path, given: Parameters | None) -> Loaded:
    """Return the rows that polars reads as text."""
    import polars as pl

    options: dict[str, Any] = {"has_header": False, "infer_schema": False, "truncate_ragged_lines": True}
    if given is not None:
        options |= {"separator": (given["delimiter"] or ",")[0], "quote_char": given["quotechar"] or '"'}
    frame = pl.read_csv(path, **options)
    return None, [["" if cell is None else str(cell) for cell in row] for row in frame.rows()]


SPELLINGS: dict[str, Callable[[Sequence[str]], list[str]]] = {"sheetarray": _spell_sheetarray, "DuckDB": _spell_duckdb}
READERS: dict[str, Callable[[Path, Parameters | None], Loaded]] = {
    "sheetarray": read_sheetarray,
    "DuckDB": read_duckdb,
    "csv": read_csv_module,
    "pandas": read_pandas,
    "polars": read_polars,
    "clevercsv": read_clevercsv,
}


def _agree(expected: Sequence[str], read: Sequence[str]) -> tuple[float, float, float]:
    """Return precision, recall and F1, as the benchmark has them."""
    if not expected:
        return 1.0, 1.0, 1.0
    common = sum((Counter(expected) & Counter(read)).values())
    if not common:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(expected), common / len(read)
    return precision, recall, 2 * precision * recall / (precision + recall)


def score_rows(expected: Rows, rows: Rows, normalize: Callable[[str], str]) -> float:
    """Return the score of the rows of one file, ten at most."""
    if not expected:
        return 10.0
    header = _agree([normalize(cell) for cell in expected[0]], [normalize(cell) for cell in rows[0]] if rows else [])
    records = ["".join(map(normalize, row)) for row in expected[1:]], ["".join(map(normalize, row)) for row in rows[1:]]
    cells = [cell for row in expected for cell in row], [cell for row in rows for cell in row]
    return 1 + sum(header) + sum(_agree(*records)) + sum(_agree(*cells))


def score_file(
    path: Path, clean: Path, name: str, given: Parameters | None, *, limit: float, normalize: Callable[[str], str]
) -> tuple[float, float]:
    """Return the score of one file: with the names as the reader returns them, and as the file spells them."""
    text = clean.read_bytes()
    try:
        expected = list(csv.reader(io.StringIO(text.decode("utf-8-sig"), newline="")))
    except UnicodeDecodeError:
        expected = list(csv.reader(io.StringIO(text.decode("latin-1"), newline="")))
    try:
        with _stopping_after(limit):
            names, rows = READERS[name](path, given) if path.stat().st_size else (None, [])
    except Exception as error:
        print(f"{name}, {path.name}: {type(error).__name__}: {error!s:.100}", file=sys.stderr)
        return 0.0, 0.0
    if given is not None and not int(given["header_lines"]) and given["column_names"]:
        rows = [[each.strip() for each in given["column_names"]], *rows]
    if names is None:
        return (score_rows(expected, rows, normalize),) * 2
    spelled = [SPELLINGS[name](names), *rows]
    spelled = spelled if any(spelled[0]) else rows
    rows = [names, *rows]
    return score_rows(expected, rows, normalize), score_rows(expected, spelled, normalize)


@contextmanager
def _stopping_after(seconds: float) -> Iterator[None]:
    """Raise a TimeoutError in what runs longer."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass
class Scores:
    """The scores of a reader: simple and weighted, with the names as they are returned, and as the file spells them."""

    simple: float
    weighted: float | None
    simple_spelled: float
    weighted_spelled: float | None
    failed: int  # files

    def row(self) -> str:
        """Return the scores as cells of a table."""
        figures = (self.simple, self.weighted, self.simple_spelled, self.weighted_spelled)
        return " | ".join([*("-" if each is None else f"{each:.3f}" for each in figures), str(self.failed)])


def run(
    folder: Path,
    dataset: str,
    name: str,
    *,
    is_given: bool,
    normalize: Callable[[str], str],
    limit: float = 60.0,
    cache: Path | None = None,
) -> Scores:
    """Return the scores of a reader.

    `cache`: a folder that keeps the scores of each file.
    """
    weights: dict[str, float] = json.loads((folder / "pollock_weights.json").read_text())
    files = sorted(path for path in (folder / dataset / "csv").iterdir() if path.suffix.lower() == ".csv")
    files = [path for path in files if (folder / dataset / "clean" / path.name).exists()]
    kept = None if cache is None else cache / f"{dataset}-{name}-{'given' if is_given else 'found'}.jsonl"
    scores: dict[str, tuple[float, float]] = {}
    if kept is not None and kept.exists():
        scores = {file: (plain, spelled) for file, plain, spelled in map(json.loads, kept.read_text().splitlines())}
    for path in files:
        if path.name in scores:
            continue
        given = json.loads((folder / dataset / "parameters" / f"{path.name}_parameters.json").read_text())
        clean = folder / dataset / "clean" / path.name
        scores[path.name] = score_file(path, clean, name, given if is_given else None, limit=limit, normalize=normalize)
        if kept is not None:
            with kept.open("a") as file:
                file.write(json.dumps([path.name, *scores[path.name]]) + "\n")
    weight = sum(weights.get(path.name, 0) for path in files)
    simple = [sum(scores[path.name][way] for path in files) / len(files) for way in (0, 1)]
    weighted = [
        sum(scores[path.name][way] * weights.get(path.name, 0) for path in files) / weight if weight else None
        for way in (0, 1)
    ]
    failed = sum(scores[path.name] == (0.0, 0.0) for path in files)
    return Scores(simple[0], weighted[0], simple[1], weighted[1], failed)


def main() -> None:
    """Print a line of scores for each reader."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.messy", description=__doc__)
    parser.add_argument("folder", type=Path, help="a checked-out copy of the Pollock benchmark")
    parser.add_argument("--dataset", choices=_DATASETS, action="append")
    parser.add_argument("--only", choices=list(READERS), action="append")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a file may take")
    parser.add_argument("--cache", type=Path, help="a folder that keeps the scores of each file")
    parser.add_argument("--write", action="store_true", help="write the table into MESSY.md")
    arguments = parser.parse_args()
    if arguments.cache is not None:
        arguments.cache.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(arguments.folder))
    normalize = lru_cache(maxsize=None)(importlib.import_module("pollock.data_types").normalize_cell)
    csv.field_size_limit(2**24)
    warnings.simplefilter("ignore")
    readers = arguments.only or list(READERS)
    for name in readers:
        importlib.import_module(_ENGINES.get(name, name))  # the first file pays for no import
    kept = _rows_of_others(readers) if arguments.only else {}
    lines = [_HEAD, _describe_run(readers, arguments.limit)]
    for dataset in _DATASETS if arguments.write else arguments.dataset or _DATASETS:
        lines.append(f"\n## {_TITLES[dataset]}\n")
        lines.append("| reader | marks | simple | weighted | simple, names as spelled | weighted, so | failed files |")
        lines.append("|---|---|---|---|---|---|---|")
        for name in READERS:
            if name not in readers:
                lines += kept.get((_TITLES[dataset], name), [])
                continue
            for is_given in (False, True) if name not in _FIND_ONLY else (False,):
                options: dict[str, Any] = {"is_given": is_given, "normalize": normalize, "cache": arguments.cache}
                scores = run(arguments.folder, dataset, name, limit=arguments.limit, **options)
                lines.append(f"| {name} | {'given' if is_given else 'found'} | {scores.row()} |")
                print(dataset, lines[-1], flush=True)
    if arguments.write:
        _PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _describe_run(readers: Sequence[str], limit: float) -> str:
    """Return the line that says which versions were tried; that of a reader that is not asked stays."""
    before = dict(re.findall(r"(\w+) ([\d.]+\w*)(?=[,.])", _PAGE.read_text(encoding="utf-8").partition("\n## ")[0]))
    names = [name.lower() for name in READERS if name != "csv"]
    asked = {name.lower() for name in readers}
    versions = [f"{name} {metadata.version(name) if name in asked else before.get(name, '?')}" for name in names]
    return f"\nA file may take {limit:g} s. {', '.join(versions)}, csv of Python {sys.version.split()[0]}."


def _rows_of_others(readers: Sequence[str]) -> dict[tuple[str, str], list[str]]:
    """Return the rows of the readers that are not asked, as they stand in MESSY.md, by their table and name."""
    rows: dict[tuple[str, str], list[str]] = {}
    title = ""
    for line in _PAGE.read_text(encoding="utf-8").splitlines():
        title = line.removeprefix("## ") if line.startswith("## ") else title
        name = line.split(" | ")[0].removeprefix("| ")
        if name in READERS and name not in readers:
            rows.setdefault((title, name), []).append(line)
    return rows


if __name__ == "__main__":
    main()
