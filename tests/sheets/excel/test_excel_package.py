"""Zip packages: what is read from those of other programs, what is refused, and what is written."""

from __future__ import annotations

import io
import mmap
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from examples import examples
from excel_packages import CENTRAL, END, LOCAL, TEXT, OnlyWrite, Raw, field, noise, raw_members, rich, zipped
from excel_packages import survive_as_package as survive
from hostile import NUMBERS, bounded_memory, mutate
from hypothesis import given
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray.sheets.excel.package.parts import Package

# Reading -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_parts_of_a_zip_file_are_read(method: int) -> None:
    members = {**TEXT, "xl/médiä.bin": noise(3_000_000), "zeros": bytes(3_000_000)}
    package = Package(zipped(members, method))
    assert package.names() == list(members)
    assert {name: package.read(name) for name in package.names()} == members


def test_the_raw_bytes_are_those_between_the_headers() -> None:
    content = rich(macros=True)
    package, expected = Package(content), raw_members(content)
    assert package.names() == list(expected)
    for name, raw in expected.items():
        member = package.member(name)
        assert Raw(member.method, member.crc, member.size, b"".join(package.iter_packed(name))) == raw


def test_names_are_compared_without_case() -> None:
    package = Package(zipped(TEXT))
    assert "XL/Workbook.XML" in package
    assert package.read("XL/Workbook.XML") == b"<workbook/>"
    assert package.member("XL/Workbook.XML").name == "xl/workbook.xml"
    with pytest.raises(sa.FormatError, match=r"no part 'xl/styles\.xml'"):
        package.read("xl/styles.xml")


def test_backslashes_between_folders_are_slashes() -> None:
    content = renamed(zipped({"xl1workbook.xml": b"<a/>"}), "xl1workbook.xml", "xl\\workbook.xml")
    assert Package(content).names() == ["xl/workbook.xml"]
    assert Package(content).read("xl/workbook.xml") == b"<a/>"


def test_a_package_may_be_a_map_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(zipped({"a": noise(10**6)}))
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert Package(mapped).read("a") == noise(10**6)


def test_folders_are_no_parts_and_comments_are_passed_over() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.mkdir("xl")
        archive.writestr("xl/a", b"1")
        archive.comment = b"made by hand " * 20
    assert Package(file.getvalue()).names() == ["xl/a"]


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("comment", [b"", b"by hand"])
def test_bytes_around_a_package_are_passed_over(counted: bool, comment: bytes) -> None:
    """As zipfile, and so openpyxl, does; offsets count from the file's beginning or from the package's."""
    for before in (b"", b"\n", b"#!/bin/sh\n" * 50):
        file = io.BytesIO()
        file.write(before if counted else b"")
        with zipfile.ZipFile(file, "a" if counted else "w") as archive:
            archive.writestr("a", b"1")
            archive.comment = comment
        for after in (b"", b"\n", b"x" * 100, bytes(2**16 - 1 - len(comment))):
            content = (b"" if counted else before) + file.getvalue() + after
            assert Package(content).read("a") == zipfile.ZipFile(io.BytesIO(content)).read("a") == b"1"


@pytest.fixture(scope="module")
def many_members() -> bytes:
    """A package of more members than 16 bits count."""
    return zipped({f"part{index}": b"" for index in range(65_600)}, zipfile.ZIP_STORED)


def test_zip64_with_bytes_around_it(many_members: bytes) -> None:
    package = Package(b"before" + many_members + b"after")
    assert len(package.names()) == 65_600
    assert package.read("part65599") == b""


def test_sizes_after_the_content_and_zip64_are_read() -> None:
    sink = OnlyWrite()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[arg-type]  # it streams
        with archive.open("a", "w", force_zip64=True) as member:
            member.write(b"text" * 1000)
        with archive.open("b", "w", force_zip64=True) as member:
            member.write(b"more")
    package = Package(bytes(sink.content))
    assert (package.read("a"), package.read("b")) == (b"text" * 1000, b"more")


def test_more_members_than_16_bits_count_are_read(many_members: bytes) -> None:
    package = Package(many_members)
    assert len(package.names()) == 65_600
    assert package.read("part65599") == b""


def test_only_the_head_of_a_part_is_inflated() -> None:
    package = Package(zipped({"a": b"abc" + bytes(50_000_000), "b": b"x"}))
    with bounded_memory():
        for _ in range(20):
            assert package.head("a", 5) == b"abc\0\0"
    assert package.head("b", 100) == b"x"
    assert package.head("b", 0) == b""


def test_a_limit_is_kept() -> None:
    package = Package(zipped({"a": bytes(1000)}))
    assert package.read("a", limit=1000) == bytes(1000)
    with pytest.raises(sa.FormatError, match="1000 bytes, of which 999"):
        package.read("a", limit=999)


# Refusing ----------------------------------------------------------------------------------------------------


