"""The command: `python -m benchmarks [--quick] [--slow] [--only CASE] [--write-results [FILE]]`."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from rich.console import Console

from .cases import CASES
from .measure import Say, run_case, run_imports, run_scan
from .report import Run, markdown, show

_RESULTS = Path(__file__).with_name("RESULTS.md")
_REMARKS = (
    "Times of sheetarray include `fsync` and the rename over the old file; the peers leave their file to the system, "
    "but for those that end at NumPy, which do the same.",
    "A peer's read ends at its own table (DataFrame); sheetarray's at ndarrays with dtype, shape and strides.",
    "Exact cells: the same bits, once cast to the dtype written. Dtypes kept: columns that needed no cast.",
    "Peak memory: resident memory above what a process of its own had after imports and making the arrays; pages of a "
    "file that a reader maps count.",
    "Peers are called with their defaults (polars reads with try_parse_dates=True).",
)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="sheetarray beside its peers.")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the cells, one run: a smoke test")
    parser.add_argument("--slow", action="store_true", help="let numpy.savetxt write 10 M cells (minutes)")
    parser.add_argument("--runs", type=int, default=5, help="how many are timed (5); the median counts")
    parser.add_argument("--only", action="append", choices=[case.key for case in CASES], help="only this case")
    parser.add_argument("--folder", help="for the files, instead of the system's temporary folder")
    parser.add_argument("--no-memory", action="store_true", help="times only")
    parser.add_argument(
        "--write-results",
        nargs="?",
        const=_RESULTS,
        type=Path,
        metavar="FILE",
        help=f"(re)write {_RESULTS.name}, or FILE where not all cases are run",
    )
    return parser.parse_args()


def _measure(options: argparse.Namespace, folder: Path, say: Say) -> Run:
    runs = 1 if options.quick else options.runs
    run = Run(runs)
    for case in CASES:
        if options.only and case.key not in options.only:
            continue
        rows = max(case.rows // 100, min(case.rows, 10)) if options.quick else case.rows
        memory = not options.no_memory and (not options.quick or case is CASES[0])
        found = run_case(case, folder, rows=rows, runs=runs, slow=options.slow, memory=memory, say=say)
        run.results += found
        shown = [result.contender for result in found]
        for contender in case.contenders:
            if contender not in shown:
                run.remarks.append(f"{case.title}: {contender.label} only with --slow (minutes).")
        for result in found:
            kept = result.contender.takes(case.make(1))
            left_out = [name for name in case.make(1) if name not in kept]
            if left_out:
                who = f"{case.title}: {result.contender.label}"
                run.remarks.append(f"{who} cannot write {', '.join(left_out)}; its time is that of the others.")
    if not options.only:
        run.scan = run_scan(folder, size=10**7 if options.quick else 10**9, runs=runs, say=say)
        run.imports = run_imports(runs, say)
    if options.quick:
        run.remarks.append("A quick run: a hundredth of the cells that each case names. Its figures mean nothing.")
    run.remarks += _REMARKS
    return run


def main() -> None:
    """Measure, print, and write the results where asked to."""
    options = _arguments()
    if options.write_results and (options.quick or (options.only and options.write_results == _RESULTS)):
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


if __name__ == "__main__":
    main()
