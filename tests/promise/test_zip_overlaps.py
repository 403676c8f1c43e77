"""Members of a ZIP file that share their bytes are refused in bounded time and memory."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import pytest
from children import run_limited

NAMES = {
    ".xlsx": ["[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/worksheets/sheet{}.xml"],
    ".ods": ["mimetype", "content.xml", "META-INF/manifest.xml", "x{}.xml"],
    ".awkd": ["awkward", "-schema.json", "a{}"],
    ".npz": ["t.npy", "a{}.npy"],
}
CODE = """
    import json, sys, warnings
    import sheetarray as sa

    warnings.simplefilter("ignore")
    said = []
    for verb in (sa.read, sa.scan):
        try:
            verb(sys.argv[1])
            said.append("nothing")
        except sa.SheetArrayError as error:
            said.append(type(error).__name__)
    findings = list(sa.check(sys.argv[1]))
    print(json.dumps([said, len(findings)]))
"""


def overlapping(names: list[str], size: int) -> bytes:
    """Return a ZIP file whose members are all the same compressed bytes: a bomb by the number of its members."""
    content = b" " * size
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(content) + packer.flush()
    crc = zlib.crc32(content)
    fields = (20, 0, 8, 0, 0, crc, len(packed), size)
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", *fields, len(names[0].encode()), 0) + names[0].encode() + packed
    entries = b"".join(
        struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, *fields, len(name.encode()), 0, 0, 0, 0, 0, 0) + name.encode()
        for name in names
    )
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, len(names), len(names), len(entries), len(local), 0)
    return local + entries + end


@pytest.mark.parametrize("suffix", NAMES)
def test_members_that_share_their_bytes_are_refused_in_bounds(tmp_path: Path, suffix: str) -> None:
    *first, more = NAMES[suffix]
    names = [*first, *(more.format(number) for number in range(2000))]
    path = tmp_path / f"a{suffix}"
    path.write_bytes(overlapping(names, 2**24))
    said, findings = json.loads(run_limited(CODE, path, calls=3).output)
    assert said == ["FormatError", "FormatError"]
    assert 0 < findings <= 1001
