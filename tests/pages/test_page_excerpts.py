"""Pages of large arrays: slices, else every n-th element; indices, labels and cells are true, and it is said."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from browser import Browser, PageReader
from children import run_limited
from command_line import run_command
from hypothesis import given, settings
from limits import get_limit, set_limits

import sheetarray as sa


def read_page(page: Any) -> PageReader:
    return PageReader(page.html)


def elements_of(reader: PageReader, name: str) -> np.ndarray[Any, Any]:
    entry = reader.entry(name)
    return np.array(reader.elements(entry)).reshape(entry["shape"])


def page_warned(*sources: Any, **options: Any) -> tuple[PageReader, list[str]]:
    """Return a page, and what it warned of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        page = sa.page(*sources, **options)
    assert all(issubclass(warning.category, sa.SheetArrayWarning) for warning in said)
    return read_page(page), [str(warning.message) for warning in said]


# How much a page holds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [3_999, 4_000, 4_001])
def test_a_page_holds_so_many_elements(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_limit("page_elements") == 4_000_000
    set_limits(monkeypatch, page_elements=4_000)
    reader, said = page_warned(np.arange(count, dtype="i4"))
    entry = reader.entry("array")
    if count <= 4_000:
        assert (entry["shape"], entry.get("excerpt"), said) == ([count], None, [])
        return
    assert entry["shape"] == [2_001]
    assert entry["excerpt"]["text"] == "2,001 of 4,001 elements: every 2nd along axis 0"
    assert (np.array(reader.elements(entry)) == np.arange(0, count, 2)).all()
    (warning,) = said
    assert "only some of 'array' (2,001 of 4,001 elements: every 2nd along axis 0)" in warning
    assert "slice='array[0:2001]' shows a part whole" in warning


@pytest.mark.parametrize(
    ("shape", "steps"),
    [
        ((100,), [1]),
        ((101,), [2]),
        ((40, 3), [2, 1]),  # the short axis stays whole
        ((3, 40), [1, 2]),
        ((2, 3, 1000), [1, 1, 63]),
        ((20, 20), [2, 2]),
        ((10, 10), [1, 1]),
        ((11, 10), [2, 1]),
        ((1, 101, 1), [1, 2, 1]),
        ((101, 0), [1, 1]),
        ((7, 6, 5, 4), [3, 2, 2, 2]),
        ((2,) * 8, [2, 2, 2, 2, 2, 2, 2, 2]),
    ],
)
def test_long_axes_are_thinned_and_short_ones_stay(
    shape: tuple[int, ...], steps: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, page_elements=100)
    array = np.arange(int(np.prod(shape))).reshape(shape)
    reader, said = page_warned(array)
    entry = reader.entry("array")
    assert [step for _, step in entry.get("excerpt", {}).get("taken", [(0, 1)] * len(shape))] == steps
    assert np.array_equal(elements_of(reader, "array"), array[tuple(slice(None, None, step) for step in steps)])
    assert len(said) == (steps != [1] * len(shape))


def test_small_arrays_stay_whole_beside_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, page_elements=1000)
    arrays = {"few": np.arange(5), "long": np.arange(10_000), "long too": np.arange(3000.0), "one": np.array(1.5)}
    reader, said = page_warned(arrays)
    assert [reader.entry(name)["shape"] for name in arrays] == [[5], [477], [429], []]
    (warning,) = said
    assert "'long' (477 of 10,000 elements: every 21st along axis 0); 'long too' (429 of 3,000" in warning
    assert "'few'" not in warning


@pytest.mark.parametrize("sizes", [(3, 2), (3, 3), (6,)])
def test_all_sources_share_the_room(sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, page_elements=5)
    reader, said = page_warned(*map(np.zeros, sizes))
    held = [entry["shape"][0] for entry in reader.manifest["entries"] if entry["listed"]]
    assert held == {(3, 2): [3, 2], (3, 3): [2, 2], (6,): [3]}[sizes]
    assert len(said) == (sizes != (3, 2))


