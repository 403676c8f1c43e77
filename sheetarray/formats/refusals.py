"""Messages for paths, names and sources to which no format belongs: what is wrong, and which format may be meant."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..files import COMPRESSIONS, conceal_secrets, name_part
from ..renamed import nearest
from .row import Format

_KEY = re.compile(r"[A-Za-z0-9_-]{40,50}")
_LONGEST = 80  # characters of a source in a message


def place_problem(text: str, rows: Sequence[Format]) -> str:
    """Return a sentence that says why a path or a URL names no format, without advice on options."""
    if "\n" in text:
        return (
            f"{text.partition(chr(10))[0]!r:.{_LONGEST}} ..: this is text, not a path; io.StringIO(text) makes a file"
        )
    if os.path.isdir(text):
        ends = " or ".join(sorted(suffix for row in rows if row.folders for suffix in row.suffixes))
        return f"{text}: this is a folder; name a file in it" + (f" (folders of arrays end in {ends})" if ends else "")
    text = conceal_secrets(text)
    if text.startswith("zip::") or (text.lower().endswith(".zip") and "::" not in text):
        return f"{text}: an archive; name the file in it, such as zip://run.csv::{text.removeprefix('zip::')}"
    suffixes = [suffix for row in rows for suffix in row.suffixes]
    listed = f"known are {' '.join(_suffixes_of(rows, writable=True))} (also with .gz and .zst)"
    if only_read := _suffixes_of(rows, writable=False):
        listed += f", and only to read {' '.join(only_read)}"
    path = name_part(text)
    bare = next((path.removesuffix(c) for c in COMPRESSIONS if path.lower().endswith(c)), path)
    suffix = os.path.splitext(os.path.basename(bare.rstrip("/\\")))[1]
    if _KEY.fullmatch(text):
        listed += f"; if it is the key of a Google spreadsheet, write gsheets://{text}, or pass client="
    if not suffix:
        return f"{text}: it has no suffix that shows the format; {listed}"
    if bare != path and suffix.lower() in suffixes:
        return f"{text}: {suffix} is never compressed; take {text.replace(path, bare)}"
    if owners := [row.name for row in rows if suffix.lower() in row.suffixes]:
        return f"{text}: several formats have the suffix {suffix}: {', '.join(owners)}"
    if (meant := nearest(suffix.lower(), suffixes)) is not None:
        return f"{text}: no format has the suffix {suffix}; did you mean {meant}?"
    return f"{text}: no format has this suffix; {listed}"


def _suffixes_of(rows: Sequence[Format], *, writable: bool) -> list[str]:
    """Return the suffixes of the formats that can be written, or of those that are only read."""
    return list(dict.fromkeys(suffix for row in rows if (row.instead is None) == writable for suffix in row.suffixes))


def name_problem(name: str, rows: Sequence[Format]) -> str:
    """Return a sentence that says that no format has a name, and which one may be meant."""
    bare = name.lower().removeprefix(".")
    for row in sorted(rows, key=lambda row: row.instead is not None):
        if bare in (row.name, row.stem) or f".{bare}" in row.suffixes:
            return f"no format {name!r}; did you mean {row.name!r}?"
    if (meant := nearest(bare, [row.name for row in rows])) is not None:
        return f"no format {name!r}; did you mean {meant!r}?"
    return f"no format {name!r}; there is {', '.join(row.name for row in rows)}"


def source_problem(source: Any) -> str:
    """Return a sentence on what is wrong with a source that is neither a path nor an open file."""
    message = f"expected a path, a URL or an open file, not {_describe(source)}"
    if isinstance(source, (bytes, bytearray, memoryview)):
        return f"{message}; io.BytesIO(data) makes a file of bytes"
    if isinstance(source, (Mapping, np.ndarray)):
        return f"{message}; write takes the target first, then the arrays"
    return f"{message}; one call for each file" if isinstance(source, (list, tuple, set)) else message


def _describe(source: Any) -> str:
    name = type(source).__name__
    if source is None or name == "bytes":
        return "None" if source is None else name
    return f"{'an' if name[0].lower() in 'aeiou' or name.startswith('nd') else 'a'} {name}"
