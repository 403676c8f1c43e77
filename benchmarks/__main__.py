"""The command: `python -m benchmarks [--quick] [--slow] [--only CASE] [--write-results [FILE]]`."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import warnings
from pathlib import Path

from rich.console import Console

from sheetarray import SheetArrayWarning

from .cases import CASES
from .google import count_requests
from .growth import run_growth
from .measure import SLOW, Say, run_case, run_imports, run_processes, run_scan
from .memory import blocks_memory
from .pages import SHAPES, measure_pages
from .plain import measure_plain
from .report import CONVERTED, Run, markdown, show
from .summary import renew

_RESULTS = Path(__file__).with_name("RESULTS.md")
_README = Path(__file__).parents[1] / "README.md"
_REMARKS = (
    "Peers do what sheetarray does: what they write is flushed (`fsync`) and renamed over the old file, what they read "
    "ends at ndarrays; workbooks of openpyxl and XlsxWriter excepted, which are left to the system.",
    "Each peer reads in the fastest way that it has: polars makes dates of text with a format.",
    "Exact cells: the same bits, once cast to the dtype written. Dtypes kept: columns that needed no cast.",
    "Peak memory: resident memory above what a process of its own had after imports and making the arrays; pages of a "
    "file that a reader maps count.",
    f"What takes more than {SLOW:.0f} s is timed once.",
)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="sheetarray beside its peers.")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the cells, one run: a smoke test")
    parser.add_argument("--slow", action="store_true", help="1 GB of CSV block by block, too (a minute)")
    parser.add_argument("--runs", type=int, default=5, help="how many are timed (5); the least counts")
    parser.add_argument("--only", action="append", choices=[case.key for case in CASES], help="only this case")
    parser.add_argument("--folder", help="for the files, instead of the system's temporary folder")
    parser.add_argument("--no-memory", action="store_true", help="times only")
    parser.add_argument(
        "--write-results",
        nargs="?",
        const=_RESULTS,
        type=Path,
        metavar="FILE",
        help=f"(re)write {_RESULTS.name} and what README says of it, or FILE where not all cases are run, or quickly",
    )
    return parser.parse_args()


def _measure(options: argparse.Namespace, folder: Path, say: Say) -> Run:
    runs = 1 if options.quick else options.runs
    run = Run(runs)
    for case in CASES:
        if options.only and case.key not in options.only:
            continue
        if case.program and shutil.which(case.program) is None:
            run.remarks.append(f"{case.title}: left out, since {case.program}, which saves the file, is not installed.")
            continue
        rows = max(case.rows // 100, min(case.rows, 10)) if options.quick else case.rows
        memory = not options.no_memory and (not options.quick or case is CASES[0])
        results = run_case(case, folder, rows=rows, runs=runs, memory=memory, say=say)
        run.results += results
        for result in results:
            kept = result.contender.takes(case.make(1))
            left_out = [name for name in case.make(1) if name not in kept]
            if left_out:
                who = f"{case.title}: {result.contender.label}"
                run.remarks.append(f"{who} cannot write {', '.join(left_out)}; its time is that of the others.")
    if not options.only:
        run.scan = run_scan(folder, size=10**7 if options.quick else 10**9, runs=runs, say=say)
        run.imports = run_imports(runs, say)
        run.growth += run_growth(folder, quick=options.quick, say=say)
        run.plain = measure_plain(quick=options.quick, say=say)
        run.processes = run_processes(folder, count=10 if options.quick else CONVERTED, say=say)
        say("requests to Google Sheets")
        run.requests = count_requests()
        say("pages in a browser")
        run.pages = [*(measure_pages(SHAPES[:1], runs=1) if options.quick else measure_pages())]
        if not run.pages:
            run.remarks.append("Pages are measured where Chromium, its driver and selenium are.")
    if options.slow and not options.only:
        say("1 GB of CSV block by block")
        run.blocks = blocks_memory(folder, 10**7 if options.quick else 10**9)
    if options.quick:
        run.remarks.append("A quick run: a hundredth of the cells that each case names. Its figures mean nothing.")
    run.remarks += _REMARKS
    return run


def main() -> None:
    """Measure, print, and write the results where asked to."""
    options = _arguments()
    warnings.simplefilter("ignore", SheetArrayWarning)  # names that a format does not keep
    if options.write_results == _RESULTS and (options.quick or options.only):
        raise SystemExit(f"{_RESULTS.name} is only written from a full run: without --quick and --only")
    console = Console()
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        Console(stderr=True).status("") as status,
    ):
        run = _measure(options, Path(folder), status.update)
    show(run, console)
    if options.write_results:
        options.write_results.write_text(markdown(run), encoding="utf-8")
        if options.write_results == _RESULTS:
            renew(_README, markdown(run))


if __name__ == "__main__":
    main()
