"""Several processes: started anew they read and write as one does; a forked one warns before it might hang."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from children import GIVEN_UP_AFTER

import sheetarray as sa

_FORKED = """
import os, sys, warnings
import numpy as np
import sheetarray as sa, sheetarray.files
sa.write(sys.argv[1], {"x": np.arange(3000.0)})  # short enough to be read without the engine
if sys.argv[2] != "missing":
    import polars
if sys.argv[2] == "used":
    polars.DataFrame({"x": [1.5] * 1000}).lazy().select(polars.col("x").sum()).collect()
if os.fork() == 0:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            with sa.files.Source(sys.argv[1]) as source:
                source.prefix(4)
    print([(str(w.message)[:35], os.path.basename(w.filename)) for w in caught], flush=True)
    os._exit(0)
os.wait()
"""


TELLS = Path("/proc/self/task").is_dir()  # whether the system tells of threads


def total(path: Path) -> float:
    """The sum of a file's array, which the engine has parsed."""
    return float(sa.read(path)["x"].sum())


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_are_started_anew_read_alike(tmp_path: Path, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    array = np.arange(100_000) / 7
    sa.write(tmp_path / "x.csv", {"x": array})
    assert total(tmp_path / "x.csv") == array.sum()  # the engine has its threads now
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        assert list(pool.map(total, [tmp_path / "x.csv"] * 3)) == [array.sum()] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize(("engine", "warned"), [("used", True), ("loaded", not TELLS), ("missing", False)])
def test_a_forked_process_warns_once(tmp_path: Path, engine: str, warned: bool) -> None:
    script = _FORKED if engine == "used" else _FORKED.replace("sa.write(sys", "open(sys.argv[1], 'w').close()  # (")
    command = [sys.executable, "-W", "ignore", "-c", script, str(tmp_path / "x.csv"), engine]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GIVEN_UP_AFTER, check=True)
    expected = [("this process was forked after polars", "<string>")] if warned else []
    assert done.stdout.strip() == str([(message[:35], place) for message, place in expected])
