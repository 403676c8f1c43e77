"""Awkward arrays in containers of columns: workbooks, text, JSON and Google Sheets; and on the command line."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from command_line import run_command
from examples import cross
from round_trips import OneWay

import sheetarray as sa
from sheetarray.interchange.awkward import columns as columns_of_awkward
from sheetarray.interchange.awkward import to_columns
from sheetarray.sheets.arrays_of_sheets import check_composites

EVENTS = ak.Array(
    [
        {"run": 1, "hits": [{"x": 0.1, "label": "ü"}, {"x": np.nan, "label": ""}], "tags": ["=1+1", "007"]},
        {"run": 2**60, "hits": [], "tags": []},
        {"run": -3, "hits": [{"x": -0.0, "label": "a\nb"}], "tags": [None]},
    ]
)
PLACES = ["csv", "json", "xlsx", "google"]


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A path, or a URL of an emulator."""
    if request.param != "google":
        yield str(tmp_path / f"events.{request.param}")
        return
    server = request.getfixturevalue("sheets_server")
    monkeypatch.setenv("SHEETARRAY_SHEETS_ENDPOINT", server.url)
    yield f"gsheets://{server.create()}/events"


def same(result: Any, expected: Any) -> bool:
    return bool(ak.array_equal(result, expected, equal_nan=True))


def test_one_is_chosen_by_its_name_and_so_is_a_column_of_it(place: str) -> None:
    sa.write(place, {"events": EVENTS, "plain": np.arange(3)})
    assert list(sa.read(place, ["events"])) == ["events"]
    assert same(sa.read(place, ["plain", "events"])["events"], EVENTS)
    assert sa.read(place, ["events-hits-counts"])["events-hits-counts"].tolist() == [2, 0, 1]
    for names in (["events", "absent"], ["absent"]):
        with pytest.raises(sa.NotFoundError, match=r"no array 'absent'; .*'events', 'plain'"):
            sa.read(place, names)


EDITS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "a large count": (
        {"events-hits-counts": np.array([2, 0, 7])},
        "events-hits-counts",
        "",
        r"7 at \[2\], where 3 is the largest",
    ),
    "a count too many": ({"events-hits-counts": np.array([2, 0, 2])}, "events-hits-counts", "", "counts add up to 4"),
    "a text too few": (
        {"events-hits-label": np.array(["ü", "a"])},
        "events-hits-counts",
        "",
        "counts add up to 3, but .* has 2",
    ),
    "no text": ({"events-hits-label": np.arange(3)}, "events-hits-label", "", "not an array of text"),
    "no column": ({"events-run": None}, "events.json", ", schema.args[0].pairs['run']", "no blob named 'events-run'"),
    "half a schema": (
        {"events.json": np.array(['{"awkward0":"2","schema":{'])},
        "events.json",
        "",
        "the schema of 'events' is",
    ),
}


