"""The real awkward0, in a virtual environment of its own: it needs Python 3.11 and a NumPy that is older than ours.

The environment is made once, in the user's cache folder, by whichever process comes first; others wait for it. A marker
file tells that it is complete. Where it cannot be made, tests that need it are skipped, and say why.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from children import GIVEN_UP_AFTER, ChildServer, run_child

AWKWARD0, NUMPY, H5PY = "0.15.5", "1.23.5", "3.10.0"
_MARKER = "complete"
_PRELUDE = "import warnings; warnings.simplefilter('ignore'); import sys, json, zlib, numpy as np\n"


def run(script: str, *args: Any, version: str | None = None, package: str | None = None) -> str:
    """Run a script where `import awkward0` is the real one; skips the test where there is none.

    Args:
        script: the text of it; `sys`, `json`, `zlib` and `np` are imported already.
        args: its `sys.argv[1:]`.
        version: of the older package `awkward`, to be imported instead.
        package: another that can be imported too, and its version, such as `uproot3-methods==0.10.1`.

    Returns:
        What it printed.

    Raises:
        AssertionError: it fails.
    """
    package = package if version is None else f"awkward=={version}"
    inserted = "" if package is None else f"sys.path.insert(0, {os.fspath(_installed(package))!r})\n"
    child = run_child(_PRELUDE + inserted + script, *map(str, args), stopped_after=GIVEN_UP_AFTER, server=_server())
    assert child.status == 0, f"awkward0 failed:\n{child.errors[-3000:]}"
    return child.output


def run_json(script: str, *args: Any, version: str | None = None, package: str | None = None) -> Any:
    """The same; what it printed is JSON."""
    return json.loads(run(script, *args, version=version, package=package))


@lru_cache
def _server() -> ChildServer:
    """Return the process that runs the scripts of all tests."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return ChildServer([_python(), os.fspath(Path(__file__).with_name("awkward0_server.py"))], environment)


def _python() -> str:
    result, reason = _environment()
    if result is None:
        pytest.skip(reason)
    return result


@lru_cache
def _environment() -> tuple[str | None, str]:
    """The interpreter; or None, and why there is none."""
    interpreter = sys.executable if sys.version_info[:2] == (3, 11) else shutil.which("python3.11")
    if interpreter is None:
        return None, f"awkward0 {AWKWARD0} needs Python 3.11, which is not installed"
    folder = _cache() / f"awkward0-{AWKWARD0}-numpy-{NUMPY}-h5py-{H5PY}"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    with _locked("environment"):
        if not (folder / _MARKER).exists():
            shutil.rmtree(folder, ignore_errors=True)
            for command in (
                [interpreter, "-m", "venv", folder],
                [python, "-m", "pip", "install", "-q", f"awkward0=={AWKWARD0}", f"numpy=={NUMPY}", f"h5py=={H5PY}"],
                [python, "-c", "import awkward0"],
            ):
                if (problem := _failing(command)) is not None:
                    shutil.rmtree(folder, ignore_errors=True)
                    return None, f"no environment for awkward0 {AWKWARD0} could be made: {problem}"
            (folder / _MARKER).touch()
    return os.fspath(python), ""


@lru_cache
def _installed(package: str) -> Path:
    """The folder of another package, without what it depends on."""
    python = _python()
    folder = _cache() / package.replace("==", "-")
    with _locked(folder.name):
        if not (folder / _MARKER).exists():
            shutil.rmtree(folder, ignore_errors=True)
            install = [python, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, package]
            if (problem := _failing(install)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                pytest.skip(f"{package} could not be installed: {problem}")
            (folder / _MARKER).touch()
    return folder


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sheetarray-tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class _locked:  # noqa: N801  (used as a with statement's word)
    """One process at a time."""

    def __init__(self, name: str) -> None:
        self._path = _cache() / f"{name}.lock"

    def __enter__(self) -> None:
        self._file = open(self._path, "w")
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *error: object) -> None:
        self._file.close()


def _failing(command: list[Any]) -> str | None:
    """Why a command fails; None where it does not."""
    try:
        done = subprocess.run(
            list(map(str, command)),
            env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},  # its notice comes last
            capture_output=True,
            text=True,
            timeout=GIVEN_UP_AFTER,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
    return None if done.returncode == 0 else lines[-1]
