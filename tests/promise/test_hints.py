"""Every hint is true when it is followed: the commands and options that messages name are run.

Each hint of the package that names a command, an option or a call is followed here, or listed with the test that
follows it elsewhere, or with the reason why nothing follows it.
"""

from __future__ import annotations

import ast
import datetime
import io
import json
import re
import shlex
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from adapters_deleted import DELETED
from click.testing import Result
from command_line import run_command
from mixtures import edited_sheet

import sheetarray as sa

pytestmark = pytest.mark.skipif(bool(DELETED), reason="an adapter was deleted, and its hints with it")

NUMBERS = np.arange(12.0) / 7


SWAPPED = {f"A{31 - row}": (NUMBERS[11 - row] + 1) * 1000 for row in range(12)}  # in another order besides
EDITED: dict[str, tuple[str, dict[str, Any]]] = {  # by a file: of which other one it is, and what was typed into cells
    "edited_plain": ("plain", {"A29": 99.5}),
    "edited_guarded": ("guarded", {"A29": 99.5}),
    "grown": ("plain", {"A32": 7, "B32": 7}),
    "renamed": ("plain", {"A1": "tt"}),
    "dated": ("words", {"A21": datetime.date(2024, 2, 29)}),
    "turned": ("plain", {"A12": "column-major"}),
}


def make_files(folder: Path):
    """Write one file of each kind that a hint is about."""
    sa.write(folder / "plain.xlsx", {"t": NUMBERS, "n": np.arange(12)}, guard=False)
    sa.write(folder / "guarded.xlsx", {"t": NUMBERS}, guard=True)
    sa.write(folder / "words.xlsx", {"s": np.array(["a", "b"])})
    for name, (source, cells) in EDITED.items():
        type_into(folder / f"{source}.xlsx", folder / f"{name}.xlsx", cells)
    sa.write(folder / "run.csv", {"t": NUMBERS})
    sa.write(folder / "even.csv", {"t": NUMBERS, "n": np.arange(12)})
    sa.write(folder / "three.csv", {"a": np.arange(3), "b": np.arange(4), "c": np.arange(5)})
    sa.write(folder / "pairs.csv", {"a": np.arange(3), "b": np.arange(4), "c": np.arange(4), "d": np.zeros((2, 2))})
    (folder / "book.csv").write_bytes((folder / "plain.xlsx").read_bytes())
    text = (folder / "run.csv").read_text()
    (folder / "latin.csv").write_bytes(text.replace("t\n", "größe\n", 1).encode("cp1252"))
    older = ["ndarray", *sa.to_linear(np.array([2.5]))[3:]]
    for name, content in {
        "uneven.csv": (folder / "even.csv").read_text() + "3.5,\n",
        "grown.csv": text + "3.5\n",
        "blank.csv": text.replace("\n0.0\n", "\n\n"),
        "word.csv": text.replace("\n0.0\n", "\nn/a\n"),
        "text": text,
        "table.csv": "id,t\n1,2.5\n",
        "long.csv": "x\n0.12345678901234567891\n0.5\n",
        "older.json": json.dumps({"t": older}),
    }.items():
        (folder / name).write_text(content)


def type_into(source: Path, target: Path, cells: dict[str, Any]):
    shutil.copy(source, target)
    with edited_sheet(target) as sheet:
        for address, value in cells.items():
            sheet[address] = value


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    make_files(folder)
    return folder


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(words: str) -> Result:
    """Run a command; what stands behind `<` is the file that it reads from its standard input."""
    words, _, file = words.partition(" < ")
    return run_command(*shlex.split(words), input=Path(file).read_bytes() if file else None)


