"""The ladder of rooms, and which modules each module of the package imports."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import sheetarray

ROOT = Path(sheetarray.__file__).parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}

LADDER = [
    "errors",
    "loops",
    "dtypes",
    "elements",
    "aligning",
    "comparing",
    "merging",
    "values",
    "header",
    "resizing",
    "data",
    "linear",
    "json_text",
    "arrays",
    "spool",
    "cells",
    "columns",
    "tables",
    "file_array",
    "adapters",
    "registry",
    "labels",
    "composite",
    "views",
    "sheets",
    "listings",
    "api",
    "labelled",
    "lazy",
    "conversions",
    "pages",
    "cli",
    "testing",
]
RUNG = {name: index for index, name in enumerate(LADDER)} | {
    "interchange": LADDER.index("sheets"),
    "files": 1,
    "__init__": 99,
    "__main__": 99,
}
SHARED = {"sheets", "sheets.workbooks", "interchange", "interchange.zip_members"}
HEAVY = {
    "polars",
    "pandas",
    "openpyxl",
    "fastexcel",
    "gspread",
    "zstandard",
    "click",
    "rich",
    "fastavro",
    "msgpack",
    "orjson",
    "awkward",
    "h5py",
    "xarray",
    "pyarrow",
    "isal",
    "fsspec",
    "dask",
    "distributed",
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
