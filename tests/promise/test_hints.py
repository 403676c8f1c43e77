"""Every hint is true when it is followed: the commands and options that messages name are run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from adapters_deleted import DELETED
from click.testing import Result
from command_line import run_command
from limits import set_limits

import sheetarray as sa

pytestmark = pytest.mark.skipif(bool({"csv", "json", "npz", "xlsx"} & set(DELETED)), reason="an adapter was deleted")

NUMBERS = np.arange(12.0) / 7
DAYS = np.array(["2024-02-29", "2024-03-01"], "M8[D]")


def make_files(folder: Path) -> None:
    """Write one file of each kind that a hint is about."""
    sa.write(folder / "plain.xlsx", {"t": NUMBERS, "n": np.arange(12)})
    sa.write(folder / "guarded.xlsx", {"t": NUMBERS}, guard=True)
    for name in ("plain", "guarded"):
        edit_cells(folder / f"{name}.xlsx", folder / f"edited_{name}.xlsx", lambda cells: cells.put(-2, 1, 99.5))
    grow = lambda cells: [cells.put(1, column, 7) for column in (1, 2)]  # noqa: E731
    edit_cells(folder / "plain.xlsx", folder / "grown.xlsx", grow)
    edit_cells(folder / "plain.xlsx", folder / "renamed.xlsx", lambda cells: cells.sheet.cell(1, 1, "tt"))
    sa.write(folder / "words.xlsx", {"s": np.array(["a", "b"])})
    edit_cells(folder / "words.xlsx", folder / "dated.xlsx", lambda cells: cells.put(0, 1, DAYS[0].item()))
    sa.write(folder / "run.csv", {"t": NUMBERS})
    text = (folder / "run.csv").read_text()
    (folder / "grown.csv").write_text(text + "3.5\n")
    (folder / "blank.csv").write_text(text.replace("\n0.0\n", "\n\n").replace("\r\n0.0\r\n", "\r\n\r\n"))
    (folder / "text").write_text(text)
    sa.write(folder / "three.csv", {"a": np.arange(3), "b": np.arange(4), "c": np.arange(5)})
    sa.write(folder / "pairs.csv", {"a": np.arange(3), "b": np.arange(4), "c": np.arange(4), "d": np.zeros((2, 2))})
    (folder / "book.csv").write_bytes((folder / "plain.xlsx").read_bytes())
    (folder / "latin.csv").write_bytes("größe\n1.5\n".encode("cp1252"))
    (folder / "table.csv").write_text("id,t\n1,2.5\n")
    (folder / "long.csv").write_text("x\n0.12345678901234567891\n0.5\n")
    (folder / "older.json").write_text(
        '{"t": ["ndarray", "shape", 1, "strides", 1, "offset", 0, "order", "row-major",'
        ' "dtype", "float64", "length", 1, "capacity", 1, "data", 2.5]}'
    )


class Cells:
    """The cells of the arrays of a workbook, for edits as people make them."""

    def __init__(self, sheet: Any) -> None:
        self.sheet, self.last = sheet, sheet.max_row

    def put(self, below: int, column: int, value: Any) -> None:
        """Type into a cell, counted from the last row."""
        self.sheet.cell(self.last + below, column, value)


def edit_cells(source: Path, target: Path, edit: Callable[[Cells], object]) -> None:
    book = openpyxl.load_workbook(source)
    edit(Cells(book["arrays"]))
    book.save(target)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(words: str) -> Result:
    return run_command(*shlex.split(words))


@pytest.mark.parametrize(
    ("words", "named", "followed"),
    [
        (
            "restore plain.xlsx o.xlsx",
            r"write it with sheetarray (convert --write guard=true)",
            ["{} plain.xlsx new.xlsx", "restore new.xlsx o.xlsx"],
        ),
        (
            "convert plain.xlsx o.xlsx --guard",
            r"as (--write guard=)\.\.",
            ["convert plain.xlsx o.xlsx {}true", "restore o.xlsx back.xlsx"],
        ),
        ("check guarded.xlsx --guard", r"as (--read guard=)\.\.", ["check guarded.xlsx {}false"]),
        ("export three.csv o.csv", r"name one, such as (\w+)", ["export three.csv o.csv {}"]),
        ("export pairs.csv o.csv", r"belong together: ([\w, ]+)", ["export pairs.csv o.csv {}"]),
        ("convert blank.csv o.json", r"(--missing nan)", ["convert blank.csv o.json {}"]),
        ("convert grown.csv o.json", r"(--read resize=true)", ["convert grown.csv o.json {}"]),
        ("convert grown.csv o.json", r"sheetarray (adopt) makes", ["{} grown.csv", "check grown.csv"]),
        ("check grown.csv", r"sheetarray (convert --read resize=true)", ["{} grown.csv o.json"]),
        ("check grown.xlsx", r"sheetarray (adopt) makes", ["{} grown.xlsx", "check grown.xlsx"]),
        ("info grown.csv --read strict=true --read foo=1", r"it has .*\b(resize)\b", ["info grown.csv --read {}=true"]),
        (
            "check edited_plain.xlsx",
            r"sheetarray (adopt) accepts it",
            ["{} edited_plain.xlsx", "check edited_plain.xlsx"],
        ),
        (
            "check edited_guarded.xlsx",
            r"sheetarray (restore) gives it back",
            ["{} edited_guarded.xlsx o.xlsx", "check o.xlsx", "diff o.xlsx guarded.xlsx"],
        ),
        (
            "check edited_guarded.xlsx",
            r"sheetarray (adopt) accepts",
            ["{} edited_guarded.xlsx", "check edited_guarded.xlsx"],
        ),
        ("check renamed.xlsx", r"(write) the array again", ["convert renamed.xlsx o.xlsx", "check o.xlsx"]),
        (
            "check dated.xlsx",
            r"sheetarray (convert --write dates=text) writes text",
            ["{} dated.xlsx o.xlsx", "check o.xlsx"],
        ),
        ("convert run.csv o.xlsx --write formats=3", r"(--write formats=t=0.0)", ["convert run.csv o.xlsx {}"]),
        ("info book.csv", r"(--from xlsx)", ["info book.csv {}"]),
        ("info text", r"(--from) names the format whatever the suffix: .*csv", ["info text {} csv"]),
        ("convert run.csv -", r"(--to) .*\bjson\b", ["convert run.csv - {} json"]),
        ("table table.csv -o -", r"(--to) .*\bjson\b", ["table table.csv -o - {} json"]),
        ("table latin.csv", r"(--read encoding=cp1252)", ["table latin.csv {}"]),
        ("convert table.csv o.json", r"by sheetarray (table)", ["{} table.csv"]),
        ("table run.csv", r"listed by sheetarray (info)", ["{} run.csv"]),
        ("table long.csv", r"(--dtype float64)", ["table long.csv {}"]),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_what_a_hint_of_the_command_line_names_works(words: str, named: str, followed: list[str], folder: Path) -> None:
    said = run(words)
    text = f"{said.stdout}{said.stderr}"
    match = re.search(named, text)
    assert match is not None, text
    for command in followed:
        after = run(command.format(match[1].replace(",", "")))
        assert after.exit_code == 0, (command, after.stdout, after.stderr)


def test_a_change_that_adopt_accepts_is_said(folder: Path) -> None:
    said = run("adopt edited_plain.xlsx")
    assert said.stdout.startswith("edited_plain.xlsx: 1 change accepted\n")
    assert "t[9] was edited" in said.stdout
    assert run("adopt edited_plain.xlsx").stdout == (
        "edited_plain.xlsx: no array has another length; nothing to change\n"
    )


def test_a_change_of_all_elements_is_told_by_diff(folder: Path) -> None:
    sa.write(folder / "sent.xlsx", {"t": NUMBERS + 1})
    times = lambda cells: [cells.put(-row, 1, (NUMBERS[11 - row] + 1) * 1000) for row in range(12)]  # noqa: E731
    edit_cells(folder / "sent.xlsx", folder / "returned.xlsx", times)
    said = run("check returned.xlsx")
    assert re.search(r"sheetarray (diff) tells with a copy", " ".join(said.stdout.split())) is not None
    assert "t: every number was multiplied by 1000" in run("diff sent.xlsx returned.xlsx").stdout
    assert run("adopt returned.xlsx").exit_code == 0
    assert run("check returned.xlsx").exit_code == 0


def test_a_page_too_large_is_served_or_shows_fewer_arrays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, page_elements=30_000)
    monkeypatch.setattr("sheetarray.pages.serving.ServedPage.wait", lambda _: None)
    sa.write(folder / "big.npz", {"t": np.arange(20_000.0), "u": np.arange(20_000.0)})
    said = run("view big.npz")
    match = re.search(r": (--serve) shows any number, (--name) fewer arrays\n", said.stderr)
    assert match is not None, said.stderr
    assert run(f"view big.npz {match[1]}").exit_code == 0
    assert run(f"view big.npz -o o.html {match[2]} t").exit_code == 0
    with pytest.raises(sa.LimitError, match=r"serve=True shows any number, names= fewer arrays"):
        sa.view(folder / "big.npz")
    with sa.view(folder / "big.npz", serve=True) as page:
        assert page.url
    assert sa.view(folder / "big.npz", names=["t"]).html


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (lambda **how: sa.read("blank.csv", **how), "missing"),
        (lambda **how: sa.read("grown.csv", **how), "resize"),
        (lambda **how: sa.read("grown.xlsx", **how), "resize"),
        (lambda **how: sa.read("book.csv", **how), "format"),
        (lambda **how: sa.read_columns("latin.csv", **how), "encoding"),
        (lambda **how: sa.read("older.json", **{"strict": True, **how}), "strict"),
    ],
    ids=["missing", "resize csv", "resize xlsx", "format", "encoding", "strict"],
)
@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")
def test_what_a_hint_of_python_names_works(call: Callable[..., object], key: str, folder: Path) -> None:
    with pytest.raises((sa.SheetArrayError, ValueError)) as caught:
        call()
    match = re.search(rf"\b{key}=(?:'([^']*)'|\"([^\"]*)\"|(True|False))", str(caught.value))
    assert match is not None, str(caught.value)
    value: Any = match[1] or match[2] or match[3] == "True"
    assert call(**{key: value})