# On the command line: the hint, what brings it about, what it names, and the commands that do as it says.
COMMANDS: list[tuple[str, str, str, list[str]]] = [
    (
        "write it with guard=True",
        "restore plain.xlsx o.xlsx",
        r"write it with sheetarray (convert --write guard=true)",
        ["{} plain.xlsx new.xlsx", "restore new.xlsx o.xlsx"],
    ),
    (
        "pass options of a format as {}",
        "convert plain.xlsx o.xlsx --guard",
        r"as (--write guard=)\.\.",
        ["convert plain.xlsx o.xlsx {}true", "restore o.xlsx back.xlsx"],
    ),
    (
        "pass options of a format as {}",
        "check guarded.xlsx --guard",
        r"as (--read guard=)\.\.",
        ["check guarded.xlsx {}false"],
    ),
    (
        "these arrays have different lengths: name one",
        "export three.csv o.csv",
        r"name one, such as (\w+)",
        ["export three.csv o.csv {}"],
    ),
    (
        "name those that belong together",
        "export pairs.csv o.csv",
        r"belong together: ([\w, ]+)",
        ["export pairs.csv o.csv {}"],
    ),
    (
        "missing='nan' reads blanks as NaN",
        "convert blank.csv o.json",
        r"(--missing nan)",
        ["convert blank.csv o.json {}"],
    ),
    (
        "missing='nan' reads words for missing values as NaN",
        "convert word.csv o.json",
        r"(--missing nan)",
        ["convert word.csv o.json {}"],
    ),
    (
        "resize=True reads the cells, sa.accept",
        "convert grown.csv o.json",
        r"(--read resize=true)",
        ["convert grown.csv o.json {}"],
    ),
    (
        "resize=True reads the cells, sa.accept",
        "convert grown.csv o.json",
        r"sheetarray (accept) corrects",
        ["{} grown.csv", "check grown.csv"],
    ),
    (
        "resize=True reads the cells, sa.accept",
        "check grown.csv",
        r"sheetarray (convert --read resize=true)",
        ["{} grown.csv o.json"],
    ),
    (
        "resize=True reads them, sa.accept corrects",
        "check grown.xlsx",
        r"sheetarray (accept) corrects",
        ["{} grown.xlsx", "check grown.xlsx"],
    ),
    (
        "it has {}",
        "info grown.csv --read strict=true --read foo=1",
        r"it has .*\b(resize)\b",
        ["info grown.csv --read {}=true"],
    ),
    (
        "if the change was meant, sa.accept takes it",
        "check turned.xlsx",
        r"sheetarray (accept) takes it",
        ["{} turned.xlsx", "check turned.xlsx"],
    ),
    (
        "write with guard=True, and check names the cells",
        "check edited_plain.xlsx",
        r"write with sheetarray (convert --write guard=true), and check names",
        ["{} edited_plain.xlsx o.xlsx", "check o.xlsx"],
    ),
    (
        "sa.accept takes the change",
        "check edited_plain.xlsx",
        r"sheetarray (accept) takes the change",
        ["{} edited_plain.xlsx", "check edited_plain.xlsx"],
    ),
    (
        "sa.accept takes the change, sa.restore gives back what was written",
        "check edited_guarded.xlsx",
        r"sheetarray (restore) gives back",
        ["{} edited_guarded.xlsx o.xlsx", "check o.xlsx", "diff o.xlsx guarded.xlsx"],
    ),
    (
        "sa.accept takes the change, sa.restore gives back what was written",
        "check edited_guarded.xlsx",
        r"sheetarray (accept) takes",
        ["{} edited_guarded.xlsx", "check edited_guarded.xlsx"],
    ),
    (
        "write the array again to store its checksums",
        "check renamed.xlsx",
        r"(write) the array again",
        ["convert renamed.xlsx o.xlsx", "check o.xlsx"],
    ),
    (
        'dates="text" writes text',
        "check dated.xlsx",
        r"sheetarray (convert --write dates=text) writes text",
        ["{} dated.xlsx o.xlsx", "check o.xlsx"],
    ),
    (
        "--write {}=t=0.0",
        "convert run.csv o.xlsx --write formats=3",
        r"(--write formats=t=0.0)",
        ["convert run.csv o.xlsx {}"],
    ),
    ("name format='xlsx'", "info book.csv", r"(--from xlsx)", ["info book.csv {}"]),
    (
        "name the format with {}:",
        "info text",
        r"name the format with (--from): .*csv",
        ["info text {} csv"],
    ),
    (
        "--name NAME converts only that array",
        "convert run.csv o.json t",
        r"(--name) NAME",
        ["convert run.csv o.json {} t"],
    ),
    ("{} {}", "convert run.csv -", r"(--to) .*\bjson\b", ["convert run.csv - {} json"]),
    ("{} {}", "table table.csv -o -", r"(--to) .*\bjson\b", ["table table.csv -o - {} json"]),
    (
        "name the encoding, for example encoding='cp1252'",
        "convert latin.csv o.json",
        r"(--read encoding=cp1252)",
        ["convert latin.csv o.json {}"],
    ),
    (
        "read_columns reads ordinary tables, and sheetarray",
        "convert table.csv o.json",
        r"sheetarray (table -o out.xlsx) converts",
        ["{} table.csv"],
    ),
    ("list all arrays with sheetarray info", "table run.csv", r"with sheetarray (info)", ["{} run.csv"]),
    ("", "table long.csv", r"(--dtype float64)", ["table long.csv {}"]),
    (
        "the page of a merge saves them (sheetarray page --merge)",
        "merge plain.xlsx edited_plain.xlsx --choices older.json",
        r"(page --merge)",
        ["{} plain.xlsx edited_plain.xlsx -o o.html"],
    ),
    (
        "name the file to write with -o",
        "accept - --from csv",
        r"with (-o)",
        ["accept grown.csv {} o.csv", "check o.csv"],
    ),
    (
        "for example delimiter=';'",
        "convert run.csv o.csv --write delimiter",
        r"(delimiter=';')",
        ["convert run.csv o.csv --write {}"],
    ),
    ("{} {}", "convert run.csv -", r"(--to) .*\bcsv\b", ["convert run.csv - {} csv"]),
    ("{} --help says how it is used", "info", r"sheetarray (info --help) says", ["{}"]),
    (
        "leave --json and --open out",
        "page run.csv -o - --json",
        r"leave (--json) and (?:--open) out",
        ["page run.csv -o -"],
    ),
    (
        "leave --name out",
        "page --merge plain.xlsx edited_plain.xlsx --name t",
        r"leave (--name) out",
        ["page --merge plain.xlsx edited_plain.xlsx -o o.html"],
    ),
    (
        "give --merge too",
        "page plain.xlsx edited_plain.xlsx --key t",
        r"give (--merge) too",
        ["page {} plain.xlsx edited_plain.xlsx --key t -o o.html"],
    ),
    (
        "sheetarray info lists arrays and dimensions",
        "page run.csv --slice t[99]",
        r"sheetarray (info) lists",
        ["{} run.csv"],
    ),
    (
        "name the page with -o page.html",
        "page - --from csv < run.csv",
        r"with (-o page.html)",
        ["page - --from csv {} < run.csv"],
    ),
    (
        "-o OUT writes the columns as arrays",
        "table table.csv --write bom=true",
        r"(-o) OUT",
        ["table table.csv {} o.csv --write bom=true"],
    ),
    (
        "resize=True reads each array with its own length",
        "convert uneven.csv o.json --read resize=true",
        r"(--read resize=true) reads each",
        ["convert uneven.csv o.json {}"],
    ),
]


