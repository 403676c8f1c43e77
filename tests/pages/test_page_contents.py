"""What a page holds is what `read` gives, bit for bit, with the cells in which it stands."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from addresses import cell_address
from browser import PageReader
from limits import get_limit, set_limits

import sheetarray as sa


def reread(page: Any) -> PageReader:
    return PageReader(page.html)


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
        np.arange(24.0).reshape(2, 3, 4)[::-1, :, ::2],
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.array([0.1, -0.0, np.nan, 5e-324], ">f8"),
        np.array([-(2**15), 2**15 - 1], ">i2"),
        np.array(1.5),
        np.zeros((0, 3)),
    ],
)
def test_elements_stand_in_row_major_order_whatever_the_strides(array: np.ndarray[Any, Any]) -> None:
    page = reread(sa.page(array))
    entry = page.entry("array")
    assert entry["shape"] == list(array.shape)
    assert page.blob(entry["blobs"][0]) == array.astype(array.dtype.newbyteorder("<")).tobytes("C")


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "25s"])
def test_dates_and_durations_are_what_cells_hold(unit: str) -> None:
    dates = np.array(["1969-12-31", "2026-07-01", "NaT"], f"M8[{unit}]")
    durations = np.array([-(2**62), 0, "NaT"], f"m8[{unit}]")
    page = reread(sa.page({"d": dates, "t": durations}))
    assert page.elements(page.entry("d")) == sa.to_linear(dates)[-3:]
    assert page.elements(page.entry("t")) == durations.view("i8").tolist()


def test_a_date_without_a_text_is_a_count() -> None:
    page = reread(sa.page(np.array([2**63 - 1], "M8[Y]")))
    assert page.elements(page.entry("array")) == [f"{2**63 - 1} x datetime64[Y]"]


def test_opaque_bytes_are_shown_in_hexadecimal(tmp_path: Path) -> None:
    sa.write(tmp_path / "v.ra", np.array([b"\x01\xff", b"ab"], "V2"))
    page = reread(sa.page(tmp_path / "v.ra"))
    assert page.elements(page.entry("v")) == ["01ff", "6162"]


# Where elements stand ------------------------------------------------------------------------------------------------


def address_in_page(entry: dict[str, Any], index: tuple[int, ...]) -> str:
    """What the program of the page does, for an array of one part."""
    cells = entry["cells"]
    stored = cells["offset"] + sum(i * stride for i, stride in zip(index, cells["strides"], strict=True))
    (run,) = cells["runs"]
    along = stored - run["first"]
    return str(cell_address(run["row"] + along * run["down"], run["column"] + along * (not run["down"])))


ARRAYS = {
    "t": np.arange(24.0).reshape(2, 3, 4) + 1000,
    "f": np.asfortranarray(np.arange(6).reshape(2, 3) + 2000),
    "z": np.array([3 + 4j, 5 + 0j]),
    "s": np.array(["x", "y y"]),
    "one": np.array(7.5),
}


@pytest.mark.parametrize("orient", ["columns", "rows"])
@pytest.mark.parametrize("moved", [False, True])
def test_every_element_has_the_address_of_its_cell(tmp_path: Path, orient: str, moved: bool) -> None:
    path = tmp_path / "a.csv"
    sa.write(path, ARRAYS, orient=orient)
    rows = list(csv.reader(io.StringIO(path.read_text())))
    if moved:
        rows = [["note"], *[["", *row] for row in rows]]
        path.write_text("\n".join(",".join(row) for row in rows))
    page = reread(sa.page(path))
    checked = 0
    for name, array in sa.read(path).items():
        for index in np.ndindex(array.shape):
            address = address_in_page(page.entry(name), index)
            (place,) = [(i, j) for i, row in enumerate(rows) for j in range(len(row)) if cell_address(i, j) == address]
            assert rows[place[0]][place[1]].removesuffix(".0") == str(sa.to_linear(array[index])[-1]).removesuffix(".0")
            checked += 1
    assert checked == 24 + 6 + 2 + 2 + 1


def test_an_array_in_several_columns_has_the_addresses_of_all_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "parts.xlsx"
    size = 1_048_576 + 10
    sa.write(path, {"b": np.zeros(size, bool)})
    info = sa.scan(path)["b"]
    assert len(info.data) == info.parts == 2
    assert info.data[0].address(0) == "arrays!A23"
    last_of_first = info.data[1].first - 1
    assert info.data[0].address(last_of_first) == "arrays!A1048576"
    assert info.data[1].address(info.data[1].first) == "arrays!B23"


def test_numbers_in_two_cells_each_have_no_address_rather_than_a_wrong_one(tmp_path: Path) -> None:
    cells = ["version", "1.0.0", "ndarray", "shape", 2, "strides", 1, "offset", 0, "order", "row-major"]
    cells += ["dtype", "complex128", "length", 2, "capacity", 2, "data", 1, 2, 3, 4]
    for name in ("plain.csv", "moved.csv"):
        lines = ["z", *map(str, cells)] if name == "plain.csv" else ["note", "", "z", *map(str, cells)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        assert sa.read(tmp_path / name)["z"].tolist() == [1 + 2j, 3 + 4j]
        assert reread(sa.page(tmp_path / name)).entry("z")["cells"] is None


def test_what_has_no_cells_has_no_addresses(tmp_path: Path) -> None:
    sa.write(tmp_path / "a.npy", np.arange(3.0))
    assert reread(sa.page(tmp_path / "a.npy")).entry("a")["cells"] is None
    assert reread(sa.page(np.arange(3.0))).entry("array")["cells"] is None


# Labels, findings, several files -------------------------------------------------------------------------------------


def make_dataset() -> Any:
    xr = pytest.importorskip("xarray")
    return xr.Dataset(
        {"t": (("time", "lat"), np.arange(6.0).reshape(3, 2), {"units": "K"})},
        {"time": np.array(["2026-01", "2026-02", "2026-03"], "M8[ns]"), "lat": [47.5, 48.0]},
    )


@pytest.mark.parametrize("from_file", [True, False])
@pytest.mark.parametrize("names", [None, ["t"]])
def test_dimensions_have_their_names_and_labels(tmp_path: Path, from_file: bool, names: list[str] | None) -> None:
    dataset = make_dataset()
    sa.write(tmp_path / "d.csv", dataset)
    source = tmp_path / "d.csv" if from_file else sa.read_dataset(tmp_path / "d.csv")
    if names and not from_file:
        pytest.skip("names of arrays at hand are chosen as they are")
    page = reread(sa.page(source, names=names))
    entry = page.entry("t")
    assert entry["dims"] == ["time", "lat"]
    assert entry["attrs"] == [["units", "K"]]
    labels = [page.elements(page.manifest["entries"][number]) for (number,) in entry["labels"]]
    assert [text[:10] for text in labels[0]] == ["2026-01-01", "2026-02-01", "2026-03-01"]
    assert labels[1] == [47.5, 48.0]


def test_levels_of_an_index_label_rows_together() -> None:
    pd = pytest.importorskip("pandas")
    index = pd.MultiIndex.from_tuples([("Bern", 2025), ("Ulm", 2026)], names=["city", "year"])
    page = reread(sa.page(pd.DataFrame({"n": [1, 2]}, index=index)))
    names = [page.manifest["entries"][number]["name"] for number in page.entry("n")["labels"][0]]
    assert names == ["city", "year"]


def test_of_a_damaged_file_only_the_damaged_arrays_are_read_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.csv"
    sa.write(path, {f"a{n}": np.array([n + 0.5]) for n in range(60)})
    path.write_text(path.read_text().replace("7.5,", "x,", 1))
    calls: list[object] = []
    read = sa.api.read
    monkeypatch.setattr(sa.api, "read", lambda *given, **more: calls.append(given) or read(*given, **more))
    page = reread(sa.page(path))
    assert len(calls) == 3  # all, all but one, and the one
    assert page.entry("a7")["kind"] == "unread"
    assert page.elements(page.entry("a59")) == [59.5]


def test_an_array_is_shown_though_its_coordinate_cannot_be_read(tmp_path: Path) -> None:
    sa.write(tmp_path / "d.csv", make_dataset())
    text = (tmp_path / "d.csv").read_text()
    (tmp_path / "d.csv").write_text(text.replace("47.5", "x"))
    page = reread(sa.page(tmp_path / "d.csv", names=["t", "time"]))
    assert page.elements(page.entry("t")) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("count", [4, 5, 6])
def test_a_page_says_how_many_findings_it_leaves_out(
    tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, page_findings=5)
    path = tmp_path / "run.csv"
    sa.write(path, {"t": np.full(count, 1.5), "n": np.arange(3)})
    path.write_text(path.read_text().replace("1.5", "x"))
    manifest = reread(sa.page(path)).manifest
    assert len(manifest["findings"]) == min(count, get_limit("page_findings"))
    assert manifest["unlisted"] == max(0, count - get_limit("page_findings"))


def test_nothing_that_can_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "no.csv").write_text("version\n1.0.0\nndarray\nx\n")
    with pytest.raises(sa.FormatError):
        sa.page(tmp_path / "no.csv")
    with pytest.raises(FileNotFoundError):
        sa.page(tmp_path / "absent.csv")
    with pytest.raises(TypeError, match="a path"):
        sa.page()


def test_an_open_file_is_read_from_where_it_stands() -> None:
    file = io.BytesIO()
    sa.write(file, {"t": np.arange(3.0)}, format="csv")
    file.seek(0)
    page = reread(sa.page(file, format="csv"))
    assert page.elements(page.entry("t")) == [0, 1, 2]
    assert page.manifest["files"] == ["file"]


BIG = np.iinfo(np.int64)


@pytest.mark.parametrize(
    ("first", "second", "away"),
    [
        (np.array([1.5, np.nan, np.nan, 0.0]), np.array([2.0, np.nan, 1.0, -0.0]), [0.5, 0.0, np.nan, 0.0]),
        (np.array([np.inf, np.inf]), np.array([np.inf, 1.0]), [0.0, -np.inf]),
        (np.array([BIG.min, 2**60, 7]), np.array([BIG.max, 2**60 + 1, 3]), [2.0**64, 1.0, -4.0]),
        (np.array([2**64 - 1], np.uint64), np.array([-1]), [-(2.0**64)]),
        (np.array([True, False]), np.array([True, True]), [0.0, 1.0]),
        (np.array([3 + 4j, 1]), np.array([0j, 1]), [5.0, 0.0]),
        (np.array(["a", "b"]), np.array(["a", "c"]), [0.0, 1.0]),
        (np.array([1, "NaT"], "m8[s]"), np.array([4, "NaT"], "m8[s]"), [3.0, 0.0]),
    ],
)
def test_differences_are_exact(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any], away: list[float]) -> None:
    page = reread(sa.page(first, second))
    entries = page.manifest["entries"]
    np.testing.assert_array_equal(page.elements(entries[entries[0]["difference"]]), away)


# Awkward arrays ------------------------------------------------------------------------------------------------------


def columns_of(page: PageReader, name: str) -> dict[str, list[Any]]:
    entries = page.manifest["entries"]
    return {entries[n]["name"]: page.elements(entries[n]) for n in page.entry(name)["columns"]}


def test_an_awkward_array_is_a_tidy_table_for_each_list() -> None:
    ak = pytest.importorskip("awkward")
    events = ak.Array(
        [
            {"run": 1, "muons": [{"pt": 1.5, "hits": [7, 8]}, {"pt": 2.5, "hits": []}]},
            {"run": 2, "muons": []},
            {"run": 3, "muons": [{"pt": None, "hits": [9]}]},
        ]
    )
    page = reread(sa.page({"ev": events}))
    assert columns_of(page, "ev") == {"entry": [0, 1, 2], "run": [1, 2, 3], "muons count": [2, 0, 1]}
    assert columns_of(page, "ev.muons[]") == {
        "entry": [0, 0, 2],
        "muons[]": [0, 1, 0],
        "pt": ["1.5", "2.5", "None"],
        "hits count": [2, 0, 1],
    }
    assert columns_of(page, "ev.muons[].hits[]") == {
        "entry": [0, 0, 2],
        "muons[]": [0, 0, 0],
        "hits[]": [0, 1, 0],
        "value": [7, 8, 9],
    }


def test_fields_of_one_title_do_not_hide_each_other() -> None:
    ak = pytest.importorskip("awkward")
    array = ak.Array([{"a.b": 1, "a": {"b": 2}, "entry": 3, "c": [5], "c count": 4}])
    page = reread(sa.page({"x": array}))
    assert columns_of(page, "x") == {
        "entry": [0], "a.b": [1], "a.b'": [2], "entry'": [3], "c count": [4], "c count'": [1]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("entries", "titles"),
    [([[[1], []], [[2, 3]]], ["x", "x[]", "x[][]"]), ([None, "text", 2**70], ["x"]), ([[], []], ["x", "x[]"])],
)
def test_any_awkward_array_has_its_tables(entries: list[Any], titles: list[str]) -> None:
    ak = pytest.importorskip("awkward")
    array = ak.Array(entries) if 2**70 not in entries else ak.Array([None, "text", 2.5])
    page = reread(sa.page({"x": array}))
    assert [entry["name"] for entry in page.manifest["entries"] if entry["listed"]] == titles


# The page itself -----------------------------------------------------------------------------------------------------


def test_the_policy_allows_one_script_and_one_style_and_nothing_else() -> None:
    import base64
    import hashlib

    page = reread(sa.page({"</script><script>": np.zeros(2)}))
    assert "<" not in page.scripts["manifest"]
    directives = dict(part.strip().partition(" ")[::2] for part in page.policy.split(";"))

    def hash_of(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert directives == {
        "default-src": "'none'",
        "script-src": hash_of(page.scripts["program"]),
        "style-src": hash_of("".join(page.styles)),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert "unsafe" not in page.policy
    assert not any(name in ("src", "href", "style") or name.startswith("on") for tag, attrs in page.tags
                   for name in attrs if (tag, attrs.get("class")) != ("a", "skip"))  # fmt: skip
    program = page.scripts["program"]
    for word in (
        *("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "XMLHttp", "http:"),
        "https:",
    ):
        assert word not in program + "".join(page.styles), word
    assert "<!--" not in program
    assert "</" not in program


def test_one_input_makes_one_page() -> None:
    arrays = {"t": np.arange(6.0).reshape(2, 3), "s": np.array(["a"])}
    assert sa.page(arrays).html == sa.page(arrays).html


@pytest.mark.fault("An error while a page is saved.", "The old page is whole.")
def test_a_page_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    page = sa.page({"t": np.arange(3.0)})
    page.save(tmp_path / "t.html")
    assert (tmp_path / "t.html").read_text(encoding="utf-8") == page.html
    with pytest.raises(OSError, match="No such file"):
        page.save(tmp_path / "absent" / "t.html")


def test_a_notebook_shows_a_page_in_a_frame_that_can_only_draw() -> None:
    page = sa.page({"<t>": np.arange(3.0)})
    frame = PageReader(page._repr_html_())
    ((tag, attrs),) = frame.tags
    assert tag == "iframe"
    assert attrs["srcdoc"] == page.html
    assert "allow-same-origin" not in str(attrs["sandbox"])


def test_repr_names_arrays() -> None:
    assert repr(sa.page({"t": 1.5})) == "<Page of 1 array: t>"
    assert repr(sa.page({f"a{n}": n for n in range(9)})).endswith("a7, ..>")
