"""Programs that are not ours, for tests: LibreOffice, and readers of workbooks under Node; skips without them."""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from children import GIVEN_UP_AFTER

_JAVASCRIPT = Path(__file__).parents[1] / "javascript"
_FILTERS = {
    "xlsx": "xlsx:Calc MS Excel 2007 XML",
    "ods": "ods:calc8",
    "csv": "csv:Text - txt - csv (StarCalc):44,34,76,1",
    "pdf": "pdf:calc_pdf_Export",
    "xls": "xls:MS Excel 97",
}


@cache
def find_soffice() -> str | None:
    return shutil.which("soffice") or shutil.which("libreoffice")


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
    soffice = find_soffice()
    if soffice is None:
        pytest.skip("LibreOffice is not installed")
    assert folder.resolve() != path.parent.resolve()
    folder.mkdir(exist_ok=True)
    command = [
        soffice,
        "--headless",
        "--norestore",
        f"-env:UserInstallation={_profile()}",
        "--convert-to",
        _FILTERS[suffix],
        "--outdir",
        str(folder),
        str(path),
        *map(str, others),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GIVEN_UP_AFTER, check=False)
    saved = folder / f"{path.stem}.{suffix}"
    assert saved.exists(), f"LibreOffice saved nothing: {done.stdout} {done.stderr}"
    return saved


def read_by_node(reader: str, path: Path) -> dict[str, list[list[Any]]]:
    """The cells of a workbook, by "sheetjs" or "exceljs": rows of each sheet by its title."""
    node = _node()
    if node is None:
        pytest.skip("Node, or its packages, are not installed: npm install --prefix tests/javascript")
    command = [node, str(_JAVASCRIPT / "read.js"), reader, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GIVEN_UP_AFTER, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, list[list[Any]]] = json.loads(done.stdout)
    return result


def resave_by_node(writer: str, path: Path, target: Path, edits: dict[str, float | str] | None = None) -> Path:
    """Open a workbook with "sheetjs" or "exceljs", put values into cells of its first sheet, and save it.

    Args:
        writer: the package.
        path: what to open.
        target: what to save, its suffix says the format.
        edits: values by the addresses of cells.
    """
    node = _node()
    if node is None:
        pytest.skip("Node, or its packages, are not installed: npm install --prefix tests/javascript")
    command = [node, str(_JAVASCRIPT / "resave.js"), writer, str(path), str(target), json.dumps(edits or {})]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GIVEN_UP_AFTER, check=False)
    assert done.returncode == 0, done.stderr
    return target


def run_sheets_client(url: str, key: str) -> dict[str, Any]:
    """What the npm client google-spreadsheet sees of a spreadsheet that it works on, by the emulator at a URL."""
    node = _node()
    if node is None or not (_JAVASCRIPT / "node_modules" / "google-spreadsheet").is_dir():
        pytest.skip("Node, or its packages, are not installed: npm install --prefix tests/javascript")
    command = [node, str(_JAVASCRIPT / "sheets_client.js"), url, key]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GIVEN_UP_AFTER, check=False)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def schema_errors(path: Path) -> list[str]:
    """What the Open XML SDK's validator has to say of a workbook: part, place and description of each error."""
    program = _JAVASCRIPT / "node_modules" / ".bin" / "ooxml-validator"
    if not program.exists() or _node() is None:
        pytest.skip("the validator is not installed: npm install --prefix tests/javascript")
    done = subprocess.run(
        [str(program), str(path)], capture_output=True, text=True, timeout=GIVEN_UP_AFTER, check=False
    )
    if not done.stdout.strip():
        pytest.skip(f"the validator does not run on this machine: {done.stderr.strip():.200}")
    result = json.loads(done.stdout)
    assert result["ok"] == (not result["errors"])
    return [f"{error['path']} {error['xPath']}: {error['description']}" for error in result["errors"]]
