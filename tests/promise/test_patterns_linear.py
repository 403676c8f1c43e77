"""Regular expressions take linear time, whatever long text a file holds.

Each use of each pattern of the package is tried with texts that make bad patterns go back and forth: runs of blanks,
digits, quotes, brackets and of what the pattern itself asks for. A timer of CPU time stops a pattern that goes on; it
allows some hundred times what a pattern takes that reads such a text once.
"""

from __future__ import annotations

import json

from adapters_deleted import DELETED
from children import run_limited

CODE = """
    import json, signal, sys

    sys.path.insert(0, sys.argv[1])
    from patterns import find_uses, is_stopped

    uses = find_uses()
    slow = [f"{use.where} {use.method}" for use in uses if is_stopped(use, size=10_000, seconds=0.25)]
    print(json.dumps([len(uses), slow]))
"""
BAD = """
    import json, re, sys

    sys.path.insert(0, sys.argv[1])
    from patterns import Use, is_stopped

    bad = [r"(\\w+-?)*", r"[0-9]*\\.?[0-9]*", r"\\s*,?\\s*"]
    print(json.dumps([is_stopped(Use("", re.compile(pattern), "fullmatch"), 10_000, 0.25) for pattern in bad]))
"""
DOORS = """
    import sys, warnings
    import sheetarray as sa

    warnings.simplefilter("ignore")
    for path in sys.argv[1:]:
        for verb in (sa.read, sa.scan, sa.read_columns, lambda path: list(sa.check(path))):
            try:
                verb(path)
            except sa.SheetArrayError:
                pass
"""
FLOODS = ("_", "_!", "-", " ", "9", '""', "(", "9.", "a b", "|", "e5", "0,", "2020-01-01 ")


def helpers() -> str:
    from pathlib import Path

    import children

    return str(Path(children.__file__).parent)


def test_each_pattern_of_the_package_takes_linear_time() -> None:
    count, slow = json.loads(run_limited(CODE, helpers(), seconds=60).output)
    assert count > (100 if DELETED else 200)
    assert slow == []


def test_patterns_that_go_back_and_forth_would_be_stopped() -> None:
    assert json.loads(run_limited(BAD, helpers()).output) == [True, True, True]


def test_tables_with_a_long_cell_or_line_are_read_in_bounds(tmp_path) -> None:
    """A line of 40 underscores took minutes, and each more doubled that."""
    paths = [tmp_path / f"{number}.csv" for number in range(len(FLOODS) + 1)]
    paths[-1].write_text("a,b\n" + f"{'_' * 60}!,1\n" * 3)
    for path, unit in zip(paths, FLOODS, strict=False):
        flood = unit * (100_000 // len(unit))
        path.write_text(f'a,b\n1,2\n{flood}\n3,4\n"{flood.replace(chr(34), chr(34) * 2)}!",5\n')
    run_limited(DOORS, *paths, calls=4)
