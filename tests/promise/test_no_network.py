"""URLs and paths inside files are never followed: a file is read, scanned and checked without a word to the network.

Each file is one that says "fetch this" in the words of its format. A child reads it; an audit hook notes each socket
that is connected, each name that is looked up, and the opening of a file that nobody named but the content.
`test_the_hook_sees_a_look_up_and_a_file` shows that the hook would.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from children import run_limited

import sheetarray as sa

URL = "http://127.0.0.1:9/secret.xml"
CODE = """
    import json, socket, sys, warnings

    calls, errors = [], []

    def note(event, arguments):
        if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
            calls.append(event)
        if event in ("open", "os.listdir", "os.scandir") and "nobody-named" in str(arguments[0]):
            calls.append(event)

    sys.addaudithook(note)
    import sheetarray as sa

    warnings.simplefilter("ignore")
    said = {}
    for path in sys.argv[1:]:
        calls, errors = [], []
        if path == "look up":
            socket.getaddrinfo("127.0.0.1", 9)
        elif "nobody-named" in path:
            open(path).close()
        else:
            for verb in (sa.read, sa.scan, sa.read_columns, lambda path: list(sa.check(path))):
                try:
                    verb(path)
                except sa.SheetArrayError:
                    pass
                except (ValueError, TypeError, KeyError, OSError, RuntimeError, AttributeError) as error:
                    errors.append(f"{type(error).__name__}: {error}")
        said |= {path: [calls, errors]} if calls or errors else {}
    print(json.dumps(said))
