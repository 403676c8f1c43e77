"""Zip packages: what is read from those of other programs, what is refused, and what is written."""

from __future__ import annotations

import io
import os
import string
import struct
import threading
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from examples import PART
from excel_packages import append, ours, parts, said, zipped
from hostile import bounded_memory
from hypothesis import given
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray.formats.contract import replacing
from sheetarray.sheets.excel.package.markup import HEAD, Element, Markup, read_first_tag, read_tags
from sheetarray.sheets.excel.package.packing import PackageWriter
from sheetarray.sheets.xml_texts import escape_text, quote_attribute

LOCAL, CENTRAL, END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
TEXT = {"[Content_Types].xml": b"<Types/>" * 40, "xl/workbook.xml": b"<workbook/>", "xl/empty.xml": b""}
ARRAYS = {"t": np.random.default_rng(1).standard_normal(40_000), "s": np.array(["a", "b"])}


def scan(content: bytes) -> Any:
    return sa.scan(io.BytesIO(content), format="xlsx")


def assert_read(content: bytes) -> None:
    result = sa.read_excel(io.BytesIO(content))
    assert {name: array.tobytes() for name, array in result.items()} == {n: a.tobytes() for n, a in ARRAYS.items()}
    assert said(content) == []


def field(content: bytes, signature: bytes, at: int, layout: str, value: int) -> bytes:
    """The content with one field of the first structure of a kind changed."""
    start = content.index(signature) + at
    return content[:start] + struct.pack(layout, value) + content[start + struct.calcsize(layout) :]


@cache
def many_parts() -> bytes:
    """A package of more parts than its end can count without zip64."""
    members = parts(ours(ARRAYS)) | {f"part{index}": b"" for index in range(65_600)}
    return zipped(members, zipfile.ZIP_STORED)


# Reading -----------------------------------------------------------------------------------------------------


def test_packages_of_other_programs_are_read() -> None:
    """Stored; names in other letters, or with backslashes; folders; sizes after the content; zip64; very many parts."""
    members = parts(ours(ARRAYS))
    assert_read(zipped(members, zipfile.ZIP_STORED))
    assert_read(zipped({name.upper(): part for name, part in members.items()}))
    assert_read(zipped({name.replace("/", "\\"): part for name, part in members.items()}))
    assert_read(many_parts())
    sink = OnlyWrite()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[arg-type]  # it streams
        archive.mkdir("xl")
        archive.comment = b"made by hand " * 20
        for name, part in members.items():
            with archive.open(name, "w", force_zip64=True) as member:
                member.write(part)
    assert_read(bytes(sink.content))


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("comment", [b"", b"by hand"])
def test_bytes_around_a_package_are_passed_over(counted: bool, comment: bytes) -> None:
    """As zipfile, and so openpyxl, does; offsets count from the file's beginning or from the package's."""
    members = parts(ours({"t": np.arange(3)}))
    for before in (b"", b"\n", b"#!/bin/sh\n" * 50):
        file = io.BytesIO()
        file.write(before if counted else b"")
        with zipfile.ZipFile(file, "a" if counted else "w") as archive:
            for name, part in members.items():
                archive.writestr(name, part)
            archive.comment = comment
        for after in (b"", b"\n", b"x" * 100, bytes(2**16 - 1 - len(comment))):
            content = (b"" if counted else before) + file.getvalue() + after
            assert list(sa.read_excel(io.BytesIO(append(content, "more", {"u": np.arange(2)})))) == ["t", "u"]


# Refusing ----------------------------------------------------------------------------------------------------


def renamed(content: bytes, old: str, new: str) -> bytes:
    """The content with a member of another name, of the same length."""
    assert len(old) == len(new)
    return content.replace(old.encode(), new.encode())


def two(first: bytes = b"1", second: bytes = b"2") -> bytes:
    return zipped({"aa": first, "bb": second}, zipfile.ZIP_STORED)


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
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
        scan(content())


def test_members_that_overlap_are_refused() -> None:
    """One kernel of deflated zeros, and many entries of the directory that quote it."""
    kernel = zipped({"a": bytes(10**6)})
    start = kernel.index(CENTRAL)
    entry = kernel[start : kernel.index(END)]
    directory = b"".join(entry[:-1] + name.encode() for name in "abcdefgh")
    # every entry points at the one local header, whose name is that of the first
    end = struct.pack("<4s4H2IH", END, 0, 0, 8, 8, len(directory), start, 0)
    with pytest.raises(sa.FormatError, match=r"another one|overlap"):
        scan(kernel[:start] + directory + end)