@pytest.mark.parametrize(
    ("words", "named", "followed"), [row[1:] for row in COMMANDS], ids=[row[1] for row in COMMANDS]
)
@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")
def test_what_a_hint_of_the_command_line_names_works(words, named, followed, folder):
    said = run(words)
    text = f"{said.stdout}{said.stderr}"
    match = re.search(named, text)
    assert match is not None, text
    for command in followed:
        after = run(command.format(match[1].replace(",", "")))
        assert after.exit_code == 0, (command, after.stdout, after.stderr)


def test_a_change_that_accept_takes_is_said(folder):
    """Without a guard nobody knows which elements were edited; with one each is said."""
    assert run("check edited_plain.xlsx").exit_code == 1
    assert run("accept edited_plain.xlsx").stdout == "edited_plain.xlsx: accepted as it is\n"
    assert run("check edited_plain.xlsx").exit_code == 0
    first, *lines = run("accept edited_guarded.xlsx").stdout.splitlines()
    assert first == "edited_guarded.xlsx: accepted: 1 element changed in t"
    assert any("t[9], cell arrays!A29" in line for line in lines)
    assert run("accept edited_guarded.xlsx").stdout == "edited_guarded.xlsx: accepted as it is\n"


def test_a_change_of_all_elements_is_told_by_check_and_diff(folder):
    sa.write(folder / "sent.xlsx", {"t": NUMBERS + 1})
    type_into(folder / "sent.xlsx", folder / "returned.xlsx", SWAPPED)
    assert "every number was multiplied by 1000" in " ".join(run("check returned.xlsx").stdout.split())
    assert "t: every number was multiplied by 1000" in run("diff sent.xlsx returned.xlsx").stdout
    assert run("accept returned.xlsx").exit_code == 0
    assert run("check returned.xlsx").exit_code == 0


