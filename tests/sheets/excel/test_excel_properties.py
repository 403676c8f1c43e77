"""What a workbook remembers of its arrays, in custom document properties."""

from __future__ import annotations

import io
import json
import random
import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from examples import examples
from excel_packages import parts, plan, replaced, rich, saved, strict, with_parts, zipped
from hostile import bounded_memory, mutate
from hypothesis import given
from hypothesis import strategies as st
from limits import get_limit, set_limits
from programs import resave

import sheetarray as sa
from sheetarray.sheets.excel.package.parts import Package
from sheetarray.sheets.excel.package.relations import merge_properties, pack, read_properties, read_record, unpack
from sheetarray.sheets.excel.skeleton import skeleton

CUSTOM = "docProps/custom.xml"
SPACE = "http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"
COLUMN = ("t", [1.5, 2.5])
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


def written(record: dict[str, Any]) -> bytes:
    return saved(skeleton([plan("my arrays", COLUMN)]), [COLUMN], record=record)


@given(st.dictionaries(st.text().filter(lambda key: key != "sheets"), VALUES, max_size=5))
def test_what_is_packed_is_unpacked(record: dict[str, Any]) -> None:
    properties = pack(record)
    assert list(properties) == [f"sheetarray {index}" for index in range(1, len(properties) + 1)]
    for value in properties.values():
        assert 1 <= len(value) <= 255
        assert value.isascii()
        assert value.isprintable()
        assert re.fullmatch("[A-Za-z0-9+/=]+", value)  # nothing that a program escapes
    shuffled = list(properties.items())
    random.Random(1).shuffle(shuffled)
    assert unpack({"Client": "Ann", **dict(shuffled)}) == record


def test_older_records_are_read_with_quotes_escaped_or_not() -> None:
    text = json.dumps(RECORD).replace("_", "\\u005f")
    for older in (text, text.replace('"', "_x0022_"), "".join(f"_x{ord(x):04X}_" if x in '{"' else x for x in text)):
        pieces = {
            f"sheetarray {place + 1}": older[start : start + 255]
            for place, start in enumerate(range(0, len(older), 255))
        }
        assert unpack(pieces) == RECORD


def test_a_record_is_read_though_a_program_broke_its_lines() -> None:
    assert unpack({name: "\n  ".join(value) + "\n" for name, value in pack(RECORD).items()}) == RECORD


def test_a_workbook_without_our_properties_remembers_nothing() -> None:
    assert unpack({}) is None
    assert unpack({"sheetarray": "1", "sheetarray x": "2", "Sheetarray 1": "3", "sheetarray 01": "4"}) is None
    assert read_record(Package(rich())) is None
    assert read_properties(Package(rich())) == {"Client": "Ann & Bob <x>"}


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
        {"sheetarray 1": "\ud800"},
    ],
)
def test_a_record_that_was_edited_is_an_error(properties: dict[str, str]) -> None:
    with pytest.raises(sa.FormatError) as caught:
        unpack(properties)
    assert caught.value.location == "custom properties"


@given(
    st.dictionaries(
        st.sampled_from([f"sheetarray {index}" for index in range(1, 4)]), st.text('{}[]":,s1\\u', max_size=30)
    )
)
def test_any_properties(properties: dict[str, str]) -> None:
    try:
        record = unpack(properties)
    except sa.FormatError:
        return
    assert record is None or isinstance(record, dict)


def test_a_record_that_is_too_long_is_refused() -> None:
    with pytest.raises(sa.LimitError, match="characters"):
        pack({"x": "a" * 2**24})