def test_a_local_header_within_another_part_is_refused() -> None:
    """The second entry points at a whole member that is stored in the first."""
    inner = zipped({"b": b"12345"}, zipfile.ZIP_STORED)
    outer = zipped({"a": inner, "b": b"12345"}, zipfile.ZIP_STORED)
    second = outer.rindex(CENTRAL)
    moved = outer[: second + 42] + struct.pack("<I", 31) + outer[second + 46 :]
    with pytest.raises(sa.FormatError, match="overlap"):
        scan(moved)


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
        scan(bomb)


def test_a_part_that_inflates_to_more_than_it_says_is_refused() -> None:
    name = b"xl/worksheets/sheet1.xml"
    content = bytearray(zipped(parts(ours(ARRAYS)) | {name.decode(): b"<a>" + bytes(50_000_000)}))
    struct.pack_into("<I", content, content.index(name, content.index(LOCAL + b"\x14")) - 30 + 22, 1000)
    struct.pack_into("<I", content, content.rindex(name) - 46 + 24, 1000)
    with bounded_memory(), pytest.raises(sa.FormatError, match="more than its 1000 bytes"):
        sa.read_excel(io.BytesIO(content))


def test_two_ends_that_contradict_each_other_are_refused() -> None:
    many = bytearray(many_parts())
    struct.pack_into("<2H", many, many.rindex(END) + 8, 9, 9)
    with pytest.raises(sa.FormatError, match="contradict"):
        scan(bytes(many))


# Writing -----------------------------------------------------------------------------------------------------


class OnlyWrite:
    """A sink that cannot be sought in, and is full after some bytes."""

    def __init__(self, room: int = 2**40) -> None:
        self.content, self._room = bytearray(), room

    def write(self, chunk: bytes | memoryview, /) -> int:
        self.content += chunk
        if len(self.content) > self._room:
            raise OSError(28, "No space left on device")
        return len(chunk)

    def flush(self) -> None:
        """There is nothing to flush."""


def test_what_is_written_is_a_plain_package_in_a_file_and_in_a_pipe(tmp_path: Path) -> None:
    """With the same bytes each time, and no thread left behind."""
    before, sink = threading.active_count(), OnlyWrite()
    sa.write(tmp_path / "x.xlsx", ARRAYS)
    sa.write(sink, ARRAYS, format="xlsx")  # type: ignore[arg-type]  # it streams
    content = (tmp_path / "x.xlsx").read_bytes()
    assert content == bytes(sink.content) == ours(ARRAYS, guard="auto")
    assert threading.active_count() == before
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        for info in archive.infolist():
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert (info.create_version, info.extract_version, info.flag_bits & 8) == (20, 20, 0)
            assert not info.extra
    reading, writing = os.pipe()
    with open(reading, "rb") as source:
        with open(writing, "wb") as pipe:
            sa.write(pipe, {"t": np.arange(3)}, format="xlsx")
        assert sa.read(source, format="xlsx")["t"].tolist() == [0, 1, 2]


def test_a_copy_of_a_name_in_an_old_code_page_is_in_unicode() -> None:
    old = zipped(parts(ours({"t": np.arange(3)})) | {"é": b"1"})
    name = old.index("é".encode())
    old = old[: name - 24] + bytes(2) + old[name - 22 :]
    directory = old.rindex("é".encode())
    old = (old[: directory - 38] + bytes(2) + old[directory - 36 :]).replace("é".encode(), b"\x82a")  # in page 437
    assert parts(append(old, "more"))["éa"] == b"1"


@pytest.mark.skipif(PART > 1, reason="it takes ten seconds: with EXAMPLES=1")
def test_a_part_beyond_four_gigabytes(tmp_path: Path) -> None:
    path, chunk = tmp_path / "x.zip", bytes(2**26)
    with replacing(path, binary=True) as target:
        writer = PackageWriter(target)
        with writer.stream_part("large") as out:
            for _ in range(65):
                out.write(chunk)
        writer.write_part("small", b"1")
        writer.finish()
    with zipfile.ZipFile(path) as archive:
        large = archive.getinfo("large")
        assert (large.file_size, large.CRC) == (65 * len(chunk), 0x0C0B9A78)  # of as many zeros
        assert archive.read("small") == b"1"
    with pytest.raises(sa.FormatError, match="claims to inflate"):
        sa.scan(path, format="xlsx")


@pytest.mark.fault("The device is full.", "The error of the system is raised.")
@pytest.mark.parametrize("room", [0, 40, 2000, 50_000, None])
def test_a_full_disk_is_an_error_of_the_system(room: int | None) -> None:
    if room is None and not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with pytest.raises(OSError, match="No space"):
        sa.write("/dev/full" if room is None else OnlyWrite(room), ARRAYS, format="xlsx")


