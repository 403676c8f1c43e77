"""Archives that no writer makes: refused before memory is taken, and never added to."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from awkward_layouts import LISTS, archive
from hostile import bounded_memory

import sheetarray as sa
from sheetarray.interchange.awkward import load, save


def renamed(name: str) -> bytes:
    """An archive with a member of that name, as no zipfile writes it."""
    stand_in = "x" * len(name.encode())
    return archive(replaced={stand_in: b"1"}).replace(stand_in.encode(), name.encode())


def patched(at: int, form: str, value: int) -> bytes:
    """An archive in which each entry of the directory has a field changed."""
    content = bytearray(archive())
    start = 0
    while (start := content.find(b"PK\1\2", start)) >= 0:
        struct.pack_into(form, content, start + at, value)
        start += 4
    return bytes(content)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "no archive": lambda: b"PK" * 100,
    "cut off": lambda: archive()[:-30],
    "an absolute name": lambda: renamed("/etc/x"),
    "a name that leads out": lambda: renamed("../../x"),
    "a name that leads out within": lambda: renamed("a/../../x"),
    "a backslash": lambda: renamed("..\\x"),
    "a drive": lambda: renamed("C:/x"),
    "a NUL": lambda: renamed("t.json\0.txt"),
    "two members of one name": lambda: renamed("t.json"),
    "encrypted": lambda: patched(8, "<H", 1),
    "an unknown method": lambda: patched(10, "<H", 14),
    "larger than the archive": lambda: patched(20, "<I", 2**30),
    "far larger when inflated": lambda: patched(24, "<I", 2**31),
    "beyond the file": lambda: patched(42, "<I", 2**31),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_no_hostile_archive_is_read_or_added_to(case: str, tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    path.write_bytes(HOSTILE[case]())
    before = path.read_bytes()
    with bounded_memory():
        with pytest.raises(sa.FormatError) as caught, load(path) as result:
            dict(result)
        assert len(caught.value.reason) > 10
        for verb in (sa.read, sa.scan):
            with pytest.raises(sa.FormatError):
                verb(path)
        assert any(finding.severity == "error" for finding in sa.check(path))
    if case != "nothing":
        try:
            save(path, LISTS, "new")
        except sa.FormatError:
            assert path.read_bytes() == before


def test_a_deflated_archive_is_read_and_a_bomb_is_not(tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    path.write_bytes(archive(method=zipfile.ZIP_DEFLATED))
    assert sorted(sa.read(path)) == ["t", "u"]
    path.write_bytes(archive(method=zipfile.ZIP_LZMA))
    with pytest.raises(sa.FormatError, match="method 14"):
        sa.read(path)
    zeros = {f"bomb{index}.raw": bytes(2**24) for index in range(5)}
    path.write_bytes(archive(replaced=zeros, method=zipfile.ZIP_DEFLATED))
    with bounded_memory(), pytest.raises(sa.FormatError, match="inflates to"):
        sa.read(path)


@pytest.mark.parametrize("size", [10**6, 10])
def test_a_member_that_is_not_what_it_claims_is_damaged(size: int) -> None:
    content = bytearray(archive(method=zipfile.ZIP_DEFLATED))
    start = content.find(b"t.json", content.find(b"PK\1\2")) - 46
    struct.pack_into("<I", content, start + 24, size)
    with pytest.raises(sa.FormatError):
        sa.read(io.BytesIO(bytes(content)), ["t"], format="awkd")
    assert list(sa.read(io.BytesIO(bytes(content)), ["u"], format="awkd")) == ["u"]