# In Python: the hint, what brings it about, and what does as it says.


def at_end(path: str) -> io.BytesIO:
    file = io.BytesIO(Path(path).read_bytes())
    file.seek(0, io.SEEK_END)
    return file


def from_start(file: io.BytesIO) -> io.BytesIO:
    file.seek(0)
    return file


def wide_of(path: str) -> io.BytesIO:
    return io.BytesIO(Path(path).read_text().encode("utf-16-le"))


def write_points() -> bytes:
    """Return the arrays of a file between semicolons, with numbers whose points could part thousands."""
    file = io.BytesIO()
    sa.write(file, {"t": np.array([1.234, 5.678]), "n": np.array([1, 2])}, format="csv", delimiter=";")
    return file.getvalue()


def make_large() -> str:
    """Write a file of NetCDF with one array of which no element is stored, beside a small one."""
    import h5py

    sa.write("large.nc", {"t": np.array([1.5])})
    with h5py.File("large.nc", "a") as file:
        file.create_dataset("large", (10**10,), "i1", chunks=(1000,))
    return "large.nc"


def make_groups() -> str:
    """Write a file of NetCDF with an array in a group."""
    xr.Dataset({"t": ("x", [1.5])}).to_netcdf("groups.nc", group="north", engine="h5netcdf")
    return "groups.nc"


def make_half_guarded() -> str:
    """Write two arrays, of which the guard has one."""
    sa.write("half.xlsx", {"t": [1.5]}, guard=True)
    sa.write("half.xlsx", {"u": [2.5]}, guard=False, mode="a", sheet="more")
    return "half.xlsx"


def make_table(change: Callable[[pl.DataFrame], pl.DataFrame]) -> str:
    """Write a table of an array with labels, and change it."""
    grid = xr.Dataset({"t": (("y", "x"), np.arange(6.0).reshape(2, 3) + 0.5)}, {"y": [1, 2], "x": [3, 4, 5]})
    sa.write_table("table.xlsx", grid.assign(code=("y", ["a", "b"])))
    book = openpyxl.load_workbook("table.xlsx")
    rows = [[cell.value for cell in row] for row in book.active.iter_rows()]
    table = change(pl.DataFrame(rows[1:], schema=rows[0], orient="row"))
    book.active.delete_rows(1, len(rows))
    for row in [table.columns, *table.rows()]:
        book.active.append(row)
    parts = book.active.tables["table"]
    parts.ref = parts.autoFilter.ref = f"A1:{openpyxl.utils.get_column_letter(table.width)}{table.height + 1}"
    for column, name in zip(parts.tableColumns, table.columns, strict=False):
        column.name = name
    del parts.tableColumns[table.width :]
    book.save("table.xlsx")
    return "table.xlsx"


def make_lines() -> Path:
    """Write a CSV file whose columns are between semicolons, and most of its cells commas of text."""
    Path("commas.csv").write_text("x;y\n1;" + "a," * 200_000 + "\n")
    return Path("commas.csv")


