"""A case of the corpus: a file, and what it must give when it is read, scanned, checked, or read as a table.

A case is a folder in tests/corpus/ with one file and `expect.toml`:

    about = "A German spreadsheet program saves CSV with semicolons and decimal commas"
    origin = "made by hand"          # or the program that wrote the file; then also: licence = "CC0"

    [table]                          # read_columns; also [read], [scan], [check]; [[table]] for several calls
    options = {header = true}        # arguments of the call
    warnings = ["... row 5 ..."]     # every warning, in order; none if absent

    [table.columns]                  # [read.arrays] for arrays; their order counts
    price = {float64 = [12.5, nan, -0.0, "0x1.8p+1"]}

An array is `{dtype = values}`. A nested list is an array of several dimensions. `shape`, `order`, `strides` (in
elements) and `sha256` may stand beside the values; values between the first and the last may be left out as `"..."`, if
`sha256` stands for all. Floats may be hexadecimal texts, complex numbers are texts as Python's `complex` takes them,
dates are ISO texts, `{}` is None. `string` is NumPy's `<U`, as wide as its longest text; `awkward` holds nested lists,
and `type` beside them.

[read] and [table] hold arrays or `error`, [scan.arrays] names what is compared of each `ArrayInfo`, and [check] has
`findings`, which are none if absent. A text that is expected of a warning, an error or a finding is the whole text;
`...` in it stands for any part, also none. `file` names a file of the repository that stands elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import sheetarray as sa

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus"
VERBS = {"read": sa.read, "scan": sa.scan, "check": sa.check, "table": sa.read_columns}
_KEYS = {
    "read": {"options", "warnings", "arrays", "error"},
    "table": {"options", "warnings", "columns", "error"},
    "scan": {"options", "warnings", "arrays", "error"},
    "check": {"options", "warnings", "findings"},
}
_HEAD = {"about", "origin", "licence", "file"}
_BESIDE = {"shape", "order", "strides", "sha256", "type"}  # what may stand beside the values of an array


def list_calls() -> Iterator[tuple[str, str, int]]:
    """Yield the folder of each case, the verb of each of its calls, and the number of the call among those."""
    for path in sorted(CORPUS.glob("*/expect.toml")):
        case = tomllib.loads(path.read_text(encoding="utf-8"))
        verbs = [verb for verb in case if verb not in _HEAD] or ["read"]
        for verb in verbs:
            calls = case.get(verb)
            yield from ((path.parent.name, verb, number) for number in range(len(calls) if type(calls) is list else 1))


def find_problem(folder: str, verb: str, number: int) -> str | None:
    """Call a verb on the file of a case. Return the first difference, and below it all that came out; or None."""
    try:
        case, path = _load_case(CORPUS / folder)
        call = case[verb][number] if type(case[verb]) is list else case[verb]
        if unknown := set(call) - _KEYS[verb]:
            raise ValueError(f"[{verb}] has no {sorted(unknown)}")
    except (ValueError, KeyError, TypeError) as error:
        return f"{folder}/expect.toml: {error}"
    result, error, said = _call(VERBS[verb], path, _plain(call.get("options", {})))
    difference = _compare(call, verb, result, error, said)
    return None if difference is None else f"{folder}: {verb}: {difference}\n{_show(verb, result, error, said)}"


def _load_case(folder: Path) -> tuple[dict[str, Any], Path]:
    """Return what `expect.toml` says, and the path of the file."""
    case = tomllib.loads((folder / "expect.toml").read_text(encoding="utf-8"))
    if unknown := set(case) - _HEAD - set(_KEYS):
        raise ValueError(f"there is no {sorted(unknown)}")
    if absent := {"about", "origin"} - set(case):
        raise ValueError(f"{sorted(absent)} is missing")
    if "licence" not in case and not case["origin"].startswith("made by hand"):
        raise ValueError("the licence of a file that somebody else made is missing")
    if not set(case) & set(_KEYS):
        raise ValueError("it expects nothing: add [read], [scan], [check] or [table]")
    files = [path for path in folder.iterdir() if path.name != "expect.toml"]
    if "file" in case:
        files.append(ROOT / case["file"])
    if len(files) != 1:
        raise ValueError(f"a case has one file, not {len(files)}: {sorted(path.name for path in files)}")
    return case, files[0]


def _plain(value: Any) -> Any:
    """Return a value of TOML with None for each empty table."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()} or None
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _call(verb: Any, path: Path, options: dict[str, Any] | None) -> tuple[Any, sa.SheetArrayError | None, list[str]]:
    """Return the result of a call, or its error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result, error = None, None
        try:
            result = verb(path, **options or {})
            result = list(result) if verb is sa.check else result
        except sa.SheetArrayError as raised:
            error = raised
    return result, error, [_shorten(str(warning.message), path) for warning in caught]


def _shorten(text: str, path: Path) -> str:
    """Return a message with the name of a file, not its path."""
    return text.replace(str(path), path.name)


# What differs -----------------------------------------------------------------------------------------------------


def _compare(call: Mapping[str, Any], verb: str, result: Any, error: Exception | None, said: list[str]) -> str | None:
    raised = None if error is None else _describe_error(error)
    if "error" in call or raised is not None:
        return _compare_texts("error", [call["error"]] if "error" in call else [], [raised] if raised else [])
    if verb == "check":
        difference = _compare_texts("finding", call.get("findings", []), list(map(str, result)))
    else:
        expected = call.get("columns" if verb == "table" else "arrays", {})
        compare = _compare_info if verb == "scan" else compare_array
        if list(expected) != list(result):
            return f"the names are {list(result)}, not {list(expected)}"
        differences = (compare(name, result[name], item) for name, item in expected.items())
        difference = next(filter(None, differences), None)
    return difference or _compare_texts("warning", call.get("warnings", []), said)


def _describe_error(error: Exception) -> str:
    source = getattr(error, "source", None)
    text = str(error) if not isinstance(source, str) else str(error).replace(source, Path(source).name)
    return f"{type(error).__name__}: {text}"


def _compare_texts(kind: str, expected: list[str], told: list[str]) -> str | None:
    """Return the first text that differs from what is expected, in which `...` stands for anything."""
    for text, pattern in zip(told, expected, strict=False):
        parts = re.split(r" ?\.\.\. ?", pattern)
        if not re.fullmatch(".*".join(map(re.escape, parts)), text, re.DOTALL):
            return f"the {kind} is {text!r}, not {pattern!r}"
    if len(told) > len(expected):
        return f"the {kind} is not expected: {told[len(expected)]!r}"
    if len(told) < len(expected):
        return f"there is no such {kind}: {expected[len(told)]!r}"
    return None


def _compare_info(name: str, info: sa.ArrayInfo, expected: Mapping[str, Any]) -> str | None:
    for key, value in expected.items():
        held = getattr(info, key)
        if (list(held) if isinstance(held, tuple) else held) != value:
            return f"{key} of {name} is {held!r}, not {value!r}"
    return None


def compare_array(name: str, array: Any, expected: Mapping[str, Any]) -> str | None:
    """Return how an array differs from `{dtype = values}`: in dtype, shape, strides or the bits of an element."""
    dtypes = [key for key in expected if key not in _BESIDE]
    if len(dtypes) != 1:
        raise ValueError(f"{name}: one dtype is expected, not {dtypes}")
    dtype, values = dtypes[0], expected[dtypes[0]]
    if dtype == "awkward":
        return _compare_awkward(name, array, values, expected.get("type"))
    shape = tuple(expected.get("shape", _find_shape(values)))
    if not isinstance(array, np.ndarray) or (_name_dtype(array), array.shape) != (dtype, shape):
        return f"{name} is {_describe(array)}, not {dtype} of shape {shape}"
    order = expected.get("order", "row-major")
    strides = expected.get("strides", _find_strides(shape, order))
    if array.size > 1 and _take_strides(array) != strides:
        return f"{name} has the strides {_take_strides(array)}, not {strides}"
    flat, cells = array.ravel(), _flatten(values)
    first = cells.index("...") if "sha256" in expected and "..." in cells else len(cells)
    last = cells[first + 1 :]
    if "sha256" not in expected and len(cells) != flat.size:
        return f"{name} has {flat.size} elements; expect.toml has {len(cells)}"
    for start, part in ((0, cells[:first]), (flat.size - len(last), last)):
        if (index := _find_unequal(flat[start : start + len(part)], _make_array(part, array.dtype))) is not None:
            where = ", ".join(map(str, np.unravel_index(start + index, shape)))
            return f"{name}[{where}] is {_show_value(flat[start + index])}, not {_show_toml(part[index])}"
    if dtype == "string" and "sha256" not in expected and array.dtype != np.array(cells, dtype=str).dtype:
        return f"{name} is {array.dtype}, wider than its texts"
    if not take_digest(array).startswith(expected.get("sha256", "")):
        return f"an element of {name} that is not listed differs: sha256 is {take_digest(array)}"
    return None


def _compare_awkward(name: str, array: Any, values: list[Any], kind: str | None) -> str | None:
    import awkward as ak

    if not isinstance(array, ak.Array) or array.to_list() != _plain(values):
        return f"{name} is {array!r}, not {values}"
    return None if kind in (None, str(array.type)) else f"{name} has the type {array.type}, not {kind}"


def _name_dtype(array: np.ndarray) -> str:
    """Return the name of a dtype in expect.toml: `string` for each `<U`, `generic` for objects."""
    return {"U": "string", "O": "generic", "T": "StringDType"}.get(array.dtype.kind, str(array.dtype))


def _find_shape(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list):
        return ()
    return (len(values), *_find_shape(values[0])) if values and isinstance(values[0], list) else (len(values),)


def _find_strides(shape: tuple[int, ...], order: str) -> list[int]:
    """Return the strides of a contiguous array."""
    flags = {"row-major": "C", "column-major": "F"}
    return _take_strides(np.empty(shape, "u1", order=flags[order]))  # type: ignore[call-overload]


def _take_strides(array: np.ndarray) -> list[int]:
    """Return strides in elements; 0 along an axis of one element, where no stride is used."""
    pairs = zip(array.shape, array.strides, strict=True)
    return [stride // array.itemsize if size > 1 else 0 for size, stride in pairs]


def _flatten(values: Any) -> list[Any]:
    return [leaf for item in values for leaf in _flatten(item)] if isinstance(values, list) else [values]


def _make_array(cells: list[Any], dtype: np.dtype[Any]) -> np.ndarray:
    """Return values of TOML as a 1-D array. Nothing of sheetarray is asked."""
    if dtype.kind == "f":
        cells = [float.fromhex(cell) if isinstance(cell, str) else cell for cell in cells]
    elif dtype.kind == "c":
        cells = [complex(cell) for cell in cells]
    elif dtype.kind == "O":
        cells = [_plain(cell) for cell in cells]
    elif dtype.kind == "b" and not all(isinstance(cell, bool) for cell in cells):
        raise ValueError(f"bool is true or false, not {cells}")
    array = np.empty(len(cells), f"<U{max(map(len, cells), default=1) or 1}" if dtype.kind == "U" else dtype)
    array[:] = cells
    return array


def _find_unequal(array: np.ndarray, expected: np.ndarray) -> int | None:
    """Return the index of the first element whose bits differ. NaN is NaN, whatever its payload."""
    if len(array) != len(expected):
        return min(len(array), len(expected))
    if array.dtype.kind == "O":
        same = [_is_same_object(item, other) for item, other in zip(array, expected, strict=True)]
    elif array.dtype.kind == "c":
        parts = ((array.real, expected.real), (array.imag, expected.imag))
        same = list(np.logical_and.reduce([_have_same_bits(*pair) for pair in parts]))
    else:
        same = list(_have_same_bits(array, expected))
    return None if all(same) else same.index(False)


def _have_same_bits(array: np.ndarray, expected: np.ndarray) -> np.ndarray:
    if array.dtype.kind != "f":
        return (array == expected) | ((array != array) & (expected != expected))
    same: np.ndarray = (array == expected) & (np.signbit(array) == np.signbit(expected))
    return same | (np.isnan(array) & np.isnan(expected))


def _is_same_object(item: Any, other: Any) -> bool:
    if type(item) is not type(other):
        return False
    return bool(_have_same_bits(np.array([item]), np.array([other]))[0]) if type(item) is float else item == other


def take_digest(array: np.ndarray) -> str:
    """Return the SHA-256 of the elements in C order: little-endian bytes, or for texts and dates one a line."""
    if array.dtype.kind in "UMmOT":
        content = "\n".join(map(str, array.ravel())).encode()
    else:
        content = array.astype(array.dtype.newbyteorder("<")).tobytes(order="C")
    return hashlib.sha256(content).hexdigest()


# What came out, as expect.toml would say it -----------------------------------------------------------------------


def _show(verb: str, result: Any, error: Exception | None, said: list[str]) -> str:
    lines = ["", "It gives:", "", f"[{verb}]"]
    lines += [f"error = {_show_toml(_describe_error(error))}"] if error is not None else []
    lines += ["warnings = [", *(f"    {_show_toml(text)}," for text in said), "]"] if said else []
    if verb == "check":
        lines += ["findings = [", *(f"    {_show_toml(str(finding))}," for finding in result or []), "]"]
    elif result is not None:
        lines += ["", f"[{verb}.{'columns' if verb == 'table' else 'arrays'}]"]
        show = _show_info if verb == "scan" else _show_array
        lines += [f"{_show_key(name)} = {show(item)}" for name, item in result.items()]
    return "\n".join(lines)


def _show_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _show_toml(name)


def _show_info(info: sa.ArrayInfo) -> str:
    texts = {
        "dtype": info.dtype,
        "shape": list(info.shape or ()),
        "order": info.order,
        "location": info.location,
        "cells": info.cells,
    }
    return "{" + ", ".join(f"{key} = {_show_toml(value)}" for key, value in texts.items()) + "}"


def _show_array(array: Any) -> str:
    if not isinstance(array, np.ndarray):
        return f"{{awkward = {array.to_list()}, type = {_show_toml(str(array.type))}}}"
    text = f"{_show_key(_name_dtype(array))} = "
    flat = array.ravel()
    if array.size > 40:
        cells = [*map(_show_value, flat[:10]), '"..."', *map(_show_value, flat[-2:])]
        text += f'[{", ".join(cells)}], shape = {list(array.shape)}, sha256 = "{take_digest(array)[:16]}"'
    else:
        text += _show_nested(array)
        text += f", shape = {list(array.shape)}" if 0 in array.shape[:-1] else ""
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        text += ', order = "column-major"'
    elif not array.flags.c_contiguous:
        text += f", strides = {_take_strides(array)}"
    return "{" + text + "}"


def _show_nested(array: np.ndarray) -> str:
    if array.ndim == 0:
        return _show_value(array[()])
    return f"[{', '.join(map(_show_nested if array.ndim > 1 else _show_value, array))}]"


def _show_value(value: Any) -> str:
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return str(value.astype(np.int64)) if value.dtype.kind == "m" and value == value else f'"{value}"'
    if isinstance(value, np.complexfloating):
        return f'"{value}"'.replace("(", "").replace(")", "")
    return str(value) if isinstance(value, np.floating) else _show_toml(getattr(value, "item", lambda: value)())


def _show_toml(value: Any) -> str:
    if value is None:
        return "{}"
    if isinstance(value, (str, bool)):
        return json.dumps(value, ensure_ascii=False)
    return f"[{', '.join(map(_show_toml, value))}]" if isinstance(value, list) else str(value)


def _describe(array: Any) -> str:
    return f"{_name_dtype(array)} of shape {array.shape}" if isinstance(array, np.ndarray) else repr(array)[:200]
