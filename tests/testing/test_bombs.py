"""Each file of the family takes no more than SECURITY.md promises; the table there names all of them.

pytest tests/testing/test_bombs.py --rewrite    # makes them whole, and writes time and memory into the table
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from children import MEBIBYTES, SECONDS, measured, run_limited
from examples import PART

import sheetarray as sa
from sheetarray.formats.inside import INSIDE
from sheetarray.testing.bombs import BOMBS

PAGE = Path(__file__).parents[2] / "SECURITY.md"
ROW = re.compile(r"^\| ([^|]+) \| ([0-9.]+) MB \| ([0-9.]+) s \| ([0-9,]+) MiB \|$", re.MULTILINE)
VERBS = ("read", "scan", "check")
CODE = """
import json, sys, warnings
import sheetarray as sa
warnings.simplefilter("ignore")
try:
    found = [finding for finding in getattr(sa, sys.argv[1])(sys.argv[2]) if sys.argv[1] == "check"]
except sa.SheetArrayError as error:
    print(json.dumps(type(error).__name__))
else:
    print(json.dumps(len(found)))
"""


@measured
@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_no_more_than_is_promised(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    bomb = BOMBS[name]
    if bomb.format not in INSIDE:
        pytest.skip("the adapter was deleted")
    rewrite = request.config.getoption("rewrite")
    part = 1 if rewrite or PART == 1 else 4 * PART  # of a part, less time is allowed
    path = tmp_path / f"bomb{bomb.suffix}"
    path.write_bytes(bomb.make(part))
    children = [run_limited(CODE, verb, path, seconds=SECONDS if part == 1 else SECONDS / 4) for verb in VERBS]
    answers = [json.loads(child.output) for child in children]
    assert all(answer == "FormatError" or type(answer) is int for answer in answers)
    assert answers[2] != "FormatError"
    assert answers[2] <= 1001
    seconds = max(child.seconds for child in children)
    mebibytes = max(child.mebibytes for child in children)
    if rewrite:
        size = path.stat().st_size / 1e6
        row = f"| {name} | {size:.2f} MB | {seconds:.1f} s | {mebibytes:,.0f} MiB |"
        PAGE.write_text(re.sub(rf"^\| {re.escape(name)} \|.*$", row, PAGE.read_text(), flags=re.MULTILINE))


def test_the_table_names_the_whole_family() -> None:
    assert [row[0] for row in ROW.findall(PAGE.read_text())] == list(BOMBS)


def test_what_the_table_says_is_within_what_is_promised() -> None:
    for _, size, seconds, mebibytes in ROW.findall(PAGE.read_text()):
        assert (float(size) <= 32, float(seconds) < SECONDS) == (True, True)
        assert int(mebibytes.replace(",", "")) < MEBIBYTES


@pytest.mark.parametrize("suffix", [".csv", ".json", ".xlsx"])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_arrays_are_counted(suffix: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"t{suffix}"
    arrays = {f"n{number}": 5 for number in range(count)}
    sa.write(path, arrays)
    for module in (
        *("columns.refusals", "columns.reading", "columns.side_by_side", "columns.anchors", "sheets.content"),
        *("sheets.json.text", "sheets.json.parsed_lists"),
    ):
        monkeypatch.setattr(f"sheetarray.{module}.MOST_ARRAYS", 3)
    if count <= 3:
        assert len(sa.read(path)) == len(sa.scan(path)) == count
        sa.write(path, arrays)
        return
    for verb in (sa.read, sa.scan):
        with pytest.raises(sa.FormatError, match="more than 3 arrays"):
            verb(path)
    assert [finding.severity for finding in sa.check(path)] == ["error"]
    with pytest.raises(sa.LimitError, match="4 arrays, but at most 3"):
        sa.write(path, arrays)