def test_one_warning_names_some_of_many_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, page_elements=20)
    _, (warning,) = page_warned({f"a{number}": np.zeros(9) for number in range(7)})
    assert "'a4'" in warning
    assert "'a5'" not in warning
    assert " and 2 more arrays: slice='a0[0:" in warning


def test_more_arrays_than_elements_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, page_elements=5)
    read_page(sa.page({f"a{number}": number for number in range(5)}))
    with pytest.raises(sa.LimitError, match="6 arrays, and a page holds 5 elements: name fewer"):
        sa.page({f"a{number}": number for number in range(6)})


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 12), max_size=4), min_size=1, max_size=5), st.integers(5, 300))
def test_a_page_never_holds_more_and_each_element_is_true(shapes: list[list[int]], most: int) -> None:
    arrays = {f"a{n}": np.arange(int(np.prod(shape))).reshape(shape) for n, shape in enumerate(shapes)}
    with pytest.MonkeyPatch.context() as patch:
        set_limits(patch, page_elements=most)
        reader, said = page_warned(arrays)
    held = 0
    for name, array in arrays.items():
        entry = reader.entry(name)
        taken = entry.get("excerpt", {}).get("taken", [[0, 1]] * array.ndim)
        axes = [
            [start + step * i for i in range(size)] for (start, step), size in zip(taken, entry["shape"], strict=True)
        ]
        assert np.array_equal(elements_of(reader, name), array[np.ix_(*axes)] if axes else array)
        held += int(np.prod(entry["shape"]))
    assert held <= most
    assert len(said) == (sum(array.size for array in arrays.values()) > most)


# Slices ---------------------------------------------------------------------------------------------------------------

FIELD = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("text", "index", "said"),
    [
        ("t[0]", np.s_[0:1], "12 of 24 elements: the slice [0, :, :]"),
        ("t[-1, ::2]", np.s_[1:2, ::2], "8 of 24 elements: the slice [1, 0:3:2, :]"),
        ("t[..., 1:3]", np.s_[..., 1:3], "12 of 24 elements: the slice [:, :, 1:3]"),
        ("t[..., ::-1]", np.s_[..., ::-1], "24 of 24 elements: the slice [:, :, 3::-1]"),
        ("[:, 1]", np.s_[:, 1:2], "8 of 24 elements: the slice [:, 1, :]"),
        ("1", np.s_[1:2], "12 of 24 elements: the slice [1, :, :]"),
        ("t[5:]", np.s_[5:], "0 of 24 elements: the slice [2:2, :, :]"),
        ("t[:]", None, None),
    ],
)
def test_a_slice_is_what_numpy_gives(text: str, index: Any, said: str | None) -> None:
    reader, warned = page_warned({"t": FIELD}, slice=text)
    entry = reader.entry("t")
    assert warned == []
    assert entry.get("excerpt", {}).get("text") == said
    assert np.array_equal(elements_of(reader, "t"), FIELD if index is None else FIELD[index])


