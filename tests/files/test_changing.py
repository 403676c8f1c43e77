"""Changes of a file in place: processes wait for each other, and no other program's save is lost."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from adapters_deleted import needing
from children import run_child, run_together

import sheetarray as sa
from sheetarray.files import changing, replacing
from sheetarray.files.exchanging import exchange_names, rename_to_free

PROCESSES = 8  # that run_together starts
EXCHANGES = pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges names")


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".sheetarray")]


@needing("awkd")
@pytest.mark.slow
def test_processes_that_save_to_one_archive_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.awkd"
    code = """
        import sys, numpy as np
        from sheetarray.interchange.awkward import save
        for turn in range(3):
            save(sys.argv[2], np.full(1000, int(sys.argv[1])), f"n{sys.argv[1]}-{turn}")
    """
    run_together(code, path)
    assert sorted(sa.read(path)) == sorted(f"n{number}-{turn}" for number in range(PROCESSES) for turn in range(3))
    assert leftovers(tmp_path) == []


@needing("xlsx")
@pytest.mark.slow
@pytest.mark.parametrize("exists", [False, True])
def test_processes_that_add_sheets_to_one_workbook_lose_nothing(tmp_path: Path, exists: bool) -> None:
    path = tmp_path / "book.xlsx"
    if exists:
        sa.write(path, {"first": [1.5]})
    code = """
        import sys, sheetarray as sa
        for turn in range(2):
            name = f"n{sys.argv[1]}_{turn}"
            sa.write(sys.argv[2], {name: [float(sys.argv[1])]}, mode="a", sheet=name)
    """
    run_together(code, path)
    names = [f"n{number}_{turn}" for number in range(PROCESSES) for turn in range(2)] + ["first"] * exists
    assert sorted(sa.read(path)) == sorted(names)
    assert list(sa.check(path)) == []
    assert leftovers(tmp_path) == []


SAVED_MEANWHILE = "another program saved or removed the file meanwhile"


def save_in_place(path: Path, content: bytes) -> None:
    """Save as most programs do: into the file that is there."""
    path.write_bytes(content)


def save_by_renaming(path: Path, content: bytes) -> None:
    """Save as careful programs do."""
    beside = path.with_name("theirs.tmp")
    beside.write_bytes(content)
    beside.replace(path)


def remove(path: Path, _content: bytes) -> None:
    path.unlink()


@pytest.mark.fault("Another program saves a file while it is changed in place.", "The file is as that program left it.")
@pytest.mark.parametrize("save", [save_in_place, save_by_renaming, remove])
@pytest.mark.parametrize("when", ["before the new content is begun", "while it is written", "when it is whole"])
def test_what_another_program_saves_meanwhile_stays(
    tmp_path: Path, save: Any, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.bin"
    path.write_bytes(b"old")

    def interfere(moment: str) -> None:
        if moment == when:
            save(path, b"theirs, longer")

    fsync = os.fsync

    def flush(descriptor: int) -> None:
        fsync(descriptor)
        interfere("when it is whole")

    monkeypatch.setattr(os, "fsync", flush)

    def change() -> None:
        with changing(path):
            interfere("before the new content is begun")
            with replacing(path) as sink:
                sink.write(b"ours")
                interfere("while it is written")

    with pytest.raises(sa.LimitError, match=SAVED_MEANWHILE):
        change()
    assert (path.read_bytes() if path.exists() else b"") == (b"" if save is remove else b"theirs, longer")
    assert {entry.name for entry in tmp_path.iterdir()} <= {"t.bin"}


@EXCHANGES
@pytest.mark.parametrize("saves", [1, 2, 3])
def test_a_save_between_the_last_look_and_the_exchange_of_names_is_put_back(
    tmp_path: Path, saves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, contents = tmp_path / "t.bin", [f"save {number}, longer".encode() for number in range(saves)]
    path.write_bytes(b"old")

    def exchange(first: Path, second: Path) -> bool:
        if contents:
            save_by_renaming(path, contents.pop(0))
        return exchange_names(first, second)

    monkeypatch.setattr("sheetarray.files.in_place.exchange_names", exchange)
    with pytest.raises(sa.LimitError, match=SAVED_MEANWHILE), changing(path), replacing(path) as sink:
        sink.write(b"ours")
    assert path.read_bytes() == f"save {saves - 1}, longer".encode()
    assert {entry.name for entry in tmp_path.iterdir()} == {"t.bin"}


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_another_program_makes_meanwhile_stays(
    tmp_path: Path, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.bin"
    if not links:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)

        def refuse(*_arguments: Any, **_options: Any) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", refuse)

    def change(meanwhile: bytes | None) -> None:
        with changing(path), replacing(path) as sink:
            sink.write(b"ours")
            if meanwhile is not None:
                path.write_bytes(meanwhile)

    with pytest.raises(sa.LimitError, match=SAVED_MEANWHILE):
        change(b"theirs")
    assert path.read_bytes() == b"theirs"
    path.unlink()
    change(None)
    assert path.read_bytes() == b"ours"
    assert {entry.name for entry in tmp_path.iterdir()} == {"t.bin"}


def test_names_are_given_only_where_they_are_free(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("1")
    rename_to_free(first, second)
    assert second.read_text() == "1"
    assert not first.exists()
    first.write_text("2")
    with pytest.raises(FileExistsError):
        rename_to_free(first, second)
    assert (first.read_text(), second.read_text()) == ("2", "1")


def test_one_change_may_write_twice_and_an_inner_change_is_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "t.bin"
    with changing(path):
        for content in (b"1", b"2"):
            with changing(path), replacing(path) as sink:
                sink.write(content)
    assert path.read_bytes() == b"2"


def test_a_process_that_waits_too_long_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    sa.write(path, {"t": [1]})
    before = path.read_bytes()
    code = """
        import sys, sheetarray as sa, sheetarray.files.in_place as c
        c.PATIENCE = 0.05
        sa.read(sys.argv[1])
        with c.changing(sys.argv[1]):
            pass
    """
    with changing(path):
        errors = run_child(code, path).errors
        assert "LimitError" in errors
        assert "another process has been changing the file" in errors
    assert run_child(code, path).status == 0
    assert path.read_bytes() == before


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    code = """
        import sys, sheetarray.files.in_place as c
        with c.changing(sys.argv[1]):
            print("held", flush=True)
            sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        child.send_signal(signal.SIGKILL)
        child.wait()
    with changing(path):
        pass


