"""`write_table` of arrays with labels: an Excel Table that people filter and sort, and that comes back as it was."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xarray as xr
from programs import resave, schema_errors
from recorded import change_record

import sheetarray as sa

TIMES = pd.date_range("2026-07-01", periods=4)


def plain() -> Any:
    """A Dataset of which cells say everything: each variable lies along all dimensions, no attributes."""
    values = np.random.default_rng(1).normal(size=(4, 3))
    return xr.Dataset(
        {"t": (("time", "city"), values), "wet": (("time", "city"), values > 0)},
        coords={"time": TIMES, "city": ["Bern", "Ulm", "Graz"]},
    )


def rich() -> Any:
    """A Dataset of which cells do not say everything: dtypes, attributes, smaller variables, text of digits."""
    grid = plain().assign(low=("city", np.array([1, 2, 3], "i2")), level=np.float32(0.1))
    grid["t"].attrs = {"units": "K", "limits": (1.5, np.float32("inf"))}
    grid["t"][1, 1] = np.nan
    grid.attrs["title"] = "a grid"
    return grid.assign_coords(code=("city", ["007", "8", "1e5"]), run=3)


DATASETS = {
    "plain": plain,
    "rich": rich,
    "one dimension": lambda: rich().isel(city=0, drop=True),
    "no coordinates": lambda: xr.Dataset({"a": (("x", "y"), np.arange(6).reshape(2, 3)), "b": ("y", [1.5, 2.5, 3.5])}),
    "no common dimension": lambda: xr.Dataset({"a": ("x", [1, 2]), "b": ("y", [1.5, 2.5, 3.5])}),
    "three dimensions": lambda: xr.Dataset(
        {"a": (("z", "y", "x"), np.arange(24, dtype="f4").reshape(2, 3, 4)), "m": (("x", "z"), np.ones((4, 2), bool))},
        coords={"z": [2.5, -0.0], "x": pd.to_timedelta([1, 2, 3, 4], "s"), "lat": (("y", "x"), np.zeros((3, 4)))},
    ),
    "one element": lambda: xr.Dataset({"a": ((), 1.5)}, attrs={"a": [1, "b"]}),
    "levels": lambda: (
        pd.DataFrame(
            {"v": [1.5, 2.5, 3.5]}, index=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["k", "n"])
        )
        .to_xarray()
        .stack(i=("k", "n"))
    ),
    "labels that are alike": lambda: xr.Dataset({"a": ("x", [1, 2, 3])}, coords={"x": ["p", "p", "q"]}),
}


@pytest.mark.filterwarnings("ignore:.*read_columns:sheetarray.SheetArrayWarning")
@pytest.mark.parametrize("make", DATASETS.values(), ids=DATASETS)
def test_a_dataset_goes_through_a_table_and_is_identical(make: Any, tmp_path: Path) -> None:
    dataset, path = make(), tmp_path / "t.xlsx"
    sa.write_table(path, dataset, sheet="The run, 2026")
    back = sa.read_dataset(path, table="The_run__2026")
    xr.testing.assert_identical(back, dataset)
    assert {name: back[name].dtype for name in back.variables} == {
        name: dataset[name].dtype for name in dataset.variables
    }


@pytest.mark.filterwarnings("ignore:.*(read_columns|cannot be in the cells):sheetarray.SheetArrayWarning")
@pytest.mark.parametrize("columns", ["time", "city"])
@pytest.mark.parametrize(
    "make",
    [
        plain,
        rich,
        lambda: rich()[["t"]],
        lambda: plain().drop_vars(["time", "city"]),
        lambda: plain()[["t"]].transpose(),
    ],
)
def test_a_dimension_goes_to_the_right_and_comes_back(make: Any, columns: str, tmp_path: Path) -> None:
    dataset, path = make(), tmp_path / "t.xlsx"
    sa.write_table(path, dataset, columns=columns)
    xr.testing.assert_identical(sa.read_dataset(path, table="table"), dataset)


def draw(rng: np.random.Generator, shape: list[int], *, distinct: bool = False) -> Any:
    """Elements of a kind that is drawn, missing ones among them unless they are distinct."""
    size = int(np.prod(shape))
    some = rng.permutation(3 * size + 3)[:size]
    kinds: list[Any] = [
        some.astype("i2"),
        some * np.float32(0.1),
        some * 0.1,
        some.astype("M8[us]"),
        some.astype("M8[D]"),
    ]
    kinds += [some.astype("M8[ns]"), some.astype("m8[s]"), np.array([f"{number:03}" for number in some], "U")]
    array = kinds[rng.integers(0, len(kinds))]
    if not distinct and array.dtype.kind in "fM":
        array[rng.random(size) < 0.2] = "NaT" if array.dtype.kind == "M" else np.nan
    return array.reshape(shape)


@pytest.mark.filterwarnings("ignore:.*cannot be in the cells:sheetarray.SheetArrayWarning")
def test_datasets_at_random_come_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        sizes = {f"d{number}": int(rng.integers(1, 5)) for number in range(rng.integers(0, 4))}
        dataset = xr.Dataset(
            coords={d: (d, draw(rng, [n], distinct=True)) for d, n in sizes.items() if rng.random() < 0.7}
        )
        for number in range(rng.integers(1, 4)):
            own = [str(dim) for dim in rng.permutation([dim for dim in sizes if rng.random() < 0.8])]
            dataset[f"v{number}"] = own, draw(rng, [sizes[dim] for dim in own]), {"number": number}
        columns = [None, *dataset.sizes][rng.integers(0, len(dataset.sizes) + 1)]
        sa.write_table(tmp_path / "t.xlsx", dataset, columns=columns, verify=False)
        back = sa.read_dataset(tmp_path / "t.xlsx", table="table")
        xr.testing.assert_identical(back, dataset)
        assert {name: back[name].dtype for name in back.variables} == {
            name: dataset[name].dtype for name in dataset.variables
        }


def test_one_array_has_a_column_for_each_label(tmp_path: Path) -> None:
    sa.write(tmp_path / "t.xlsx", plain()["t"], layout="table", columns="city")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    assert [cell.value for cell in sheet[1]] == ["time", "Bern", "Ulm", "Graz"]
    assert sheet["A2"].is_date
    assert sheet["A2"].value.isoformat().startswith("2026-07-01")
    table = sheet.tables["table"]
    assert (table.ref, table.autoFilter.ref) == ("A1:D5", "A1:D5")
    assert [column.name for column in table.tableColumns] == ["time", "Bern", "Ulm", "Graz"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx", "parquet"])
def test_cells_alone_say_what_dims_need(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{suffix}"
    sa.write_table(path, plain())
    if suffix == "xlsx":  # another program keeps the cells and the table only
        _drop_record(path)
    assert list(sa.read_columns(path)) == ["time", "city", "t", "wet"]
    xr.testing.assert_identical(sa.read_dataset(path, dims=["time", "city"]), plain())
    frame = sa.read_frame(path, dims=["time", "city"])
    assert frame.index.names == ["time", "city"]
    assert frame["t"].tolist() == plain()["t"].values.ravel().tolist()
    sa.write_table(path, plain()["t"], columns="city")
    if suffix == "xlsx":
        _drop_record(path)
    wide = sa.read_dataset(path, dims=["time"], columns="city")
    xr.testing.assert_identical(wide.rename(array="t"), plain()[["t"]])


def _drop_record(path: Path) -> None:
    with zipfile.ZipFile(path) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    with zipfile.ZipFile(path, "w") as package:
        for name, content in parts.items():
            if name == "docProps/custom.xml":
                content = re.sub(rb"<property .*</property>", b"", content)
            package.writestr(name, content)


def edit(path: Path, change: Any) -> None:
    book = openpyxl.load_workbook(path)
    rows = [[cell.value for cell in row] for row in book.active.iter_rows(min_row=2)]
    changed = change(rows)
    book.active.delete_rows(2, len(rows))
    for row in changed:
        book.active.append(row)
    table = book.active.tables["table"]
    table.ref = table.autoFilter.ref = re.sub(r"\d+$", str(len(changed) + 1), table.ref)
    book.save(path)


@pytest.mark.filterwarnings("ignore:.*read_columns:sheetarray.SheetArrayWarning")
@pytest.mark.parametrize("columns", [None, "y", "x"])
def test_sorted_rows_without_coordinates_stand_where_their_numbers_say(columns: str | None, tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    grid = DATASETS["no coordinates"]()
    sa.write_table(path, grid, columns=columns)
    edit(path, lambda rows: sorted(rows, key=lambda row: -float(row[-1])))
    xr.testing.assert_identical(sa.read_dataset(path, table="table"), grid)


def test_frames_come_back_with_their_index_and_kinds(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"kind": pd.Categorical(["a", "b", "a"]), "n": np.array([1, 2, 3], "i2"), "text": ["x", "", "z"]},
        index=pd.MultiIndex.from_tuples([("Bern", 1), ("Bern", 2), ("Ulm", 1)], names=["city", "year"]),
    )
    sa.write_table(tmp_path / "t.xlsx", frame)
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "t.xlsx", table="Table"), frame)
    counted = pd.DataFrame({"a": [1.5, 2.5]})
    sa.write_table(tmp_path / "t.xlsx", counted)
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "t.xlsx", table="table"), counted)


def test_tables_of_one_workbook_have_names_and_numbers_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    for sheet in ("Sales", "sales (2)", "wet"):
        sa.write_table(path, plain(), sheet=sheet, mode="a")
    sa.write_table(path, plain()["t"], sheet="Sales", mode="a", if_sheet_exists="replace")
    book = openpyxl.load_workbook(path)
    tables = [table for sheet in book for table in sheet.tables.values()]
    assert [table.displayName for table in tables] == ["Sales", "sales__2_", "wet_3"]
    assert len({table.id for table in tables}) == 3
    names = [name.casefold() for name in [*book.defined_names, *(table.displayName for table in tables)]]
    assert len({*names}) == len(names)
    xr.testing.assert_identical(sa.read_dataset(path, ["t"], table="sales"), plain()[["t"]])
    with zipfile.ZipFile(path) as package:
        assert sorted(name for name in package.namelist() if "/tables/" in name) == [
            f"xl/tables/table{number}.xml" for number in (2, 3, 4)
        ]


def test_a_table_is_found_after_it_or_its_sheet_was_renamed(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write_table(path, plain())
    sa.write(path, {"beside": [1.5]}, mode="a")
    book = openpyxl.load_workbook(path)
    book["table"].title = "another"
    book.save(path)
    assert sa.read_dataset(path, table="table").sizes == {"time": 4, "city": 3}
    sa.write_table(path, plain())
    book = openpyxl.load_workbook(path)
    table = book.active.tables.pop("table")
    table.name = table.displayName = "Renamed"
    book.active.add_table(table)
    book.save(path)
    assert sa.read_dataset(path, table="renamed").sizes == {"time": 4, "city": 3}
    with pytest.raises(sa.NotFoundError, match="'Renamed'"):
        sa.read_dataset(path, table="table 2")


def test_labels_that_are_damaged_or_cannot_be_kept_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with pytest.warns(sa.SheetArrayWarning, match=r"without its labels: attrs\['x'\]"):
        sa.write_table(path, plain().assign_attrs(x=b"bytes"))
    xr.testing.assert_identical(sa.read_dataset(path, table="table", dims=["time", "city"]), plain())
    for damage in ({"labels": "{}"}, {"axes": 3}, {"dtypes": 3}):
        sa.write_table(path, plain())
        book = openpyxl.load_workbook(path)
        change_record(book, lambda note, damage=damage: note.update(damage))
        book.save(path)
        with pytest.warns(sa.SheetArrayWarning, match="labels of the table are damaged"):
            assert sa.read_dataset(path, table="table").sizes == {"row": 12}


@pytest.mark.filterwarnings("ignore:.*read_columns:sheetarray.SheetArrayWarning")
def test_tables_are_valid_and_other_programs_keep_them(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write_table(path, rich())
    saved = resave(path, "xlsx", tmp_path / "libreoffice")
    xr.testing.assert_allclose(sa.read_dataset(saved, table="table"), rich(), rtol=1e-14)
    assert sa.read_dataset(saved, table="table").attrs == rich().attrs
    edit(path, lambda rows: rows)  # openpyxl
    xr.testing.assert_allclose(sa.read_dataset(path, table="table"), rich(), rtol=1e-14)


@pytest.mark.filterwarnings("ignore:.*read_columns:sheetarray.SheetArrayWarning")
def test_tables_have_no_schema_errors(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write_table(path, rich(), sheet="a <b> & c")
    sa.write_table(path, {'x "<&>\n_x000A_': [1.5], "y": ["z"]}, sheet="b", mode="a", verify=False)
    assert not schema_errors(path)
