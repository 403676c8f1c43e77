"""Switches the compiled loops off, as `SHEETARRAY_PLAIN=1` does for a process."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def without_loops() -> Iterator[None]:
    """Let every module of the package that is imported by now take the plain way."""
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == "sheetarray" and getattr(module, "COMPILED", False):
                patch.setattr(module, "COMPILED", False)
        yield
