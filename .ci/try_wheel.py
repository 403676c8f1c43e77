"""Tries an installed wheel: `python .ci/try_wheel.py`, in an environment of its own and any empty folder."""

import subprocess
import sys
from pathlib import Path

import numpy as np

import sheetarray as sa

assert "site-packages" in Path(sa.__file__).parts, "this is the checkout, and not what was installed"
arrays = {
    "field": np.array([[1 / 3, np.nan], [-0.0, 5e-324]]),
    "station": np.array(["007", "=1+1", "Zürich"]),
    "counts": np.array([2**53 + 1, 2**64 - 1], dtype="uint64"),
}
for suffix in (".csv", ".xlsx", ".json", ".npz"):
    file = f"tried{suffix}"
    sa.write(file, arrays)
    back = sa.read(file)
    assert all(back[name].dtype == arrays[name].dtype for name in arrays), suffix
    assert all(back[name].tobytes() == arrays[name].tobytes() for name in arrays), suffix
    assert list(sa.check(file)) == [], suffix
    subprocess.run([sys.executable, "-m", "sheetarray", "info", file], check=True)
said = subprocess.run([sys.executable, "-m", "sheetarray", "--version"], capture_output=True, text=True, check=True)
assert said.stdout.strip() == f"sheetarray {sa.__version__} (compiled)", said.stdout