# Changes to XML by its bytes ----------------------------------------------------------------------------------

NAMES = st.text(string.ascii_letters, min_size=1, max_size=3)
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), max_size=8
)
SPACES = st.sampled_from([" ", "\n", "\t ", "  "])
BESIDE = st.sampled_from(["", " ", "<!-- </a> ' -->", '<?x <b> " ?>', "<![CDATA[<a>&]]>", "&amp;&#x41;", "é\U0001f600"])


@st.composite
def attributes(draw: st.DrawFn) -> str:
    result = draw(st.dictionaries(NAMES, TEXTS, max_size=3))
    return "".join(
        f"{draw(SPACES)}{name}{draw(st.sampled_from(['=', ' = ']))}"
        + draw(st.sampled_from([quote_attribute(value), "'" + escape_text(value).replace("'", "&apos;") + "'"]))
        for name, value in result.items()
    )


def around(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    @st.composite
    def element(draw: st.DrawFn) -> str:
        name, end = draw(NAMES), draw(st.sampled_from(["", " ", "\n"]))
        content = "".join(draw(BESIDE) + child for child in draw(st.lists(inner, max_size=3))) + draw(BESIDE)
        return f"<{name}{draw(attributes())}{end}>{content}</{name}{end}>"

    return element()


@st.composite
def empty(draw: st.DrawFn) -> str:
    return f"<{draw(NAMES)}{draw(attributes())}{draw(st.sampled_from(['', ' ']))}/>"


DOCUMENTS = around(st.recursive(empty(), around, max_leaves=6)).map(lambda text: f"<!-- < -->\n{text}\n")


def every(element: Element) -> list[Element]:
    return [element, *(inner for child in element.children for inner in every(child))]


def canonical(content: str | bytes) -> str:
    """Elements, attributes and text, without comments and instructions."""
    return ElementTree.canonicalize(ElementTree.tostring(ElementTree.fromstring(content), "unicode"))


@given(DOCUMENTS, st.integers(1, 20))
def test_elements_are_where_they_are_said_to_be(text: str, index: int) -> None:
    content = text.encode()
    part = Markup(content, location="x", depth=99)
    result = every(part.root)
    tree = list(ElementTree.fromstring(text).iter())
    assert [element.name for element in result] == [element.tag for element in tree]
    for element, other in zip(result, tree, strict=True):
        assert element.attributes == other.attrib
        assert element.text == (other.text or "") + "".join(child.tail or "" for child in other)
        other.tail = None
        assert canonical(content[element.start : element.end]) == canonical(ElementTree.tostring(other, "unicode"))
    assert list(read_tags(content, location="x")) == [(element.name, element.attributes) for element in result]
    assert Markup(content, location="x", depth=1).root.children == []
    assert part.to_bytes() == content
    gone = result[index % len(result)]
    part.remove(gone)
    assert part.to_bytes() == content[: gone.start] + content[gone.end :]


@given(DOCUMENTS, st.integers(0, 20), TEXTS)
def test_changes_are_those_of_a_tree(text: str, index: int, value: str) -> None:
    part, tree = Markup(text.encode(), location="x", depth=99), ElementTree.fromstring(text)
    element, other = every(part.root)[index % len(every(part.root))], list(tree.iter())[index % len(every(part.root))]
    for name in ("new", *element.attributes):
        part.set(element, name, value)
        other.set(name, value)
    for _ in range(2):
        part.append(element, f"<n>{escape_text(value)}</n>")
        ElementTree.SubElement(other, "n").text = value
    assert canonical(part.to_bytes()) == canonical(ElementTree.tostring(tree, "unicode"))


def test_an_attribute_is_found_though_its_name_stands_in_another() -> None:
    part = Markup(b"""<a b=" c='1' " c2='2' c='3'/>""", location="x")
    part.set(part.root, "c", "4")
    assert part.to_bytes() == b"""<a b=" c='1' " c2='2' c="4"/>"""


def test_a_head_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    content = b'<x:table xmlns:x="1" name="t"><a b="1">' + b"<row/>" * 50_000
    assert read_first_tag(content[:HEAD], "table", location="x")["name"] == "t"
    assert read_first_tag(content[:HEAD], "other", location="x") == {}
    assert read_first_tag(b"", "table", location="x") == {}
    assert read_first_tag(
        '<?xml version="1.0" encoding="UTF-16"?><table name="é">'.encode("utf-16"), "table", location="x"
    ) == {"name": "é"}
