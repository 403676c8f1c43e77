"""LibreOffice at work on documents that it is told of, line by line in JSON; runs under the interpreter that has `uno`.

Each line is a list of steps, and one line answers with their results: ["open", path], ["set", sheet, address, value],
["formula", sheet, address, text], ["values", sheet, range], ["sort", sheet, range, column], ["insert", sheet, row],
["save", path, filter] with options of it, ["close"]. Nothing of the package is imported here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException
from com.sun.star.lang import DisposedException

_TRIES, _PAUSE = 600, 0.1


def connect(soffice: str, profile: str) -> tuple[subprocess.Popen[bytes], Any]:
    """Start LibreOffice, and return its process and its desktop."""
    pipe = f"sheetarray{time.time_ns()}"
    accept = f"--accept=pipe,name={pipe};urp"
    options = ["--headless", "--norestore", "--nologo", f"-env:UserInstallation={profile}"]
    process = subprocess.Popen([soffice, *options, accept], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    context = uno.getComponentContext()
    resolver = context.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", context)
    for _ in range(_TRIES):
        try:
            office = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        except NoConnectException:
            time.sleep(_PAUSE)
        else:
            return process, office.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", office)
    process.kill()
    raise SystemExit("LibreOffice does not answer")


def option(name: str, value: object) -> Any:
    """Return an option of opening or saving."""
    made = PropertyValue()
    made.Name, made.Value = name, value
    return made


class Worker:
    """The document that is open, and the steps on it."""

    def __init__(self, desktop: Any) -> None:
        self._desktop, self._document = desktop, None

    def take(self, step: list[Any]) -> Any:
        """Take one step, and return what it gives."""
        verb, *arguments = step
        return getattr(self, f"_{verb}")(*arguments)

    def _open(self, path: str) -> None:
        address = Path(path).resolve().as_uri()
        self._document = self._desktop.loadComponentFromURL(address, "_blank", 0, (option("Hidden", True),))
        if self._document is None:
            raise ValueError(f"LibreOffice does not open {path}")

    def _set(self, sheet: str, address: str, value: float | str | None) -> None:
        cell = self._document.Sheets.getByName(sheet).getCellRangeByName(address)
        if value is None:
            cell.clearContents(1 | 2 | 4 | 16)  # numbers, dates, texts, formulas
        elif isinstance(value, str):
            cell.setString(value)
        else:
            cell.setValue(value)

    def _formula(self, sheet: str, address: str, text: str) -> None:
        self._document.Sheets.getByName(sheet).getCellRangeByName(address).setFormula(text)

    def _values(self, sheet: str, cells: str) -> list[list[Any]]:
        return [list(row) for row in self._document.Sheets.getByName(sheet).getCellRangeByName(cells).getDataArray()]

    def _sort(self, sheet: str, cells: str, column: int) -> None:
        field = uno.createUnoStruct("com.sun.star.table.TableSortField")
        field.Field, field.IsAscending = column, True
        fields = uno.Any("[]com.sun.star.table.TableSortField", (field,))
        how = (option("SortFields", fields), option("ContainsHeader", True))
        self._document.Sheets.getByName(sheet).getCellRangeByName(cells).sort(how)

    def _insert(self, sheet: str, row: int) -> None:
        self._document.Sheets.getByName(sheet).Rows.insertByIndex(row - 1, 1)

    def _save(self, path: str, filter_name: str, filter_options: str = "") -> None:
        address = Path(path).resolve().as_uri()
        how = {"FilterName": filter_name, "FilterOptions": filter_options, "Overwrite": True}
        self._document.storeToURL(address, tuple(option(name, value) for name, value in how.items()))

    def _close(self) -> None:
        self._document.close(True)
        self._document = None


def answer(line: str) -> None:
    """Say something to the process that waits for it."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(soffice: str, profile: str) -> None:
    """Answer lines until there are no more."""
    process, desktop = connect(soffice, profile)
    worker = Worker(desktop)
    answer("ready")
    try:
        for line in sys.stdin:
            answer(json.dumps([worker.take(step) for step in json.loads(line)]))
    finally:
        try:
            desktop.terminate()
        except DisposedException:
            process.kill()  # it is gone, or does not answer
        process.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
