"""Rows of one cell over and over, and all else that makes very many arrays in a workbook cheap: the same results."""

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sheetarray as sa
from sheetarray import dtypes
from sheetarray.columns.grid import column_letters
from sheetarray.sheets.excel import large
from sheetarray.sheets.excel.fingerprint import many
from sheetarray.sheets.excel.fingerprint.maker import exact_checksum
from sheetarray.sheets.excel.fingerprint.together import exact_checksums
from sheetarray.sheets.excel.reader import uniform
from sheetarray.sheets.excel.reader.cutting import PAD
from sheetarray.sheets.excel.stored_fingerprints import StoredFingerprints

TEXT = b' t="inlineStr"><is><t>version</t></is></c>'
LONG = 500  # cells, which take more bytes than SHORTEST_ROW


def row_of(number, cell=TEXT, *, first=0, count=LONG, attributes=b""):
    cells = b"".join(
        b'<c r="%s%d"%s' % (column_letters(column).encode(), number, cell) for column in range(first, first + count)
    )
    return b'<row r="%d"%s>%s</row>' % (number, attributes, cells)


def cut(*rows):
    return list(uniform.cut_uniform(iter([b"".join(rows) + PAD])))


def test_a_uniform_row_is_its_first_cell_and_where_that_is_repeated():
    rows = row_of(2, attributes=b' hidden="1"'), row_of(3, first=3, count=LONG), row_of(4, b' s="3"/>')
    pieces = cut(*rows)
    assert [repetition for _, repetition in pieces] == [
        uniform.Repetition(0, LONG),
        uniform.Repetition(3, LONG),
        uniform.Repetition(0, LONG),
    ]
    assert pieces[0][0] == b'<row r="2" hidden="1"><c r="A2"' + TEXT + b"</row>" + PAD
    assert all(text.endswith(b"</row>" + PAD) for text, _ in pieces)


@pytest.mark.parametrize("count", [uniform.FEWEST_CELLS - 1, uniform.FEWEST_CELLS, uniform.FEWEST_CELLS + 1])
def test_how_many_cells_a_uniform_row_has_at_least(count):
    (_, first), *rest = cut(row_of(1), row_of(2, count=count))
    assert first == uniform.Repetition(0, LONG)
    assert rest[0][1] == (uniform.Repetition(0, count) if count >= uniform.FEWEST_CELLS else None)


def test_the_last_column_that_there_is():
    assert cut(row_of(1, first=16_384 - LONG))[0][1] == uniform.Repetition(16_384 - LONG, LONG)
    assert cut(row_of(1, first=16_385 - LONG))[0][1] is None


WHOLE = row_of(7)


@pytest.mark.parametrize(
    "other",
    [
        WHOLE.replace(b"<t>version", b"<t>versiom", 40).replace(b"<t>versiom", b"<t>version", 39),
        WHOLE.replace(b'"CV7"', b'"CV8"'),
        WHOLE.replace(b'"CV7"', b'"CU7"'),
        WHOLE.replace(b'<c r="CV7"' + TEXT, b""),
        WHOLE.replace(b'<row r="7"', b'<row r="8"'),
        WHOLE.replace(b"</is></c></row>", b"</is></c> </row>"),
        WHOLE.replace(b"><is>", b"><f>1</f><is>"),
        WHOLE.replace(b' r="7"', b""),
    ],
)
def test_any_other_row_stays_as_it_is(other):
    assert cut(other) == [(other + PAD, None)]
    assert [text for text, _ in cut(WHOLE, other, WHOLE)][1:-1] == [other + PAD]


def test_blocks_that_begin_with_a_short_row_are_not_searched():
    block = row_of(1, count=uniform.FEWEST_CELLS) + row_of(2) + PAD
    assert list(uniform.cut_uniform(iter([block]))) == [(block, None)]


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
def test_uniform_rows_change_no_result(monkeypatch, edit):
    monkeypatch.setattr(uniform, "SHORTEST_ROW", 2**12)
    file = workbook({f"a{i}": np.array([0.25, i]) for i in range(200)}, edit)

    def results():
        said = [str(finding) for finding in sa.check(io.BytesIO(file), format="xlsx")]
        try:
            read = {name: array.tolist() for name, array in sa.read(io.BytesIO(file), format="xlsx").items()}
            return said, read, sa.scan(io.BytesIO(file), format="xlsx")
        except sa.FormatError as error:
            return said, str(error)

    counted = []
    known = uniform.Repetition.repeat
    monkeypatch.setattr(uniform.Repetition, "repeat", lambda *args: counted.append(1) or known(*args))
    fast = results()
    assert counted
    monkeypatch.setattr(uniform, "SHORTEST_ROW", 2**40)
    assert results() == fast


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
