"""JSON that stands in cells: cut into texts that each fit into a cell, and measured before it is parsed.

Descriptions of what several columns hold together are such texts: the schema of an awkward array, the labels of a
dataset.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import FormatError, LimitError
from ..files import repeated_key

_BEGINNINGS = b'{["'  # what a piece may begin with: no spreadsheet takes it for a formula, a number or a date
_TOKEN = re.compile(rb'[\[\]{}]|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)  # a string may not end: linear time
_STEP = dict.fromkeys(b"[{", 1) | dict.fromkeys(b"]}", -1)


def cut_json(text: str, limit: int, what: str) -> list[str]:
    """Return the pieces of a JSON text that are as long as a cell may be, each beginning with a brace or a quote.

    `limit`: the number of characters that a cell holds. `what`: a noun with its article for the text, for messages.

    Raises:
        LimitError: a name or a value in it is longer than a cell.

    Example:
        >>> cut_json('{"name": ["one", "two"]}', 12, "a schema")
        ['{"name": [', '"one", "two', '"]}']
    """
    content = np.frombuffer(text.encode("ascii"), np.uint8)
    may_begin = np.isin(content, np.frombuffer(_BEGINNINGS, np.uint8))
    may_begin[1:] &= content[:-1] != ord(" ")  # a piece that ends in a blank might lose it
    cuts = np.flatnonzero(may_begin)
    pieces, start = [], 0
    while len(text) - start > limit:
        index = int(np.searchsorted(cuts, start + limit, side="right")) - 1
        if cuts[index] <= start:
            raise LimitError(f"{what} has a name or a parameter that does not fit into a cell of {limit} characters")
        pieces.append(text[start : cuts[index]])
        start = int(cuts[index])
    return [*pieces, text[start:]]


def count_values(text: bytes) -> int:
    """Return an upper bound on the number of values in a JSON text, objects and lists included."""
    return text.count(b"[") + text.count(b"{") + text.count(b",")


def parse_json(text: bytes, what: str, *, most_bytes: int, most_values: int, deepest: int) -> Any:
    """Parse a JSON text, after a check that it has no more bytes and values than it may have.

    `text`: in UTF-8. `what`: a noun with its article for the text, for messages. `most_bytes`: the largest number of
    bytes. `most_values`: the largest number of objects, lists and values in them. `deepest`: the largest number of
    objects and lists within each other.

    Raises:
        FormatError: it has more of anything, is not JSON, or a key stands twice in one object.

    Example:
        >>> parse_json(b'{"a": [1]}', "a schema", most_bytes=100, most_values=10, deepest=2)
        {'a': [1]}
    """
    if len(text) > most_bytes:
        raise FormatError(f"{what} has more than {most_bytes} bytes")
    values = count_values(text)
    if values > most_values:
        raise FormatError(f"{what} has {values} values; at most {most_values} are read")
    depth = 0
    for token in _TOKEN.finditer(text) if values > deepest else ():
        depth += _STEP.get(text[token.start()], 0)
        if depth > deepest:
            raise FormatError(f"{what} is nested more than {deepest} deep")
    with faults_as_format_errors():
        return json.loads(text.decode("utf-8-sig"), object_pairs_hook=_refuse_repeated)


@contextmanager
def faults_as_format_errors() -> Iterator[None]:
    """Raise what Python's own JSON parser says of a text as `FormatError`."""
    try:
        yield
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {error.msg}", location=f"line {error.lineno}, column {error.colno}") from error
    except UnicodeDecodeError as error:
        reason = f"not JSON: byte {error.start} is not {error.encoding}"
        raise FormatError(reason, location=f"byte {error.start}") from error
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError("an integer of more digits than any number has") from error
    except RecursionError as error:
        raise FormatError("nested too deeply") from error


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if (key := repeated_key(pairs)) is not None:
        raise FormatError(f"the key {key!r:.80} stands twice in one object")
    return dict(pairs)
