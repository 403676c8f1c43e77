"""`diff` finds the edit: aligned rows, the largest difference first, rounding noise in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from command_line import run_diff
from limits import set_limits

import sheetarray as sa


def run(*arguments: Any) -> Any:
    return run_diff(*arguments)


def test_what_was_typed_comes_first_and_noise_is_one_line(tmp_path: Path) -> None:
    a, b = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    array = np.random.default_rng(0).normal(size=(120, 3))
    sa.write(a, {"t": array}, guard=False)
    book = openpyxl.load_workbook(a)
    start = [cell.value for cell in book["arrays"]["A"]].index("data") + 2
    book["arrays"].cell(start + 100, 1).value = 999
    book.save(b)
    noisy = int(np.count_nonzero(sa.read(b)["t"] != array)) - 1
    assert noisy > 100
    lines = run(a, b).stdout.splitlines()
    assert lines[1:] == [
        f"  t[33, 1]: {array[33, 1]} -> 999.0",
        f"  {noisy} elements differ by rounding alone: within 1 ulp, or the same to 15 or 16 digits",
    ]
    answer = json.loads(run(a, b, "--json").stdout)["arrays"][0]
    assert (answer["differing"], answer["noise"], answer["listed"]) == (noisy + 1, noisy, 1)
    assert [answer["first"][0]["index"], len(answer["first"])] == [[33, 1], 1]


@pytest.mark.parametrize(
    ("a", "b", "noise"),
    [
        (1.0, np.nextafter(1.0, 2), True),
        (1.0, 1.0 + 3 * 2.0**-52, True),  # 1.00000000000000067: the same to 15 digits
        (1.0, 1.0 + 6e-15, False),
        (1.2345678901234567, 1.23456789012346, True),
        (1.23456789012345, 1.23456789012346, False),
        (0.11383634938188146, 0.1138363493818815, True),
        (5e-324, 1e-323, True),
        (0.0, 5e-324, True),
        (np.nan, 1.0, False),
        (np.finfo(float).max, np.inf, False),
        (0.0, -0.0, False),
    ],
)
def test_what_is_noise(a: float, b: float, noise: bool) -> None:
    for before, after in ((a, b), (b, a), (-a, -b), (complex(a, 2), complex(b, 2))):
        assert count_rounded(np.array([before]), np.array([after])) == noise


def test_other_dtypes_have_no_noise() -> None:
    assert count_rounded(np.array([2**60]), np.array([2**60 + 1])) == 0
    objects = np.array([0.1 + 0.2, 0.1 + 0.2, 1, "0.3", None], object), np.array([0.3, 0.31, 2, "0.30", 0.3], object)
    assert count_rounded(*objects) == 1
    assert count_rounded(np.array([0.1], "f4"), np.array([0.1])) == 0
    assert count_rounded(np.array([1], "f4"), np.nextafter(np.array([1], "f4"), np.float32(2))) == 1


def count_rounded(before: np.ndarray[Any, Any], after: np.ndarray[Any, Any]) -> int:
    """How many elements `diff` takes for rounded ones; all others are edits."""
    changes = sa.diff({"t": before}, {"t": after})
    count = sum(rounded.count for rounded in changes.rounded.values())
    assert count + len(changes.edited) == len(before)
    return count


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
@pytest.mark.parametrize("added", [True, False])
def test_a_file_of_which_people_have_changed_the_rows_is_compared_as_it_stands(
    tmp_path: Path, suffix: str, added: bool
) -> None:
    a, b = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    sa.write(a, {"t": np.arange(20.0), "u": np.arange(20) * 3})
    if suffix == "csv":
        lines = a.read_text().splitlines()
        b.write_text("\n".join([*lines, "7.5,8"] if added else [*lines[:-5], *lines[-4:]]) + "\n")
    else:
        book = openpyxl.load_workbook(a)
        sheet = book["arrays"]
        sheet.append([7.5, 8]) if added else sheet.delete_rows(sheet.max_row - 4)
        book.save(b)
    result = run(a, b)
    assert result.exit_code == 1
    what = "row 20 appended" if added else "row 15 deleted"
    assert result.stdout.splitlines() == [
        f"t, u: shape 20 -> {21 if added else 19}; {what}; all other elements equal",
        "  row 20 (row 40 of the sheet) is t 7.5, u 8" if added else "  row 15 (row 35 of the sheet) was t 15.0, u 45",
    ]
    assert f"{b}: rows were added or deleted" in " ".join(result.stderr.split())
    assert "resize" in run(a, b, "--read", "resize=false").stderr


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.arange(10**15, 10**15 + 50), np.arange(10**15, 10**15 + 50)),  # of which a double keeps each
        (np.arange(2**62, 2**62 + 50), np.arange(2**62, 2**62 + 50)),
        (np.arange(10**18, 10**18 + 50).view("M8[ns]"), np.arange(10**18, 10**18 + 50).view("M8[ns]")),
        (np.linspace(0, 1, 50), np.linspace(0, 1, 50).astype("f4")),
        (np.linspace(0, 1, 50), np.array([float(f"{value:.15g}") for value in np.linspace(0, 1, 50)])),
        (np.arange(50), np.arange(50.0)),
        (np.array([f"a {number}" for number in range(50)]), np.array([f"a {number}" for number in range(50)])),
    ],
)
def test_a_row_that_is_gone_is_found_whatever_the_elements_are(
    a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]
) -> None:
    (rows,) = sa.diff({"t": a}, {"t": np.delete(b, 17)}).rows
    assert (rows.deleted, rows.added) == ([17], [])


def test_lines_break_between_words_on_a_narrow_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sa.write(tmp_path / "a.csv", {"temperature": np.arange(60.0).reshape(20, 3)})
    sa.write(tmp_path / "b.csv", {"temperature": np.arange(57.0).reshape(19, 3) + 1 / 3})
    sa.write(tmp_path / "c.csv", {"temperature": np.arange(66.0).reshape(22, 3)})
    whole = run(tmp_path / "a.csv", tmp_path / "c.csv").stdout
    set_limits(monkeypatch, terminal_width=40)
    narrow = run(tmp_path / "a.csv", tmp_path / "c.csv").stdout
    assert max(map(len, narrow.splitlines())) <= 40
    assert narrow.split() == whole.split()


@pytest.mark.parametrize("is_sorted", [False, True])
def test_the_arrays_of_a_table_agree_which_rows_are_gone(tmp_path: Path, is_sorted: bool) -> None:
    """Of flags that are alike, each by itself would name other rows."""
    rng = np.random.default_rng(0)
    table = {"n": np.arange(12), "t": rng.normal(size=12), "flag": np.arange(12) % 4 == 0, "all": np.full(12, True)}
    left = np.delete(np.arange(12), [3, 7])
    left = left[np.argsort(table["t"][left])] if is_sorted else left
    sa.write(tmp_path / "a.csv", table)
    sa.write(tmp_path / "b.csv", {name: array[left] for name, array in table.items()})
    lines = run(tmp_path / "a.csv", tmp_path / "b.csv").stdout.splitlines()
    assert lines == ["rows sorted by t (10 rows, 4 arrays)"] * is_sorted + [
        "n, t, flag, all: shape 12 -> 10; 2 rows from 3 to 7 deleted; all other elements equal",
        f"  row 3 (row 23 of the sheet) was n 3, t {table['t'][3].item()}, flag False, all True",
        f"  row 7 (row 27 of the sheet) was n 7, t {table['t'][7].item()}, flag False, all True",
    ]


@pytest.mark.parametrize("more", [0, 1, 2])
def test_twenty_lines_of_details_and_the_rest_with_all(tmp_path: Path, more: int) -> None:
    before = {"t": np.arange(30), "u": np.arange(30), "v": np.arange(30)}
    after = {name: array.copy() for name, array in before.items()}
    for name, count in (("t", 9), ("u", 5), ("v", 3 + more)):  # with one line for each array
        after[name][:count] += 100
    sa.write(tmp_path / "a.csv", before)
    sa.write(tmp_path / "b.csv", after)
    summary, *details = run(tmp_path / "a.csv", tmp_path / "b.csv").stdout.splitlines()
    assert summary == f"{17 + more} elements changed in t, u, v"
    rest = ["and 1 more line (--all shows them)", "and 2 more lines (--all shows them)"]
    assert details[20:] == rest[more - 1 : more] if more else not details[20:]
    whole = run(tmp_path / "a.csv", tmp_path / "b.csv", "--all").stdout.splitlines()[1:]
    assert (len(whole), whole[:20]) == (20 + more, details[:20])


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("t", lambda t: t * 1000, "every number was multiplied by 1000"),
        ("t", lambda t: -t, "every number was multiplied by -1"),
        ("t", lambda t: t - 273.15, "273.15 was taken from every number"),
        ("t", lambda t: np.round(t, 1), "all numbers were rounded or cut to 1 decimal"),
        ("n", lambda n: n * 7, "every number was multiplied by 7"),
        ("time", lambda time: time + np.timedelta64(2, "D"), "every date is 2 days later"),
    ],
)
@pytest.mark.parametrize("column_major", [False, True])
def test_a_change_of_all_elements_is_one_line(
    tmp_path: Path, name: str, change: Any, said: str, column_major: bool
) -> None:
    arrays = {
        "t": np.random.default_rng(1).normal(300, 9, (8, 3)),
        "n": np.arange(8),
        "s": np.array(list("abcdefgh")),
        "time": np.arange("2026-03-01", "2026-03-09", dtype="M8[D]"),
    }
    if column_major:
        arrays["t"] = np.asfortranarray(arrays["t"])
    after = arrays | {name: change(arrays[name])}
    if name == "t" and column_major:
        after["t"] = np.asfortranarray(after["t"])
    sa.write(tmp_path / "a.csv", arrays)
    sa.write(tmp_path / "b.json", after)
    line, rest = run(tmp_path / "a.csv", tmp_path / "b.json").stdout.splitlines()
    assert line.startswith(f"{name}: {said} (")
    assert rest == "3 other arrays without differences"
    told = json.loads(run(tmp_path / "a.csv", tmp_path / "b.json", "--json").stdout)
    assert next(one["explanation"] for one in told["arrays"] if one["name"] == name) == said
    after[name] = after[name].copy()
    after[name].flat[1] = after[name].flat[5]  # one element more, and one sentence explains it no longer
    sa.write(tmp_path / "b.json", after)
    assert said not in run(tmp_path / "a.csv", tmp_path / "b.json").stdout


@pytest.mark.parametrize("is_sorted", [False, True])
def test_as_many_rows_may_be_added_as_deleted(tmp_path: Path, is_sorted: bool) -> None:
    rng = np.random.default_rng(4)
    table = {"id": rng.permutation(300), "t": rng.normal(size=300), "kind": rng.choice(["a", "b"], 300)}
    rows = [*range(5), *range(6, 300)]
    after = {name: np.append(array[rows], array[:1]) for name, array in table.items()}
    after["id"][-1], after["t"][-1], after["t"][7] = 999, 99.5, 77.5
    if is_sorted:
        after = {name: array[np.argsort(after["t"])] for name, array in after.items()}
    sa.write(tmp_path / "a.csv", table)
    sa.write(tmp_path / "b.json", after)
    result = run(tmp_path / "a.csv", tmp_path / "b.json")
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[:is_sorted] == ["rows sorted by t (299 rows, 3 arrays)"] * is_sorted
    added = "row 299 appended in id, t, kind"
    assert lines[is_sorted] == f"row 5 deleted in id, t, kind; {added}; 1 element changed in t"
    assert lines[1 + is_sorted] == "id, kind: row 5 deleted; row 299 appended; all other elements equal"
    told = json.loads(run(tmp_path / "a.csv", tmp_path / "b.json", "--json").stdout)
    assert not any([told["same"], *(one["same"] for one in told["arrays"])])
    after = {name: array.copy() for name, array in table.items()}
    for name, value in (("id", 999), ("t", 5.5), ("kind", "c")):
        after[name][8] = value  # somebody typed over a row, which stands where it stood
    sa.write(tmp_path / "b.json", after)
    assert run(tmp_path / "a.csv", tmp_path / "b.json").stdout.startswith("3 elements changed in id, t, kind\n")