@pytest.mark.parametrize(("edit", "place"), cross(EDITS, PLACES, "csv"), indirect=["place"])
def test_columns_that_were_edited_are_named_with_their_cells(
    place: str, edit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited, column, element, reason = EDITS[edit]
    columns = to_columns("events", EVENTS, limit=32_767) | edited
    filled = {name: cells for name, cells in columns.items() if cells is not None}
    with pytest.raises(sa.LimitError, match=r"'events.json' would be read as the description of an awkward array"):
        sa.write(place, filled | {"plain": np.arange(3)})
    write_unchecked(place, filled | {"plain": np.arange(3)}, monkeypatch)
    begins = first_cell(place, [*filled].index(column), column)
    for names in (None, ["plain", "events"]):
        with pytest.raises(sa.FormatError, match=reason) as caught:
            sa.read(place, names)
        assert (caught.value.location, caught.value.element) == (begins, column + element)
    (finding,) = sa.check(place)
    assert (finding.severity, finding.location) == ("error", begins)
    assert re.search(reason, finding.message)
    assert sa.read(place, ["plain"])["plain"].tolist() == [0, 1, 2]


def write_unchecked(place: Any, columns: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Write columns that `write` refuses, since `read` would: as they are in a file that people have edited."""
    with monkeypatch.context() as patch:
        patch.setattr(columns_of_awkward, "gather", lambda arrays, **options: arrays)
        sa.write(place, columns)


def first_cell(place: str, number: int, column: str) -> str:
    """The location at which a column begins."""
    if place.endswith("json"):
        return f"{column}[0]"
    title = {"xlsx": "arrays!"}.get(place.rpartition(".")[2], "events!" if place.startswith("gsheets:") else "")
    return f"{title}{chr(ord('A') + number)}2"


OLD = """e-who-counts,e-who-content,e.json
version,version,version
1.0.0,1.0.0,1.0.0
ndarray,ndarray,ndarray
shape,shape,shape
2,3,1
strides,strides,strides
1,1,1
offset,offset,offset
0,0,0
order,order,order
row-major,row-major,row-major
dtype,dtype,dtype
int64,uint8,string
length,length,length
2,3,1
capacity,capacity,capacity
2,3,1
data,data,data
3,65,"{""awkward0"":""2.14.0"",""schema"":{""call"":[""awkward0"",""Table"",""frompairs""],""args"":[{""pairs"":[[""who"",{""call"":[""awkward0"",""StringArray"",""fromcounts""],""args"":[{""read"":""who-counts"",""id"":2},{""read"":""who-content"",""id"":3},{""json"":""utf-8"",""id"":4}],""id"":1}]]},{""json"":0}],""id"":0},""prefix"":""e-"",""metadata"":{""rowname"":{""0"":""Person""}}}"
0,100,
,97,
"""


def test_older_files_with_a_cell_for_each_byte_and_names_beside_the_schema_are_read() -> None:
    result = sa.read(io.StringIO(OLD), format="csv")["e"]
    assert result.to_list() == [{"who": "Ada"}, {"who": ""}]
    assert str(result.type) == "2 * Person[who: string]"


def test_check_names_each_array_that_is_broken_once_its_cells_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = to_columns("a", ak.Array([[1], []]), limit=100) | to_columns("b", ak.Array([[2], []]), limit=100)
    broken = {"a-counts": np.array([9, 0]), "b-counts": np.array([9, 0])}
    write_unchecked(tmp_path / "t.csv", columns | broken, monkeypatch)
    assert [finding.location for finding in sa.check(tmp_path / "t.csv")] == ["A2", "D2"]
    edited = (tmp_path / "t.csv").read_text().replace("\n9,1,", "\nnine,1,")
    assert [finding.location for finding in sa.check(io.StringIO(edited), format="csv")] == ["A20"]
    assert sa.read(tmp_path / "t.csv", ["a-content"])["a-content"].tolist() == [1]


def test_check_reads_no_more_often_for_more_arrays() -> None:
    for count, reads in ((0, 0), (1, 3), (300, 3)):  # the last text may be labels without their name
        columns = {"plain": np.arange(3)}
        for number in range(count):
            columns |= to_columns(f"n{number}", ak.Array([[number], []]), limit=32_767)
        infos = {
            name: sa.ArrayInfo(
                column.shape, "string" if column.dtype.kind == "U" else "int64", "row-major", (1,), "", 1
            )
            for name, column in columns.items()
        }
        asked: list[Any] = []

        def read(names: Any, columns: dict[str, Any] = columns, asked: list[Any] = asked) -> Any:
            asked.append(names)
            return {name: columns[name] for name in names}

        assert check_composites(read, lambda infos=infos: infos) == []
        assert len(asked) == reads


def read_by_its_own_door(place: str, names: Any = None) -> Any:
    """Read by the adapter's own function, not by `sa.read`."""
    if place.startswith("gsheets:"):
        return sa.read_gsheet(place, names)
    if place.endswith("xlsx"):
        return sa.read_excel(place, names)
    return (sa.read_json if place.endswith("json") else sa.read_csv)(place, names)


@pytest.mark.parametrize("place", [*PLACES, "tsv", "csv.gz"], indirect=True)
def test_every_door_shows_the_same_arrays(place: str) -> None:
    arrays = {"events": EVENTS, "plain": np.arange(3), "a.json": np.array(["text"])}
    if place.startswith("gsheets:"):
        sa.write_gsheet(place, arrays)
    elif place.endswith("xlsx"):
        sa.write_excel(place, arrays)
    elif place.endswith("json"):
        sa.write_json(place, arrays)
    else:
        sa.write_csv(place, arrays, delimiter="\t" if place.endswith("tsv") else ",")
    assert list(sa.read(place)) == list(read_by_its_own_door(place)) == list(sa.scan(place)) == list(arrays)
    assert same(read_by_its_own_door(place, ["events"])["events"], EVENTS)
    info = sa.scan(place)["events"]
    assert (info.dtype, info.shape, info.capacity) == ("awkward", (3,), 3)
    assert info.parts == len(to_columns("events", EVENTS, limit=32_767))
    assert info.cells > 20 * info.parts
    assert list(sa.check(place)) == []


def test_a_composite_is_read_beside_a_damaged_array_that_nobody_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    sa.write(path, {"plain": np.arange(3), "events": EVENTS.tags})
    path.write_text(path.read_text().replace("int64", "int65", 1))
    assert same(sa.read(path, ["events"])["events"], EVENTS.tags)
    with pytest.raises(sa.FormatError, match="int65"):
        sa.read(path)


@pytest.mark.parametrize(
    "array",
    [
        ak.Array([[1, 2], []]),
        ak.Array(["a", "b", "c"]),
        ak.Array([1, None, 3]),
        ak.Array([1, "a", [2]]),
        ak.Array([{"x": [1.5]}, {"x": []}]),
        ak.Array([b"a"]),
        ak.Array([]),
        ak.Array(
            ak.contents.BitMaskedArray(
                ak.index.IndexU8(np.array([5], np.uint8)), ak.contents.NumpyArray(np.arange(3)), True, 3, True
            )
        ),
        ak.Array([[[1], []], []])[:, 0:1],
    ],
)
def test_scan_tells_the_length(array: Any, tmp_path: Path) -> None:
    sa.write(tmp_path / "t.csv", {"e": array})
    assert sa.scan(tmp_path / "t.csv")["e"].shape == (len(array),)


def test_text_that_looks_like_a_schema_is_read_as_it_is(place: str) -> None:
    arrays = {"a.json": np.array(['{"awkward0": "a package"}', "more"]), "b": np.arange(2)}
    sa.write(place, arrays)
    with pytest.warns(sa.SheetArrayWarning, match="a.json: read as text"):
        result = sa.read(place)
    assert {name: array.tolist() for name, array in result.items()} == {
        "a.json": ['{"awkward0": "a package"}', "more"],
        "b": [0, 1],
    }
    assert [finding.severity for finding in sa.check(place)] == ["warning"]
    assert sa.read(place, ["a.json"])["a.json"].tolist() == result["a.json"].tolist()
    with pytest.warns(sa.SheetArrayWarning), pytest.raises(sa.NotFoundError, match=r"no array 'a'; there is 'a\.json'"):
        sa.read(place, ["a"])


def test_where_awkward_is_not_installed_check_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sa.write(tmp_path / "t.csv", {"plain": np.arange(3), "events": EVENTS})
    monkeypatch.setitem(sys.modules, "awkward", None)
    (finding,) = sa.check(tmp_path / "t.csv")
    assert (finding.severity, finding.location) == ("warning", "I2")
    assert "pip install 'sheetarray[awkward]'" in finding.hint
    with pytest.raises(sa.MissingDependencyError, match="need awkward"):
        sa.read(tmp_path / "t.csv")
    assert sa.read(tmp_path / "t.csv", ["plain"])["plain"].tolist() == [0, 1, 2]


def test_a_file_is_read_from_where_it_stands() -> None:
    file = io.BytesIO(b"before")
    file.seek(0, io.SEEK_END)
    sa.write(file, {"events": EVENTS, "plain": np.arange(3)}, format="csv")
    for verb in (lambda: sa.read(file, ["plain", "events"], format="csv"), lambda: list(sa.check(file, format="csv"))):
        file.seek(len(b"before"))
        verb()
    file.seek(len(b"before"))
    assert same(sa.read(file, ["events"], format="csv")["events"], EVENTS)


def test_a_stream_is_read_once() -> None:
    file = io.BytesIO()
    sa.write(file, {"events": EVENTS, "plain": np.arange(3)}, format="csv")
    assert same(sa.read(OneWay(file.getvalue()), ["events"], format="csv")["events"], EVENTS)  # type: ignore[arg-type]
    with pytest.raises(sa.NotFoundError, match="'events', 'plain'"):
        sa.read(OneWay(file.getvalue()), ["absent"], format="csv")  # type: ignore[arg-type]
    assert list(sa.check(OneWay(file.getvalue()), format="csv")) == []  # type: ignore[arg-type]


def test_a_column_of_two_arrays_is_refused_before_writing(tmp_path: Path) -> None:
    with pytest.raises(sa.LimitError, match="events-counts"):
        sa.write(tmp_path / "x.csv", {"events": ak.Array([[1], []]), "events-counts": np.arange(2)})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", ["npz", "avro", "ra"])
@pytest.mark.parametrize("values", [[[1], []], [1, "a"], [{"x": 1}], [1, None]])
def test_what_is_no_rectangle_is_refused_by_formats_without_cells(tmp_path: Path, suffix: str, values: Any) -> None:
    with pytest.raises(sa.DTypeError):
        sa.write(tmp_path / f"x.{suffix}", {"x": ak.Array(values)})
    assert not list(tmp_path.iterdir())


def test_a_rectangle_is_an_ndarray_in_formats_without_cells(tmp_path: Path) -> None:
    sa.write(tmp_path / "x.npz", {"x": ak.Array([[1, 2], [3, 4]])})
    assert sa.read(tmp_path / "x.npz")["x"].tolist() == [[1, 2], [3, 4]]


def output_of(*arguments: Any, status: int = 0) -> str:
    """What a command prints."""
    done = run_command(*arguments)
    assert done.exit_code == status, (arguments, done.output, done.exception)
    return done.output


def test_a_rectangular_array_of_awkd_is_shown_sliced_and_compared_as_any_other(tmp_path: Path) -> None:
    arrays = {"t": np.arange(24.0).reshape(2, 3, 4), "s": np.array(["a", "bc"]), "d": np.array(["2024"], "M8[D]")}
    other = arrays["t"].copy()
    other[1, 0, 2] += 0.25
    sa.write(tmp_path / "a.awkd", arrays)
    sa.write(tmp_path / "b.npz", arrays)
    sa.write(tmp_path / "c.awkd", arrays | {"t": other})
    assert output_of("diff", tmp_path / "a.awkd", tmp_path / "b.npz") == "no differences (3 arrays)\n"
    assert "t[1, 0, 2]: 14.0 -> 14.25" in output_of("diff", tmp_path / "a.awkd", tmp_path / "c.awkd", status=1)
    for name, part in (("t", "[1, 0]"), ("s", "[1:]"), ("d", "[0]")):
        shown = [output_of("show", tmp_path / file, name, "--slice", part) for file in ("a.awkd", "b.npz")]
        assert shown[0] == shown[1]
        values = [output_of("show", tmp_path / file, name, "--slice", part, "--json") for file in ("a.awkd", "b.npz")]
        assert json.loads(values[0])["values"] == json.loads(values[1])["values"]


@pytest.mark.parametrize("suffix", ["awkd", "csv"])
def test_a_slice_of_what_has_no_axes_is_refused(tmp_path: Path, suffix: str) -> None:
    sa.write(tmp_path / f"t.{suffix}", {"events": EVENTS})
    for more in ([], ["--json"]):
        said = output_of("show", tmp_path / f"t.{suffix}", "events", "--slice", "0", *more, status=2)
        assert "--slice is for arrays that have axes" in said


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        (np.array(["2024-01-02", "NaT"], "M8[D]"), ["2024-01-02", "NaT"]),
        (np.array(["2024-01-02T03:04:05", "NaT"], "M8[s]"), ["2024-01-02T03:04:05", "NaT"]),
        (np.array(["2024-01-02T03:04:05.000000006"] * 2, "M8[ns]"), ["2024-01-02T03:04:05.000000006"] * 2),
        (np.array([5, "NaT"], "m8[s]"), [5, "NaT"]),
    ],
)
def test_times_within_lists_are_shown_as_cells(tmp_path: Path, values: Any, cells: list[Any]) -> None:
    when = ak.unflatten(ak.Array(values), [1, 0, 1])
    events = ak.Array({"when": when, "pair": ak.Array(np.stack([values, values, values]))})
    sa.write(tmp_path / "t.awkd", {"events": events, "gap": ak.mask(ak.Array(values), [True, False])})
    assert json.loads(output_of("show", tmp_path / "t.awkd", "events", "--json"))["values"] == [
        {"when": [cells[0]], "pair": cells},
        {"when": [], "pair": cells},
        {"when": [cells[1]], "pair": cells},
    ]
    assert json.loads(output_of("show", tmp_path / "t.awkd", "gap", "--json"))["values"] == [cells[0], None]
