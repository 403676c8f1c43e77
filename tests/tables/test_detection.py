"""What is found of a table that somebody wrote: any dialect comes back, or a warning says why not."""

from __future__ import annotations

import csv
import io
import random
import re
import warnings
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
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


def test_the_dialect_says_what_was_assumed_and_the_call_that_states_it() -> None:
    text = "Bericht\n\nOrt;t\nBern;1,5\nUlm;2,25\nJena;3,5\n"
    dialect = sa.scan(io.BytesIO(text.encode()), format="csv").dialect
    assert str(dialect) == "delimiter ';', decimal ',', names in row 3, 2 rows above, 2 columns x 3 rows"
    assert dialect.call == 'sa.read_columns(path, delimiter=";", decimal=",", skip_rows=2, header=1)'
    columns, told = read(text, delimiter=";", decimal=",", skip_rows=2, header=1)
    assert (columns["t"].tolist(), told) == ([1.5, 2.25, 3.5], [])


def test_arrays_have_no_dialect() -> None:
    file = io.BytesIO()
    sa.write(file, {"x": np.arange(3)}, format="csv")
    file.seek(0)
    assert sa.scan(file, format="csv").dialect is None


@pytest.mark.parametrize(("count", "expected"), [(0, []), (1, [1]), (2, [1, 2]), (3, [1, 2])])
def test_nrows_is_a_number_of_rows_of_data(count: int, expected: list[int]) -> None:
    assert read("a,b\n1,x\n2,y\n", nrows=count)[0]["a"].tolist() == expected


@pytest.mark.parametrize(("count", "expected"), [(1, 3), (2, 2), (3, 2), (4, 1)])
def test_skip_footer_counts_blank_rows(count: int, expected: int) -> None:
    columns, _ = read("a,b\n1,2\n3,4\n\nTotal,6\n\n", skip_footer=count)
    assert len(columns["a"]) == expected


def test_dates_in_other_forms_and_with_zones() -> None:
    columns, _ = read("d\n28/02/2024\n1.3.2024\n", date_format="dayfirst")
    assert columns["d"].tolist() == np.array(["2024-02-28", "2024-03-01"], "M8[D]").tolist()
    columns, _ = read('d\n"Feb 28, 2024"\n', date_format="%b %d, %Y")
    assert columns["d"].astype(str).tolist() == ["2024-02-28"]
    columns, _ = read("d\n2024-02-28T10:00:00+01:00\n", dtype="datetime64[s]")
    assert columns["d"].astype(str).tolist() == ["2024-02-28T09:00:00"]


def test_integers_with_blanks_stay_integers_in_pandas() -> None:
    frame = sa.read_columns(io.BytesIO(b"a,b\n1,2\n,3\n"), format="csv", as_="pandas")
    assert str(frame["a"].dtype) == "Int64"


def test_check_of_a_table_lists_what_is_doubtful() -> None:
    assert list(sa.check(io.BytesIO(b"a,b\n1,2\n3,4\n"), format="csv")) == []
    (finding,) = sa.check(io.BytesIO(b"a,b\n1,2,3\n4,5\n6,7\n"), format="csv")
    assert (finding.severity, finding.location) == ("warning", "C2")


def test_a_short_row_with_a_quote_inside_a_cell_is_not_joined_with_the_next():
    columns, warned = read('x,y\na,1\n5" b\nc,3\nd,4\n')
    assert columns["x"].tolist() == ["a", '5" b', "c", "d"]
    assert len(warned) == 1
    assert "row 3 has fewer cells" in warned[0]


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


def test_a_cell_of_two_lines_stays_whole_in_a_row_of_another_width_than_the_first() -> None:
    text = "a,b,c,\n" + "".join(f"{row},2,3\n" for row in range(9)) + '4,"two\nlines",6\n'
    columns, _ = read(text, delimiter=",")
    assert columns["b"].tolist()[-1] == "two\nlines"


def test_the_middle_of_a_text_may_lie_in_a_quoted_cell() -> None:
    story = "\n".join(f"line {n} of a long story" for n in range(150))
    rows = "".join(f'{n},"{story}","press {n}",2010-01-{n:02}\n' for n in range(1, 29))
    columns, _ = read("id,story,press,date\n" + rows)
    assert list(columns) == ["id", "story", "press", "date"]
    assert columns["id"].tolist() == list(range(1, 29))
    assert set(columns["story"].tolist()) == {story}


@pytest.mark.parametrize("text", ['a,b\n1,2\n3,"x', 'a,b\n1,2\n3,"x\n4,y\n', 'a,b\n1,"x""\n2,z', 'a,b\n1,"x""\n2,z\n'])
def test_an_unclosed_quote_has_one_answer_from_all(text: str) -> None:
    columns, told = read(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        infos = sa.scan(io.BytesIO(text.encode()), format="csv")
    assert list(infos) == list(columns) == ["a", "b"]
    assert infos.dialect is not None
    findings = list(sa.check(io.BytesIO(text.encode()), format="csv"))
    assert not [finding for finding in findings if finding.severity == "error"]
    assert told
    assert all(any(finding.message in message for finding in findings) for message in told)


def test_an_unclosed_quote_in_a_text_with_arrays_is_an_error() -> None:
    text = b't,\nversion,1.0.0\nndarray,\n2,\nint64,\n1,"x\n2,\n'
    with pytest.raises(sa.FormatError, match="never closed"):
        sa.scan(io.BytesIO(text), format="csv")


@pytest.mark.parametrize(
    ("above", "rows"),
    [
        ("Rainfall in 2019, all stations", ["station,rain", "Bern,1.5", "Ulm,2.5", "Jena,3.5"]),
        ("Rainfall in 2019; all stations", ["station;rain", "Bern;1", "Ulm;2", "Jena;3"]),
        ("Report\n2019", ["name,town", "Ann,Bern", "Bob,Ulm", "Cat,Jena"]),
        ("Report,\n2019,", ["x,rain", "1,2", "3,4", "5,6"]),
    ],
)
def test_a_sentence_or_a_number_right_above_two_columns_is_no_name(above: str, rows: list[str]) -> None:
    columns, told = read("\n".join([above, *rows]) + "\n")
    assert list(columns) == re.split("[,;]", rows[0])
    assert len(told) == 1
    assert "above the table, and skipped" in told[0]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("first name, last name\nAnn,Lee\nBob,Roe\n", ["first name", "last name"]),
        ("air temp at noon, water temp\n1,2\n3,4\n", ["air temp at noon", "water temp"]),
        ("air temp at noon, water temp\nC,K\n1,2\n3,4\n", ["air temp at noon C", "water temp K"]),
    ],
)
def test_names_with_a_blank_behind_the_delimiter_stay_names(text: str, names: list[str]) -> None:
    assert list(read(text)[0]) == names
