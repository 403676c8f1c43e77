"""The rules that say which blobs are compressed, and how; and the shorter forms in which a caller may give them.

A policy is a list of rules, of which the first that fits a blob is taken. A pair of functions alone is promoted to a
rule that fits everything, a rule to a list of one. The decompressing function is only named: the reader has to know it.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ...files import fast_zlib

Compress = Callable[[Any], bytes]
Specification = tuple[str, ...]  # a module, and the name of a function in it
Compression = Any  # None, a bool, a function, a pair, a rule (a mapping), or a sequence of those

partner: dict[Compress, Specification] = {
    fast_zlib.compress: ("zlib", "decompress"),
    zlib.compress: ("zlib", "decompress"),
    lzma.compress: ("lzma", "decompress"),
}
"""The names of the functions that decompress, by those that compress; with an entry here a function alone is enough as
`compression`."""

COMPRESSION: tuple[Mapping[str, Any], ...] = (
    {
        "minsize": 8192,
        "types": (np.bool_, np.integer),
        "contexts": "*",
        "pair": (fast_zlib.compress, partner[fast_zlib.compress]),
    },
)
"""The default policy: counts, indices, masks and other integers from 8 KiB on."""

_KEYS = ("minsize", "types", "contexts", "pair")


@dataclass(frozen=True, slots=True)
class Rule:
    """A pair of functions, and which blobs it is for."""

    compress: Compress  # turns a buffer into bytes
    decompress: Specification  # names its inverse
    minsize: int = 0  # bytes; smaller blobs are left as they are
    types: tuple[type, ...] = (object,)  # of NumPy's scalars, one of which a blob's elements are
    contexts: tuple[str, ...] = ("*",)  # patterns of what the blob is, such as `JaggedArray.counts`; "" stands alone

    def matches(self, array: np.ndarray[Any, Any], context: str) -> bool:
        """Return whether a blob is to be compressed by this rule."""
        return (
            array.nbytes >= self.minsize
            and issubclass(array.dtype.type, self.types)
            and any(fnmatchcase(context, pattern) for pattern in self.contexts)
        )

    def compress_buffer(self, content: Any) -> bytes:
        """Return the bytes of a buffer, compressed."""
        compressed_bytes = self.compress(content)
        if not isinstance(compressed_bytes, (bytes, bytearray, memoryview)):
            raise TypeError(f"{_function_name(self.compress)} gave {type(compressed_bytes).__name__}, not bytes")
        return bytes(compressed_bytes)


def parse_rules(compression: Compression) -> tuple[Rule, ...]:
    """Return the rules of a policy, with everything promoted that may be.

    Example:
        >>> parse_rules((zlib.compress, ("zlib", "decompress"))) == parse_rules([{"pair": zlib.compress}])
        True
    """
    if compression is None or compression is False:
        return ()
    if compression is True:
        return (_parse_rule(fast_zlib.compress),)
    if _is_sequence(compression) and not _is_pair(compression):
        return tuple(_parse_rule(item) for item in compression)
    return (_parse_rule(compression),)


def find_rule(rules: Sequence[Rule], array: np.ndarray[Any, Any], context: str) -> Rule | None:
    """Return the first rule that applies to an array, or None if it is stored as it is."""
    return next((rule for rule in rules if rule.matches(array, context)), None)


def _parse_rule(given: Any) -> Rule:
    if isinstance(given, Rule):
        return given
    if not isinstance(given, Mapping):
        return Rule(*_parse_pair(given))
    if unknown := [key for key in given if key not in _KEYS]:
        raise ValueError(f"a rule of compression has no {unknown[0]!r}; it has {', '.join(_KEYS)}")
    if "pair" not in given:
        raise ValueError("a rule of compression needs a pair: (compress, (module, decompress))")
    minsize = given.get("minsize", 0)
    if isinstance(minsize, bool) or not isinstance(minsize, (int, np.integer)) or minsize < 0:
        raise ValueError(f"minsize is a number of bytes, not {minsize!r}")
    types, contexts = (_as_tuple(given.get(key, default)) for key, default in (("types", object), ("contexts", "*")))
    if not all(isinstance(type_, type) for type_ in types):
        raise TypeError(f"types are NumPy scalar types, such as np.integer, not {given['types']!r}")
    if not all(isinstance(type_, str) for type_ in contexts):
        raise TypeError(f"contexts are patterns such as 'JaggedArray.*', not {given['contexts']!r}")
    return Rule(*_parse_pair(given["pair"]), int(minsize), types, contexts)


def _parse_pair(given: Any) -> tuple[Compress, Specification]:
    if _is_pair(given):
        return given[0], tuple(given[1])
    if not callable(given):
        raise TypeError(f"a pair of compression is (compress, (module, decompress)), not {given!r:.80}")
    for compress, decompress in partner.items():
        if compress is given:
            return given, decompress
    raise ValueError(
        f"what decompresses the bytes of {_function_name(given)} is not known: give the pair, "
        f"({_function_name(given)}, (module, function)), or add it to sheetarray.interchange.awkward.partner"
    )


def _is_pair(given: Any) -> bool:
    return (
        _is_sequence(given)
        and len(given) == 2
        and callable(given[0])
        and _is_sequence(given[1])
        and len(given[1]) >= 2
        and all(isinstance(part, str) and part for part in given[1])
    )


def _is_sequence(given: Any) -> bool:
    return isinstance(given, (list, tuple))


def _as_tuple(given: Any) -> tuple[Any, ...]:
    return tuple(given) if _is_sequence(given) else (given,)


def _function_name(function: Any) -> str:
    name = getattr(function, "__qualname__", None) or repr(function)
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module else name
