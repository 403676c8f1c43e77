"""Members of a ZIP file that share their bytes are refused in bounded time and memory."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from children import run_limited
from examples import PART
from limits import lower_limits

import sheetarray as sa
from sheetarray.testing.archives import contradict

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


LIMITS = lower_limits(PART, "inflated", "inflated_text")
READ = """
import json, sys, warnings
import sheetarray as sa

warnings.simplefilter("ignore")
said = []
for verb in (sa.read, sa.scan, sa.read_columns):
    try:
        verb(sys.argv[1])
        said.append("nothing")
    except sa.SheetArrayError as error:
        said.append(type(error).__name__)
print(json.dumps([said, [finding.severity for finding in sa.check(sys.argv[1])]]))
"""
HEADS = {"a.csv": b"a\n", "t.csv": b"t\nversion\n1.0.0\nndarray\nshape\n", "a.json": b'{"a": [', "a.ra": b"rawarray"}


@pytest.mark.parametrize("name", HEADS)
def test_a_member_of_an_archive_inflates_to_no_more_than_a_compressed_file(tmp_path: Path, name: str) -> None:
    """A bomb of 1.1 GB out of 1.1 MB, or of a part of that where limits are as much lower, under a URL."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    packed, block, blocks = packer.compress(HEADS[name]), b"1.5\n" * 2**22, 67 // PART + 1
    crc = zlib.crc32(HEADS[name])
    for _ in range(blocks):
        packed, crc = packed + packer.compress(block), zlib.crc32(block, crc)
    packed += packer.flush()
    size = len(HEADS[name]) + blocks * len(block)
    path = tmp_path / "b.zip"
    path.write_bytes(archive_of(name, packed, crc, size))
    said, severities = json.loads(run_limited(LIMITS + READ, f"zip://{name}::{path}", calls=4).output)
    assert "nothing" not in said
    assert severities == ["error"]


def archive_of(name: str, packed: bytes, crc: int, size: int) -> bytes:
    """Return an archive of one deflated member."""
    fields, raw = (20, 0, 8, 0, 0, crc, len(packed), size), name.encode()
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", *fields, len(raw), 0) + raw + packed
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, *fields, len(raw), 0, 0, 0, 0, 0, 0) + raw
    return local + entry + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(entry), len(local), 0)


@pytest.mark.parametrize("wrong", sorted(contradict({"t.csv": b"a\n1\n" * 9, "u.csv": b"b\n2\n"})))
def test_archives_that_contradict_themselves_are_refused_under_a_url_too(tmp_path: Path, wrong: str) -> None:
    """Unless the member that is asked for is what both descriptions say."""
    path = tmp_path / "b.zip"
    path.write_bytes(contradict({"t.csv": b"a\n1\n" * 9, "u.csv": b"b\n2\n"})[wrong])
    for member in ("t.csv", "held.bin", "0held.bin"):
        try:
            assert sa.read_columns(f"zip://{member}::{path}", format="csv")["a"].size == 17
        except (sa.FormatError, FileNotFoundError):
            continue
        assert member == "t.csv"


def test_a_member_that_was_read_before_is_read_again_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for suffix in (".xlsx", ".npz", ".csv"):
            sa.write(tmp_path / f"a{suffix}", {"t": np.arange(200_000) + 0.25})
            archive.write(tmp_path / f"a{suffix}", f"a{suffix}")
    for suffix in (".xlsx", ".npz", ".csv"):
        assert (sa.read(f"zip://a{suffix}::{path}", "t") == np.arange(200_000) + 0.25).all()