def renamed(content: bytes, old: str, new: str) -> bytes:
    """The content with a member of another name, of the same length."""
    assert len(old) == len(new)
    return content.replace(old.encode(), new.encode())


def two(first: bytes = b"1", second: bytes = b"2") -> bytes:
    return zipped({"aa": first, "bb": second}, zipfile.ZIP_STORED)


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "no zip package"),
    "text": (lambda: b"a,b\n1,2\n", "no zip package"),
    "an OLE file": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "encrypted"),
    "cut off": (lambda: two()[:-30], "cut off"),
    "cut off in its last record": (lambda: two()[:-1], "cut off"),
    "more bytes after it than a comment has": (lambda: two() + bytes(2**16), "cut off"),
    "bytes before it": (lambda: b"PK" + two(), "does not end"),
    "two ends, one in the comment": (lambda: field(two(), END, 20, "<H", 22) + two()[-22:], "bytes at byte"),
    "two of one name": (lambda: renamed(two(), "bb", "aa"), "one name"),
    "two that differ in case": (lambda: renamed(two(), "bb", "AA"), "one name"),
    "absolute": (lambda: renamed(two(), "bb", "/b"), "absolute"),
    "a drive": (lambda: renamed(zipped({"abcd": b""}), "abcd", "C:/d"), "absolute"),
    "climbing": (lambda: renamed(zipped({"a/12/b": b""}), "a/12/b", "a/../b"), r"'\.\.'"),
    "climbing first": (lambda: renamed(zipped({"12/b": b""}), "12/b", "../b"), r"'\.\.'"),
    "an empty segment": (lambda: renamed(zipped({"a12b": b""}), "a12b", "a//b"), "empty"),
    "climbing by backslashes": (lambda: renamed(zipped({"a/12/b": b""}), "a/12/b", "a\\..\\b"), r"'\.\.'"),
    "absolute by a backslash": (lambda: renamed(two(), "bb", "\\b"), "absolute"),
    "two that differ in the slash": (lambda: renamed(zipped({"a1b": b"", "a/b": b""}), "a1b", "a\\b"), "one name"),
    "a NUL": (lambda: renamed(zipped({"a1b": b""}), "a1b", "a\0b"), "has '"),
    "not UTF-8": (lambda: zipped({"é": b""}).replace("é".encode(), b"\xff\xfe"), "not UTF-8"),
    "encrypted": (lambda: field(two(), CENTRAL, 8, "<H", 1), "encrypted"),
    "an encrypted directory": (lambda: field(two(), CENTRAL, 8, "<H", 0x2000), "encrypted"),
    "another method": (lambda: field(field(two(), CENTRAL, 10, "<H", 12), LOCAL, 8, "<H", 12), "method 12"),
    "another method in the local header": (lambda: field(two(), LOCAL, 8, "<H", 8), "another one"),
    "another name in the local header": (lambda: two().replace(b"aa", b"cc", 1), "another one"),
    "an offset beyond it": (lambda: field(two(), CENTRAL, 42, "<I", 10**9), "no part at byte"),
    "an offset beside it": (lambda: field(two(), CENTRAL, 42, "<I", 3), "no part at byte"),
    "another volume": (lambda: field(two(), CENTRAL, 34, "<H", 1), "volume"),
    "several volumes": (lambda: field(two(), END, 4, "<H", 1), "volumes"),
    "fewer entries than it says": (lambda: field(field(two(), END, 8, "<H", 3), END, 10, "<H", 3), "3 parts|entry 2"),
    "more entries than it says": (lambda: field(field(two(), END, 8, "<H", 1), END, 10, "<H", 1), "goes on"),
    "a stored size of its own": (lambda: field(two(), CENTRAL, 24, "<I", 2), "claims 2 bytes out of 1"),
    "a size that no deflate reaches": (lambda: field(zipped(TEXT), CENTRAL, 24, "<I", 10**9), "claims 1000000000"),
    "zip64 sizes that are missing": (lambda: field(two(), CENTRAL, 24, "<I", 2**32 - 1), "zip64"),
    "a content that reaches into the directory": (
        lambda: field(field(two(), CENTRAL, 20, "<I", 60), CENTRAL, 24, "<I", 60),
        "overlap|reach",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_broken_package_is_refused(kind: str) -> None:
    content, reason = REFUSED[kind]
    with pytest.raises(sa.FormatError, match=reason):
        Package(content())


def test_members_that_overlap_are_refused() -> None:
    """One kernel of deflated zeros, and many entries of the directory that quote it."""
    kernel = zipped({"a": bytes(10**6)})
    start = kernel.index(CENTRAL)
    entry = kernel[start : kernel.index(END)]
    directory = b"".join(entry[:-1] + name.encode() for name in "abcdefgh")
    # every entry points at the one local header, whose name is that of the first
    end = struct.pack("<4s4H2IH", END, 0, 0, 8, 8, len(directory), start, 0)
    with pytest.raises(sa.FormatError, match=r"another one|overlap"):
        Package(kernel[:start] + directory + end)


def test_a_local_header_within_another_part_is_refused() -> None:
    """The second entry points at a whole member that is stored in the first."""
    inner = zipped({"b": b"12345"}, zipfile.ZIP_STORED)
    outer = zipped({"a": inner, "b": b"12345"}, zipfile.ZIP_STORED)
    second = outer.rindex(CENTRAL)
    assert Package(outer).read("b") == b"12345"
    moved = outer[: second + 42] + struct.pack("<I", 31) + outer[second + 46 :]
    with pytest.raises(sa.FormatError, match="overlap"):
        Package(moved)


def test_a_bomb_is_refused_before_anything_is_inflated() -> None:
    """A thousandfold each, together beyond any workbook."""
    zeros = zipped({"a": bytes(100_000_000)})
    start, end = zeros.index(CENTRAL), zeros.index(END)
    local, entry = zeros[:start], zeros[start:end]
    count, whole, directory = 20, b"", b""
    for index in range(count):
        name = chr(97 + index).encode()
        directory += entry[:42] + struct.pack("<I", len(whole)) + name
        whole += local[:30] + name + local[31:]
    bomb = whole + directory + struct.pack("<4s4H2IH", END, 0, 0, count, count, len(directory), len(whole), 0)
    with bounded_memory(), pytest.raises(sa.FormatError, match="claims to inflate to 2000000000 bytes"):
        Package(bomb)


def packed_as(content: bytes, size: int, crc: int) -> bytes:
    """A package of one part, whose packed bytes, size and checksum are given."""
    local = struct.pack("<4s5H3I2H", LOCAL, 20, 0, 8, 0, 0, crc, len(content), size, 1, 0) + b"a"
    entry = struct.pack("<4s6H3I5H2I", CENTRAL, 20, 20, 0, 8, 0, 0, crc, len(content), size, 1, 0, 0, 0, 0, 0, 0) + b"a"
    start = len(local) + len(content)
    return local + content + entry + struct.pack("<4s4H2IH", END, 0, 0, 1, 1, len(entry), start, 0)


def test_a_part_that_inflates_to_more_than_it_says_is_refused() -> None:
    deflated = zlib.compress(bytes(50_000_000), wbits=-15)
    package = Package(packed_as(deflated, 1000, zlib.crc32(bytes(1000))))
    with bounded_memory(), pytest.raises(sa.FormatError, match="more than its 1000 bytes"):
        package.read("a")


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_part_that_ends_early_is_refused(cut: int) -> None:
    deflated = zlib.compress(noise(1000), wbits=-15)[:-cut]
    with pytest.raises(sa.FormatError, match="ends before its 1000 bytes") as caught:
        Package(packed_as(deflated, 1000, zlib.crc32(noise(1000)))).read("a")
    assert caught.value.location == "a"


def test_a_part_that_was_changed_is_refused() -> None:
    content = zipped({"a": b"0123456789"}, zipfile.ZIP_STORED).replace(b"0123456789", b"0123456780")
    with pytest.raises(sa.FormatError, match="damaged"):
        Package(content).read("a")
    with pytest.raises(sa.FormatError, match="damaged"):
        Package(packed_as(b"\xff" * 20, 100, 0)).read("a")


def test_two_ends_that_contradict_each_other_are_refused(many_members: bytes) -> None:
    end = many_members.rindex(END)
    changed = many_members[: end + 8] + struct.pack("<2H", 9, 9) + many_members[end + 12 :]
    with pytest.raises(sa.FormatError, match="contradict"):
        Package(changed)


def test_every_truncation_is_refused() -> None:
    content = zipped(TEXT)
    assert survive(content)
    assert [length for length in range(len(content)) if survive(content[:length])] == []


@pytest.mark.parametrize("seed", range(4))
def test_mutated_packages(seed: int) -> None:
    source, content = random.Random(seed), zipped({**TEXT, "b": noise(500)})
    tail = content.index(CENTRAL)
    with bounded_memory():
        for _ in range(examples(300)):
            survive(mutate(content, source))
            survive(content[:tail] + mutate(content[tail:], source))
            survive(mutate(content[:tail], source) + content[tail:])


def test_every_field_of_the_directory_with_every_number() -> None:
    content = zipped(TEXT)
    tail = content.index(CENTRAL)
    with bounded_memory():
        for at in [*range(tail, tail + 60), *range(len(content) - 22, len(content))]:
            for number in NUMBERS[1::3]:
                for layout, size in (("<H", 2), ("<I", 4)):
                    survive(content[:at] + struct.pack(layout, number % 256**size) + content[at + size :])


@given(st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    for start in (b"", b"PK", b"PK\3\4", b"PK\5\6"):
        assert not survive(start + content)
