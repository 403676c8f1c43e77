"""What `scan` and `check` give shows as a table, and stays a dict and an iterator."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import PageReader

import sheetarray as sa

MOST_ROWS = 200  # that a table shows
HOSTILE = "<b>\x1b[31m\nname</b>"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    sa.write(tmp_path / "run.csv", {"t": np.array([[1.5, 2.5]]), "n": np.arange(3)})
    return tmp_path / "run.csv"


def list_findings(findings: Iterator[sa.Finding]) -> Any:
    """What `check` gives, of some findings."""
    return type(sa.check(io.StringIO(), format="csv"))(findings)


def test_scan_gives_a_dict_that_shows_as_a_table(path: Path) -> None:
    infos = sa.scan(path)
    assert isinstance(infos, dict)
    assert infos == dict(infos)
    assert list(infos) == ["t", "n"]
    lines = repr(infos).splitlines()
    assert [line.split() for line in lines] == [
        ["name", "dtype", "shape", "order", "location", "cells"],
        ["t", "float64", "1", "x", "2", "row-major", "A2", "22"],
        ["n", "int64", "3", "row-major", "B2", "21"],
    ]
    assert copy.deepcopy(infos) == pickle.loads(pickle.dumps(infos)) == infos
    assert repr(type(infos)()) == "{}"


def test_dimensions_have_a_column_where_there_are_names(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    sa.write(tmp_path / "d.csv", xr.Dataset({"t": (("y", "x"), np.zeros((2, 3)))}))
    assert "y, x" in repr(sa.scan(tmp_path / "d.csv"))


def test_check_gives_an_iterator_that_shows_as_a_table_and_loses_nothing_by_it(path: Path) -> None:
    assert repr(sa.check(path)) == "no findings"
    assert sa.check(path)._repr_html_() == "<p>no findings</p>"  # type: ignore[attr-defined]
    path.write_text(path.read_text().replace("1.5", "x").replace("2.5", "y"))
    findings = sa.check(path)
    assert isinstance(findings, Iterator)
    first = next(findings)
    shown = repr(findings)
    assert len(shown.splitlines()) == 3
    assert first.message in shown
    assert [first, *findings] == list(sa.check(path))
    assert list(findings) == []
    assert repr(findings) == shown


def test_findings_come_as_they_are_found() -> None:
    taken = []

    def find() -> Iterator[sa.Finding]:
        for number in range(3):
            taken.append(number)
            yield sa.Finding("warning", None, str(number))

    findings = list_findings(find())
    next(findings)
    assert taken == [0]


def test_an_absent_file_is_an_error_as_before(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(sa.check(tmp_path / "absent.csv"))


def test_tables_hold_texts_and_nothing_else() -> None:
    findings = list_findings(iter([sa.Finding("error", HOSTILE, HOSTILE, HOSTILE, array=HOSTILE)]))
    assert repr(findings).isprintable() is False  # its lines are
    assert all(line.isprintable() for line in repr(findings).splitlines())
    assert len(repr(findings).splitlines()) == 2
    tags = {tag for tag, _ in PageReader(findings._repr_html_()).tags}
    assert tags == {"table", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize("count", [MOST_ROWS - 1, MOST_ROWS, MOST_ROWS + 1])
def test_a_long_table_says_what_it_leaves_out(count: int) -> None:
    findings = list_findings(sa.Finding("error", None, f"m{n}") for n in range(count))
    rest = max(0, count - MOST_ROWS)
    assert ("and 1 more" in repr(findings)) is ("and 1 more" in findings._repr_html_()) is bool(rest)
    assert len(repr(findings).splitlines()) == 1 + min(count, MOST_ROWS) + bool(rest)


@pytest.mark.parametrize("length", [159, 160, 161])
def test_a_long_text_is_cut_in_a_terminal(length: int) -> None:
    shown = repr(list_findings(iter([sa.Finding("error", None, "x" * length)])))
    assert ("x" * length in shown) is (length <= 160)
    assert ("…" in shown) is (length > 160)