ODD_QUOTES = b'a,b\n"x"y,1\nz,2\nw,3\n'
CALLS: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
    ("missing='nan' reads blanks as NaN", lambda: sa.read("blank.csv"), lambda: sa.read("blank.csv", missing="nan")),
    (
        " reads it as missing",
        lambda: sa.read_columns(io.StringIO("t\n1.5\n?\n"), dtype="float64", format="csv"),
        lambda: sa.read_columns(io.StringIO("t\n1.5\n?\n"), dtype="float64", format="csv", na_values="?"),
    ),
    (
        'read_columns(.., as_="dataset") reads an ordinary table',
        lambda: sa.read_dataset("table.csv"),
        lambda: sa.read_columns("table.csv", as_="dataset"),
    ),
    (
        'read_columns(.., as_="pandas") reads an ordinary table',
        lambda: sa.read_frame("table.csv"),
        lambda: sa.read_columns("table.csv", as_="pandas"),
    ),
    (
        "missing='nan' reads words for missing values as NaN",
        lambda: sa.read("word.csv"),
        lambda: sa.read("word.csv", missing="nan"),
    ),
    (
        "resize=True reads the cells, sa.accept",
        lambda: sa.read("grown.csv"),
        lambda: sa.read("grown.csv", resize=True),
    ),
    (
        "resize=True reads the cells, sa.accept",
        lambda: sa.read("grown.xlsx"),
        lambda: sa.read("grown.xlsx", resize=True),
    ),
    ("name format='xlsx'", lambda: sa.read("book.csv"), lambda: sa.read("book.csv", format="xlsx")),
    (
        "name the encoding, for example encoding='cp1252'",
        lambda: sa.read("latin.csv"),
        lambda: sa.read("latin.csv", encoding="cp1252"),
    ),
    (
        "name the byte order, encoding='",
        lambda: sa.read("run.csv", encoding="utf-16"),
        lambda: sa.read(wide_of("run.csv"), format="csv", encoding="utf-16-le"),
    ),
    (
        'write a quote inside a cell as two; quotechar="" reads quotes as text',
        lambda: sa.read_columns(io.BytesIO(ODD_QUOTES), format="csv"),
        lambda: sa.read_columns(io.BytesIO(ODD_QUOTES), format="csv", quotechar=""),
    ),
    (
        " makes it numbers",
        lambda: sa.read_columns(io.BytesIO(b"a;b\n1'234;x\n56;y\n"), format="csv"),
        lambda: sa.read_columns(io.BytesIO(b"a;b\n1'234;x\n56;y\n"), format="csv", thousands="'"),
    ),
    (
        "is a character cut? mend it, or name the encoding, encoding=",
        lambda: sa.read_columns(io.BytesIO(b"a,b\n\xc3\xa9,\x81\n"), format="csv"),
        lambda: sa.read_columns(io.BytesIO(b"a,b\n\xc3\xa9,\n"), format="csv"),
    ),
    (
        "name the encoding, for example encoding='mac_roman'",
        lambda: sa.read_columns(io.BytesIO(b"a,b\nx\x81,1\n"), format="csv"),
        lambda: sa.read_columns(io.BytesIO(b"a,b\nx\x81,1\n"), format="csv", encoding="mac_roman"),
    ),
    (
        "save the file anew with the number format 0; dtype=str reads the text",
        lambda: sa.read_columns(io.BytesIO(b"a,b\n1.23457E+11,1\n1.23457E+12,2\n"), format="csv"),
        lambda: sa.read_columns(io.BytesIO(b"a,b\n1.23457E+11,1\n1.23457E+12,2\n"), format="csv", dtype=str),
    ),
    (
        "decimal=',' or thousands=',' makes it numbers",
        lambda: sa.read_columns(io.BytesIO(b"a;b\n1,234;x\n5,678;y\n"), format="csv"),
        lambda: sa.read_columns(io.BytesIO(b"a;b\n1,234;x\n5,678;y\n"), format="csv", thousands=","),
    ),
    (
        "thousands='.' reads 1.234 as 1234",
        lambda: sa.read_columns(io.BytesIO(b"a;b\n1.234;x\n5.678;y\n"), format="csv"),
        lambda: sa.read_columns(io.BytesIO(b"a;b\n1.234;x\n5.678;y\n"), format="csv", thousands="."),
    ),
    (
        "decimal= decides it for all",
        lambda: sa.read_columns(io.BytesIO(b"a;b\n1,5;0.25\n2,5;0.75\n"), format="csv"),
        lambda: sa.read_columns(io.BytesIO(b"a;b\n1,5;0.25\n2,5;0.75\n"), format="csv", decimal="."),
    ),
    (
        "columns= names the columns to read",
        lambda: sa.read_columns(io.StringIO("a,,x\n1,,5\n2,,\n"), format="csv"),
        lambda: sa.read_columns(io.StringIO("a,,x\n1,,5\n2,,\n"), ["a"], format="csv"),
    ),
    (
        'comment="#" leaves out rows that begin with it',
        lambda: sa.read_columns(io.StringIO("a,b\n0,1\n# x\n1,2\n2,3\n"), format="csv"),
        lambda: sa.read_columns(io.StringIO("a,b\n0,1\n# x\n1,2\n2,3\n"), format="csv", comment="#"),
    ),
    (
        "skip_rows=0 with header= reads them as names or data",
        lambda: sa.read_columns(io.BytesIO(b"title,,\n,,\na,b,c\n1,2,3\n4,5,6\n"), format="csv"),
        lambda: sa.read_columns(io.BytesIO(b"title,,\n,,\na,b,c\n1,2,3\n4,5,6\n"), format="csv", skip_rows=2),
    ),
    (
        "quote delimiters in text, or name the marks",
        lambda: sa.read_columns(io.BytesIO(b"a,b\n1,2,3\n4,5\n6,7\n"), format="csv"),
        lambda: sa.read_columns(io.BytesIO(b'a,b\n1,"2,3"\n4,5\n6,7\n'), format="csv"),
    ),
    (
        "decimal= says which",
        lambda: sa.read(io.BytesIO(write_points()), format="csv"),
        lambda: sa.read(io.BytesIO(write_points()), format="csv", decimal="."),
    ),
    (
        "strict=False accepts the older form",
        lambda: sa.read("older.json", strict=True),
        lambda: sa.read("older.json", strict=False),
    ),
    (
        "file.seek(0) goes back to its beginning",
        lambda: sa.read(at_end("run.csv"), format="csv"),
        lambda: sa.read(from_start(at_end("run.csv")), format="csv"),
    ),
    (
        "reads one of them",
        lambda: sa.read(make_groups()),
        lambda: sa.read(make_groups(), group="north"),
    ),
    (
        "reads one of them",
        lambda: sa.convert(make_groups(), "north.csv"),
        lambda: sa.convert(make_groups(), "north.csv", reading={"group": "north"}),
    ),
    (
        "names= reads some of them",
        lambda: sa.read(make_large()),
        lambda: sa.read(make_large(), names=["t"]),
    ),
    (
        "reads the others",
        lambda: (pl.DataFrame({"n": [1], "p": [{"a": 1}]}).write_parquet("p.parquet"), sa.read("p.parquet")),
        lambda: sa.read("p.parquet", names=["n"]),
    ),
    (
        "read_dataset takes them",
        lambda: (sa.write("d.csv", {"a": [1, 2], "t": np.zeros((2, 2))}), sa.read_frame("d.csv", ["t"])),
        lambda: sa.read_dataset("d.csv"),
    ),
    (
        "names= chooses",
        lambda: sa.read_frame("three.csv"),
        lambda: sa.read_frame("three.csv", names=["a"]),
    ),
    (
        "pass dims= with all columns that tell rows apart, or read",
        lambda: sa.read_dataset(make_table(lambda rows: pl.concat([rows, rows.head(1)])), table="table"),
        lambda: sa.read_columns(make_table(lambda rows: pl.concat([rows, rows.head(1)])), table="table"),
    ),
    (
        "keep_edits=True keeps them as they are",
        lambda: sa.restore(make_half_guarded(), "restored.xlsx"),
        lambda: sa.restore(make_half_guarded(), "restored.xlsx", keep_edits=True),
    ),
    (
        "type the same value in all of these rows, or read the table with read_columns",
        lambda: sa.read_dataset(make_table(change_code), table="table"),
        lambda: sa.read_columns(make_table(change_code), table="table"),
    ),
    (
        "name the delimiter, for example delimiter=';'",
        lambda: sa.read_columns(make_lines(), delimiter=","),
        lambda: sa.read_columns(make_lines(), delimiter=";"),
    ),
    (
        "column.where(column.notna(), None) writes None without this warning",
        lambda: sa.write("s.csv", pd.DataFrame({"s": pd.Series(["a", np.nan], dtype=object)})),
        lambda: sa.write("s.csv", keep_none(pd.DataFrame({"s": pd.Series(["a", np.nan], dtype=object)}))),
    ),
    (
        "astype(float) keeps NaN",
        lambda: sa.write("n.csv", pd.DataFrame({"n": pd.Series([1, np.nan], dtype=object)})),
        lambda: sa.write("n.csv", pd.DataFrame({"n": pd.Series([1, np.nan], dtype=object).astype(float)})),
    ),
    (
        "makes lists without this warning",
        lambda: sa.write("l.csv", pd.DataFrame({"l": [(1, 2), (3, 4)]})),
        lambda: sa.write("l.csv", pd.DataFrame({"l": [[1, 2], [3, 4]]})),
    ),
    (
        "df.columns = [f'{name}_{number}'",
        lambda: sa.write("twice.csv", pd.DataFrame([[1, 2]], columns=["a", "a"])),
        lambda: sa.write("twice.csv", number_columns(pd.DataFrame([[1, 2]], columns=["a", "a"]))),
    ),
]


