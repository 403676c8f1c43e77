"""LibreOffice driven through UNO, in a child process with an interpreter that has `uno`; skips where there is none."""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from children import GIVEN_UP_AFTER

_CHILD = Path(__file__).with_name("uno_child.py")
FILTERS = {
    "xlsx": ("Calc MS Excel 2007 XML",),
    "ods": ("calc8",),
    "csv": ("Text - txt - csv (StarCalc)", "44,34,76,1"),
    "pdf": ("calc_pdf_Export",),
    "xls": ("MS Excel 97",),
}


@cache
def find_soffice() -> str | None:
    """The program, if it is installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


@cache
def _interpreter() -> str | None:
    """The interpreter that has `uno`: LibreOffice's own, or the system's."""
    soffice = find_soffice()
    beside = [str(Path(soffice).resolve().with_name("python"))] if soffice else []
    for candidate in (*beside, "/usr/bin/python3", shutil.which("python3")):
        if candidate and Path(candidate).exists():
            asked = [candidate, "-c", "import uno"]
            if subprocess.run(asked, capture_output=True, timeout=GIVEN_UP_AFTER, check=False).returncode == 0:
                return candidate
    return None


class Office:
    """One LibreOffice that opens, edits and saves documents."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self._child = child

    def work_on(self, path: Path, *steps: list[Any]) -> list[Any]:
        """Open a document, take steps, close it, and return the result of each; `uno_child` says what steps are."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps([["open", str(path)], *steps, ["close"]]) + "\n")
        self._child.stdin.flush()
        if not (answer := self._child.stdout.readline()):
            find_office.cache_clear()  # it has ended, and is started again for the next test
            raise AssertionError(self._child.stderr.read() if self._child.stderr else "")
        results: list[Any] = json.loads(answer)[1:-1]
        return results

    def edit(self, path: Path, edits: dict[tuple[str, str], float | str | None], suffix: str, folder: Path) -> Path:
        """Type values into cells, by sheet and address, and save the document under its stem with a suffix."""
        folder.mkdir(exist_ok=True)
        target = folder / f"{path.stem}.{suffix}"
        steps: list[list[Any]] = [["set", sheet, address, value] for (sheet, address), value in edits.items()]
        self.work_on(path, *steps, ["save", str(target), *FILTERS[suffix]])
        return target


@contextmanager
def _start(soffice: str, interpreter: str) -> Iterator[Office]:
    """Start LibreOffice for as long as it is used."""
    with tempfile.TemporaryDirectory(prefix="sheetarray-tests-") as folder:
        command = [interpreter, str(_CHILD), soffice, Path(folder).resolve().as_uri()]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, text=True, **pipes) as child:
            assert child.stdout is not None
            assert child.stdin is not None
            assert child.stdout.readline() == "ready\n", "LibreOffice does not start"
            try:
                yield Office(child)
                child.stdin.close()
                child.wait(GIVEN_UP_AFTER)
            finally:
                child.kill()


@cache
def find_office() -> Office | None:
    """The LibreOffice that all tests of this process work with; None without one that has UNO."""
    soffice, interpreter = find_soffice(), _interpreter()
    if soffice is None or interpreter is None:
        return None
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(_start(soffice, interpreter))


def open_office() -> Office:
    """The LibreOffice that all tests of this process work with."""
    if (office := find_office()) is None:
        pytest.skip("LibreOffice, or an interpreter with its module uno (python3-uno), is not installed")
    return office
