"""Foreign programs that open, change and save files: LibreOffice, by itself or by UNO, and Node."""

from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from children import GIVEN_UP_AFTER

# LibreOffice driven through UNO, in a child process with an interpreter that has `uno`; skips where there is none.

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


# Programs that are not ours, for tests: LibreOffice, and readers of workbooks under Node; skips without them.

_JAVASCRIPT = Path(__file__).parents[1] / "javascript"
_WORKBOOKS = (".xlsx", ".xlsm", ".ods", ".fods", ".xls", ".xlsb")


@cache
def _profile() -> str:
    """The address of a folder for LibreOffice's settings, which takes long to fill; it goes when the tests are over."""
    folder = tempfile.mkdtemp(prefix="sheetarray-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder).resolve().as_uri()


@cache
def _node() -> str | None:
    node = shutil.which("node")
    return node if node and (_JAVASCRIPT / "node_modules" / "xlsx").is_dir() else None


def resave_all(paths: list[Path], suffix: str, folder: Path) -> list[Path]:
    """Open files with LibreOffice, started once, and save each again; otherwise as `resave`."""
    return [resave(paths[0], suffix, folder, *paths[1:]), *(folder / f"{path.stem}.{suffix}" for path in paths[1:])]


def resave(path: Path, suffix: str, folder: Path, *others: Path) -> Path:
    """Open a file with LibreOffice and save it again, in a profile of this process's own.

    Args:
        path: what to open.
        suffix: of what to save: xlsx, ods, csv, xls or pdf.
        folder: for the file saved, which bears the same stem; not that of `path`.
        others: more files to be opened and saved in the same way.
    """
    if find_soffice() is None:
        pytest.skip("LibreOffice is not installed")
    assert folder.resolve() != path.parent.resolve()
    folder.mkdir(exist_ok=True)
    if path.suffix.lower() in _WORKBOOKS and (office := find_office()):
        for one in (path, *others):
            office.edit(one, {}, suffix, folder)
    else:
        _convert((path, *others), suffix, folder)
    saved = folder / f"{path.stem}.{suffix}"
    assert saved.exists(), "LibreOffice saved nothing"
    return saved


def _convert(paths: Iterable[Path], suffix: str, folder: Path) -> None:
    """Start LibreOffice to save files again, where it cannot be driven, or by its own choice of how to read them."""
    command = [
        str(find_soffice()),
        "--headless",
        "--norestore",
        f"-env:UserInstallation={_profile()}",
        "--convert-to",
        ":".join((suffix, *FILTERS[suffix])),
        "--outdir",
        str(folder),
        *map(str, paths),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GIVEN_UP_AFTER, check=False)
    assert done.returncode == 0, f"{done.stdout} {done.stderr}"


@cache
def _start_node() -> subprocess.Popen[str]:
    """Start the Node that reads and saves the workbooks of all tests of this process; see workbooks.js."""
    if (node := _node()) is None:
        pytest.skip("Node, or its packages, are not installed: npm install --prefix tests/javascript")
    stack = ExitStack()
    atexit.register(stack.close)
    command = [node, str(_JAVASCRIPT / "workbooks.js")]
    child = stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    stack.callback(child.kill)  # before it is waited for
    return child


def _ask_node(*order: Any) -> Any:
    """Return the answer of Node to an order."""
    child = _start_node()
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps(order) + "\n")
    child.stdin.flush()
    if not select.select([child.stdout], [], [], GIVEN_UP_AFTER)[0] or not (line := child.stdout.readline()):
        child.kill()
        _start_node.cache_clear()  # the next test starts another
        raise AssertionError(f"Node gives no answer to {order}")
    answer = json.loads(line)
    assert "error" not in answer, answer["error"]
    return answer["gives"]


def read_by_node(reader: str, path: Path) -> dict[str, list[list[Any]]]:
    """The cells of a workbook, by "sheetjs" or "exceljs": rows of each sheet by its title."""
    result: dict[str, list[list[Any]]] = _ask_node("read", reader, str(path))
    return result


def resave_by_node(writer: str, path: Path, target: Path, edits: dict[str, Any] | None = None) -> Path:
    """Open a workbook with "sheetjs" or "exceljs", put values into cells of its first sheet, and save it.

    Args:
        writer: the package.
        path: what to open.
        target: what to save, its suffix says the format.
        edits: values by the addresses of cells; None for a blank.
    """
    _ask_node("resave", writer, str(path), str(target), edits or {})
    return target


@cache
def _find_validator() -> str | None:
    """Return the program of the Open XML SDK's validator, which a package of npm holds for the system it is put on."""
    programs = sorted((_JAVASCRIPT / "node_modules" / "@xarsh").glob("ooxml-validator-*/ooxml-validator*"))
    return str(programs[0]) if programs else None


def schema_errors(path: Path) -> list[str]:
    """What the Open XML SDK's validator has to say of a workbook: part, place and description of each error."""
    if (program := _find_validator()) is None:
        pytest.skip("the validator is not installed: npm install --prefix tests/javascript")
    environment = os.environ | {"DOTNET_TieredPGO": "0"}  # it ends before a better compilation would be of use
    done = subprocess.run(
        [program, str(path)], capture_output=True, text=True, timeout=GIVEN_UP_AFTER, check=False, env=environment
    )
    if not done.stdout.strip():
        pytest.skip(f"the validator does not run on this machine: {done.stderr.strip():.200}")
    result = json.loads(done.stdout)
    assert result["ok"] == (not result["errors"])
    return [f"{error['path']} {error['xPath']}: {error['description']}" for error in result["errors"]]