def change_code(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("z")).otherwise("code").alias("code"))


def keep_none(df: pd.DataFrame) -> pd.DataFrame:
    return df.assign(**{name: column.where(column.notna(), None) for name, column in df.items()})


def number_columns(df: pd.DataFrame) -> pd.DataFrame:
    df.columns = [f"{name}_{number}" for number, name in enumerate(df.columns)]
    return df


@pytest.mark.parametrize(("hint", "call", "followed"), CALLS, ids=[row[0] for row in CALLS])
@pytest.mark.filterwarnings("error::sheetarray.SheetArrayWarning")
def test_what_a_hint_of_python_names_works(hint, call, followed, folder):
    with pytest.raises((sa.SheetArrayError, sa.SheetArrayWarning, ValueError)) as caught:
        call()
    assert hint in str(caught.value)
    with warnings.catch_warnings():
        if not isinstance(caught.value, Warning):
            warnings.simplefilter("ignore", sa.SheetArrayWarning)
        followed()


def test_the_hints_of_a_finding_are_calls_in_python(folder):
    (finding,) = sa.check("edited_guarded.xlsx")
    assert finding.hint == "sa.accept takes the change, sa.restore gives back what was written"
    assert finding.message == f"t[9]: {NUMBERS[9]:.6g} -> 99.5"
    sa.accept("edited_guarded.xlsx", "accepted.xlsx")
    sa.restore("edited_guarded.xlsx", "restored.xlsx")
    for path, expected in (("accepted.xlsx", 99.5), ("restored.xlsx", NUMBERS[9])):
        assert list(sa.check(path)) == []
        assert sa.read(path, "t")[9] == expected


