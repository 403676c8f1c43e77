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

from .cases import CASES, Case, Verb
from .contenders import Contender

_STATUS = Path("/proc/self/status")


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
    chosen = next(case for case in CASES if case.key == key)
    print(json.dumps(_measure(chosen, chosen.contender(label), wanted, int(count), Path(place))))  # type: ignore[arg-type]
