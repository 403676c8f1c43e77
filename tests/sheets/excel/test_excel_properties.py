"""What a workbook remembers of its arrays, in custom document properties."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import openpyxl
import pytest
from excel_packages import append, parts, put_record, record_of, replaced, rich, said, small, with_parts
from hostile import bounded_memory
from hypothesis import given
from hypothesis import strategies as st
from limits import get_limit, set_limits

import sheetarray as sa

CUSTOM = "docProps/custom.xml"
SPACE = "http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"
RECORD = {"sheets": {"my arrays": {"exact": "9f" * 400, "text": " _x0041_ <&>\"' \\ \u00e9\U0001f600\n\0 "}}, "by": 1.5}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


KIND = '<vt:lpwstr xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A workbook of ours."""
    sa.write(tmp_path / "t.xlsx", {"t": np.arange(3)})
    return tmp_path / "t.xlsx"


def put_properties(path: Path, properties: dict[str, str]) -> Path:
    """Let a workbook have these custom properties alone."""
    listed = "".join(
        f'<property fmtid="{{D5CDD505-2E9C-101B-9397-08002B2CF9AE}}" pid="{pid}" name="{name}">{KIND}{escape(value)}'
        "</vt:lpwstr></property>"
        for pid, (name, value) in enumerate(properties.items(), 2)
    )
    xml = f'<Properties xmlns="{SPACE}">{listed}</Properties>'.encode()
    path.write_bytes(with_parts(path.read_bytes(), {CUSTOM: xml}))
    return path


def properties_of(path: Path) -> dict[str, str]:
    book = openpyxl.load_workbook(path)
    return {prop.name: prop.value for prop in book.custom_doc_props.props}


# Records -----------------------------------------------------------------------------------------------------


@given(record=st.dictionaries(st.text().filter(lambda key: key != "sheets"), VALUES, max_size=5))
def test_what_is_packed_is_unpacked(path: Path, record: dict[str, Any]) -> None:
    put_record(put_properties(path, {}), record)
    properties = properties_of(path)
    assert list(properties) == [f"sheetarray {index}" for index in range(1, len(properties) + 1)]
    for value in properties.values():
        assert 1 <= len(value) <= 255
        assert value.isascii()
        assert value.isprintable()
        assert re.fullmatch("[A-Za-z0-9+/=]+", value)  # nothing that a program escapes
    shuffled = list(properties.items())
    random.Random(1).shuffle(shuffled)
    assert record_of(put_properties(path, {"Client": "Ann", **dict(shuffled)})) == record


def test_older_records_are_read_with_quotes_escaped_or_not(path: Path) -> None:
    text = json.dumps(RECORD).replace("_", "\\u005f")
    for older in (text, text.replace('"', "_x0022_"), "".join(f"_x{ord(x):04X}_" if x in '{"' else x for x in text)):
        pieces = {
            f"sheetarray {place + 1}": older[start : start + 255]
            for place, start in enumerate(range(0, len(older), 255))
        }
        assert record_of(put_properties(path, pieces)) == RECORD


def test_a_record_is_read_though_a_program_broke_its_lines(path: Path) -> None:
    put_record(path, RECORD)
    broken = {name: "\n  ".join(value) + "\n" for name, value in properties_of(path).items()}
    assert record_of(put_properties(path, broken)) == RECORD


def test_a_workbook_without_our_properties_remembers_nothing(path: Path) -> None:
    assert record_of(put_properties(path, {})) is None
    others = {"sheetarray": "1", "sheetarray x": "2", "Sheetarray 1": "3", "sheetarray 01": "4"}
    assert record_of(put_properties(path, others)) is None