def test_locks_leave_no_files_and_are_not_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, path = tmp_path / "cache", tmp_path / "t.bin"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    with changing(path):
        assert len(list((cache / "sheetarray" / "locks").iterdir())) == 1
    assert list((cache / "sheetarray" / "locks").iterdir()) == []
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))  # where no folder can be made
    with changing(path), replacing(path) as sink:
        sink.write(b"ours")
    assert path.read_bytes() == b"ours"


KILLED = """
    import os, signal, sys
    import numpy as np
    import sheetarray as sa
    if sys.argv[2] == "named":
        del os.O_TMPFILE
    renames = os.fsync if not sys.argv[1].endswith(("ra", "zarr")) else None

    def die(*arguments, **options):
        os.kill(os.getpid(), signal.SIGKILL)

    os.fsync = die
    sa.write(sys.argv[1], {"t": np.arange(5.0)})
"""


@needing("csv")
@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="every file of this system has a name")
@pytest.mark.fault(
    "A process is killed while it writes a file.", "The old file is whole; the next write removes what is left."
)
@pytest.mark.parametrize("names", ["unnamed", "named"])
def test_what_a_killed_writer_left_is_removed_by_the_next_write(tmp_path: Path, names: str) -> None:
    path = tmp_path / "t.csv"
    sa.write(path, {"t": [1.5]})
    for _ in range(2):
        assert run_child(KILLED, path, names).status == -signal.SIGKILL
        assert len(leftovers(tmp_path)) == (names == "named")
    assert sa.read(path)["t"].tolist() == [1.5]
    code = "import os, sys, sheetarray as sa; del os.O_TMPFILE; sa.write(sys.argv[1], {'t': [2.5]})"
    assert run_child(code, path).status == 0
    assert leftovers(tmp_path) == []
    assert sa.read(path)["t"].tolist() == [2.5]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("unnamed", [True, False])