def test_slices_of_several_arrays_and_of_one_that_is_too_large_still(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, page_elements=100)
    arrays = {"a[0]": np.arange(300), "a": np.arange(90), "b": np.arange(4)}
    reader, said = page_warned(arrays, slice=["a[0][100:280]", "a[80:]"])
    assert elements_of(reader, "a").tolist() == list(range(80, 90))
    assert elements_of(reader, "a[0]").tolist() == list(range(100, 280, 3))
    assert reader.entry("a[0]")["excerpt"]["text"] == (
        "60 of 300 elements: the slice [100:280], every 3rd along axis 0"
    )
    assert len(said) == 1


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("t[2]", ValueError, "index 2 is out of range for axis 0, which has 2"),
        ("t[0, 0, 0, 0]", ValueError, "has 4 indices"),
        ("t[x]", ValueError, "neither an integer"),
        ("t[::0]", ValueError, "step of '::0' is zero"),
        ("z[0]", sa.NotFoundError, "no array 'z' to take 'z\\[0\\]' of; there is 't', 'u'"),
        ("[0]", ValueError, "may be of 2 arrays: say of which, such as t\\[0:10\\]"),
        ("time=3", ValueError, "names dimensions, but those of the array have no names"),
        (5, TypeError, "slice is text such as"),
        (("t[0]", "t[1]"), ValueError, "two slices of 't'"),
    ],
)
def test_a_slice_that_cannot_be_is_an_error(text: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        sa.page({"t": FIELD, "u": FIELD}, slice=[text] if isinstance(text, int) else text)


# Labels ---------------------------------------------------------------------------------------------------------------


def make_weather(times: int = 40) -> Any:
    xr = pytest.importorskip("xarray")
    days = np.datetime64("2026-01-01") + np.arange(times)
    values = np.arange(times * 3.0).reshape(times, 3)
    coords = {"time": days, "lat": [47.0, 48.0, 49.0]}
    return xr.Dataset({"t": (("time", "lat"), values), "p": ("time", np.arange(times))}, coords)


@pytest.mark.parametrize("most", [60, 100])
@pytest.mark.parametrize("slices", [(), ("t[5:35:2]",), ("p[10:]",), ("t[::-1]", "time[3:20]")])
def test_labels_are_those_of_the_elements(most: int, slices: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, page_elements=most)
    weather = make_weather()
    reader, _ = page_warned(weather, slice=slices)
    entries = reader.manifest["entries"]
    held = sum(int(np.prod(entry["shape"])) for entry in entries if entry["kind"] != "table")
    assert held <= most
    for name in ("t", "p"):
        entry = reader.entry(name)
        shown = elements_of(reader, name).reshape(entry["shape"][0], -1)[:, 0]
        rows = [int(value) // (3 if name == "t" else 1) for value in shown]
        (number,) = entry["labels"][0]
        labels = [text[:10] for text in reader.elements(entries[number])]
        assert labels == [str(weather.time.values[row])[:10] for row in rows]


def test_a_slice_by_labels_is_of_all_arrays_with_these_dimensions(tmp_path: Path) -> None:
    sa.write(tmp_path / "w.csv", make_weather())
    reader, said = page_warned(tmp_path / "w.csv", slice="time=2026-02, lat=48")
    assert elements_of(reader, "t").tolist() == [[3 * row + 1.0] for row in range(31, 40)]
    assert elements_of(reader, "p").tolist() == list(range(31, 40))
    assert reader.elements(reader.entry("time"))[0][:10] == "2026-02-01"
    assert said == []
    only, _ = page_warned(tmp_path / "w.csv", slice="p[time=2026-02-03]")
    assert elements_of(only, "p").tolist() == [33]
    assert elements_of(only, "t").shape == (40, 3)
    with pytest.raises(ValueError, match="no label '2027' along 'time'"):
        sa.page(tmp_path / "w.csv", slice="time=2027")
    with pytest.raises(ValueError, match="there is no dimension 'tim'; there is 'time', 'lat'"):
        sa.page(tmp_path / "w.csv", slice="tim=2026")


def test_north_stays_up_in_a_slice() -> None:
    north = [read_page(sa.page(make_weather(), slice=text)).entry("t")["north"] for text in ("t[0]", "t[:, ::-1]")]
    assert north == [["", "last"], ["", "first"]]


# Files: cells, findings, two files, a merge ---------------------------------------------------------------------------


def test_findings_are_where_they_are_and_those_that_are_not_shown_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, page_elements=9)
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "edited.xlsx"
    sa.write(path, {"t": np.arange(12.0) + 0.5}, guard=True)
    book = openpyxl.load_workbook(path)
    info = sa.scan(path)["t"].data[0]
    for stored in (4, 5):
        book.worksheets[0].cell(info.row + stored + 1, info.column + 1).value = 99.0
    book.save(path)
    reader, _ = page_warned(path)
    assert elements_of(reader, "t").tolist() == [0.5, 2.5, 99.0, 6.5, 8.5, 10.5]
    seen = [(finding["index"], finding.get("unseen", False)) for finding in reader.manifest["findings"]]
    assert ([2], False) in seen
    assert (None, True) in seen
    assert len({finding["location"] for finding in reader.manifest["findings"]}) >= 2


def test_two_files_are_compared_in_the_elements_that_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, page_elements=20)
    now = np.arange(30.0)
    now[6] += 5
    reader, _ = page_warned({"t": np.arange(30.0)}, {"t": now})
    entries = reader.manifest["entries"]
    assert reader.manifest["opening"] == {"entry": 0, "index": [2]}
    assert reader.elements(entries[entries[0]["difference"]])[:4] == [0, 0, 5, 0]


