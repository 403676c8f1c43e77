"""Finds the elements that somebody searches for, whole blocks at once, by the same rules as the search of a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import Array, Mask
from .blobs import list_texts
from .measures import find_missing, is_numeric, to_numbers

_INFINITE = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)
_NUMERAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_RELATIONS: dict[str, Callable[[Any, float], Any]] = {
    "<": np.less,
    ">": np.greater,
    "<=": np.less_equal,
    ">=": np.greater_equal,
}

Matcher = Callable[[Array], Mask]


def make_matcher(dtype: np.dtype[Any], query: str) -> Matcher | None:
    """Return a function that masks the elements somebody looks for, as the page itself would; None for no query.

    Args:
        dtype: of the elements.
        query: a number, `> 30`, NaN, a part of a text, a date.
    """
    text = query.strip()
    if not text:
        return None
    if re.fullmatch("nan|nat|none", text, re.IGNORECASE) and (is_numeric(dtype) or dtype.kind == "O"):
        return find_missing
    if not is_numeric(dtype):
        wanted = text.lower()
        return lambda elements: _mask(wanted in shown.lower() for shown in list_texts(elements))
    if dtype.kind == "b" and text.lower() in ("true", "false"):
        return lambda elements: elements == (text.lower() == "true")
    match = re.fullmatch(r"(<=|>=|<|>|=)?\s*(.*)", text)
    relation, numeral = (match[1], match[2]) if match else (None, text)
    limit = _parse_number(numeral)
    if (dtype.kind == "c" and relation in (None, "=")) or limit is None:
        return _match_complex(numeral) if dtype.kind == "c" else None
    if relation in _RELATIONS:
        compare = _RELATIONS[relation]
        return lambda elements: compare(to_numbers(elements), limit)
    if (dtype.kind in "iu" and dtype.itemsize == 8) or dtype.kind == "m":
        return _match_whole(numeral, dtype)
    with np.errstate(over="ignore"):
        value = dtype.type(limit) if dtype.kind == "f" else np.float64(limit)  # a numeral means the nearest element
    return lambda elements: elements == value


def _mask(values: Any) -> Mask:
    return np.fromiter(values, np.bool_)


def _parse_number(numeral: str) -> float | None:
    if infinite := _INFINITE.fullmatch(numeral):
        return float(f"{infinite[1]}inf")
    return float(numeral) if _NUMERAL.fullmatch(numeral) else None


def _match_whole(numeral: str, dtype: np.dtype[Any]) -> Matcher:
    """Return a function that compares integers of 64 bits with all their digits."""
    exact = int(numeral) if re.fullmatch(r"[+-]?[0-9]{1,20}", numeral) else None
    limits = np.iinfo(np.int64 if dtype.kind == "m" else dtype)
    if exact is None or not limits.min <= exact <= limits.max:
        return lambda elements: np.zeros(len(elements), np.bool_)
    if dtype.kind == "m":
        return lambda elements: (elements.view(np.int64) == exact) & ~np.isnat(elements)
    return lambda elements: elements == dtype.type(exact)


def _match_complex(numeral: str) -> Matcher | None:
    try:
        value = complex(re.sub("[ij]$", "j", numeral.replace(" ", "")))
    except ValueError:
        return None
    return lambda elements: elements == elements.dtype.type(value)
