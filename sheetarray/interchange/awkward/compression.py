"""Compression: the rules that say which blobs are compressed, and by what.

A policy is a list of rules, of which the first that fits a blob is taken. A pair of functions alone is promoted to a
rule that fits everything, a rule to a list of one. The decompressing function is only named: the reader has to know it.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ...files import fast_zlib

Compress = Callable[[Any], bytes]
Specification = tuple[str, ...]  # a module, and the name of a function in it
Compression = Any  # None, a bool, a function, a pair, a rule (a mapping), or a sequence of those

_MANY = 2**16  # bytes
_MOST_TIMES = 16  # the bytes to which a byte of ours inflates; four times as many may be taken to read them


def deflate(content: Any) -> bytes:
    """Compress bytes to a zlib stream, fast; many bytes to a sixteenth of them at the least.

    Readers take for a bomb what inflates to many times its bytes. So the end of what is all alike stands as it is.
    """
    packed = fast_zlib.compress(content)
    plain = memoryview(content).cast("B")
    if len(plain) < _MANY or len(packed) * _MOST_TIMES >= len(plain):
        return packed
    end = len(plain) // _MOST_TIMES
    packer, storing = fast_zlib.compressor(fast_zlib.RAW), zlib.compressobj(0, wbits=fast_zlib.RAW)
    start = packer.compress(plain[: len(plain) - end]) + packer.flush(zlib.Z_FULL_FLUSH)
    stored = storing.compress(plain[len(plain) - end :]) + storing.flush()
    return b"".join((b"\x78\x01", start, stored, zlib.adler32(plain).to_bytes(4, "big")))


partner: dict[Compress, Specification] = {
    deflate: ("zlib", "decompress"),
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
        "pair": (deflate, partner[deflate]),
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


def parse_rules(compression: Compression) -> tuple[Rule, ...]:
    """Return the rules of a policy, with everything promoted that may be.

    Example:
        >>> parse_rules((zlib.compress, ("zlib", "decompress"))) == parse_rules([{"pair": zlib.compress}])
        True
    """
    if compression is None or compression is False:
        return ()
    if compression is True:
        compression = deflate
    is_policy = isinstance(compression, (list, tuple)) and not _is_pair(compression)
    return tuple(map(_parse_rule, compression if is_policy else [compression]))


def _parse_rule(given: Any) -> Rule:
    rule = {"minsize": 0, "types": object, "contexts": "*"} | (
        dict(given) if isinstance(given, Mapping) else {"pair": given}
    )
    if "pair" not in rule:
        raise ValueError("a rule of compression needs a pair: (compress, (module, decompress))")
    if unknown := [key for key in rule if key not in _KEYS]:
        raise ValueError(f"a rule of compression has no {unknown[0]!r}; it has {', '.join(_KEYS)}")
    minsize, pair = rule["minsize"], rule["pair"]
    if isinstance(minsize, bool) or not isinstance(minsize, (int, np.integer)) or minsize < 0:
        raise ValueError(f"minsize is a number of bytes, not {minsize!r}")
    types, contexts = (tuple(v) if isinstance(v, (list, tuple)) else (v,) for v in (rule["types"], rule["contexts"]))
    if not all(isinstance(type_, type) for type_ in types):
        raise TypeError(f"types are NumPy scalar types, such as np.integer, not {rule['types']!r}")
    if not all(isinstance(pattern, str) for pattern in contexts):
        raise TypeError(f"contexts are patterns such as 'JaggedArray.*', not {rule['contexts']!r}")
    if callable(pair):
        if pair not in partner:
            raise ValueError(
                f"what decompresses the bytes of {pair!r} is not known: give the pair, (compress, (module, "
                "decompress)), or add it to sheetarray.interchange.awkward.partner"
            )
        pair = pair, partner[pair]
    if not _is_pair(pair):
        raise TypeError(f"a pair of compression is (compress, (module, decompress)), not {pair!r:.80}")
    return Rule(pair[0], tuple(pair[1]), int(minsize), types, contexts)


def _is_pair(given: Any) -> bool:
    if not (isinstance(given, (list, tuple)) and len(given) == 2 and callable(given[0])):
        return False
    names = given[1]
    return isinstance(names, (list, tuple)) and len(names) >= 2 and all(isinstance(n, str) and n for n in names)