def test_of_two_files_only_equal_excerpts_are_compared(tmp_path: Path) -> None:
    for name, start in (("a.csv", 0), ("b.csv", 10)):
        weather = make_weather()
        weather["time"] = weather.time + np.timedelta64(start, "D")
        sa.write(tmp_path / name, weather)
    reader, _ = page_warned(tmp_path / "a.csv", tmp_path / "b.csv", slice="time=2026-02")
    assert not any("difference" in entry for entry in reader.manifest["entries"] if entry["name"] == "t")


def test_conflicts_that_are_not_shown_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, page_elements=10)
    for name, change in (("base", 0), ("one", 1), ("two", 2)):
        values = np.arange(15.0)
        values[[6, 7]] += change
        sa.write(tmp_path / f"{name}.csv", {"t": values})
    merged = sa.merge(*(tmp_path / f"{name}.csv" for name in ("base", "one", "two")))
    reader, (warning,) = page_warned(merged)
    assert "'t' (8 of 15 elements" in warning
    conflicts = reader.manifest["merge"]["conflicts"]
    assert [(conflict["at"], conflict.get("unseen", False)) for conflict in conflicts] == [([3], False), (None, True)]
    assert reader.manifest["opening"] == {"entry": 0, "index": [3]}
    reader, said = page_warned(merged, slice="t[5:9]")
    assert said == []
    assert [conflict["at"] for conflict in reader.manifest["merge"]["conflicts"]] == [[1], [2]]


# Awkward arrays -------------------------------------------------------------------------------------------------------


def columns_of(reader: PageReader, name: str) -> dict[str, list[Any]]:
    entries = reader.manifest["entries"]
    return {entries[n]["name"]: reader.elements(entries[n]) for n in reader.entry(name)["columns"]}


