"""Switches the compiled loops off, as `SHEETARRAY_PLAIN=1` does for a process."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sheetarray import loops

_USERS = [
    "sheetarray.loops",
    "sheetarray.sheets.excel.reader.cutting",
    "sheetarray.sheets.excel.reader.strings",
    "sheetarray.sheets.excel.reader.worksheet",
]  # the modules that ask whether the loops are there


@contextmanager
def without_loops() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in _USERS if loops.COMPILED else ():
            patch.setattr(f"{module}.COMPILED", False)
        yield
