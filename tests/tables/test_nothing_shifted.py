"""No cell of a table that somebody spoiled is lost or stands in another place, unless a warning says what was taken."""

from __future__ import annotations

import csv
import io
import random
import warnings
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import pytest

import sheetarray as sa

Cells = list[list[str]]
Lines = list[str]
Spoil = Callable[[random.Random, Cells, str], None]
SEEDS = 20
WORDS = ["Bern", "Ulm west", "long road", "Jena", "Roe", "O'Neil", "n-1", "C 3", "two words here", "x"]
KINDS: dict[str, Callable[[random.Random], str]] = {
    "int": lambda source: str(source.randint(-1000, 1000)),
    "float": lambda source: f"{source.uniform(-100, 100):.3f}",
    "date": lambda source: f"2024-{source.randint(1, 12):02}-{source.randint(1, 28):02}",
    "word": lambda source: source.choice(WORDS),
    "code": lambda source: f"{source.choice('ABC')}-{source.randint(100, 999)}",
}


def make_table(source: random.Random) -> Cells:
    """Return the rows of a table as somebody meant it, the names first."""
    kinds = [source.choice(list(KINDS)) for _ in range(source.randint(2, 7))]
    rows = [[KINDS[kind](source) for kind in kinds] for _ in range(source.randint(4, 40))]
    return [[f"{kind}{place}" for place, kind in enumerate(kinds)], *rows]


def pick(source: random.Random, rows: Cells) -> list[str]:
    """Return a row of data."""
    return rows[source.randrange(1, len(rows))]


def shorten(source: random.Random, rows: Cells, _: str) -> None:
    """Cut the last cells of a few rows."""
    for _ in range(source.randint(1, 3)):
        row = pick(source, rows)
        del row[source.randint(1, len(row)) :]


def lengthen(source: random.Random, rows: Cells, _: str) -> None:
    """Add cells to a few rows."""
    for _ in range(source.randint(1, 3)):
        pick(source, rows).extend(source.choice(WORDS) for _ in range(source.randint(1, 2)))


def lengthen_all(source: random.Random, rows: Cells, _: str) -> None:
    """Add a cell to each row of data."""
    for row in rows[1:]:
        row.append(source.choice(WORDS))


def split(source: random.Random, rows: Cells, _: str) -> None:
    """Cut a cell of a few rows into two, as a delimiter does that nobody quoted."""
    for _ in range(source.randint(1, 3)):
        row = pick(source, rows)
        row.insert(source.randrange(len(row) + 1), " Jr")


def add_quotes(source: random.Random, rows: Cells, _: str) -> None:
    """Write a quote into a few cells: at the beginning, inside, or at the end."""
    for _ in range(source.randint(1, 3)):
        row = pick(source, rows)
        place = source.randrange(len(row))
        at = source.randint(0, len(row[place]))
        row[place] = row[place][:at] + '"' + row[place][at:]


def add_title(source: random.Random, rows: Cells, delimiter: str) -> None:
    """Write lines above the names."""
    lines = [["Report of all stations"], ["by Ann"], [], ["2024"], ["Lab", "X-200"], ["a sentence, as prose has them"]]
    for _ in range(source.randint(1, 3)):
        line = [*source.choice(lines)]
        rows.insert(0, line[0].split(delimiter) if len(line) == 1 else line)


def add_note(source: random.Random, rows: Cells, delimiter: str) -> None:
    """Write lines below the table."""
    lines = [["Source: the office"], ["Total", "12"], [], ["* provisional"], ["note 1, of two"], ["Sum"]]
    for _ in range(source.randint(1, 3)):
        line = [*source.choice(lines)]
        rows.append(line[0].split(delimiter) if len(line) == 1 else line)


def add_table(source: random.Random, rows: Cells, _: str) -> None:
    """Write a second table below."""
    rows.extend([[], *make_table(source)] if source.random() < 0.5 else make_table(source))


def add_same_table(source: random.Random, rows: Cells, _: str) -> None:
    """Write the names and some of the rows once more."""
    rows.extend([[*row] for row in rows[: source.randint(2, len(rows))]])


def change_delimiter(source: random.Random, rows: Cells, delimiter: str) -> None:
    """Write another delimiter in a few rows, which have one cell then."""
    other = source.choice([mark for mark in ",;\t|" if mark != delimiter])
    for _ in range(source.randint(1, 3)):
        row = pick(source, rows)
        row[:] = [other.join(row)]


def add_blank_rows(source: random.Random, rows: Cells, _: str) -> None:
    """Write blank lines between rows."""
    for _ in range(source.randint(1, 3)):
        rows.insert(source.randint(1, len(rows)), [])


def add_sections(source: random.Random, rows: Cells, _: str) -> None:
    """Write lines of one word between rows."""
    for _ in range(source.randint(1, 3)):
        rows.insert(source.randint(1, len(rows)), [source.choice(["Europe", "North", "2023"])])