ELSEWHERE = {
    "compare one sheet at a time, sheet=": "changes/test_merge_sheets.py",
    "merge one sheet at a time, sheet=": "changes/test_merge_sheets.py",
    "is a delimiter missing? delimiter= names it": "tables/test_detection.py",
    "sheet= chooses another": "changes/test_tables_of_sheets.py",
    "sheet= reads one of the sheets": "tables/test_recorded_tables.py",
    "delete its word to read it as data; formulas such as =SUM(B2:B9) follow the rows": "tables/test_typed_totals.py",
    "names= reads the others": "tables/test_tables_in_google.py",
    "are these two? then name the delimiter, delimiter={}": "sheets/delimited/test_csv.py",
    "df.columns = df.columns.map(str) makes text of all": "labels/test_everyday.py",
    "renames the index": "labels/test_everyday.py",
    "makes text of them, and workbooks, .csv and .json keep them": "labels/test_everyday.py",
    "max_bytes= allows more": "interchange/awkward/test_awkward_hostile.py",
    "errors='replace' reads": "interchange/awkward/test_awkward_reading.py",
    "whitelist=[*WHITELIST, {}] reads it": "interchange/awkward/test_awkward_reading.py",
    "functions={{}: callable} supplies one": "interchange/awkward/test_awkward_functions.py",
    "compat='skip' leaves out such files": "scale/test_open_many.py",
    "skip_rows= and skip_footer= skip what": "sheets/excel/test_excel_tables.py",
    "name the delimiter if it is another one (delimiter=)": "sheets/delimited/test_csv_sparse.py",
    'write with cells="text" to keep every digit': "sheets/excel/test_excel_programs.py",
}
NOT_RUN = {
    "or log in as yourself: python -c 'import gspread; gspread.oauth()'": "a login of gspread's own, in a browser",
    "the next write removes it": "followed in sheets/google/test_google_writers.py",
    "if that process is dead, delete this sheet in the browser": "followed in sheets/google/test_google_writers.py",
    "put it back, or take the columns as they are with read_columns": "read_columns of such a table is followed above",
    "type these rows, or read the table with read_columns": "read_columns of such a table is followed above",
    "for example anon=true": "an option of services on the network, as S3 has it",
    "resize=True takes whole rows of {} elements": "it says why resize=True does not help: the cells are no whole rows",
    "if this is intended, read fewer arrays at a time with names=": "arrays of more bytes than a test may take",
    "xarray.open_dataset(path, engine='scipy') reads it": "needs SciPy, which nothing here does",
    "zarr.open_array(path)[...] reads it": "a call of zarr's own",
    "xarray.open_zarr(url) reads it": "a call of xarray's own, at a service",
    "names= reads other variables": "NetCDF has no kind of variable that h5netcdf reads and that is refused today",
    "names= chooses the arrays": "a hint of each file with one entry that is no array",
    "names= reads some": "a worksheet of openpyxl with cells a million rows apart",
    "openpyxl.load_workbook(path) without read_only=True": "a worksheet of millions of blank cells that openpyxl makes",
    "write the array without base=True": "no writer of this package makes the file that the hint is about",
    "write the arrays to a new file: read them with resize=True": "resize=True is followed above",
    "pass a longer timeout= for large arrays": "the service does not answer in time",
}
NAMED = re.compile(
    r"\bsheetarray (?!writes)[a-z]|\bsa\.[a-z]|(?<![\w-])--?[a-z]|\b\w+=|\bread_(columns|dataset)\b|\w\(\w*[^)]*\)"
    r"| = \["
)


