"""What README says of speed: made from RESULTS.md, so that the two never differ."""

from __future__ import annotations

import re
from pathlib import Path

BEGIN, END = "<!-- from benchmarks/RESULTS.md -->", "<!-- until here -->"
_ROW = re.compile(
    r"^\| (?P<target>[^|]+) \| [^|]+ \| (?P<measured>[^|]+) \| (?P<verdict>met|MISSED) \|(?: [^|]*\|)?$", re.MULTILINE
)
_SENTENCES = (
    ("CSV of float64 is written in {} polars' time", "CSV, float64 written"),
    ("CSV of numbers is read in {} polars' time, including the conversion to NumPy", "CSV, numbers read"),
    ("8,000 arrays of ten are written in {} polars' time", "8,000 arrays written"),
    ("small CSV files are read in {} pandas' time", "small CSV read"),
    ("JSON is written in {} orjson's time", "JSON written"),
    ("workbooks are written {} as fast as by openpyxl", r"xlsx written at least \d+ x faster than by openpyxl"),
    ("workbooks are read in {} fastexcel's time", "xlsx read at most 0.4 x fastexcel"),
)


def summarize(results: str) -> str:
    """Return the figures of RESULTS.md in sentences, and how many of its targets are missed."""
    rows = [match.groupdict() for match in _ROW.finditer(results)]
    lines = []
    for sentence, target in _SENTENCES:
        ratios = [_ratio(row["measured"]) for row in rows if re.match(target, row["target"])]
        if not ratios:
            continue
        if "as fast" in sentence:
            ratios = [1 / ratio for ratio in ratios]
        least, most = (f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" for ratio in (min(ratios), max(ratios)))
        lines.append(f"- {sentence.format(f'{least} times' if least == most else f'{least} to {most} times')}")
    missed = sum(row["verdict"] == "MISSED" for row in rows)
    return "\n".join([*lines, f"- {len(rows) - missed} of {len(rows)} targets are met"])


def _ratio(measured: str) -> float:
    number = float(measured.split(" ")[0])
    return 1 / number if measured.endswith("faster") else number


def renew(page: Path, results: str) -> None:
    """Put the summary between its marks in a page."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n{summarize(results)}\n{END}{after}", encoding="utf-8")