def blank_cells(source: random.Random, rows: Cells, _: str) -> None:
    """Empty a few cells, of the names too."""
    for _ in range(source.randint(1, 6)):
        row = source.choice(rows)
        row[source.randrange(len(row))] = ""


def repeat_name(source: random.Random, rows: Cells, _: str) -> None:
    """Give two columns the same name."""
    rows[0][-1] = rows[0][0]


def drop_names(source: random.Random, rows: Cells, _: str) -> None:
    """Leave out the names."""
    del rows[0]


def drop_last_names(source: random.Random, rows: Cells, _: str) -> None:
    """Leave out the names of the last columns."""
    del rows[0][source.randint(1, len(rows[0])) :]


def add_comments(source: random.Random, rows: Cells, _: str) -> None:
    """Write lines with a mark of comments above the names, and between rows."""
    for _ in range(source.randint(1, 3)):
        line = source.choice(["# made by hand", "% 12", "#x"])
        rows.insert(source.choice([0, 0, source.randint(1, len(rows))]), [line])


SPOILS: dict[str, Spoil] = {
    each.__name__: each
    for each in (
        *(shorten, lengthen, lengthen_all, split, add_quotes, add_title, add_note, add_table, add_same_table),
        *(change_delimiter, add_blank_rows, add_sections, blank_cells, repeat_name, drop_names, drop_last_names),
        add_comments,
    )
}


def spell(source: random.Random, rows: Cells, delimiter: str) -> str:
    """Return rows as a text. Now and then all cells are in quotes, if none holds a quote."""
    is_quoted = source.random() < 0.2 and not any('"' in cell for row in rows for cell in row)
    end = source.choice(["\n", "\r\n"])
    lines = [delimiter.join(f'"{cell}"' if is_quoted else cell for cell in row) for row in rows]
    return end.join(lines) + source.choice([end, ""])


def read(text: str | bytes) -> tuple[Cells, list[str]]:
    """Return the rows of a text as they are read, the names first, and the warnings."""
    content = text.encode() if isinstance(text, str) else text
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        columns = sa.read_columns(io.BytesIO(content), format="csv", dtype=str)
    rows = [list(row) for row in zip_longest(*(column.tolist() for column in columns.values()), fillvalue="")]
    return [list(columns), *rows], [str(warning.message) for warning in caught]


def bare(rows: Cells) -> Cells:
    """Return rows that hold something, without the blanks of their cells and at their ends."""
    stripped = [[cell.strip() for cell in row] for row in rows]
    for row in stripped:
        while row and not row[-1]:
            row.pop()
    return [row for row in stripped if row]


