"""The ladder of rooms, and which adapters were deleted."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import sheetarray
from sheetarray import _LAZY, NotFoundError

# The ladder of rooms, and which modules each module of the package imports.

ROOT = Path(sheetarray.__file__).parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}

LADDER = [
    *("errors", "renamed", "loops", "dtypes", "elements", "values", "linear", "changes", "columns", "tables"),
    *("formats", "adapters", "registry", "labels", "sheets", "api", "scale", "pages", "cli", "testing"),
]
RUNG = {name: index for index, name in enumerate(LADDER)} | {
    "interchange": LADDER.index("sheets"),
    "files": LADDER.index("loops"),
    "__init__": 99,
    "__main__": 99,
}
SHARED = {
    "sheets",
    "sheets.accepted",
    "sheets.arrays_of_sheets",
    "sheets.arrays_of_sheets.gathering",
    "sheets.arrays_of_sheets.sheets",
    "sheets.arrays_of_sheets.spreading",
    "sheets.cells_together",
    "sheets.checking_blocks",
    "sheets.content",
    "sheets.decimals",
    "sheets.formula_texts",
    "sheets.guard_texts",
    "sheets.chosen_formats",
    "sheets.defined_names",
    "sheets.looks",
    "sheets.printing",
    "sheets.record_texts",
    "sheets.recorded_tables",
    "sheets.sheet_choice",
    "sheets.snapshot",
    "sheets.table_areas",
    "sheets.table_findings",
    "sheets.views",
    "sheets.views.array_cells",
    "sheets.views.choosers",
    "sheets.views.description",
    "sheets.views.formulas",
    "sheets.views.geometry",
    "sheets.views.plans",
    "sheets.views.typed_over",
    "sheets.workbooks",
    "sheets.xml_texts",
    "interchange",
    "interchange.file_array",
    "interchange.untrusted",
    "interchange.fed_stream",
    "interchange.zip_members",
}
HEAVY = {
    *("polars", "pandas", "openpyxl", "fastexcel", "gspread", "zstandard", "click", "rich", "fastavro", "msgpack"),
    *("orjson", "awkward", "h5py", "xarray", "pyarrow", "isal", "fsspec", "dask", "distributed"),
}


def imported(module: str, *, top_level: bool = False) -> set[str]:
    """What a module imports, at run time: ours as `errors`, `columns.grid`; others as the first part of their name."""
    return _imports(module)[top_level]


@cache
def _imports(module: str) -> tuple[set[str], set[str]]:
    """What a module imports anywhere, and outside of functions; the module is parsed once."""
    body = ast.parse(MODULES[module].read_text()).body
    return tuple(_imports_of(module, _nodes(body, into_functions=into)) for into in (True, False))  # type: ignore[return-value]


def _imports_of(module: str, nodes: list[ast.AST]) -> set[str]:
    path = MODULES[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    package = [part for part in package if part and part != "__init__"]
    result: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            result |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            result.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1]
            for alias in node.names:
                dotted = ".".join([*base, *(node.module or "").split("."), alias.name]).replace("..", ".").strip(".")
                result.add("sheetarray:" + (dotted if dotted in MODULES else dotted.rpartition(".")[0]))
    return result


def _nodes(body: list[ast.stmt], *, into_functions: bool) -> list[ast.AST]:
    result: list[ast.AST] = []
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not into_functions:
            continue
        result.append(node)
        children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
        result += _nodes(children, into_functions=into_functions)
        for handler in getattr(node, "handlers", []):
            result += _nodes(handler.body, into_functions=into_functions)
    return result


@cache
def ours(module: str) -> set[str]:
    return {name.partition(":")[2] for name in imported(module) if name.startswith("sheetarray:")}


def adapter(module: str) -> str:
    """The adapter that a module belongs to: its own name, or that of its package under sheets or interchange."""
    return ".".join(module.split(".")[:2])


def rung(module: str) -> int:
    return RUNG[module.partition(".")[0] or "__init__"]


# Which adapters of the package were deleted: the tests that need one are skipped then, and say so.

FOLDERS = {  # what errors call a format or its suffix -> the folder, or the module, of its adapter
    "arrow": "interchange/columnar",
    "avro": "interchange/avro",
    "awkd": "interchange/awkward",
    "csv": "sheets/delimited",
    "feather": "interchange/columnar",
    "gsheet": "sheets/google",
    "json": "sheets/json",
    "msgpack": "interchange/sciserialize",
    "nc": "interchange/netcdf",
    "netcdf": "interchange/netcdf",
    "npy": "interchange/npy",
    "npz": "interchange/npy",
    "ods": "sheets/excel",
    "parquet": "interchange/columnar",
    "ra": "interchange/rawarray",
    "sciserialize": "interchange/sciserialize",
    "sciserialize-json": "interchange/sciserialize",
    "tab": "sheets/delimited",
    "tsv": "sheets/delimited",
    "txt": "sheets/delimited",
    "zarr": "interchange/netcdf",
    "xls": "sheets/excel",
    "xlsb": "sheets/excel",
    "xlsm": "sheets/excel",
    "workbook": "sheets/objects",
    "xlsx": "sheets/excel",
}
DELETED = {
    name for name, folder in FOLDERS.items() if not any((ROOT / f"{folder}{end}").exists() for end in ("", ".py"))
}
FOLDERS_DELETED = {FOLDERS[name] for name in DELETED}
NAMES_DELETED = {name for name, module in _LAZY.items() if module.replace(".", "/") in map(FOLDERS.get, DELETED)}


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
    if "a format that has cells takes it, or one of awkward arrays" in text:
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