@pytest.mark.parametrize("most", [120, 119, 50])
def test_of_an_awkward_array_there_are_whole_entries(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ak = pytest.importorskip("awkward")
    set_limits(monkeypatch, page_elements=most)
    events = ak.Array([[n, n + 0.5] for n in range(15)])  # two cells an entry in one table, six in the other
    assert get_limit("page_elements") == most
    reader, said = page_warned({"x": events})
    step = {120: 1, 119: 2, 50: 4}[most]
    assert columns_of(reader, "x")["entry"] == list(range(0, 15, step))
    assert columns_of(reader, "x[]")["value"] == [v for n in range(0, 15, step) for v in (n, n + 0.5)]
    assert len(said) == (step > 1)
    if step > 1:
        assert f"of 15 entries: every {'2nd' if step == 2 else '4th'} along its entries" in str(reader.entry("x"))


def test_entries_of_an_awkward_array_are_sliced_and_one_that_is_too_large_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ak = pytest.importorskip("awkward")
    array = ak.Array([[n] * n for n in range(50)])
    reader, _ = page_warned({"x": array}, slice="x[10:13]")
    assert columns_of(reader, "x")["entry"] == [10, 11, 12]
    set_limits(monkeypatch, page_elements=100)
    with pytest.raises(sa.LimitError, match="entry 49 has more than 100 elements"):
        sa.page({"x": array}, slice="x[49]")


# In a browser, and on the command line --------------------------------------------------------------------------------


def test_a_browser_shows_true_indices_cells_and_what_is_missing(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, page_elements=200)
    path = tmp_path / "run.csv"
    values = np.arange(600.0).reshape(100, 3, 2) + 0.25
    sa.write(path, {"t": values})
    page, _ = page_warned(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        browser.open(sa.page(path).html, fragment="#array=t&index=96,1,1")
    rows = path.read_text().splitlines()
    assert browser.texts("#slice") == ["t[96, :, :]"]
    assert browser.texts("#readout b") == ["t[96, 1, 1]"]
    value, cell = browser.texts("#readout code")[:2]
    assert value == str(values[96, 1, 1])
    assert rows[int(cell.removeprefix("A")) - 1] == value
    assert browser.texts("p.excerpt")[0].startswith(
        f"The page holds {page.entry('t')['excerpt']['text']}. Pictures, statistics and search are of these."
    )
    assert "every 4th along axis 0" in browser.texts("p.excerpt")[0]
    assert browser.texts("#slider-0-text") == ["[96]  of 100"]
    assert browser.texts(".facts dd")[1] == "100 × 3 × 2"  # noqa: RUF001
    browser.focus("#slider-0")
    browser.press("ARROW_LEFT")
    assert browser.texts("#slice") == ["t[92, :, :]"]
    browser.select("#rows", "0")
    assert browser.texts("#slice") == ["t[::4, 1, :]"]
    assert {"[88]", "[92]"} <= {*browser.texts("#table tbody th bdi")}
    browser.run("const s = document.querySelector('#search'); s.value = '0.25'; s.focus()")
    browser.press("ENTER")
    assert browser.texts("#found") == ["1 element of those on the page"]
    browser.run("const s = document.querySelector('#search'); s.value = '6.25'; s.focus()")
    browser.press("ENTER")
    assert browser.texts("#found") == ["not among the elements on the page"]
    assert browser.violations() == []


def test_a_link_to_an_element_that_is_not_shown_opens_the_array(browser: Browser) -> None:
    browser.open(sa.page({"t": np.arange(20.0)}, slice="[1::2]").html, fragment="#array=t&index=4")
    assert browser.texts("#readout b") == ["t[1]"]
    browser.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    browser.click("#copy-slice")
    browser.wait_until("window.copied !== undefined")
    assert browser.run("return window.copied") == 'arrays["t"][1::2]'


def test_the_command_line_warns_and_takes_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, page_elements=20)
    path = tmp_path / "run.csv"
    sa.write(path, {"t": np.arange(100.0).reshape(50, 2), "u": np.arange(4)})
    result = run_command("page", path)
    assert result.exit_code == 0
    assert result.stderr == (
        "warning: a page holds 20 elements, so it shows only some of 't' (16 of 100 elements: every 7th along axis 0): "
        "--slice 't[0:8]' shows a part whole\n"
    )
    result = run_command("page", path, "--slice", "t[0:8]", "--slice", "u[1:]", "-o", tmp_path / "p.html", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout)["arrays"] == ["t", "u"]
    reader = PageReader((tmp_path / "p.html").read_text(encoding="utf-8"))
    assert (elements_of(reader, "t").shape, elements_of(reader, "u").tolist()) == ((8, 2), [1, 2, 3])
    refused = run_command("page", path, "--slice", "t[99]")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("error: --slice: index 99 is out of range for axis 0, which has 50")
    assert run_command("page", path, "--slice", "z[0]").exit_code == 2


@pytest.mark.slow
def test_a_large_csv_is_never_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with sa.open_writer(path) as writer:
        for _ in range(16):
            writer.append({"t": np.random.default_rng(0).normal(size=(400, 1000))})
    run_limited(
        """
        import resource, sys, warnings
        import numpy as np, polars, sheetarray as sa
        polars.DataFrame({"a": ["1"]}).select(polars.col("a").cast(float))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        shown = sa.page(sys.argv[1], slice="t[6390:]")
        assert "10,000 of 6,400,000 elements" in shown.html
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        assert grown < 120, grown
        """,
        path,
        seconds=60,
    )