def are_same(rows: Cells, written: Cells) -> bool:
    """Return whether all cells stand where they were written. A column without a name has its letter."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if all(name == letter for name, letter in zip(rows[0], letters, strict=False)) and bare(rows[1:]) == bare(written):
        return True
    held = bare(written)
    names = held[0] + [""] * (len(rows[0]) - len(held[0]))
    spelled = [name or letter for name, letter in zip(names, letters, strict=False)]
    if not names[0]:
        spelled[0] = rows[0][0] if rows[0][0] in ("index", "A") else ""
    return bare([spelled, *rows[1:]]) == bare([rows[0], *held[1:]])


def is_sound(text: str, rows: Cells, delimiter: str) -> bool:
    """Return whether stray quotes happen to make a file without a fault, in which all rows have the same length."""
    try:
        records = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        return False
    return len(records) != len(rows) and len(set(map(len, records))) == 1


@pytest.mark.parametrize("names", [*([name] for name in SPOILS), ["two of them"]], ids=lambda names: names[0])
def test_each_cell_stands_where_it_was_written_or_a_warning_is_given(names: list[str]) -> None:
    for seed in range(SEEDS):
        source = random.Random(f"{names[0]} {seed}")
        rows, delimiter = make_table(source), source.choice(",;\t|")
        for name in source.sample(list(SPOILS), 2) if names[0] not in SPOILS else names:
            SPOILS[name](source, rows, delimiter)
        text = spell(source, rows, delimiter)
        columns, told = read(text)
        assert told or are_same(columns, rows) or is_sound(text, rows, delimiter), text


@pytest.mark.parametrize("name", SPOILS)
def test_the_call_that_scan_states_reads_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for seed in range(SEEDS // 4):
        source = random.Random(f"call {name} {seed}")
        rows, delimiter = make_table(source), source.choice(",;\t|")
        SPOILS[name](source, rows, delimiter)
        path.write_text(spell(source, rows, delimiter), newline="")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            columns, dialect = sa.read_columns(path), sa.scan(path).dialect
            again = eval(dialect.call, {"sa": sa, "path": path})
        assert [str(column.tolist()) for column in again.values()] == [str(each.tolist()) for each in columns.values()]
        assert list(again) == list(columns)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_delimiter_between_names_and_in_one_row_of_many_short_ones_is_told(delimiter: str) -> None:
    text = "code;int;word\nC-331\nA-598\nC-683\nB-839;693;Bern\n".replace(";", delimiter)
    rows, told = read(text)
    assert len(rows[0]) > 1 or "nearly as well" in told[0]


def put_nuls(source: random.Random, text: str) -> bytes:
    """Return a text with NUL bytes at some places, as a logger leaves them when its power fails."""
    for _ in range(source.randint(1, 4)):
        at = source.randint(0, len(text))
        text = text[:at] + "\0" * source.choice([1, 1, 512]) + text[at:]
    return text.encode()


def put_marks(source: random.Random, text: str) -> bytes:
    """Return a text with byte order marks before some lines, as files that were put together have them."""
    lines = text.splitlines(keepends=True)
    for _ in range(source.randint(1, 3)):
        at = source.randrange(len(lines))
        lines[at] = "\ufeff" + lines[at]
    return "".join(lines).encode()


def end_as(end: str) -> Callable[[random.Random, str], bytes]:
    """Return what writes other line ends: all of them, or those of some lines."""

    def spoil(source: random.Random, text: str) -> bytes:
        is_all = source.random() < 0.5
        lines = text.splitlines()
        return "".join(line + (end if is_all or source.random() < 0.7 else "\r\n") for line in lines).encode()

    return spoil


def encode_as(encoding: str) -> Callable[[random.Random, str], bytes]:
    """Return what encodes a text without a mark at its beginning."""
    return lambda _, text: text.encode(encoding)


def break_off(source: random.Random, text: str) -> bytes:
    """Return a text that ends with the mark of DOS, on a line of its own or not, once or more."""
    return text.encode() + b"\x1a" * source.choice([1, 1, 100]) + source.choice([b"", b"\r\n"])


DEBRIS: dict[str, Callable[[random.Random, str], bytes]] = {
    "NUL": put_nuls,
    "0x1A": break_off,
    "CR CR LF": end_as("\r\r\n"),
    "CR": end_as("\r"),
    "LF": end_as("\n"),
    "marks inside": put_marks,
    **{encoding: encode_as(encoding) for encoding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")},
}


@pytest.mark.parametrize("kind", DEBRIS)
def test_debris_moves_no_cell_and_gets_into_none(kind: str) -> None:
    for seed in range(SEEDS):
        source = random.Random(f"{kind} {seed}")
        rows, delimiter = make_table(source), source.choice(",;\t|")
        if source.random() < 0.3:
            rows[1][0] = "Zürich €5"
        text = spell(source, rows, delimiter)
        columns, told = read(DEBRIS[kind](source, text))
        assert told or are_same(columns, rows), text
        assert not any(sign in cell for row in columns for cell in row for sign in "\0\x1a\r\ufeff"), text


MARKS = {"1.234,5": ".,", "1,234.5": ",.", "1 234,5": " ,", "1\u00a0234,5": "\u00a0,", "1'234.5": "'.", "1234,5": " ,"}


def write_number(number: str, marks: str, *, is_grouped: bool) -> str:
    """Return a number such as `1234.5` with a mark between thousands and a decimal mark."""
    group, point = marks
    whole, _, fraction = number.partition(".")
    whole = f"{float(whole):,.0f}".replace(",", group) if is_grouped else whole  # "-0", too
    return whole + (point + fraction if fraction else "")


@pytest.mark.parametrize("look", MARKS)
def test_numbers_with_marks_are_right_or_text_or_told(look: str) -> None:
    is_grouped = look[1] != "2"
    for seed in range(SEEDS * 2):
        source = random.Random(f"{look} {seed}")
        delimiter = source.choice(",;\t|")
        digits = [source.choice([0, 0, 1, 2, 3]) for _ in range(source.randint(1, 4))]
        most = source.choice([10, 1000, 100_000, 10_000_000])
        numbers = [
            [f"{source.uniform(-most, most):.{count}f}" for count in digits] for _ in range(source.randint(2, 30))
        ]
        cells = [[write_number(each, MARKS[look], is_grouped=is_grouped) for each in row] for row in numbers]
        names = ["town", *(f"n{place}" for place in range(len(digits)))]
        quoted = [[f'"{each}"' if delimiter in each else each for each in row] for row in cells]
        lines = [delimiter.join(row) for row in [names, *([source.choice(WORDS), *row] for row in quoted)]]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            columns = sa.read_columns(io.BytesIO("\n".join(lines).encode()), format="csv")
        assert list(columns) == names
        for place, name in enumerate(names[1:]):
            column = columns[name]
            written, meant = ([row[place] for row in rows] for rows in (cells, numbers))
            if look[1] == "." and max(digits) == 0 and column.dtype.kind == "f":
                assert column.tolist() == list(map(float, written))  # a point is the decimal mark if nothing else is
            elif column.dtype.kind == "U":
                assert column.tolist() == written
                assert caught, lines
            else:
                assert column.astype(float).tolist() == [float(each) for each in meant] or caught, lines