"""


def with_parts(path: Path, change: Callable[[str, bytes], bytes], more: dict[str, str] | None = None) -> None:
    """Change the members of a ZIP file, and add some."""
    with zipfile.ZipFile(path) as package:
        parts = {name: change(name, package.read(name)) for name in package.namelist()}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as package:
        for name, part in {**parts, **(more or {})}.items():
            package.writestr(name, part)
    path.write_bytes(content.getvalue())


def with_doctype(part: bytes) -> bytes:
    """Return XML with a document type elsewhere, and an entity that stands there."""
    head, _, rest = part.partition(b"?>")
    return head + f'?><!DOCTYPE a SYSTEM "{URL}" [<!ENTITY x SYSTEM "{URL}">]>'.encode() + rest


def make_book(path: Path) -> None:
    sa.write(path, {"t": np.arange(6) + 0.5})


def make_external_relation(path: Path) -> None:
    """A worksheet that is elsewhere."""
    make_book(path)
    with_parts(
        path,
        lambda name, part: (
            part.replace(b'Target="worksheets/sheet1.xml"', f'Target="{URL}" TargetMode="External"'.encode()).replace(
                b'Target="/xl/worksheets/sheet1.xml"', f'Target="{URL}" TargetMode="External"'.encode()
            )
            if name.endswith("workbook.xml.rels")
            else part
        ),
    )
    with zipfile.ZipFile(path) as package:
        assert URL.encode() in package.read("xl/_rels/workbook.xml.rels")


def make_external_link(path: Path) -> None:
    """A relation of the workbook to one that is elsewhere."""
    make_book(path)
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/externalLinkPath"
    link = f'<Relationship Id="rId99" Type="{kind}" Target="{URL}" TargetMode="External"/></Relationships>'
    with_parts(
        path,
        lambda name, part: (
            part.replace(b"</Relationships>", link.encode()) if name.endswith("workbook.xml.rels") else part
        ),
    )


def make_doctype(path: Path) -> None:
    make_book(path)
    with_parts(path, lambda name, part: with_doctype(part) if name.endswith(".xml") else part)


def make_ods(path: Path) -> None:
    content = (
        f'<?xml version="1.0"?><!DOCTYPE a SYSTEM "{URL}" [<!ENTITY % x SYSTEM "{URL}"> %x;]>'
        '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
        f'<table:table table:name="a"><table:table-source xlink:href="{URL}"/><table:table-row><table:table-cell>'
        "<text:p>x</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr("content.xml", content)


def make_csv(path: Path) -> None:
    path.write_text(f'name,link\na,{URL}\nb,"=WEBSERVICE(""{URL}"")"\n')


def make_json(path: Path) -> None:
    path.write_text(json.dumps({"$ref": URL, "$schema": URL, "t": [1.5, 2.5], "href": [URL]}))


def make_awkward_schema(path: Path) -> None:
    """A schema that names functions which fetch."""
    call = {"call": ["urllib.request", "urlopen"], "args": [URL]}
    with zipfile.ZipFile(path, "w") as package:
        schema = {"awkward": "0.15.5", "schema": call}
        package.writestr("awkward", json.dumps(schema))
        package.writestr("-schema.json", json.dumps(schema))


def make_avro(path: Path) -> None:
    """A header whose schema is the text of a URL, and one field of which has such a type."""
    schema = json.dumps({"type": "record", "name": "r", "fields": [{"name": "a", "type": URL}]}).encode()

    def to_bytes(text: bytes) -> bytes:
        size, out = len(text) << 1, b""
        while size > 127:
            out, size = out + bytes([size & 127 | 128]), size >> 7
        return out + bytes([size]) + text

    pairs = {b"avro.schema": schema, b"avro.codec": b"null"}
    meta = bytes([len(pairs) << 1]) + b"".join(to_bytes(key) + to_bytes(text) for key, text in pairs.items()) + b"\0"
    path.write_bytes(b"Obj\x01" + meta + b"0" * 16)


def make_zarr(path: Path) -> None:
    """Attributes and a consolidated description that name places elsewhere."""
    path.mkdir()
    meta = {"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "<f8", "compressor": None, "filters": None}
    (path / ".zgroup").write_text('{"zarr_format": 2}')
    (path / ".zattrs").write_text(json.dumps({"refs": {"t/0": [URL]}, "href": URL}))
    (path / "t").mkdir()
    (path / "t" / ".zarray").write_text(json.dumps({**meta, "fill_value": 0.0, "order": "C", "path": URL}))
    (path / "t" / ".zattrs").write_text(json.dumps({"_ARRAY_DIMENSIONS": ["x"], "source": URL}))
    (path / "t" / "0").write_bytes(np.arange(3.0).tobytes())


def make_references(path: Path) -> None:
    """References of kerchunk, each to a URL."""
    refs = {".zgroup": '{"zarr_format": 2}', "t/0": [URL, 0, 24]}
    path.write_text(json.dumps({"version": 1, "refs": refs, "templates": {"u": URL}}))


FILES: dict[str, Callable[[Path], None]] = {
    "relation.xlsx": make_external_relation,
    "link.xlsx": make_external_link,
    "doctype.xlsx": make_doctype,
    "doctype.ods": make_ods,
    "text.csv": make_csv,
    "text.json": make_json,
    "references.json": make_references,
    "schema.awkd": make_awkward_schema,
    "schema.avro": make_avro,
    "attributes.zarr": make_zarr,
}


def test_no_file_makes_the_reader_speak_to_the_network(tmp_path: Path) -> None:
    for name, make in FILES.items():
        make(tmp_path / name)
    assert json.loads(run_limited(CODE, *(tmp_path / name for name in FILES)).output) == {}


def test_the_hook_sees_a_look_up_and_a_file(tmp_path: Path) -> None:
    there = tmp_path / "nobody-named.xml"
    there.touch()
    said = json.loads(run_limited(CODE, "look up", there).output)
    assert said == {"look up": [["socket.getaddrinfo"], []], str(there): [["open"], []]}


def test_no_file_makes_the_reader_open_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "nobody-named.xml"
    there.write_text("<secret/>")
    paths = []
    for folder, address in (("a", there.as_uri()), ("b", str(there)), ("c", "../nobody-named.xml")):
        monkeypatch.setitem(globals(), "URL", address)
        (tmp_path / folder).mkdir()
        for name, make in FILES.items():
            paths.append(tmp_path / folder / name)
            make(paths[-1])
    assert json.loads(run_limited(CODE, *paths).output) == {}


def test_a_file_of_references_chooses_no_other_file(tmp_path: Path) -> None:
    """fsspec's `reference://`, in which a file says where the bytes of each name are."""
    there = tmp_path / "there.csv"
    there.write_text("a,b\n1,2\n")
    references = tmp_path / "references.json"
    references.write_text(json.dumps({"x.csv": [str(there)]}))
    for url, options in (
        ("reference://x.csv", {"fo": str(references)}),
        (f"REFERENCE://x.csv::{references}", None),
        (f"simplecache::reference://x.csv::{references}", None),
    ):
        for verb in (sa.read, sa.scan, sa.read_columns, sa.open_many):
            with pytest.raises(sa.NotFoundError, match="a file of references"):
                verb(url, storage_options=options)
