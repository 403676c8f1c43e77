"""Which adapters of the package were deleted: the tests that need one are skipped then, and say so."""

from __future__ import annotations

import re

import pytest
from ladder import ROOT

from sheetarray import _LAZY, NotFoundError

FOLDERS = {  # what errors call a format or its suffix -> the folder of its adapter
    "avro": "interchange/avro",
    "awkd": "interchange/awkward",
    "csv": "sheets/delimited",
    "gsheet": "sheets/google",
    "json": "sheets/json",
    "msgpack": "interchange/sciserialize",
    "npy": "interchange/npy",
    "npz": "interchange/npy",
    "ods": "sheets/excel",
    "ra": "interchange/rawarray",
    "sciserialize": "interchange/sciserialize",
    "sciserialize-json": "interchange/sciserialize",
    "tab": "sheets/delimited",
    "tsv": "sheets/delimited",
    "txt": "sheets/delimited",
    "xls": "sheets/excel",
    "xlsb": "sheets/excel",
    "xlsm": "sheets/excel",
    "xlsx": "sheets/excel",
}
DELETED = {name for name, folder in FOLDERS.items() if not (ROOT / folder).exists()}
FOLDERS_DELETED = {FOLDERS[name] for name in DELETED}
NAMES_DELETED = {name for name, module in _LAZY.items() if module.replace(".", "/") in map(FOLDERS.get, DELETED)}
WITHOUT_TABLES = next((s for s in (".avro", ".npz") if s[1:] not in DELETED), ".avro")  # no `write_table` there


ASKED: list[str] = []  # the deleted formats that the running test has asked for, itself or in a child
_ROW = re.compile(rf"KeyError: '({'|'.join(DELETED)})'")
_REFUSED = re.compile(rf"(?:'|\.)({'|'.join(DELETED)})(?:'|(?:\.(?:gz|zst|bz2|xz))?[:/])", re.IGNORECASE)


def needing(*names: str) -> pytest.MarkDecorator:
    """Mark a test that tells of a format without asking for it, such as of a list of all suffixes."""
    return pytest.mark.skipif(not DELETED.isdisjoint(names), reason=f"the adapter of {' or '.join(names)} was deleted")


def note_missing_formats() -> None:
    """Note each error about a deleted format, although a command or a server catches it and the test never sees it."""

    def note(error: NotFoundError, *arguments: object) -> None:
        super(NotFoundError, error).__init__(*arguments)
        if (name := find_missing_format(error)) is not None:
            ASKED.append(name)

    NotFoundError.__init__ = note  # type: ignore[method-assign]


def find_missing_format(error: BaseException | str) -> str | None:
    """Return the deleted format that an error asks for, or None if it is about something else."""
    if not DELETED:
        return None
    if isinstance(error, BaseExceptionGroup):  # as hypothesis raises
        return next(filter(None, map(find_missing_format, error.exceptions)), None)
    text = f"{'KeyError: ' if type(error) is KeyError else ''}{error} "
    if (row := _ROW.search(text)) is not None:  # FORMATS["csv"]
        return row[1]
    if "an awkward array that is not rectangular" in text:
        return "awkd" if "awkd" in DELETED else None
    modules = ((name, "sheetarray." + FOLDERS[name].replace("/", ".")) for name in sorted(DELETED))
    if "No module named " in text:
        return next((name for name, module in modules if f"'{module}'" in text or f"'{module}." in text), None)
    if "gsheet" in DELETED and ("https://docs.google.com/" in text or "gsheets://" in text):
        return "gsheet"
    refused = _REFUSED.search(text) if "no format" in text or ": this is a folder; " in text else None
    return refused[1].lower() if refused else None


def find_deleted(error: BaseException) -> str | None:
    """Return the deleted format without which a test fails with an error, or None if it fails for something else."""
    if not DELETED:
        return None
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None:
        chain, cause = [*chain, cause], cause.__cause__ or cause.__context__
    return next(filter(None, [*map(find_missing_format, chain), *ASKED]), None)