@pytest.mark.parametrize(
    "properties",
    [
        {"sheetarray 2": "{}"},
        {"sheetarray 1": "{}", "sheetarray 3": ""},
        {"sheetarray 1": ""},
        {"sheetarray 1": "[]"},
        {"sheetarray 1": "1"},
        {"sheetarray 1": '{"sheets":'},
        {"sheetarray 1": '{"sheets":[]}'},
        {"sheetarray 1": '{"sheets":{"arrays":1}}'},
        {"sheetarray 1": '{"x":NaN}'},
        {"sheetarray 1": "[" * 100_000},
        {"sheetarray 1": '{"a":' * 100_000},
        {"sheetarray 1": '{"x":' + "9" * 10_000 + "}"},
        {"sheetarray 1": "{}", "sheetarray 2": "{}"},
    ],
)
def test_a_record_that_was_edited_is_a_finding(path: Path, properties: dict[str, str]) -> None:
    put_properties(path, properties)
    assert sa.read(path)["t"].tolist() == [0, 1, 2]
    (finding,) = sa.check(path)
    assert (finding.severity, finding.location) == ("warning", "custom properties")


def test_a_record_that_is_too_long_is_refused(path: Path) -> None:
    with pytest.raises(sa.LimitError, match="characters"):
        put_record(path, {"x": "a" * 2**24})


# Their part of the package -----------------------------------------------------------------------------------


def test_properties_of_others_stay_byte_for_byte() -> None:
    before, after = parts(rich())[CUSTOM], parts(append(rich()))[CUSTOM]
    start = after.index(b"<property fmtid", after.index(b"Checked"))
    assert after[:start] + after[after.rindex(b"</Properties>") :] == before
    pids = [part.split(b'"')[0] for part in after.split(b'pid="')[1:]]
    assert len(set(pids)) == len(pids)


@pytest.mark.parametrize(
    "content",
    [
        f'<Properties xmlns="{SPACE}"/>'.encode(),
        f"<?xml version='1.0'?>\n<cp:Properties xmlns:cp='{SPACE}' ></cp:Properties >".encode(),
        f'<?xml version="1.0" encoding="UTF-16"?><Properties xmlns="{SPACE}"/>'.encode("utf-16"),
        b"\xef\xbb\xbf" + f'<?xml version="1.0" encoding="utf-8"?><Properties xmlns="{SPACE}"/>'.encode(),
        None,
    ],
)
def test_empty_and_prefixed_properties_are_added_to(content: bytes | None) -> None:
    assert said(append(small() if content is None else with_parts(rich(), {CUSTOM: content}))) == []


BOMB = "<!DOCTYPE Properties [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f'<!ENTITY {chr(98 + index)} "{f"&{chr(97 + index)};" * 10}">' for index in range(15)
)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "text",
        "<Properties>",
        "<Properties/>",
        "<a/><b/>",
        "\ufeff<Properties>",
        "<Properties xmlns='urn:x'/>",
        '<?xml version="1.0" encoding="windows-1252"?><a/>',
        '<?xml version="1.0" encoding="nonsense"?><a/>',
        f"<!DOCTYPE a [<!ENTITY e 'x'>]><Properties xmlns='{SPACE}'>&e;</Properties>",
        f"<Properties xmlns='{SPACE}'>&e;</Properties>",
        f"<Properties xmlns='{SPACE}'>\x01</Properties>",
        "<x:Properties/>",
        f"{BOMB}]><Properties xmlns='{SPACE}'>&p;</Properties>",
        "<Properties>" + "<a>" * 20_000,
        "<Properties " + " ".join(f"xmlns:x{index}='y'" for index in range(20_000)) + "/>",
    ],
)
def test_broken_properties_are_an_error_of_the_format(content: str) -> None:
    for encoding in ("utf-8", "utf-16"):
        broken = with_parts(rich(), {CUSTOM: content.encode(encoding)})
        with bounded_memory(), pytest.raises(sa.FormatError) as caught:
            append(broken)
        assert (caught.value.location or "").startswith(CUSTOM)


def test_properties_beyond_any_use_are_an_error_of_the_format(monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_limit("markup_elements") == 200_000
    set_limits(monkeypatch, markup_elements=2_000, part_bytes=2**22)
    for more in (0, 1):
        content = b"<Properties>" + b"<a/>" * (1999 + more) + b"</Properties>"
        with pytest.raises(sa.FormatError, match="more than 2000 elements" if more else "'Properties', no properties"):
            append(with_parts(rich(), {CUSTOM: content}))
    with bounded_memory(), pytest.raises(sa.FormatError, match="at most 4194304 are read"):
        append(replaced(rich(), CUSTOM, ("Ann", "A" * 2**22)))
