"""The figures of a run as a table on the terminal, and as Markdown for RESULTS.md."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .contenders import Verb
from .google import MOST_REQUESTS
from .growth import Growth
from .measure import Result, Scan
from .pages import HEADINGS as PAGE_HEADINGS
from .plain import HEADINGS as PLAIN_HEADINGS
from .targets import BLOCKS_MEMORY, GROWTH, GROWTH_REASONS, IMPORT, MEMORY_PLUS, MEMORY_TIMES, TARGETS

CONVERTED = 2000  # files that one and two processes convert
HEADINGS = (
    "case",
    "package",
    "verb",
    "time",
    "M cells/s",
    "x peers",
    "peak memory",
    "x arrays",
    "file",
    "exact cells",
    "dtypes kept",
)
TARGET_HEADINGS = ("target", "case", "measured", "", "reason")
UNEXPLAINED = "unexplained"
_LEFT = 3  # so many columns of words come first
_PACKAGES = ("sheetarray", "numpy", "polars", "pandas", "pyarrow")


@dataclass
class Run:
    """Everything that a run found.

    Attributes:
        results: of each case and contender.
        scan: of a large file.
        imports: seconds by package.
        growth: of time with cells, columns and arrays.
        blocks: peak of memory by verb, of 1 GB of CSV block by block.
        processes: seconds of a conversion of files, and of the last half of them, by the number of processes.
        runs: how many were timed.
        remarks: what a reader of the table has to know.
        pages: figures of pages in a browser, row by row.
        plain: seconds with and without the compiled loops, row by row.
        requests: to Google Sheets, of a write and of a read, by sets of arrays.
    """

    runs: int
    results: list[Result] = field(default_factory=list)
    scan: Scan | None = None
    imports: dict[str, float] = field(default_factory=dict)
    growth: list[Growth] = field(default_factory=list)
    blocks: dict[str, int] = field(default_factory=dict)
    processes: dict[int, tuple[float, float]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    pages: list[list[str]] = field(default_factory=list)
    plain: list[list[str]] = field(default_factory=list)
    requests: dict[str, dict[str, int]] = field(default_factory=dict)

    def peer(self, result: Result, label: str) -> Result | None:
        """Another contender in the same case."""
        same = (r for r in self.results if r.case is result.case and r.contender.label == label)
        return next(same, None)


# Rows --------------------------------------------------------------------------------------------------------


def table_rows(run: Run) -> Iterator[list[str]]:
    """A row for each case, verb and contender, under `HEADINGS`."""
    cases = dict.fromkeys(result.case.key for result in run.results)
    for key in cases:
        same = [result for result in run.results if result.case.key == key]
        verbs: tuple[Verb, ...] = ("write", "read")
        for verb in verbs:
            for result in same:
                if verb not in result.contender.verbs:
                    continue
                peak = result.peak.get(verb)
                yield [
                    result.case.title,
                    result.contender.label,
                    verb,
                    _seconds(result.time(verb)),
                    f"{result.cells / result.time(verb) / 1e6:.1f}",
                    _beside_peers(result, same, verb),
                    "" if peak is None else f"{peak / 1e6:,.0f} MB",
                    "" if peak is None else f"{peak / result.nbytes:.2f}",
                    f"{result.size / 1e6:,.0f} MB" if verb == "write" else "",
                    f"{_share(result.exact, result.cells)}" if verb == "read" else "",
                    f"{result.dtypes} of {result.columns[0]}" if verb == "read" else "",
                ]


def _beside_peers(result: Result, others: list[Result], verb: Verb) -> str:
    """Return how long sheetarray took, times each peer's time."""
    peers = [r for r in others if "sheetarray" not in r.contender.label and verb in r.contender.verbs]
    if not result.contender.ours:
        return ""
    return ", ".join(
        f"{_ratio(result.time(verb) / peer.time(verb))} {peer.contender.label.partition(',')[0]}" for peer in peers
    )


