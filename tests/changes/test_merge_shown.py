"""The summary that a merge shows, and that no result of sheetarray shows the address of an object."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sheetarray as sa


def merge_copies(folder: Path, base: dict[str, Any], *copies: dict[str, Any]) -> Any:
    paths = [folder / f"{name}.csv" for name in ("base", "ann", "ben", "eve")]
    for path, arrays in zip(paths, (base, *copies), strict=False):
        sa.write(path, arrays)
    return sa.merge(*paths[: len(copies) + 1])


def test_a_merge_shows_conflicts_then_changes(tmp_path: Path) -> None:
    base = {"t": np.arange(4.0), "u": np.arange(3)}
    ann = {"t": np.array([9.0, 1, 2, 3, 4]), "u": np.array([0, 5, 6])}
    ben = {"t": np.array([8.0, 1, 2, 3]), "v": np.zeros(2)}
    merged = merge_copies(tmp_path, base, ann, ben)
    assert repr(merged).splitlines() == [
        "3 arrays of base.csv, merged from 2 files; 1 conflict",
        "file     array  change",
        "         t[0]   conflict: base.csv 0.0, ann.csv 9.0, ben.csv 8.0",
        "ann.csv  u      2 elements changed",
        "ann.csv  t      1 element changed",
        "ann.csv  t      1 row added",
        "ben.csv  t      1 element changed",
        "ben.csv  v      new",
        "ben.csv  u      missing",
    ]
    shown = html.unescape(merged._repr_html_())
    assert shown.startswith("<p>3 arrays of base.csv, merged from 2 files; 1 conflict</p><table>")
    assert "conflict: base.csv 0.0, ann.csv 9.0, ben.csv 8.0" in shown
    assert repr(merged.conflicts) == "<1 conflict, 1 not chosen>"


def test_a_merge_without_changes_is_one_line(tmp_path: Path) -> None:
    merged = merge_copies(tmp_path, {"t": np.arange(4.0)}, {"t": np.arange(4.0)})
    assert repr(merged) == "1 array of base.csv, merged from 1 file; 0 conflicts"
    assert merged._repr_html_() == f"<p>{merged!r}</p>"


@pytest.mark.parametrize("conflicts", [14, 15, 16, 17, 18, 400])
def test_a_merge_has_at_most_twenty_lines(conflicts: int, tmp_path: Path) -> None:
    base = np.arange(500.0)
    copies = []
    for number in (1, 2):
        copies.append(base.copy())
        copies[-1][:conflicts] = -number
    lines = repr(merge_copies(tmp_path, {"t": base}, *({"t": copy} for copy in copies))).splitlines()
    rows = conflicts + 2  # and a row for the changes of each file
    assert len(lines) == min(rows, 17) + 2 + (rows > 17)
    assert len(lines) <= 20
    assert lines[-1].startswith(f"and {rows - 17} more" if rows > 17 else "ben.csv")


def test_chosen_conflicts_are_counted(tmp_path: Path) -> None:
    merge_copies(tmp_path, {"t": np.zeros(2)}, {"t": np.ones(2)}, {"t": np.full(2, 2.0)})
    paths = [tmp_path / f"{name}.csv" for name in ("base", "ann", "ben")]
    merged = sa.merge(*paths, prefer=paths[1])
    assert repr(merged).splitlines()[0].endswith("2 conflicts, 2 of them chosen")
    assert repr(merged.conflicts) == "<2 conflicts, 0 not chosen>"


def test_no_result_shows_the_address_of_an_object(tmp_path: Path) -> None:
    base = {"t": np.arange(4.0), "s": np.array(["a", None], object)}
    copy = {"t": np.array([9.0, 1, 2, 3]), "s": np.array(["b", 1], object)}
    merged = merge_copies(tmp_path, base, copy, {"t": np.array([8.0, 1, 2, 3])})
    path = tmp_path / "base.csv"
    with sa.open_writer(tmp_path / "w.csv") as writer:
        writer.append({"t": np.zeros(2)})
        results: list[Any] = [writer]
    results += [
        merged,
        merged.conflicts,
        merged.conflicts[0],
        merged.changes,
        merged.files,
        merged.arrays,
        merged.to_json(),
    ]
    results += [sa.scan(path), sa.scan(path)["t"], sa.check(path), [*sa.check(path)], sa.page(path)]
    results += [sa.View(), sa.LinearArray.from_numpy(np.arange(3)), sa.accept(path), sa.read(path)]
    results += [sa.Finding("error", "A1", "wrong"), sa.FormatError("wrong")]
    for result in results:
        assert not re.search(r"\bat 0x|object at", repr(result)), repr(result)
        if hasattr(result, "_repr_html_"):
            assert " at 0x" not in result._repr_html_()
