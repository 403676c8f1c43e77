"""The page of a merge: conflicts listed and marked, choices by mouse and keyboard, and saved for `merge --choices`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from browser import Browser
from command_line import run_command

import sheetarray as sa

BASE = np.arange(12.0).reshape(4, 3)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """A file that was sent, and two that came back: three conflicts, one of them in a row that was deleted."""
    ann, ben = BASE.copy(), BASE.copy()
    ann[0, 1], ann[2, 2], ann[3, 0] = 10.5, 20.5, 30.5
    ben[0, 1], ben[2, 2] = -10.5, -20.5
    for name, array in {"sent": BASE, "ann": ann, "ben": ben[:3]}.items():
        sa.write(tmp_path / f"{name}.csv", {"t": array, "s": np.array(["<b>", "y"])})
    return [str(tmp_path / f"{name}.csv") for name in ("sent", "ann", "ben")]


def test_conflicts_are_listed_and_marked_with_who_wrote_what(browser: Browser, files: list[str]) -> None:
    browser.open(sa.page(sa.merge(*files)).html)
    assert browser.texts("#conflicts-title") == ["Conflicts (3, 3 not chosen)"]
    assert browser.texts("#conflict-list strong") == ["t[0, 1]", "t[2, 2]", "t[3, 0]"]
    assert browser.texts("#conflict-list li:first-child label") == [
        "sent.csv 1.0A23",
        "ann.csv 10.5A23",
        "ben.csv -10.5A23",
    ]
    assert browser.texts("#conflict-list li:last-child code") == ["9.0", "30.5", "row deleted"]
    assert any("ann.csv: 10.5" in text for text in browser.texts("#readout > *"))  # it opens on the first
    browser.click("#conflict-list li:nth-child(2) button")
    assert any("ann.csv: 20.5, ben.csv: -20.5; nobody has chosen" in text for text in browser.texts("#readout > *"))
    assert len(browser.texts("#table td.marked")) == 3
    assert browser.violations() == []


@pytest.mark.parametrize(("rows", "dark"), [(4, False), (4, True), (300, False)])
def test_conflicts_are_ringed_in_the_heat_map_also_below_the_cursor(
    browser: Browser, tmp_path: Path, rows: int, dark: bool
) -> None:
    base = np.zeros((rows, 5))
    conflicts = [(0, 1), (rows // 2, 3), (rows - 1, 4)]
    for number, name in enumerate(("sent", "ann", "ben")):
        array = base.copy()
        for index in conflicts:
            array[index] += number
        sa.write(tmp_path / f"{name}.csv", {"t": array})
    browser.open(sa.page(sa.merge(*(tmp_path / f"{name}.csv" for name in ("sent", "ann", "ben")))).html, dark=dark)
    assert browser.texts("#readout b") == ["t[0, 1]"]
    alarm = [255, 138, 128] if dark else [179, 38, 30]
    left, top, width, height = browser.run(
        "const box = document.querySelector('canvas.map').getBoundingClientRect();"
        "return [box.left + 76, box.top + 6, box.width - 86, box.height - 94]"
    )
    across, down = width / 5, height / rows
    elements = [(row, column) for row in (0, 1, rows // 2, rows - 1) for column in range(5)]
    reach = max(down / 2, 8)
    near = [
        (left + (column + 0.3) * across, top + (row + 0.5) * down + away)
        for row, column in elements
        for away in np.arange(-reach, reach, 0.5)
    ]
    colours = np.array(browser.colours(browser.picture(whole=True), near))[:, :3]
    ringed = (np.abs(colours - alarm).max(axis=1) < 40).reshape(len(elements), -1).any(axis=1)
    for (row, column), is_ringed in zip(elements, ringed, strict=True):
        beside = any(abs(row - other) * down < 2 * reach and column == at for other, at in conflicts)
        assert is_ringed == ((row, column) in conflicts or (down < reach and beside)), (row, column)


def test_choices_by_mouse_and_keyboard_are_saved_and_taken(browser: Browser, files: list[str], tmp_path: Path) -> None:
    (tmp_path / "down").mkdir()
    page = tmp_path / "merge.html"
    result = run_command("page", "--merge", *files, "-o", page)
    assert result.exit_code == 0, result.output
    browser.open(page.read_text(encoding="utf-8"))
    browser.select("#choose-file", files[2])
    browser.click("#choose-all")
    assert browser.texts("#conflicts-title") == ["Conflicts (3, all chosen)"]
    browser.click("#choose-none")
    assert browser.texts("#conflicts-title") == ["Conflicts (3, 3 not chosen)"]
    browser.click("#conflict-list li:nth-child(1) label:nth-of-type(2) input")  # ann
    browser.focus("#conflict-list li:nth-child(2) input")
    browser.press("SPACE", "ARROW_DOWN", "ARROW_DOWN")  # the base, ann, ben
    assert browser.texts("#conflicts-title") == ["Conflicts (3, 1 not chosen)"]
    saved = browser.save("#save-choices", tmp_path / "down", "choices.json")
    choices = json.loads(saved.read_text())["choices"]
    assert [(choice["index"], Path(choice["choose"]).name) for choice in choices] == [
        ([0, 1], "ann.csv"),
        ([2, 2], "ben.csv"),
    ]
    merged = tmp_path / "merged.csv"
    result = run_command("merge", *files, "-o", merged, "--choices", saved)
    assert result.exit_code == 1, result.output
    wanted = BASE.copy()
    wanted[0, 1], wanted[2, 2] = 10.5, -20.5
    assert sa.read(merged)["t"].tolist() == wanted.tolist()


def test_a_page_of_a_merge_takes_the_key_and_the_options_of_tables(tmp_path: Path) -> None:
    rows = {"base": "1,a\n2,b\n3,c", "ann": "3,x\n1,a\n2,b\n4,d", "ben": "3,y\n2,b"}
    files = [str(tmp_path / f"{name}.csv") for name in rows]
    for file, lines in zip(files, rows.values(), strict=True):
        Path(file).write_text(f"sites of 2026\nid,kind\n{lines}\n")
    options = ["--key", "id", "--read", "skip_rows=1"]
    result = run_command("page", "--merge", *files, *options, "-o", tmp_path / "merge.html")
    assert result.exit_code == 0, result.output
    merged = sa.merge(*files, key="id", skip_rows=1)
    assert [conflict.labels for conflict in merged.conflicts] == [{"id": "3"}]
    assert (tmp_path / "merge.html").read_text(encoding="utf-8") == sa.page(merged).html
    assert run_command("merge", *files, *options).exit_code == 1
    assert run_command("page", files[0], "--key", "id").exit_code == 2


def test_a_merge_is_shown_alone(files: list[str]) -> None:
    with pytest.raises(TypeError, match="alone"):
        sa.page(sa.merge(*files), files[0])
    assert run_command("page", "--merge", files[0]).exit_code == 2
    html = sa.page(sa.merge(files[0], files[1])).html
    assert '"conflicts":[]' in html