def find_hints() -> Iterator[str]:
    """Yield the hints of the package, with {} for what differs."""
    for path in sorted(Path(sa.__file__).parent.rglob("*.py")):
        values: list[ast.expr] = []
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            match node:
                case (
                    ast.Call(func=ast.Name("Finding"), args=[_, _, _, hint, *_])
                    | ast.Call(func=ast.Name("UsageProblem"), args=[_, hint])
                ):
                    values.append(hint)
                case ast.Call(keywords=keywords):
                    values += [keyword.value for keyword in keywords if keyword.arg == "hint"]
                case ast.FunctionDef(name=name) if "hint" in name:
                    values += [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value]
        named = {value.id for value in values if isinstance(value, ast.Name)} | {"hint"}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in named:
                values.append(node.value)
        for value in values:
            yield from find_texts(value)


def find_texts(node: ast.expr) -> list[str]:
    """Return the texts that an expression may have."""
    match node:
        case ast.Constant(str() as text):
            return [text]
        case ast.JoinedStr(parts):
            return ["".join(part.value if isinstance(part, ast.Constant) else "{}" for part in parts)]  # type: ignore[misc]
        case ast.IfExp(_, one, other):
            return find_texts(one) + find_texts(other)
        case ast.BoolOp(_, parts):
            return [text for part in parts for text in find_texts(part)]
        case ast.BinOp(one, ast.Add(), other):
            return [first + second for first in find_texts(one) or ["{}"] for second in find_texts(other) or ["{}"]]
    return []


def test_every_hint_that_names_what_to_run_is_followed():
    hints = set(find_hints())
    assert len(hints) > 150
    known = {row[0] for row in (*COMMANDS, *CALLS)} - {""} | {*ELSEWHERE, *NOT_RUN}
    left = [hint for hint in hints if NAMED.search(hint) and not any(part in hint for part in known)]
    assert [hint for hint in left if not hint.startswith("prompt=")] == []  # which Excel shows beside a cell
    assert [part for part in known if not any(part in hint for hint in hints)] == []
    for place in ELSEWHERE.values():
        assert (Path(__file__).parents[1] / place).exists()
