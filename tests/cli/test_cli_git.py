"""`sheetarray git` with real git: differences, merges, conflicts, rebases, and files that cannot be read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from adapters_deleted import needing
from children import GIVEN_UP_AFTER
from command_line import run_command

import sheetarray as sa

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

TABLE = "id,price\n1,2.5\n2,3.5\n3,4.5\n"


class Repository:
    """A repository of git whose commands run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        if not (folder / ".git").exists():
            self.git("init", "-q", "-b", "main")

    def run(self, *command: str, status: int | None = 0, folder: str = "") -> str:
        names = {
            f"GIT_{who}_{what}": "ann@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        environment = {**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            command,
            cwd=self.folder / folder,
            env=environment | {"HOME": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
            timeout=GIVEN_UP_AFTER,
        )
        assert status is None or done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def git(self, *arguments: str, status: int | None = 0) -> str:
        return self.run("git", *arguments, status=status)

    def sheetarray(self, *arguments: str, status: int | None = 0, folder: str = "") -> str:
        return self.run(sys.executable, "-m", "sheetarray", *arguments, status=status, folder=folder)

    def commit(self, message: str = "a change") -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A repository that knows the drivers, of which each test has a copy."""
    repository = Repository(tmp_path_factory.mktemp("repository"))
    repository.sheetarray("git")
    return repository.folder


@pytest.fixture
def repository(prepared, tmp_path):
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    return Repository(tmp_path)


def write_arrays(path: Path, *edits: tuple[int, float]) -> None:
    values = np.arange(6.0) / 10
    for index, value in edits:
        values[index] = value
    sa.write(path, {"t": values.reshape(2, 3)})


def test_differences_of_tables_and_arrays_in_each_format(repository):
    folder = repository.folder
    (folder / "my table.csv").write_text(TABLE)
    (folder / "in").mkdir()
    write_arrays(folder / "in" / "t.csv")
    write_arrays(folder / "t.xlsx")
    repository.commit()
    (folder / "my table.csv").write_text(TABLE.replace("3.5", "3.75"))
    write_arrays(folder / "in" / "t.csv", (4, 9.0))
    write_arrays(folder / "t.xlsx", (4, 9.0))
    text = repository.git("diff")
    assert "diff --sheetarray a/my table.csv b/my table.csv\n1 element changed in price" in text
    assert "price[1], cell B3: 3.5 -> 3.75" in text
    assert "t[1, 1], cell A26: 0.4 -> 9.0" in text
    assert "t[1, 1], cell arrays!A26: 0.4 -> 9.0" in text


@needing("csv")
def test_new_deleted_renamed_and_rewritten_files(repository):
    folder = repository.folder
    (folder / "gone.csv").write_text(TABLE)
    (folder / "old.csv").write_text(TABLE + "".join(f"{row},{row}.5\n" for row in range(4, 60)))
    (folder / "same.csv").write_text(TABLE)
    repository.commit()
    (folder / "gone.csv").unlink()
    text = (folder / "old.csv").read_text()
    (folder / "old.csv").unlink()
    (folder / "new name.csv").write_text(text.replace("59.5", "60.5"))
    (folder / "fresh.csv").write_text("a,b\n1,2\n")
    (folder / "same.csv").write_text(TABLE.replace("\n", "\r\n"))
    repository.git("add", "-A")
    text = repository.git("diff", "--cached", "-M")
    assert "a/gone.csv b/gone.csv\ndeleted file\n" in text
    assert "a/fresh.csv b/fresh.csv\nnew file\nname  dtype" in text
    assert "a/old.csv b/new name.csv" in text
    assert "59.5 -> 60.5" in text
    assert "no value differs; only how they are written" in text


def test_what_cannot_be_read_is_compared_as_git_does(repository):
    folder = repository.folder
    (folder / "t.csv").write_text("version,1.0.0\nndarray\n")
    (folder / "t.xlsx").write_bytes(b"PK\0 no workbook")
    repository.commit()
    (folder / "t.csv").write_text("")
    (folder / "t.xlsx").write_bytes(b"PK\0 none either")
    text = repository.git("diff")
    assert "-version,1.0.0\n-ndarray" in text
    assert "a/t.csv" in text
    assert "Binary files" in text
    assert "Traceback" not in text


def branch_twice(repository: Repository, save, ours, theirs) -> None:
    """Commit a file, then another state of it on each of two branches."""
    save()
    repository.commit("base")
    repository.git("checkout", "-q", "-b", "other")
    save(theirs)
    repository.commit("theirs")
    repository.git("checkout", "-q", "main")
    save(ours)
    repository.commit("ours")


@pytest.mark.parametrize("name", ["t.tsv", "t.xlsx"])
def test_changes_of_other_cells_are_merged_without_a_conflict(repository, name):
    path = repository.folder / name

    def save(*edits):
        write_arrays(path, *edits)

    branch_twice(repository, save, (0, 7.0), (1, 8.0))
    repository.git("merge", "-q", "other")
    assert sa.read(path, "t").ravel().tolist() == [7.0, 8.0, 0.2, 0.3, 0.4, 0.5]
    assert not list(sa.check(path))


def test_tables_are_merged_cell_by_cell(repository):
    path = repository.folder / "t.csv"

    def save(text=TABLE):
        path.write_text(text)

    branch_twice(repository, save, TABLE.replace("2,3.5", "2,9.5"), TABLE.replace("1,2.5", "1,7.5") + "4,5.5\n")
    repository.git("merge", "-q", "other")  # lines that stand beside one another would be a conflict
    assert path.read_text() == "id,price\n1,7.5\n2,9.5\n3,4.5\n4,5.5\n"


def test_a_conflict_keeps_our_values_and_is_resolved_by_choices(repository):
    path = repository.folder / "t.csv"

    def save(*edits):
        write_arrays(path, *edits)

    branch_twice(repository, save, (4, 5.0), (4, 9.0))
    text = repository.git("merge", "other", status=1)
    assert "1 conflict, listed in t.csv.conflicts.json" in text
    assert sa.read(path, "t")[1, 1] == 5.0
    assert "<<<<" not in path.read_text()
    listed = repository.folder / "t.csv.conflicts.json"
    (choice,) = json.loads(listed.read_text())["choices"]
    assert (choice["array"], choice["index"], choice["base"]) == ("t", [1, 1], 0.4)
    assert (choice["ours.csv"], choice["theirs.csv"], choice["choose"]) == (5.0, 9.0, "ours.csv")
    listed.write_text(listed.read_text().replace('"choose": "ours.csv"', '"choose": "theirs.csv"'))
    for stage, side in enumerate(("base", "ours", "theirs"), 1):  # as somebody would do by hand
        (repository.folder / f"{side}.csv").write_text(repository.git("show", f":{stage}:t.csv"))
    by_hand = ["merge", "base.csv", "ours.csv", "theirs.csv", "--choices", "t.csv.conflicts.json", "-o", "by_hand.csv"]
    repository.sheetarray(*by_hand)
    repository.sheetarray("git", "resolve", "t.csv")
    assert not listed.exists()
    assert sa.read(path, "t")[1, 1] == sa.read(repository.folder / "by_hand.csv", "t")[1, 1] == 9.0
    repository.git("add", "t.csv")
    repository.git("commit", "-q", "-m", "merged")


def test_choices_that_are_damaged_change_nothing(repository, monkeypatch):
    path = repository.folder / "t.csv"

    def save(*edits):
        write_arrays(path, *edits)

    branch_twice(repository, save, (4, 5.0), (4, 9.0))
    repository.git("merge", "other", status=1)
    before = path.read_bytes()
    monkeypatch.chdir(repository.folder)
    listed = repository.folder / "t.csv.conflicts.json"
    for text in ("", "{}", '{"choices": [{"array": "t"}]}', listed.read_text().replace("ours.csv", "mine.csv")):
        listed.write_text(text)
        assert run_command("git", "resolve", "t.csv").exit_code == 2
        assert path.read_bytes() == before
    listed.unlink()
    assert "there is no t.csv.conflicts.json" in run_command("git", "resolve", "t.csv").stderr


def test_what_cannot_be_read_is_merged_as_git_does_and_nothing_is_lost(repository):
    path = repository.folder / "t.csv"

    def save(text="version\n1.0.0\nndarray\nx\n\n\n\nlast\n"):
        path.write_text(text)

    branch_twice(
        repository,
        save,
        "version\n1.0.0\nndarray\nours\n\n\n\nlast\n",
        "version\n1.0.0\nndarray\nx\n\n\n\ntheirs\n",
    )
    text = repository.git("merge", "other")
    assert "left to git" in text
    assert path.read_text() == "version\n1.0.0\nndarray\nours\n\n\n\ntheirs\n"


def test_a_workbook_that_cannot_be_read_stays_ours_and_conflicts(repository):
    path = repository.folder / "t.xlsx"

    def save(content=b"PK\0 base"):
        path.write_bytes(content)

    branch_twice(repository, save, b"PK\0 ours", b"PK\0 theirs")
    repository.git("merge", "other", status=1)
    assert path.read_bytes() == b"PK\0 ours"


def test_the_command_changes_only_its_own_lines_and_takes_them_out_again(tmp_path):
    repository = Repository(tmp_path)
    attributes = tmp_path / ".gitattributes"
    attributes.write_text("*.csv text eol=lf\n*.png binary")
    (tmp_path / "below").mkdir()
    repository.sheetarray("git", folder="below")
    first = attributes.read_text()
    assert first.startswith("*.csv text eol=lf\n*.png binary\n*.csv diff=sheetarray merge=sheetarray\n")
    assert "nothing to add" in repository.sheetarray("git")
    assert attributes.read_text() == first
    assert "diff: sheetarray" in repository.git("check-attr", "eol", "diff", "--", "x.csv")
    assert "eol: lf" in repository.git("check-attr", "eol", "diff", "--", "x.csv")
    assert repository.git("config", "merge.sheetarray.driver").strip().endswith("git merge %O %A %B %P")
    repository.sheetarray("git", "--remove")
    assert attributes.read_text() == "*.csv text eol=lf\n*.png binary\n"
    repository.git("config", "merge.sheetarray.driver", status=1)
    repository.sheetarray("git", "--remove")


def test_outside_of_a_repository_it_is_an_error(tmp_path):
    command = [sys.executable, "-m", "sheetarray", "git"]
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no working tree of git" in done.stderr


def test_a_workbook_in_a_folder_with_spaces_and_umlauts_conflicts_in_a_cherry_pick_of_a_clone(tmp_path):
    first = Repository(tmp_path / "first")
    first.sheetarray("git")
    path = Path("dät a", "ö", "mein plan.xlsx")
    (first.folder / path).parent.mkdir(parents=True)

    def save(*edits):
        write_arrays(first.folder / path, *edits)

    branch_twice(first, save, (4, 5.0), (4, 9.0))
    first.git("clone", "-q", "--bare", ".", "../bare")  # the attributes are committed, the drivers are not
    first.git("clone", "-q", "../bare", "../second")
    second = Repository(tmp_path / "second")
    second.sheetarray("git", folder=str(path.parent))
    assert "t[1, 1], cell arrays!A26: 0.4 -> 5.0" in second.git("log", "-p", "--ext-diff", "-1")
    second.git("cherry-pick", "origin/other", status=1)
    listed = second.folder / f"{path}.conflicts.json"
    listed.write_text(listed.read_text().replace('"choose": "ours.xlsx"', '"choose": "theirs.xlsx"'))
    second.sheetarray("git", "resolve", path.name, folder=str(path.parent))
    assert sa.read(second.folder / path, "t")[1, 1] == 9.0
    second.git("add", "-A")
    second.git("-c", "core.editor=true", "cherry-pick", "--continue")
