"""`sheetarray page`: where the page goes, what is said, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from browser import PageReader
from click.testing import Result
from command_line import run_command

import sheetarray as sa


def run(*arguments: object, **options: object) -> Result:
    return run_command(*arguments, **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    sa.write(tmp_path / "run.csv", {"t": np.arange(6.0).reshape(2, 3), "n": np.arange(2)})
    return tmp_path / "run.csv"


def test_the_page_stands_beside_the_file(path: Path) -> None:
    result = run("page", path)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{path.with_suffix('.html')} (")
    page = PageReader(path.with_suffix(".html").read_text(encoding="utf-8"))
    assert page.manifest["files"] == ["run.csv"]
    assert page.elements(page.entry("t")) == [0, 1, 2, 3, 4, 5]


def test_options_of_reading_names_and_another_place(path: Path, tmp_path: Path) -> None:
    path.write_text(path.read_text().replace("4.0", ""))
    result = run("page", path, "--name", "t", "-o", tmp_path / "p.html", "--missing", "nan", "--json")
    report = json.loads(result.stdout)
    assert report == {"page": str(tmp_path / "p.html"), "bytes": (tmp_path / "p.html").stat().st_size, "arrays": ["t"]}
    page = PageReader((tmp_path / "p.html").read_text(encoding="utf-8"))
    assert np.isnan(page.elements(page.entry("t"))[4])


def test_several_files_of_one_name_are_told_apart(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "run.csv"
    other.parent.mkdir()
    sa.write(other, {"t": np.zeros((2, 3))})
    assert run("page", path, other, "-o", tmp_path / "p.html").exit_code == 0
    page = PageReader((tmp_path / "p.html").read_text(encoding="utf-8"))
    assert page.manifest["files"] == [str(path), str(other)]


def test_a_pipe_needs_a_place_for_the_page(path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    assert run("page", "-", "--from", "csv", input=content).exit_code == 2
    assert run("page", "-", "--from", "csv", "-o", tmp_path / "p.html", input=content).exit_code == 0
    page = PageReader((tmp_path / "p.html").read_text(encoding="utf-8"))
    assert page.elements(page.entry("n")) == [0, 1]
    piped = run("page", "-", "--from", "csv", "-o", "-", input=content)
    assert (piped.exit_code, piped.stdout) == (0, (tmp_path / "p.html").read_text(encoding="utf-8"))
    assert run("page", path, "-o", "-", "--json").exit_code == 2


def test_open_shows_the_page(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("click.launch", shown.append)
    result = run("page", path, "--open")
    assert shown == [Path(result.stdout.partition(" (")[0]).as_uri()]
    assert not path.with_suffix(".html").exists()
