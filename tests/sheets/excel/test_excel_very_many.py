"""Very many arrays in a workbook: wide rows of headers, and checksums that are taken together."""

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from plain_loops import without_loops

import sheetarray as sa
from sheetarray import dtypes
from sheetarray.sheets.excel import piecewise as large
from sheetarray.sheets.excel.fingerprint import many
from sheetarray.sheets.excel.fingerprint.maker import exact_checksum, exact_checksums
from sheetarray.sheets.excel.stored_fingerprints import StoredFingerprints


def workbook(arrays, edit=lambda text: text):
    file, edited = io.BytesIO(), io.BytesIO()
    sa.write(file, arrays, format="xlsx")
    with zipfile.ZipFile(file) as parts, zipfile.ZipFile(edited, "w") as target:
        for name in parts.namelist():
            text = parts.read(name)
            target.writestr(name, edit(text) if name.endswith("sheet1.xml") else text)
    return edited.getvalue()


EDITS = [
    lambda text: text,
    lambda text: text.replace(b"<t>ndarray", b"<t>ndaray", 3),
    lambda text: text.replace(b"<v>1</v>", b"<v>2</v>", 1),
    lambda text: text.replace(b"<t>version</t>", b"<t> VERSION&#32;</t>"),
    lambda text: text.replace(b'<row r="4" hidden="1"', b'<row r="4" ht="3"').replace(b' r="B7"', b' r="A7"'),
    lambda text: text.replace(b"<v>0.25</v>", b"<v>7</v>", 1),
]


@pytest.mark.parametrize("edit", EDITS)
def test_wide_rows_of_headers_that_were_edited(edit):
    file = workbook({f"a{i}": np.array([0.25, i]) for i in range(200)}, edit)

    def results():
        said = [str(finding) for finding in sa.check(io.BytesIO(file), format="xlsx")]
        try:
            read = {name: array.tolist() for name, array in sa.read(io.BytesIO(file), format="xlsx").items()}
            return said, read, sa.scan(io.BytesIO(file), format="xlsx")
        except sa.FormatError as error:
            return said, str(error)

    compiled = results()
    with without_loops():
        assert results() == compiled


def test_as_many_names_as_a_workbook_remembers_arrays():
    file, target = io.BytesIO(), io.BytesIO()
    sa.write(file, {"a": np.arange(2)}, format="xlsx")
    names = b"".join(b'<definedName name="n%d">0</definedName>' % number for number in range(200_001))
    with zipfile.ZipFile(file) as parts, zipfile.ZipFile(target, "w") as larger:
        for name in parts.namelist():
            larger.writestr(name, parts.read(name).replace(b"</definedNames>", names + b"</definedNames>"))
    target.seek(0)
    assert sa.read(target, format="xlsx")["a"].tolist() == [0, 1]


# Fingerprints ------------------------------------------------------------------------------------------------

buffers = st.sampled_from(["float64", "float32", "int8", "uint64", "bool", "complex64", "<U3", "M8[s]"]).flatmap(
    lambda dtype: hnp.arrays(dtype, st.sampled_from([0, 1, 2, 2, 2, 7]))
)


@given(st.lists(buffers, max_size=12))
def test_checksums_taken_together_are_those_taken_one_by_one(arrays):
    pairs = [(buffer, dtypes.from_numpy(buffer.dtype)) for buffer in arrays]
    assert exact_checksums(pairs) == [exact_checksum(*pair) for pair in pairs]


def test_checksums_of_more_elements_than_are_taken_at_once():
    pairs = [(np.arange(2000.0) + number, dtypes.from_name("float64")) for number in range(40)]
    assert exact_checksums(pairs) == [exact_checksum(*pair) for pair in pairs]


def test_only_arrays_that_changed_are_looked_at_one_by_one(monkeypatch):
    monkeypatch.setattr(many, "MOST_IN_FULL", 100)
    arrays = {f"a{i}": np.array([0.25, 10.5 + i]) for i in range(120)}
    asked = []
    original = StoredFingerprints.findings_of
    monkeypatch.setattr(
        StoredFingerprints, "findings_of", lambda self, name, *rest: asked.append(name) or original(self, name, *rest)
    )
    assert list(sa.check(io.BytesIO(workbook(arrays)), format="xlsx")) == []
    assert asked == []
    edited = workbook(arrays, lambda text: text.replace(b"<v>40.5</v>", b"<v>41.5</v>", 1))
    (finding,) = sa.check(io.BytesIO(edited), format="xlsx")
    assert (finding.array, asked) == ("a30", ["a30"])


@pytest.mark.parametrize("count", [29, 30, 31])
def test_very_many_short_arrays_of_a_large_workbook_are_read_together(monkeypatch, count):
    searched = []
    original = large.find_parts
    monkeypatch.setattr(large, "LARGE_WORKBOOK", 1)
    monkeypatch.setattr(large, "MOST_ARRAYS", 30)
    monkeypatch.setattr(large, "find_parts", lambda *args: searched.append(1) or original(*args))
    file = workbook({f"a{i}": np.array([0.25, i]) for i in range(count)})
    assert list(sa.check(io.BytesIO(file), format="xlsx")) == []
    assert bool(searched) == (count <= 30)
