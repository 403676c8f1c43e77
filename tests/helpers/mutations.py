"""Binary files with something wrong in them, and what every reader has to make of those: arrays or a `FormatError`."""

from __future__ import annotations

import io
import random
import resource
import struct
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import sheetarray as sa

_STATUS = Path("/proc/self/status")
MOST_MEMORY = 200_000_000  # bytes, for any file of a few kilobytes
NUMBERS = (
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    16,
    64,
    65,
    255,
    256,
    2**15,
    2**16,
    2**20,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**40,
    2**61,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 1,
)


def mutated(content: bytes, source: random.Random, *, header: int | None = None) -> bytes:
    """A copy with one to four changes, most of them in the first `header` bytes."""
    changed = bytearray(content)
    for _ in range(source.choice((1, 1, 1, 2, 2, 4))):
        most = len(changed) if header is None or source.random() < 0.25 else min(header, len(changed))
        at, kind = source.randrange(most + 1), source.randrange(8)
        if kind == 0:
            changed[at : at + 1] = source.randbytes(1)
        elif kind == 1 and at < len(changed):
            changed[at] ^= 1 << source.randrange(8)
        elif kind == 2:
            del changed[at : at + source.choice((1, 2, 8, 50))]
        elif kind == 3:
            changed[at:at] = source.randbytes(source.choice((1, 2, 8, 50)))
        elif kind == 4:
            changed[at // 8 * 8 : at // 8 * 8 + 8] = struct.pack("<Q", source.choice(NUMBERS))
        elif kind == 5:
            size, mark = source.choice(((1, "B"), (2, "<H"), (4, "<I"), (8, ">Q")))
            changed[at : at + size] = struct.pack(mark, source.choice(NUMBERS) % 256**size)
        elif kind == 6:
            start = source.randrange(len(changed) + 1)
            changed[at:at] = changed[start : start + source.choice((4, 8, 30))]
        else:
            del changed[source.randrange(len(changed) + 1) :]
    return bytes(changed)


def survive(content: bytes, format: str, **options: Any) -> bool:
    """Put content through read, scan and check; whether it could be read.

    Only a `FormatError` may come out, with a reason; `check` finds an error exactly where `read` raises one.
    """
    outcomes = {}
    for verb in ("read", "scan", "check"):
        try:
            result = getattr(sa, verb)(io.BytesIO(content), format=format, **options)
            outcomes[verb] = list(result)
            if verb == "read":
                used = [array.tobytes() for array in result.values() if array.nbytes < 10**6]
                assert len(used) <= len(result)
                assert all(isinstance(array, np.ndarray) and array.dtype.isnative for array in result.values())
        except Exception as error:
            if verb == "check" or not isinstance(error, sa.FormatError) or len(error.reason) < 10:
                raise AssertionError(f"{verb} of {format} raised {error!r} for {content[:2000]!r}") from error
            outcomes[verb] = []
    assert bool(outcomes["read"]) != bool(outcomes["check"]), f"{outcomes} for {content[:2000]!r}"
    return bool(outcomes["read"])


@contextmanager
def bounded_memory(most: int = MOST_MEMORY) -> Iterator[None]:
    """Let a block take no more memory than that: where the system is Linux, it refuses more with a MemoryError.

    This costs no time, where counting makes a block three times as slow. Memory that was freed before may be taken
    besides. Use `counted_memory` where the code under test catches a MemoryError.
    """
    if not _STATUS.exists():
        with counted_memory(most):
            yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    taken = next(int(line.split()[1]) for line in _STATUS.read_text().splitlines() if line.startswith("VmData"))
    limit = taken * 1024 + most
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


@contextmanager
def counted_memory(most: int = MOST_MEMORY) -> Iterator[None]:
    """Fail where a block takes more memory than that at any moment, as Python counts it."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        yield
        assert tracemalloc.get_traced_memory()[1] - before < most
    finally:
        tracemalloc.stop()
