"""What is found of a table that somebody wrote: any dialect comes back, or a warning says why not."""

from __future__ import annotations

import csv
import io
import random
import warnings
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import set_limits

import sheetarray as sa


def read(text: str | bytes, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the columns of a text, and the warnings."""
    raw = text if isinstance(text, bytes) else text.encode()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        columns = sa.read_columns(io.BytesIO(raw), format="csv", **options)
    return columns, [str(warning.message) for warning in caught]


WORDS = ["Bern", "Ulm, west", 'a "b" c', "x;y", "long road", "Jena"]
CELLS: dict[str, Callable[[random.Random], str]] = {
    "int": lambda source: str(source.randint(-(10**6), 10**6)),
    "float": lambda source: repr(source.choice([0.0, 1.5, source.uniform(-1e6, 1e6), source.uniform(-1, 1) * 1e-9])),
    "date": lambda source: str(date.fromordinal(source.randint(date(1000, 1, 1).toordinal(), date.max.toordinal()))),
    "word": lambda source: source.choice(WORDS),
}


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_table_in_any_dialect_comes_back_or_a_warning_says_why_not(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=30))
    source = random.Random(data.draw(st.integers(0, 2**32)))  # 6,000 cells are too many to draw
    rows = [tuple(CELLS[kind](source) for kind in kinds) for _ in range(data.draw(st.integers(2, 200)))]
    names = [f"name {place}" for place in range(len(kinds))]
    above = data.draw(st.sampled_from([[], [["A report"], []]])) if len(kinds) > 2 else []
    file = io.StringIO(newline="")
    writer = csv.writer(
        file,
        delimiter=data.draw(st.sampled_from(",;\t|")),
        quoting=data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        lineterminator=data.draw(st.sampled_from(["\n", "\r\n"])),
    )
    writer.writerows([*above, names, *rows])
    columns, told = read(file.getvalue(), dtype=str)
    same = {name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}
    assert told or {name: array.tolist() for name, array in columns.items()} == same


TITLES = [["Report"], ["Report of all stations in 2024", "2024"], ["Lab", "by Ann", "X-200", "v 1.2.3", "2024-01-05"]]
ROWS = {
    "integers": [[str(4 * row + column) for column in range(4)] for row in range(6)],
    "floats": [[f"{row}.{column}5" for column in range(4)] for row in range(6)],
    "words": [["Bern", "Rom", "Oslo", "Wien"], ["Rom", "Ulm", "Bern", "Jena"], ["Wien", "Bern", "Rom", "Ulm"]],
    "kinds": [
        ["Bern", "1.5", "20", "2024-01-05"],
        ["Ulm", "2.5", "31", "2024-01-06"],
        ["Rom", "0.5", "8", "2024-01-07"],
    ],
}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("title", TITLES, ids=lambda title: f"{len(title)} lines")
def test_titles_above_a_table_are_skipped_with_a_warning(delimiter: str, kind: str, title: list[str]) -> None:
    for count in (2, 3, 4):
        for blank in ([], [""], ["", ""]):
            for more in ("", delimiter * (count - 1)):
                rows = [row[:count] for row in [["city", "t", "rain", "day"], *ROWS[kind]]]
                lines = [*(line + more for line in title + blank), *map(delimiter.join, rows)]
                columns, told = read("\n".join(lines) + "\n", dtype=str)
                assert [list(columns), *map(list, zip(*columns.values(), strict=True))] == rows, lines
                assert "skip_rows=" in " ".join(told)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_rows_that_are_cut_anew_are_counted(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, odd_rows=3)
    text = "x,y\n" + "b,2\n" * 9 + '"a"b,1\n' * count
    if count <= 3:
        columns, warned = read(text)
        assert len(columns["y"]) == 9 + count
        assert len(warned) == 1
        return
    with pytest.raises(sa.FormatError, match=r'beside no delimiter in more than 3 rows.*quotechar=""'):
        read(text)


def test_rows_longer_than_what_is_looked_at_first_are_whole() -> None:
    cells = [f"c{number}" for number in range(2000)]
    rows = [[f"{number}.5" for number in range(2000)] for _ in range(12)]
    for row in rows[3:9]:
        row[1000] = "two\nlines " + "x" * 70_000
    file = io.StringIO(newline="")
    csv.writer(file).writerows([cells, *rows])
    columns, warned = read(file.getvalue())
    assert warned == []
    assert list(columns) == cells
    assert columns["c1000"].tolist() == [row[1000] for row in rows]
    assert columns["c1999"].tolist() == [1999.5] * 12


def test_lists_above_a_table_of_long_rows_do_not_tell_the_delimiter() -> None:
    lists = [f"{name}=[{','.join(f'{number}.5' for number in range(15))}]" for name in ("length", "width", "mass")]
    names = [f"c{number}" for number in range(600)]
    rows = [[f"{row}.{number}" for number in range(600)] for row in range(20)]
    text = "\n".join(["[info]", *lists, *(";".join(row) for row in [names, *rows])])
    columns, warned = read(text)
    assert list(columns) == names
    assert columns["c1"].tolist() == [row + 0.1 for row in range(20)]
    assert [warning.partition(",")[0] for warning in warned] == ["A1: rows 1 to 4 are above the table"]


def test_the_middle_of_a_text_may_lie_in_a_quoted_cell() -> None:
    story = "\n".join(f"line {n} of a long story" for n in range(150))
    rows = "".join(f'{n},"{story}","press {n}",2010-01-{n:02}\n' for n in range(1, 29))
    columns, _ = read("id,story,press,date\n" + rows)
    assert list(columns) == ["id", "story", "press", "date"]
    assert columns["id"].tolist() == list(range(1, 29))
    assert set(columns["story"].tolist()) == {story}
