"""Large files are converted, compared and checked in memory that does not grow with them, with the same results."""

from __future__ import annotations

import mmap
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from adapters_deleted import DELETED
from children import run_limited
from command_line import run_command
from limits import set_limits

import sheetarray as sa
from sheetarray.api import open_arrays
from sheetarray.columns.pieced_arrays import PiecedArrays
from sheetarray.formats.contract import Source
from sheetarray.sheets.json import adapter as checking

RUN = """
import contextlib, resource, sys
import numpy, polars, sheetarray as sa
from sheetarray.cli import main
from sheetarray.files import Source, reading
polars.DataFrame({"a": ["1"]}).select(polars.col("a").cast(float))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with contextlib.suppress(SystemExit):
    main(sys.argv[1:])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def grown_by(*arguments: Any) -> float:
    """Return by how many mebibytes a command line grows."""
    return float(run_limited(RUN, *arguments, seconds=60).output.split()[-1])


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "large.csv"
    with sa.open_writer(path) as writer:
        for number in range(7):
            rng = np.random.default_rng(number)
            writer.append({"t": rng.normal(size=(500, 1000)), "n": np.arange(500)})
    assert path.stat().st_size > 65_000_000
    assert grown_by("convert", path, tmp_path / "out.csv") < 150  # read at once 210
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()
    assert grown_by("check", path) < 170
    assert grown_by("diff", path, tmp_path / "out.csv") < 150
    assert grown_by("convert", path, tmp_path / "large.json") < 150
    assert grown_by("check", tmp_path / "large.json") < 150  # read at once 490


@pytest.fixture
def all_are_large(monkeypatch):
    """Let all arrays together be many elements."""
    set_limits(monkeypatch, many_elements=1)


@pytest.fixture
def in_pieces(all_are_large, monkeypatch) -> Iterator[list[str]]:
    """Let every file be a large one, and tell which arrays have come in pieces."""
    names: list[str] = []
    append = PiecedArrays.append

    def note(self: PiecedArrays, name: str, elements: Any):
        names.append(name)
        append(self, name, elements)

    monkeypatch.setattr(PiecedArrays, "append", note)
    yield names
    assert names or DELETED, "nothing was read in pieces"


@pytest.mark.parametrize("suffix", ["csv", "json", "xlsx"])
def test_blocks_of_a_large_column_major_array_are_those_of_reading_at_once(tmp_path, in_pieces, monkeypatch, suffix):
    turned = np.arange(4200.0).reshape((60, 70), order="F")
    path = tmp_path / f"run.{suffix}"
    sa.write(path, {"turned": turned, "n": np.arange(60)}, **({"guard": False} if suffix == "xlsx" else {}))
    set_limits(monkeypatch, mapped_elements=4096)
    for rows in (1, 59, 60, 100):
        parts = list(sa.iter_blocks(path, "turned", rows=rows))
        assert [len(part) for part in parts[:-1]] == [rows] * (len(parts) - 1)
        assert np.concatenate(parts).tobytes() == turned.tobytes()
    assert {*in_pieces} == {"turned"}


@pytest.mark.parametrize(("suffix", "to"), [("csv", "csv"), ("json", "csv"), ("csv", "xlsx"), ("xlsx", "json")])
def test_the_bytes_are_those_of_reading_at_once(tmp_path, in_pieces, suffix, to):
    xr = pytest.importorskip("xarray")
    path = tmp_path / f"run.{suffix}"
    variables = {
        "t": (("x", "y"), np.random.default_rng(0).normal(size=(60, 70)), {"units": "K"}),
        "n": ("x", np.arange(60) - 2**62),
        "b": ("y", np.arange(70) % 3 == 0),
        "turned": (("x", "y"), np.arange(4200).reshape((60, 70), order="F")),
        "when": ("x", np.arange(60).astype("M8[D]").astype("M8[ns]")),
        "word": ("y", np.array([f"w{number}" for number in range(70)])),
    }
    sa.write(path, xr.Dataset(variables, {"y": np.arange(70.0)}))
    outs = [tmp_path / f"{name}.{to}" for name in ("once", "pieces", "command", "some", "some-once")]
    sa.convert(path, outs[1])
    assert {*in_pieces} == {"t", "n", "b", "turned", "when", "y"}
    assert run_command("convert", path, outs[2]).exit_code == 0
    sa.convert(path, outs[3], ["turned", "word"])
    with pytest.MonkeyPatch.context() as patch:
        set_limits(patch, many_elements=2**60)
        sa.convert(path, outs[0])
        sa.convert(path, outs[4], ["turned", "word"])
    assert outs[0].read_bytes() == outs[1].read_bytes() == outs[2].read_bytes()
    assert outs[3].read_bytes() == outs[4].read_bytes()
    assert sa.read(outs[1], ["turned"])["turned"].flags.f_contiguous
    arrays, _ = open_arrays(path)
    for name, array in sa.read(path).items():
        assert (arrays[name].dtype, arrays[name].strides) == (array.dtype, array.strides)
        assert arrays[name].tolist() == array.tolist()


def test_the_differences_are_those_of_reading_at_once(tmp_path, in_pieces):
    arrays: dict[str, Any] = {"t": np.random.default_rng(0).normal(size=(60, 70)), "n": np.arange(9), "s": ["a", "b"]}
    sa.write(tmp_path / "a.csv", arrays)
    changed = {"t": arrays["t"].copy(), "n": np.arange(10), "s": ["a", "c"]}
    changed["t"][3, 5] += 1
    sa.write(tmp_path / "b.xlsx", changed)
    command = ["diff", str(tmp_path / "a.csv"), str(tmp_path / "b.xlsx"), "--json"]
    result = run_command(*command)
    with pytest.MonkeyPatch.context() as patch:
        set_limits(patch, many_elements=2**60)
        once = run_command(*command)
    assert result.exit_code == 1
    assert result.output == once.output
    assert {*in_pieces} == {"t", "n"}


def test_what_comes_in_pieces_has_limits(tmp_path, monkeypatch):
    def comes_in_pieces(arrays: dict[str, Any], names: list[str] | None = None, **options: Any) -> bool:
        sa.write(tmp_path / "run.csv", arrays)
        read, _ = open_arrays(tmp_path / "run.csv", names, **options)
        return not any(array.flags.writeable for array in read.values())

    set_limits(monkeypatch, many_elements=100)
    long = {"t": np.zeros(100)}
    for size in (99, 100, 101):
        assert comes_in_pieces({"t": np.zeros(size)}) == (size >= 100)
    assert comes_in_pieces({str(number): np.zeros(1) for number in range(100)})
    assert comes_in_pieces(long, missing="nan")
    assert comes_in_pieces(long, delimiter=",")
    assert not comes_in_pieces(long, resize=True)  # all cells tell how long the arrays are
    with pytest.raises(sa.NotFoundError, match="absent"):
        comes_in_pieces(long, ["absent"])
    for limit, wanted in ((799, False), (800, True), (801, True)):
        set_limits(monkeypatch, bytes_of_pieces=limit)
        assert comes_in_pieces(long) == wanted


@pytest.mark.parametrize("suffix", [".csv", ".json", ".xlsx"])
def test_an_awkward_array_is_converted_beside_numbers_in_pieces(tmp_path, in_pieces, suffix):
    rows = [{"x": 1.5, "y": [1, 2]}, {"x": -0.0, "y": []}]
    source, target = tmp_path / f"run{suffix}", tmp_path / "copy.awkd"
    sa.write(source, {"e": ak.Array(rows), "t": np.arange(5.0)}, **({"guard": False} if suffix == ".xlsx" else {}))
    sa.convert(source, target)
    assert sa.read(target, ["e"])["e"].tolist() == rows
    assert set(in_pieces) == {"t", "e-x", "e-y-counts", "e-y-content"}


@pytest.mark.usefixtures("all_are_large")
def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path):
    path = tmp_path / "run.csv"
    sa.write(path, {"t": np.arange(9000.0)})
    content = path.read_bytes()

    def save_again(done: int, total: int):
        path.write_bytes(content + b"\n")

    with pytest.raises(sa.FormatError, match="has changed since its first rows were read"):
        sa.convert(path, tmp_path / "copy.json", reading={"progress": save_again})


@pytest.mark.usefixtures("all_are_large")
@pytest.mark.parametrize("row", [20, 300, 899])
def test_a_wrong_cell_is_an_error_wherever_it_stands(tmp_path, monkeypatch, row):
    path = tmp_path / "run.csv"
    sa.write(path, {"t": np.arange(900.0), "s": np.array(["a", "=b"] * 300)})
    set_limits(monkeypatch, csv_piece=1000, small_text=1000)
    assert list(sa.check(path)) == []
    lines = path.read_bytes().split(b"\n")
    lines[row - 1] = b"x" + lines[row - 1]
    path.write_bytes(b"\n".join(lines))
    (tmp_path / "out.csv").write_text("old")
    result = run_command("convert", path, tmp_path / "out.csv")
    assert result.exit_code == 2
    assert f"A{row}" in result.stderr
    assert (tmp_path / "out.csv").read_text() == "old"
    assert [finding.location for finding in sa.check(path)] == [f"A{row}"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out.csv", "run.csv"]


def edit_workbook(path: Path, edits: dict[str, str]):
    """Edit cells as another program does, which keeps the record of what was written."""
    with zipfile.ZipFile(path) as book:
        members = {name: book.read(name) for name in book.namelist()}
    part = "xl/worksheets/sheet1.xml"
    for before, after in edits.items():
        assert members[part].count(before.encode()) == 1, before
        members[part] = members[part].replace(before.encode(), after.encode())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in members.items():
            book.writestr(name, content)


@pytest.mark.parametrize("guard", [False, True])
@pytest.mark.parametrize(
    "edits",
    [
        {},
        {"<v>0.123456789</v>": "<v>0.12345679</v>"},
        {"<v>0.123456789</v>": "<v>7</v>"},
        {"<v>0.123456789</v>": ""},
        {"<v>0.123456789</v>": "<f>1+1</f><v>0.123456789</v>"},
        {"<v>4711</v>": "<v>x</v>"},
    ],
)
def test_a_large_workbook_has_the_findings_of_a_small_one(tmp_path, monkeypatch, edits, guard):
    path = tmp_path / "run.xlsx"
    values = np.linspace(1, 2, 10)
    values[7] = 0.123456789
    arrays = {"t": values, "n": np.array([4711, 3]), "s": np.array(["a", "", "b", ""]), "empty": np.zeros(0)}
    sa.write(path, arrays, guard=guard)
    edit_workbook(path, edits)
    expected = [str(finding) for finding in sa.check(path)]
    assert bool(expected) == bool(edits)
    in_pieces: list[str] = []
    append = PiecedArrays.append
    monkeypatch.setattr(
        PiecedArrays, "append", lambda self, name, some: in_pieces.append(name) or append(self, name, some)
    )
    with zipfile.ZipFile(path) as book:
        size = sum(len(book.read(name)) for name in book.namelist() if "worksheets/" in name)
    for limit in (size - 1, size, size + 1):
        set_limits(monkeypatch, large_workbook=limit)
        in_pieces.clear()
        assert [str(finding) for finding in sa.check(path)] == expected
        assert bool(in_pieces) == (limit <= size and "" not in edits.values())  # a blank is seen before any piece


def test_composites_and_gone_arrays_of_a_large_workbook_are_told(tmp_path, monkeypatch):
    xr = pytest.importorskip("xarray")
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "run.xlsx"
    variables = {"t": (("x", "y"), np.linspace(1, 2, 12).reshape(4, 3)), "z": ("x", np.arange(4) * 1j)}
    sa.write_excel(path, xr.Dataset(variables, {"x": ["a", "b", "c", "d"]}))
    sa.write_excel(path, {"e": ak.Array([{"p": 1.5, "q": [1, 2]}, {"p": 2.5, "q": []}])}, sheet="more", mode="a")
    book = openpyxl.load_workbook(path)
    book["arrays"].delete_cols(2)
    book.save(tmp_path / "gone.xlsx")
    for name in ("run", "gone"):
        with monkeypatch.context() as patch:
            set_limits(patch, large_workbook=1)
            findings = [str(finding) for finding in sa.check(tmp_path / f"{name}.xlsx")]
        assert findings == [str(finding) for finding in sa.check(tmp_path / f"{name}.xlsx")]
        assert ("is gone" in " ".join(findings)) == (name == "gone")


def test_blocks_of_a_guarded_workbook_are_exact(tmp_path):
    path = tmp_path / "guard.xlsx"
    values = np.linspace(1, 2, 10).reshape(5, 2)
    values[3, 1] = 0.12345678901234568
    sa.write(path, {"t": values, "n": np.array([4711, 2])}, guard=True)
    edit_workbook(path, {"<v>0.12345678901234568</v>": "<v>0.123456789012346</v>", "<v>4711</v>": "<v>12</v>"})

    def read_blocks(name: str, **options: Any) -> np.ndarray[Any, Any]:
        return np.concatenate(list(sa.iter_blocks(path, name, rows=2, **options)))

    assert read_blocks("t").tobytes() == values.tobytes()  # a program has rounded it
    assert read_blocks("t", guard=False)[3, 1] == 0.123456789012346
    assert read_blocks("n").tolist() == [12, 2]


@pytest.mark.usefixtures("all_are_large")
def test_a_wrong_cell_is_a_difference_in_pieces_as_at_once(tmp_path, monkeypatch):
    sa.write(tmp_path / "a.csv", {"t": np.arange(900.0)})
    lines = (tmp_path / "a.csv").read_bytes().split(b"\n")
    command = ["diff", tmp_path / "a.csv", tmp_path / "b.csv"]
    for changed in ([*lines[:500], b"x", *lines[501:]], lines[:500] + lines[501:]):
        (tmp_path / "b.csv").write_bytes(b"\n".join(changed))
        with monkeypatch.context() as patch:
            set_limits(patch, many_elements=2**60)
            once = run_command(*command)
        result = run_command(*command)
        assert result.exit_code == once.exit_code == 1
        assert (result.stdout, result.stderr) == (once.stdout, once.stderr)


@pytest.mark.parametrize(
    "harm", [(b"", b""), (b"4711", b'"x"'), (b'"a",', b'["a"],'), (b"8.0]", b"8.0],"), (b"2.0,", b"")]
)
def test_a_large_json_has_the_findings_of_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: tuple[bytes, bytes]
) -> None:
    ak = pytest.importorskip("awkward")
    path = tmp_path / "run.json"
    nested = ak.Array([[1, 2], [], [3]])
    sa.write(path, {"t": np.arange(9.0), "n": [4711], "s": ["a", "b"], "nested": nested, "none": np.zeros(0)})
    path.write_bytes(path.read_bytes().replace(*harm, 1))
    expected = [str(finding) for finding in sa.check(path)]
    assert bool(expected) == bool(harm[0])
    for limit in (-1, 0, 1):
        set_limits(monkeypatch, large_json=path.stat().st_size + limit)
        with monkeypatch.context() as patch:
            if not harm[0] and limit < 1:
                patch.setattr(checking, "read_lists", None)  # not asked
            assert [str(finding) for finding in sa.check(path)] == expected


@pytest.mark.parametrize("suffix", ["csv.gz", "csv.zst", "json.gz"])
def test_a_large_compressed_file_is_inflated_into_a_file(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"run.{suffix}"
    values = np.random.default_rng(0).normal(size=120_000)
    sa.write(path, {"t": values})
    with Source(path) as source:
        content = bytes(source.whole())
    assert len(content) > 2**21  # several pieces
    for limit in (len(content) - 1, len(content), len(content) + 1):
        set_limits(monkeypatch, inflated_in_memory=limit)
        with Source(path) as source:
            assert source.prefix(10) == content[:10]
            assert isinstance(source.whole(), mmap.mmap) == (limit < len(content))
            assert source.whole()[:] == content
    set_limits(monkeypatch, inflated_in_memory=1)
    assert sa.read(path)["t"].tolist() == values.tolist()
    assert list(sa.check(path)) == []
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(sa.FormatError, match="damaged or cut off"):
        sa.read(path)
