"""JSON text: orjson is taken only where it reads and writes what Python's `json` does."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import limited, measured
from hypothesis import example, given
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray import dtypes
from sheetarray.errors import DTypeError, FormatError
from sheetarray.sheets.json.parsing import dump_cells, dump_elements, parse_text

SCALARS = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers(-(2**70), 2**70)
    | st.sampled_from([2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**18, 10**19 - 1, 10**19])
    | st.text(st.characters(), max_size=9)
)
LISTS = st.lists(SCALARS, max_size=6)
CONTENT = LISTS | st.lists(LISTS, max_size=3) | st.dictionaries(st.text(max_size=3), LISTS | SCALARS, max_size=4)


def outcome(read: Any, text: bytes) -> str:
    """Return what a reader makes of a text, with the types in it; "refused" where it takes none."""

    def refuse(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise FormatError("twice")
        return dict(pairs)

    try:
        return repr(read(text) if read is parse_text else read(text, object_pairs_hook=refuse))
    except (ValueError, RecursionError):  # a FormatError is a ValueError
        return "refused"


@given(CONTENT, st.sampled_from([None, 0, 2]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32-be"]))
def test_a_text_is_read_as_json_reads_it(content: Any, indent: int | None, encoding: str) -> None:
    text = json.dumps(content, indent=indent, ensure_ascii=encoding == "utf-8").encode(encoding, "surrogatepass")
    assert outcome(parse_text, text) == outcome(json.loads, text)


@given(CONTENT, st.data())
def test_a_damaged_text_is_read_or_refused_as_json_does(content: Any, data: st.DataObject) -> None:
    text = bytearray(json.dumps(content).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        where = data.draw(st.integers(0, len(text)))
        text[where : where + data.draw(st.integers(0, 1))] = data.draw(
            st.sampled_from(
                [
                    *(b"", b'"', b",", b"{", b"}", b"[", b"]", b":", b"0", b"-", b".", b"1e999", b"NaN", b"\\"),
                    *(b"\x00", b" "),
                ]
            )
        )
    assert outcome(parse_text, bytes(text)) == outcome(json.loads, bytes(text))


@pytest.mark.parametrize(
    "text",
    [b'{"a": [1], "a": [2]}', b'{"a": {"b": 1, "b": 2}}', b'[{"b": 1, "b": 2}]', b'{"a" : [1], "\\u0061"\n:[2]}'],
)
def test_a_key_that_stands_twice_is_refused(text: bytes) -> None:
    with pytest.raises(FormatError, match="two arrays have the name"):
        parse_text(text)


@pytest.mark.parametrize(("count", "more"), [(5, ""), (6, " and 1 more"), (3000, " and 2,995 more")])
def test_an_error_tells_the_places_of_a_few_keys(count: int, more: str) -> None:
    text = b'{"a":[1]' + b',"a":[2]' * (count - 1) + b"}"
    with pytest.raises(FormatError, match=f"key 1 and key 2 and key 3 and key 4 and key 5{more}$"):
        parse_text(text)


@given(LISTS)
@example([2**64])
@example(["\ud800"])
@example([])
def test_cells_are_written_as_json_would_read_them(cells: list[Any]) -> None:
    cells = [0.5 if isinstance(cell, float) and not math.isfinite(cell) else cell for cell in cells]
    if any(isinstance(cell, str) and any("\ud800" <= letter <= "\udfff" for letter in cell) for cell in cells):
        with pytest.raises(DTypeError, match="not valid Unicode"):
            dump_cells(cells)
        return
    assert repr(json.loads(b"[" + dump_cells(cells) + b"]")) == repr(cells)


@given(st.lists(st.floats(width=64), max_size=20))
def test_doubles_are_written_as_their_cells_are(values: list[float]) -> None:
    buffer = np.array(values, dtype=np.float64)
    texts = json.loads(b"[" + dump_elements(buffer, dtypes.from_name("float64")) + b"]")
    back = np.array([float(text) for text in texts], dtype=np.float64)
    assert np.array_equal(back.view(np.int64), buffer.view(np.int64)) or np.isnan(buffer).any()
    assert [isinstance(text, str) for text in texts] == (~np.isfinite(buffer)).tolist()


@pytest.mark.parametrize("blank", [None, "", "  "])
def test_blanks_before_a_header_are_passed_over_by_every_way_of_reading(blank: str | None, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    cells = [blank, blank, *sa.to_linear(np.arange(6).reshape(3, 2))]
    path.write_text(json.dumps({"t": cells, "u": sa.to_linear(np.arange(3))}))
    assert sa.read(path)["t"].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert sa.scan(path)["t"].shape == (3, 2)
    assert [block.tolist() for block in sa.iter_blocks(path, "t", rows=2)] == [[[0, 1], [2, 3]], [[4, 5]]]
    assert list(sa.check(path)) == []
    path.write_text(json.dumps({"t": [*cells, 6, 7], "u": sa.to_linear(np.arange(4))}))
    assert [(one.name, one.after) for one in sa.accept(path).arrays] == [("t", (4, 2))]
    assert sa.read(path)["t"].tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    path.write_text(json.dumps({"t": [blank, "verson", *cells[3:]]}))
    with pytest.raises(sa.FormatError, match=r"t\[1\]: expected 'version'"):
        sa.scan(path)


@pytest.mark.parametrize("form", ["[{}]", "[ {}]", '{{"a":{}}}', '{{"a": [1,\n{}]}}', "[\t{},1]"])
def test_integers_of_any_length_are_exact(form: str) -> None:
    for digits, sign in product((17, 18, 19, 20, 21), ("", "-")):
        text = form.format(sign + "9" * digits).encode()
        assert outcome(parse_text, text) == outcome(json.loads, text)
        assert "9" * digits in outcome(parse_text, text)


@measured
def test_very_many_arrays_without_elements_take_no_longer_each(tmp_path: Path) -> None:
    arrays = {f"array {number}": np.zeros(0) for number in range(20_000)}
    with limited(seconds=2):  # 0.2 s; a text that grew by each of them was copied for 6 s
        sa.write(tmp_path / "many.json", arrays)
    assert sa.read(tmp_path / "many.json").keys() == arrays.keys()
