"""Files that another program overwrites or cuts short, while they are read and after: never a signal, never a mixture.

Each test runs in a child process, since what is tested against is the end of the process.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import run_child
from examples import ANEW

import sheetarray as sa

SUFFIXES = [".csv", ".json", ".xlsx", ".ods", ".npy", ".npz", ".ra", ".avro", ".msgpack", ".awkd"]
ROWS = 300_000  # so that each file is larger than what is read at once

MADE = """
    import json, os, sys, time
    import numpy as np
    import sheetarray as sa

    path, other, how = sys.argv[1:4]
    numbers = {name: np.load(sys.argv[place]) for place, name in ((4, "old"), (5, "new"))}
    content = open(other, "rb").read()

    def change():
        time.sleep(0.02)  # so that the time of the file differs
        if how == "cut":
            os.truncate(path, os.path.getsize(path) // 2)
        elif how == "emptied":
            os.truncate(path, 0)
        else:
            with open(path, "r+b") as file:
                file.write(content)
                file.truncate()
"""

WHILE = (
    MADE
    + """
    calls = 0
    number = int(sys.argv[6])

    def watched(function):
        def call(*arguments):
            global calls
            calls += 1
            if calls == number:
                change()
            return function(*arguments)
        return call

    for name in ("pread", "preadv", "copy_file_range", "fstat"):
        setattr(os, name, watched(getattr(os, name)))
    try:
        array = np.asarray(list(sa.read(path).values())[0])
        result = [name for name, values in numbers.items() if np.array_equal(values, array)] or ["a mixture"]
    except sa.SheetArrayError as error:
        result = ["error"]
    print(json.dumps([result[0], calls >= number]))
"""
)

AFTER = (
    MADE
    + """
    array = np.asarray(list(sa.read(path).values())[0])
    change()
    print(json.dumps([np.array_equal(array, numbers["old"])]))
"""
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each pair of files is written once, and of which tests change copies."""
    return tmp_path_factory.mktemp("pairs")


def copy_pair(folder: Path, suffix: str, target: Path) -> list[Path]:
    """A copy of a file, which may be changed, another one of the same layout, and the elements of both."""
    old, *others = write_pair(folder, suffix)
    return [Path(shutil.copy(old, target)), *others]


def write_pair(folder: Path, suffix: str) -> list[Path]:
    """Write a file, another one of the same layout, and the elements of both, unless they are there."""
    rows = ROWS // 10 if suffix == ".ods" else ROWS
    old, new = np.arange(rows) / 8 + 100_000, np.arange(rows) / 8 + 500_000
    paths = [folder / suffix / f"{name}{suffix}" for name in ("old", "new")]
    elements = [path.with_suffix(".elements.npy") for path in paths]
    if elements[-1].exists():
        return [*paths, *elements]
    (folder / suffix).mkdir(exist_ok=True)  # the test of a deleted format is skipped after this line
    for path, array in zip(paths, (old, new), strict=True):
        if suffix == ".ods":
            write_ods(path, array)
        elif suffix == ".awkd":
            import awkward as ak

            sa.write(path, {"t": ak.Array(array)})
        else:
            sa.write(path, array if suffix in (".npy", ".ra") else {"t": array})
        np.save(path.with_suffix(".elements"), array)
    return [*paths, *elements]


def write_ods(path: Path, array: np.ndarray[Any, Any]) -> None:
    """Write an array as the cells of an OpenDocument spreadsheet."""
    import zipfile

    cells = sa.to_linear(array)
    rows = "".join(
        f'<table:table-row><table:table-cell office:value-type="float" office:value="{cell!r}"/></table:table-row>'
        if isinstance(cell, (int, float))
        else f'<table:table-row><table:table-cell office:value-type="string"><text:p>{cell}</text:p>'
        "</table:table-cell></table:table-row>"
        for cell in ["t", *cells]
    )
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml",
            f"<office:document-content {names}><office:body><office:spreadsheet>"
            f'<table:table table:name="s">{rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )


@pytest.mark.parametrize("how", ["cut", "emptied", "overwritten"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_is_changed_while_it_is_read(suffix: str, how: str, folder: Path, tmp_path: Path) -> None:
    reached = []
    first = 2 + (SUFFIXES.index(suffix) + len(how)) % 2
    for number in (2, 3, 4, 5) if ANEW else (first, first + 2):
        old, new, *elements = copy_pair(folder, suffix, tmp_path)
        sa.scan(old)  # without the adapter, this is skipped
        child = run_child(WHILE, old, new, how, *elements, str(number))
        assert child.status == 0, child.errors
        result, was_changed = json.loads(child.output)
        assert result in ("error", "old", "new"), "elements of both"
        assert how == "overwritten" or result != "new"
        reached.append(was_changed)
    assert suffix in (".npz", ".awkd") or any(reached)


@pytest.mark.parametrize("how", ["cut", "emptied", "overwritten"])
@pytest.mark.parametrize("suffix", [".npy", ".ra", ".npz", ".avro", ".csv"])
def test_a_file_that_is_changed_later_changes_no_array(suffix: str, how: str, folder: Path, tmp_path: Path) -> None:
    old, new, *elements = copy_pair(folder, suffix, tmp_path)
    child = run_child(AFTER, old, new, how, *elements)
    assert child.status == 0, child.errors
    assert json.loads(child.output) == [True]


def test_saving_an_array_into_its_own_file_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "n.npy"
    np.save(path, np.arange(500_000.0))
    code = """
        import sys
        import numpy as np, sheetarray as sa
        array = sa.read(sys.argv[1])["n"]
        np.save(sys.argv[1], array[:10])
        print(int(array.sum()), len(np.load(sys.argv[1])))
    """
    child = run_child(code, path)
    assert child.status == 0, child.errors
    assert child.output.split() == [str(int(np.arange(500_000.0).sum())), "10"]


def test_a_map_hangs_on_the_file_where_it_is_asked_for(tmp_path: Path) -> None:
    for suffix in (".npy", ".ra"):
        path = tmp_path / f"n{suffix}"
        sa.write(path, np.arange(500_000.0))
        array = sa.read(path, mmap=True)["n"]
        with path.open("r+b") as file:
            file.seek(-8, 2)
            file.write(np.float64(-1).tobytes())
        assert array[-1] == -1
        array[0] = 7
        assert sa.read(path)["n"][0] == 0, "what is assigned stays in memory"


def test_a_file_beyond_what_is_read_into_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its copy is mapped."""
    from limits import set_limits

    for suffix in (".csv", ".json", ".xlsx"):
        old, *_ = write_pair(folder, suffix)
        size = old.stat().st_size
        for limit in (size - 1, size, size + 1):
            set_limits(monkeypatch, read_into_memory=limit)
            np.testing.assert_array_equal(sa.read(old)["t"], np.load(old.with_suffix(".elements.npy")))
