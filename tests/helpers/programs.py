"""Programs that are not ours, for tests: LibreOffice, and readers of workbooks under Node; skips without them."""

from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import uno_office
from children import GIVEN_UP_AFTER
from uno_office import find_soffice

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
    if path.suffix.lower() in _WORKBOOKS and (office := uno_office.find_office()):
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
        ":".join((suffix, *uno_office.FILTERS[suffix])),
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


def resave_by_node(writer: str, path: Path, target: Path, edits: dict[str, float | str] | None = None) -> Path:
    """Open a workbook with "sheetjs" or "exceljs", put values into cells of its first sheet, and save it.

    Args:
        writer: the package.
        path: what to open.
        target: what to save, its suffix says the format.
        edits: values by the addresses of cells.
    """
    _ask_node("resave", writer, str(path), str(target), edits or {})
    return target


def run_sheets_client(url: str, key: str, part: str = "") -> dict[str, Any]:
    """What the npm client google-spreadsheet sees of a spreadsheet that it works on, by the emulator at a URL."""
    node = _node()
    if node is None or not (_JAVASCRIPT / "node_modules" / "google-spreadsheet").is_dir():
        pytest.skip("Node, or its packages, are not installed: npm install --prefix tests/javascript")
    command = [node, str(_JAVASCRIPT / "sheets_client.js"), url, key, part]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GIVEN_UP_AFTER, check=False)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


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
