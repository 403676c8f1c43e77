"""Peak memory of one contender in one case, in a process of its own: `python -m benchmarks.memory`, which prints bytes.

The baseline is the resident memory after the imports (made by the same call on a few rows) and after the arrays are
there; the peak is that of the call alone. Pages of a file that a reader maps count, as the system counts them.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from .cases import CASES, Case
from .contenders import Contender, Verb

_STATUS = Path("/proc/self/status")
_BLOCK = 100_000  # elements of each block that is appended, and read


def peak_memory(case: Case, contender: Contender, verb: Verb, rows: int, file: Path) -> int:
    """Bytes above the baseline while `contender` writes or reads `file`, measured in a fresh process."""
    command = [
        sys.executable,
        "-m",
        f"{__package__}.memory",
        case.key,
        contender.label,
        verb,
        str(rows),
        str(file),
    ]
    root = Path(__file__).resolve().parent.parent
    printed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return int(json.loads(printed.splitlines()[-1]))


def blocks_memory(folder: Path, size: int) -> dict[str, int]:
    """Return the peaks of writing a CSV of about `size` bytes block by block, and of reading it, in fresh processes."""
    file = folder / "blocks.csv"
    peaks = {}
    for verb in ("write", "read"):
        command = [sys.executable, "-m", f"{__package__}.memory", "blocks", "", verb, str(size), str(file)]
        root = Path(__file__).resolve().parent.parent
        printed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
        peaks[verb] = int(json.loads(printed.splitlines()[-1]))
    file.unlink()
    return peaks


def _measure_blocks(verb: str, size: int, file: Path) -> int:
    blocks = max(size // (19 * _BLOCK), 2)  # a normally distributed double and its line end take about 20 bytes
    with tempfile.TemporaryDirectory() as folder:
        _go_through_blocks(verb, Path(folder, "small.csv"), 2, 100)
    gc.collect()
    before = _resident()
    _go_through_blocks(verb, file, blocks, _BLOCK)
    return max(0, _peak() - before)


def _go_through_blocks(verb: str, file: Path, blocks: int, rows: int) -> None:
    import numpy as np

    import sheetarray as sa

    if verb == "write" or not file.exists():
        rng = np.random.default_rng(20240229)
        with sa.open_writer(file) as writer:
            for _ in range(blocks):
                writer.append({"x": rng.standard_normal(rows)})
    if verb == "read":
        count = sum(len(block) for block in sa.iter_blocks(file, "x", rows=rows))
        assert count == blocks * rows


def _status(field: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def _resident() -> int:
    """Resident memory now, the recorded peak forgotten; elsewhere than on Linux the peak so far."""
    if not _STATUS.exists():
        return _peak()
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS:")


def _peak() -> int:
    if _STATUS.exists():
        return _status("VmHWM:")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _measure(case: Case, contender: Contender, verb: Verb, rows: int, file: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder, f"small{contender.suffix}")
        contender.write(small, contender.takes(case.make(100)))
        contender.read(small)
    arrays = contender.takes(case.make(rows)) if verb == "write" else {}
    gc.collect()
    before = _resident()
    result = contender.write(file, arrays) if verb == "write" else contender.read(file)
    peak = _peak() - before
    del result
    return max(0, peak)


if __name__ == "__main__":
    key, label, wanted, count, place = sys.argv[1:]
    if key == "blocks":
        print(json.dumps(_measure_blocks(wanted, int(count), Path(place))))
    else:
        case = next(case for case in CASES if case.key == key)
        print(json.dumps(_measure(case, case.contender(label), wanted, int(count), Path(place))))  # type: ignore[arg-type]