def test_a_temporary_file_is_never_more_open_than_its_target(
    tmp_path: Path, unnamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secret.bin"
    path.write_bytes(b"old")
    path.chmod(0o600)
    if not unnamed:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    modes = []
    for name in ("open", "link", "replace", "fsync", "write", "chmod", "fchmod"):
        function = getattr(os, name)

        def look(*arguments: Any, function: Any = function, **options: Any) -> Any:
            result = function(*arguments, **options)
            modes.extend(stat.S_IMODE(entry.stat().st_mode) for entry in tmp_path.iterdir())
            return result

        monkeypatch.setattr(os, name, look)
    with replacing(path) as sink:
        sink.write(b"new")
    assert set(modes) == {0o600}


def test_what_an_error_names_is_the_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = tmp_path / "t.bin"
    opens = os.open

    def refuse(name: Any, *arguments: Any, **options: Any) -> int:
        if ".sheetarray" in os.fspath(name):
            raise OSError(28, os.strerror(28), name)
        return opens(name, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OSError, match="No space") as raised, replacing(path) as sink:
        sink.write(b"new")
    assert (raised.value.filename, raised.value.errno) == (str(path), 28)
    assert list(tmp_path.iterdir()) == []


def rows_of(path: Path) -> bytes:
    """Return a file of the same arrays with another value, as another program saves it."""
    beside = path.with_name(f"beside{path.suffix}")
    sa.write(beside, {"t": [7.5, 8.5], "u": [1.5, 2.5]})
    content = beside.read_bytes()
    beside.unlink()
    return content


VERBS = {
    "accept": lambda path: sa.accept(path),
    "merge": lambda path: sa.merge(path, path.with_name(f"returned{path.suffix}"), target=path),
    "restore": lambda path: sa.restore(path, path),
    "write": lambda path: sa.write(path, {"v": [1.5]}, mode="a", sheet="more"),
}


@pytest.mark.fault("Another program saves a file while a verb changes it.", "The file is as that program left it.")
@needing("xlsx")
@pytest.mark.parametrize("save", [save_in_place, save_by_renaming])
@pytest.mark.parametrize(
    ("verb", "suffix"),
    [
        *(("accept", suffix) for suffix in (".xlsx", ".csv", ".json")),
        *(("merge", suffix) for suffix in (".xlsx", ".csv", ".json")),
        *(("restore", ".xlsx"), ("write", ".xlsx")),
    ],
)
def test_a_verb_loses_no_save_of_another_program(
    tmp_path: Path, verb: str, suffix: str, save: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, returned = tmp_path / f"t{suffix}", tmp_path / f"returned{suffix}"
    options = {"guard": True} if suffix == ".xlsx" else {}
    sa.write(path, {"t": [1.5, 2.5], "u": [3.5, 4.5]}, **options)
    sa.write(returned, {"t": [1.5, 9.5], "u": [3.5, 4.5]}, **options)
    if suffix in (".csv", ".json"):  # a row to accept
        text = path.read_text()
        path.write_text(text + "5.5,6.5\n" if suffix == ".csv" else re.sub(r"([24]\.5)\]", r"\1,5.5]", text))
    elif verb == "accept":
        book = openpyxl.load_workbook(path)
        book["arrays"].append([5.5, 6.5])
        book.save(path)
    theirs = rows_of(path)
    changing_file, fsync = path.stat().st_ino, os.fsync

    def flush(descriptor: int) -> None:
        fsync(descriptor)
        if path.stat().st_ino == changing_file and os.fstat(descriptor).st_dev == path.stat().st_dev:
            save(path, theirs)

    monkeypatch.setattr(os, "fsync", flush)
    with pytest.raises(sa.LimitError, match=SAVED_MEANWHILE):
        VERBS[verb](path)
    assert path.read_bytes() == theirs
    assert leftovers(tmp_path) == []


@needing("xlsx")
@pytest.mark.slow
def test_processes_that_accept_one_workbook_and_add_to_it_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    sa.write(path, {"t": [1.5, 2.5]}, guard=True)
    code = """
        import sys, sheetarray as sa
        number, path = int(sys.argv[1]), sys.argv[2]
        for turn in range(2):
            if number % 2:
                sa.accept(path)
            else:
                sa.write(path, {f"n{number}_{turn}": [float(number)]}, mode="a", sheet=f"n{number}_{turn}")
    """
    run_together(code, path)
    assert set(sa.read(path)) == {"t", *(f"n{number}_{turn}" for number in range(0, PROCESSES, 2) for turn in (0, 1))}
    assert list(sa.check(path)) == []