def _ratio(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio < 0.1 else f"{ratio:.2f}"


def _seconds(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds < 0.1 else f"{seconds:.2f} s"


def _share(part: int, whole: int) -> str:
    return "all" if part == whole else f"{100 * part / whole:.2f} %"


def target_rows(run: Run) -> Iterator[list[str]]:
    """Target, case, what was measured, whether that meets it, and why it does not."""
    for target in TARGETS:
        for result in run.results:
            other = run.peer(result, target.peer) if target.peer else result
            about = not target.cases or result.case.key in target.cases
            if other is None or not about or result.contender.label != target.measured:
                continue
            seconds, theirs = result.time(target.verb), other.time(target.verb)
            if (started := run.peer(result, target.started)) is not None:
                seconds -= started.time(target.verb) - theirs
            ratio = seconds / (theirs if target.peer else result.contender.often)
            shown = f"{ratio:.2f} x" if target.times >= 0.3 else f"{1 / ratio:.1f} x faster"
            shown = shown if target.peer else f"{1000 * ratio:.1f} ms"
            yield [target.text, result.case.title, shown, *_verdict(ratio <= target.times, target.reason)]
    ours = [result for result in run.results if result.contender.ours]
    for result in ours:
        if "write" in result.peak:
            most = MEMORY_TIMES * result.nbytes + MEMORY_PLUS
            shown = f"{result.peak['write'] / 1e6:,.0f} of {most / 1e6:,.0f} MB"
            text = f"peak of a write at most {MEMORY_TIMES} x the arrays and {MEMORY_PLUS // 10**6} MB"
            yield [text, result.case.title, shown, *_verdict(result.peak["write"] <= most)]
    inexact = [result for result in ours if result.exact != result.cells]
    exact = "every cell comes back bit for bit"
    yield [exact, f"{len(ours) - len(inexact)} of {len(ours)}", "all cells", *_verdict(True)]
    for result in inexact:
        yield [exact, result.case.title, _share(result.exact, result.cells), *_verdict(False)]
    for growth in run.growth:
        text = f"time per {growth.unit} at most {GROWTH} x that of any smaller size"
        yield [
            text,
            growth.what,
            f"{growth.ratio:.2f} x",
            *_verdict(growth.is_linear, GROWTH_REASONS.get(growth.unit, "")),
        ]
    for verb, peak in run.blocks.items():
        text = f"1 GB of CSV block by block below {BLOCKS_MEMORY // 10**6} MB beyond imports"
        yield [text, verb, f"{peak / 1e6:,.0f} MB", *_verdict(peak < BLOCKS_MEMORY)]
    if run.imports:
        ratio = run.imports["sheetarray"] / run.imports["numpy"]
        text = f"`import sheetarray` at most {IMPORT} x `import numpy`"
        yield [text, "a fresh process", f"{ratio:.2f} x", *_verdict(ratio <= IMPORT)]
    for title, counts in run.requests.items():
        for verb, count in counts.items():
            text = f"Google, arrays below 1 MB: at most {MOST_REQUESTS[verb]} requests a {verb}"
            yield [text, title, f"{count} requests", *_verdict(count <= MOST_REQUESTS[verb])]


def _verdict(met: bool, reason: str = "") -> tuple[str, str]:
    """Return the verdict, and the reason of a target that is missed."""
    return ("met", "") if met else ("MISSED", reason or UNEXPLAINED)


def growth_rows(run: Run) -> Iterator[list[str]]:
    """What a cell, a column or an array takes, from the smallest number of them to the largest."""
    for growth in run.growth:
        sizes = [f"{size:,}: {_microseconds(seconds / size)}" for size, seconds in growth.seconds.items()]
        yield [growth.what, growth.unit, ", ".join(sizes)]


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f} µs" if seconds > 1e-5 else f"{seconds * 1e9:,.0f} ns"


def sentences(run: Run) -> Iterator[str]:
    """The scan, the imports, and the remarks."""
    if run.scan is not None:
        read = "" if run.scan.bytes_read is None else f", reading {run.scan.bytes_read:,} bytes of it"
        yield f"`scan` of a CSV of {run.scan.size / 1e9:.2f} GB: {_seconds(run.scan.seconds)}{read}."
    if run.imports:
        ours, numpy, read = (run.imports[name] for name in ("sheetarray", "numpy", "read"))
        yield (
            f"`import sheetarray`: {_seconds(ours)}, on top of the start of Python "
            f"({ours / numpy:.2f} x `import numpy`, {_seconds(numpy)}). You import a name when you first use it: "
            f"{_seconds(read)} until you can call `sheetarray.read`, NumPy included."
        )
    if run.processes:
        (alone, alone_later), (both, both_later) = run.processes[1], run.processes[2]
        yield (
            f"`convert` of {CONVERTED:,} files on 1 and on 2 processes: {_seconds(alone)} and {_seconds(both)}, "
            f"their start included ({alone / both:.2f} x as fast); of the last half, when all have started: "
            f"{_seconds(alone_later)} and {_seconds(both_later)} ({alone_later / both_later:.2f} x)."
        )
    yield from run.remarks


# Machine -----------------------------------------------------------------------------------------------------


def machine() -> Iterator[tuple[str, str]]:
    """What the figures were taken on."""
    yield "date", datetime.datetime.now(datetime.UTC).date().isoformat()
    yield "processor", f"{_processor()}, {os.cpu_count()} cores"
    if hasattr(os, "sysconf"):
        yield "memory", f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    yield "system", f"{_system()}, {platform.machine()}"
    yield "Python", f"{platform.python_implementation()} {platform.python_version()}"
    versions = []
    for package in _PACKAGES:
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            versions.append(f"without {package}")
    yield "packages", ", ".join(versions)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return f"{platform.system()} {platform.release()}"


# Output ------------------------------------------------------------------------------------------------------


def show(run: Run, console: Console) -> None:
    """Print everything."""
    table = Table(*HEADINGS, title=f"least of {run.runs}")
    for column in table.columns[_LEFT:]:
        column.justify = "right"
    last = ""
    for row in table_rows(run):
        if row[0] + row[2] != last:
            table.add_section()
        last = row[0] + row[2]
        table.add_row(*row)
    targets = Table(*TARGET_HEADINGS)
    for row in target_rows(run):
        targets.add_row(*row)
    if not console.is_terminal:
        console = Console(file=console.file, width=200)
    console.print(*(f"{what}: {value}" for what, value in machine()), sep="\n", highlight=False)
    growth = Table("what", "unit", "time of one, by their number")
    for row in growth_rows(run):
        growth.add_row(*row)
    console.print(table, growth, targets)
    for sentence in sentences(run):
        console.print(f"- {sentence}", highlight=False, markup=False)


def markdown(run: Run) -> str:
    """Everything, for RESULTS.md."""
    parts = [
        "# Benchmarks",
        "",
        "Written by `python -m benchmarks --write-results`: do not edit. Ratios count, not seconds: they are of one "
        "run on one machine, in which all packages took turns on the same cells.",
        "",
        *(f"- {what}: {value}" for what, value in machine()),
        f"- time of the processor, the least of {run.runs} runs after a warm-up",
        "",
        "## Targets",
        "",
        *_table(list(TARGET_HEADINGS), target_rows(run)),
        "",
        "## Figures",
        "",
        *_table(list(HEADINGS), table_rows(run)),
        "",
        *(f"- {sentence}" for sentence in sentences(run)),
        "",
        "## Growth",
        "",
        "Time of the processor, of all cores together.",
        "",
        *_table(["what", "unit", "time of one, by their number"], growth_rows(run)),
        "",
    ]
    if run.plain:
        words = (
            "The fastest of two calls, each way in processes of its own: `SHEETARRAY_PLAIN=1` is what an installation "
        )
        words += "without a compiler has."
        parts += ["## Without the compiled loops", "", words, "", *_table(list(PLAIN_HEADINGS), iter(run.plain)), ""]
    if run.pages:
        words = "Of noise, which deflate hardly shortens, in Chromium; the least of five."
        parts += ["## Pages", "", words, "", *_table(list(PAGE_HEADINGS), iter(run.pages)), ""]
    return "\n".join(parts)


def _table(headings: list[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield "|" + "---|" * len(headings)
    for row in rows:
        yield f"| {' | '.join(row)} |"