def test_the_longest_record_is_read_again_and_replaced() -> None:
    longest = {"x": "<a>" * (2**24 // 3 - 3)}
    content = merge_properties(None, longest, location=CUSTOM)
    assert read_properties(Package(with_parts(rich(), {CUSTOM: content}))) == pack(longest)
    assert b"<a>" not in merge_properties(content, {}, location=CUSTOM)


def test_openpyxl_sees_the_properties() -> None:
    book = openpyxl.load_workbook(io.BytesIO(written(RECORD)))
    result = {entry.name: entry.value for entry in book.custom_doc_props}
    record = unpack(result)
    assert record is not None
    assert record["by"] == 1.5
    assert record["sheets"]["my arrays"] == {**RECORD["sheets"]["my arrays"], "names": ["t"], "of": "my arrays"}  # type: ignore[index]


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_libreoffice_keeps_the_record(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(written(RECORD))
    before = read_record(Package(path.read_bytes()))
    assert before is not None
    assert before["by"] == 1.5
    assert read_record(Package(resave(path, suffix, tmp_path / "saved").read_bytes())) == before


def test_properties_of_others_stay_byte_for_byte() -> None:
    before = parts(rich())[CUSTOM]
    after = merge_properties(before, RECORD, location=CUSTOM)
    start = after.index(b"<property fmtid", after.index(b"Checked"))
    assert after[:start] + after[after.rindex(b"</Properties>") :] == before
    package = Package(with_parts(rich(), {CUSTOM: after}))
    assert read_record(package) == RECORD
    assert read_properties(package)["Client"] == "Ann & Bob <x>"
    pids = [part.split(b'"')[0] for part in after.split(b'pid="')[1:]]
    assert len(set(pids)) == len(pids)


def test_an_older_record_is_replaced() -> None:
    first = merge_properties(parts(rich())[CUSTOM], RECORD, location=CUSTOM)
    second = merge_properties(first, {"sheets": {}}, location=CUSTOM)
    assert read_record(Package(with_parts(rich(), {CUSTOM: second}))) == {"sheets": {}}
    assert second.count(b"sheetarray ") == 1
    assert merge_properties(second, RECORD, location=CUSTOM) == first


def test_empty_prefixed_and_strict_properties_are_added_to() -> None:
    for content in (
        f'<Properties xmlns="{SPACE}"/>'.encode(),
        f"<?xml version='1.0'?>\n<cp:Properties xmlns:cp='{SPACE}' ></cp:Properties >".encode(),
        parts(strict(rich()))[CUSTOM],
        f'<?xml version="1.0" encoding="UTF-16"?><Properties xmlns="{SPACE}"/>'.encode("utf-16"),
        b"\xef\xbb\xbf" + f'<?xml version="1.0" encoding="utf-8"?><Properties xmlns="{SPACE}"/>'.encode(),
        None,
    ):
        made = merge_properties(content, RECORD, location=CUSTOM)
        assert read_record(Package(with_parts(rich(), {CUSTOM: made}))) == RECORD
        assert merge_properties(made, RECORD, location=CUSTOM) == made


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
        "<Properties>" + "<a>" * 20_000,
        "<Properties " + " ".join(f"xmlns:x{index}='y'" for index in range(20_000)) + "/>",
    ],
)
def test_broken_properties_are_an_error_of_the_format(content: str) -> None:
    for encoding in ("utf-8", "utf-16"):
        with bounded_memory():
            with pytest.raises(sa.FormatError) as caught:
                merge_properties(content.encode(encoding), {}, location=CUSTOM)
            assert (caught.value.location or "").startswith(CUSTOM)


def test_elements_beyond_any_use_are_an_error_of_the_format(monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_limit("markup_elements") == 200_000
    set_limits(monkeypatch, markup_elements=2_000)
    for more in (0, 1):
        with pytest.raises(sa.FormatError, match="more than 2000 elements" if more else "'Properties', no properties"):
            merge_properties(b"<Properties>" + b"<a/>" * (1999 + more) + b"</Properties>", {}, location=CUSTOM)


def test_entities_are_never_expanded() -> None:
    bomb = "<!DOCTYPE Properties [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
        f'<!ENTITY {chr(98 + index)} "{f"&{chr(97 + index)};" * 10}">' for index in range(15)
    )
    content = replaced(rich(), CUSTOM, ("<Properties", f"{bomb}]><Properties"), ("Ann", "&p;"))
    with bounded_memory(), pytest.raises(sa.FormatError, match="document type"):
        read_properties(Package(content))


def test_properties_beyond_any_use_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, part_bytes=2**22)
    content = with_parts(rich(), {CUSTOM: parts(rich())[CUSTOM].replace(b"Ann", b"A" * 2**22)})
    with bounded_memory(), pytest.raises(sa.FormatError, match="of which 4194304 are read"):
        read_record(Package(content))


@pytest.mark.parametrize("seed", range(3))
def test_mutated_properties(seed: int) -> None:
    source, custom = random.Random(seed), parts(written(RECORD))[CUSTOM]
    members = {name: part for name, part in parts(written(RECORD)).items() if name in ("_rels/.rels", CUSTOM)}
    with bounded_memory():
        for _ in range(examples(200)):
            package = Package(zipped({**members, CUSTOM: mutate(custom, source)}))
            try:
                record = read_record(package)
            except sa.FormatError as error:
                assert str(error)  # noqa: PT017  (no error is right too)
            else:
                assert record is None or isinstance(record.get("sheets", {}), dict)


def test_an_ods_without_properties_remembers_nothing() -> None:
    assert read_record(Package(zipped({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"}))) is None
    assert read_record(Package(zipped({"meta.xml": b"<a><b/></a>"}))) is None
    with pytest.raises(sa.FormatError):
        read_record(Package(zipped({"meta.xml": b"<a>"})))
