"""The Pollock benchmark of messy CSV, beside peers: `python -m benchmarks.messy FOLDER [--dataset D] [--only READER]`.

FOLDER is a checked-out copy of https://github.com/HPI-Information-Systems/Pollock, whose own rules say when two cells
are the same. A score has ten parts: success, and precision, recall and F1 of the header, of records and of cells.
Names count as they are written: sheetarray's `name_2` is a second `name`, and the letter of a column without a name is
blank. A file without names has the names and the number of columns of its parameters where these are given, as in the
drivers of the benchmark.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

Rows = list[list[str]]
Parameters = dict[str, Any]
_DATASETS = ("polluted_files", "survey_sample")


def read_sheetarray(path: Path, given: Parameters | None) -> Rows:
    """Return the rows that sheetarray reads as text, the names first."""
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
            return []
        raise
    rows = [list(row) for row in zip(*(column.tolist() for column in columns.values()), strict=True)]
    names = _spell_names(list(columns))
    if any(names):
        return [names, *rows]
    if given is None:
        return rows
    rows = [row + [""] * (int(given.get("n_columns", 0)) - len(row)) for row in rows]
    return [[name.strip() for name in given["column_names"]], *rows] if given["column_names"] else rows


def _spell_names(names: Sequence[str]) -> list[str]:
    """Return names as they are written: twice, or blank where the name is the letter of a column."""
    from sheetarray.columns import column_letters

    spelled = ["" if name == column_letters(place) else name for place, name in enumerate(names)]
    bases = [name.rpartition("_")[0] for name in spelled]
    return [base if base and base in names else name for name, base in zip(spelled, bases, strict=True)]


def read_duckdb(path: Path, given: Parameters | None) -> Rows:
    """Return the rows that DuckDB reads as text."""
    import duckdb

    options: dict[str, Any] = {"all_varchar": True, "null_padding": True, "strict_mode": False, "ignore_errors": True}
    if given is not None:
        options |= {"sep": given["delimiter"] or ",", "quotechar": given["quotechar"] or '"'}
        options |= {"escapechar": given["escapechar"] or '"', "skiprows": int(given["preamble_lines"])}
        options |= {"header": int(given["header_lines"]) > 0}
    relation = duckdb.connect().read_csv(str(path), **options)
    rows = [["" if cell is None else str(cell) for cell in row] for row in relation.fetchall()]
    return rows if given is not None and not int(given["header_lines"]) else [list(relation.columns), *rows]


def read_csv_module(path: Path, given: Parameters | None) -> Rows:
    """Return the rows that Python's csv module reads with what it is given, or sniffs."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    if given is None:
        return list(csv.reader(io.StringIO(text, newline=""), csv.Sniffer().sniff(text)))
    quote, escape = given["quotechar"] or '"', given["escapechar"]
    marks = {"quotechar": quote, "escapechar": escape if escape not in ("", quote, '"') else None}
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=(given["delimiter"] or ",")[0], **marks))  # type: ignore[arg-type]
    return rows[int(given["preamble_lines"]) :]


def read_pandas(path: Path, given: Parameters | None) -> Rows:
    """Return the rows that pandas reads as text."""
    import pandas as pd

    options: dict[str, Any] = {"header": None, "dtype": str, "keep_default_na": False, "on_bad_lines": "warn"}
    if given is not None:
        options |= {"sep": given["delimiter"] or ",", "quotechar": given["quotechar"] or '"', "engine": "python"}
        options |= {"skiprows": int(given["preamble_lines"])}
    frame = pd.read_csv(path, **options)
    return [["" if cell is None or cell != cell else cell for cell in row] for row in frame.to_numpy().tolist()]


def read_clevercsv(path: Path, given: Parameters | None) -> Rows:  # noqa: ARG001  (it finds its marks)
    """Return the rows that clevercsv reads with the marks that it finds."""
    import clevercsv

    return [list(map(str, row)) for row in clevercsv.read_table(str(path))]


def read_polars(path: Path, given: Parameters | None) -> Rows:
    """Return the rows that polars reads as text."""
    import polars as pl

    options: dict[str, Any] = {"has_header": False, "infer_schema": False, "truncate_ragged_lines": True}
    if given is not None:
        options |= {"separator": (given["delimiter"] or ",")[0], "quote_char": given["quotechar"] or '"'}
    frame = pl.read_csv(path, **options)
    return [["" if cell is None else str(cell) for cell in row] for row in frame.rows()]


READERS: dict[str, Callable[[Path, Parameters | None], Rows]] = {
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


def run(
    folder: Path, dataset: str, name: str, *, is_given: bool, normalize: Callable[[str], str]
) -> tuple[float, float]:
    """Return the simple and the weighted score of a reader."""
    weights: dict[str, float] = json.loads((folder / "pollock_weights.json").read_text())
    total = weighted = weight = 0.0
    files = sorted(path for path in (folder / dataset / "csv").iterdir() if path.suffix.lower() == ".csv")
    files = [path for path in files if (folder / dataset / "clean" / path.name).exists()]
    for path in files:
        clean = (folder / dataset / "clean" / path.name).read_text(encoding="utf-8-sig", errors="replace")
        given = json.loads((folder / dataset / "parameters" / f"{path.name}_parameters.json").read_text())
        try:
            rows = READERS[name](path, given if is_given else None) if path.stat().st_size else []
            score = score_rows(list(csv.reader(io.StringIO(clean, newline=""))), rows, normalize)
        except Exception as error:
            print(f"{name}, {path.name}: {type(error).__name__}: {error!s:.100}", file=sys.stderr)
            score = 0.0
        total += score
        weighted += weights.get(path.name, 0) * score
        weight += weights.get(path.name, 0)
    return total / len(files), weighted / weight if weight else 0.0


def main() -> None:
    """Print a line of scores for each reader."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.messy", description=__doc__)
    parser.add_argument("folder", type=Path, help="a checked-out copy of the Pollock benchmark")
    parser.add_argument("--dataset", choices=_DATASETS, default=_DATASETS[0])
    parser.add_argument("--only", choices=list(READERS), action="append")
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.folder))
    normalize = lru_cache(maxsize=None)(importlib.import_module("pollock.data_types").normalize_cell)
    csv.field_size_limit(2**24)
    warnings.simplefilter("ignore")
    print("| reader | marks | simple | weighted |\n|---|---|---|---|")
    for name in arguments.only or READERS:
        for is_given in (False, True):
            simple, weighted = run(arguments.folder, arguments.dataset, name, is_given=is_given, normalize=normalize)
            print(f"| {name} | {'given' if is_given else 'found'} | {simple:.3f} | {weighted:.3f} |", flush=True)


if __name__ == "__main__":
    main()
