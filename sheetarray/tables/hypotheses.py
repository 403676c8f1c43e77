"""Finds how to cut a text into cells: each hypothesis is a delimiter, quotes and an escape, and the one that explains a
sample best wins.

Each hypothesis cuts the sample into rows. Its score is the share of rows of one width, times how alike the cells of a
column are, less for quotes that stand beside no delimiter. Options of the caller leave only the hypotheses that agree
with them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, pairwise

from .kinds import BLANK, ITEMS, LIST, NUMBER, OTHER, TYPED, WEIGHTS, WORD, kind_of, share_of_kind

WHITESPACE = "whitespace"
"""The delimiter of a text in which any run of blanks and tabs stands between cells."""

COMMON = (",", ";", "\t", "|")
SPACED = (", ", "; ")
"""Delimiters with the blank behind them. Before an empty cell the blank may be left out."""
_SELDOM = {", ": 1.0, "::": 0.9, "\x01": 1.0, "\x1f": 1.0, "#": 0.75, ":": 0.5, "^": 0.85, "~": 0.85}
_SELDOM |= {" ": 0.7, WHITESPACE: 0.7}
_ONE_ROW = 0.3  # two scores of a single row that differ by less are alike
_TORN = 0.6  # times the score, if another delimiter cuts all rows into as many cells, and does not cut the first
_SHORT = 0.5  # of a row of one width counts a row that is shorter than the names
_NO_DELIMITER = 0.4  # the score of rows of one cell each, if all of them are of one kind
_BLANKS_REGULAR = 0.6  # of the rows have one width, if blanks are delimiters
_RUN = 4  # cells at least of two rows that are a table among lines of prose
_CLOSE = 0.01  # two scores that differ by less are alike; the delimiter that is more usual is taken
_NAMES_DIFFER = 0.72  # times the score, if the first row is shorter than all others
_PROSE = 0.5  # times the score, if the first row is a word, and in all others a blank stands behind each delimiter
_QUOTE_ODD = 0.5  # times the weight of a cell, if a quote in it stands beside no delimiter
_RIVAL = 0.985  # of the best score: another delimiter with so much is named in a warning
_NEARLY_ALL = 0.9  # of the rows have one width under a delimiter: so it is named beside one column of no numbers
_POOR = 0.21  # below this score rows have no one width, and the delimiter that stands in most rows is taken
_NAMES_PARTED = 0.85  # times the score of no delimiter, if one stands equally often in all rows, the names among them
_MOST_PARTED = 0.5  # times the score of no delimiter, if one stands in most rows, the names among them
_FEW_ROWS = 32  # of a text whose marks are given tell how many cells most rows have
_MOST_ROWS = 100  # of the sample that are cut
_COMMENTS = "#", "%", "!"  # rows that begin so tell nothing, if there are others
_BLANKS = re.compile(r"[ \t]*")
_ALIGNED = re.compile(r"\S {2,}\S")  # a line of columns that blanks align
_MOST_TYPED_ROWS, _MOST_TYPED_COLUMNS = 40, 24  # whose cells are looked at


@dataclass(frozen=True)
class Marks:
    """The marks that cut a text into cells.

    Attributes:
        delimiter: between cells; "" if each line is one cell, `WHITESPACE` for any run of blanks and tabs.
        quotechar: around cells that hold delimiters; "" if no character quotes.
        escapechar: before a quote or a delimiter that is part of a cell; "" if no character escapes.
    """

    delimiter: str = ","
    quotechar: str = '"'
    escapechar: str = ""


@dataclass(frozen=True)
class Choice:
    """The marks that were chosen, and how certain that is.

    Attributes:
        score: from 0 to 1.
        rival: the next best delimiter, if it is nearly as good; None if no other is.
        width: the number of cells that most rows have.
        is_spaced: whether a blank stands behind each delimiter of the sample, and some of the cells are text.
    """

    marks: Marks
    score: float = 1.0
    rival: str | None = None
    width: int = 1
    is_spaced: bool = False


@dataclass
class Sample:
    """Some of a text: its beginning, and a few lines of its middle and of its end.

    Attributes:
        pieces: of the text; each begins with a line.
        is_whole: whether the first piece is the whole text; otherwise its last line is cut.
    """

    pieces: Sequence[str]
    is_whole: bool


def delimiter_pattern(delimiter: str) -> str:
    """Return the pattern of a delimiter that is not `WHITESPACE`; before an empty cell one of `SPACED` has no blank.

    Example:
        >>> re.split(delimiter_pattern(", "), "a, b,, c,d,")
        ['a', 'b', '', 'c,d', '']
    """
    first = re.escape(delimiter[:1])
    return rf"{first}(?:[ ]|(?={first}|[\r\n]|\Z))" if delimiter in SPACED else re.escape(delimiter)


@lru_cache(maxsize=64)
def sample_field_pattern(marks: Marks) -> re.Pattern[str]:
    """Return the pattern of a field; its groups are the quoted text, the closing quote, what stands behind it, a field
    without quotes, and the delimiter or line end.
    """
    delimiter, quote, escape = marks.delimiter, re.escape(marks.quotechar), re.escape(marks.escapechar)
    if delimiter == WHITESPACE:
        mark, first = r"[ \t]++(?![ \t\r\n]|\Z)", r" \t"
    else:
        first = re.escape(delimiter[:1])
        mark = delimiter_pattern(delimiter)
    if len(delimiter) > 1 and delimiter != WHITESPACE:
        plain = rf"(?:[^{first}\r\n]|(?!{mark}){first})*+"
    else:
        plain = rf"[^{first}\r\n]*+" if not escape else rf"(?:[^{first}\r\n{escape}]|{escape}.|{escape})*+"
    stop = rf"{mark}|\r\n|\n|\r|\Z" if delimiter else r"\r\n|\n|\r|\Z"
    if delimiter == WHITESPACE:
        stop = rf"{mark}|[ \t]*(?:\r\n|\n|\r|\Z)"
    if not quote:
        return re.compile(rf"(?:(?!)()()()|({plain}))({stop})", re.DOTALL)
    body = rf"[^{quote}{escape}]*+(?:(?:{quote}{quote}{'|' + escape + '.' if escape else ''})[^{quote}{escape}]*+)*+"
    return re.compile(rf"(?:{quote}({body})({quote}|\Z)({plain})|({plain}))({stop})", re.DOTALL)


def _cut_lines(text: str, marks: Marks) -> Iterator[list[str]]:
    """Yield the cells of each row of a text as they are written, quotes included."""
    delimiter = marks.delimiter
    is_plain = len(delimiter) < 2 and not any(mark and mark in text for mark in (marks.quotechar, marks.escapechar))
    if not is_plain or "\r" in text.replace("\r\n", "\n"):
        yield from (cells for cells, _ in cut_rows(text, marks))
        return
    lines = text.replace("\r\n", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    for line in lines:
        yield line.split(delimiter) if delimiter else [line]


def cut_rows(text: str, marks: Marks) -> Iterator[tuple[list[str], int]]:
    """Yield the cells of each row of a text as they are written, quotes included, and the place after it."""
    place, pattern = 0, sample_field_pattern(marks)
    while place < len(text):
        cells, place = cut_row(text, place, marks, pattern)
        yield cells, place


def cut_row(text: str, place: int, marks: Marks, pattern: re.Pattern[str] | None = None) -> tuple[list[str], int]:
    """Return the cells of the row that begins at a place, as they are written, and the place after it."""
    delimiter, quote = marks.delimiter, marks.quotechar
    if len(delimiter) < 2:
        end = text.find("\n", place)
        line = text[place:] if end < 0 else text[place:end]
        if not (quote and quote in line) and not (marks.escapechar and marks.escapechar in line):
            after = len(text) if end < 0 else end + 1
            if "\r" in line and line.find("\r") < len(line) - 1:  # it ends this row, and others stand behind it
                line = line.partition("\r")[0]
                after = place + len(line) + 1
            line = line.removesuffix("\r")
            return (line.split(delimiter) if delimiter else [line]), after
    cells: list[str] = []
    if delimiter == WHITESPACE and (blank := _BLANKS.match(text, place)):
        place = blank.end()
    pattern = pattern or sample_field_pattern(marks)
    while True:
        match = pattern.match(text, place)
        assert match is not None  # an empty field matches anywhere
        cells.append(text[place : match.start(5)])
        place = match.end()
        if not match[5] or match[5][-1] in "\r\n" or not delimiter:
            return cells, place


def unquote(cell: str, marks: Marks) -> str | None:
    """Return the text of a cell as it is written; None if a quote opens it, and something stands behind the next one.

    Example:
        >>> [unquote(cell, Marks()) for cell in ('x', '"x, y"', '"x ""y"" z"', '"x" ', '"x"y')]
        ['x', 'x, y', 'x "y" z', 'x', None]
    """
    quote, escape = marks.quotechar, marks.escapechar
    if quote and cell[:1] == quote:
        bare = cell.rstrip(" \t")
        if len(bare) == 1 or bare[-1] != quote:
            return None
        inside, pairs = bare[1:-1], re.escape(quote) * 2
        pairs = rf"{re.escape(escape)}.|{pairs}" if escape else pairs
        if quote in re.sub(pairs, "", inside, flags=re.DOTALL):
            return None
        return re.sub(pairs, lambda found: found[0][1], inside, flags=re.DOTALL)
    if escape and escape in cell:
        special = marks.delimiter + quote + escape
        return re.sub(re.escape(escape) + "(.)", lambda found: found[1] if found[1] in special else found[0], cell)
    return cell


def find_marks(sample: Sample, given: Marks | None = None, *, known: frozenset[str] = frozenset()) -> Choice:
    """Return the marks that explain a sample best.

    `given`, `known`: marks that the caller has named, and the names of those of its fields that count.

    Example:
        >>> find_marks(Sample(["a;b\\n1,5;2\\n2,5;3\\n"], True)).marks.delimiter
        ';'
    """
    given = given or Marks()
    text = sample.pieces[0]
    hypotheses = list(_list_hypotheses("\n".join(sample.pieces), given, known))
    if len(hypotheses) == 1:
        widths = Counter(len(cells) for cells, _ in islice(cut_rows(text, hypotheses[0]), _FEW_ROWS) if any(cells))
        return Choice(hypotheses[0], width=max(widths, key=lambda each: (widths[each], each), default=1))
    scored: _Scored = []
    best, close = 0.0, _CLOSE
    by_bound: dict[float, list[Marks]] = {}  # by the highest score that a hypothesis can get
    for marks in hypotheses:
        by_bound.setdefault(_SELDOM.get(marks.delimiter, 1.0) if marks.delimiter else _NO_DELIMITER, []).append(marks)
    for bound in sorted(by_bound, reverse=True):
        if bound < best * (1 - max(close, 1 - _RIVAL)):
            break  # none of the others can be the best, or nearly
        fits = [(_Fit(sample, marks), marks) for marks in by_bound[bound]]
        scored += fits
        even = [marks.delimiter for fit, marks in scored if fit.is_even and marks.delimiter in COMMON]
        for fit, _ in fits:
            if any(_are_names(fit.first, mark) for mark in even):
                fit.score *= _TORN
        best = max(fit.score for fit, _ in scored)
        close = _ONE_ROW if max(fit.count for fit, _ in scored) <= 1 else _CLOSE
    if best < _POOR:
        scored = _leave_standing(scored)
        best = max(fit.score for fit, _ in scored)
    likely = [(fit, marks) for fit, marks in scored if fit.score >= best * (1 - close)]
    likely.sort(key=lambda one: _rank(one[1]))
    fit, marks = likely[0]
    if fit.count == 1 and marks.quotechar and "quotechar" not in known and _is_swallowed(text, marks.quotechar):
        choice = find_marks(sample, replace(given, quotechar=""), known=known | {"quotechar"})
        return replace(choice, marks=replace(choice.marks, quotechar=marks.quotechar))
    if marks.delimiter == ", " and fit.width > 1 and len(fit.first) == 1 and fit.first[0].count(",") == fit.width - 1:
        marks = replace(marks, delimiter=",")  # no blank stands in the row of names
    rivals = [
        m.delimiter
        for f, m in scored
        if m.delimiter.strip() != marks.delimiter.strip()
        and not _are_blank(m, marks)
        and f.score >= best * _RIVAL
        and f.width > 1
    ]
    if not marks.delimiter:
        if "delimiter" not in known and (parted := _find_parted(sample, scored, fit, marks)) is not None:
            return parted
        rivals += _list_rivals(sample, scored, fit)
    return Choice(
        marks, fit.score, rivals[0] if rivals else None, fit.width, fit.is_spaced and len(marks.delimiter) == 1
    )


def _leave_standing(scored: _Scored) -> _Scored:
    """Return the usual delimiters that stand in most rows, if one stands in half of them; else all hypotheses."""
    standing = [fit.standing for fit, marks in scored if marks.delimiter in COMMON and not fit.is_prose]
    most = max(standing, default=0.0)
    if most < 0.5:
        return scored
    return [(fit, marks) for fit, marks in scored if marks.delimiter in COMMON and fit.standing == most]


def _find_parted(sample: Sample, scored: _Scored, fit: _Fit, marks: Marks) -> Choice | None:
    """Return the usual delimiter that stands between values in all rows that have it, or between the cells of several
    rows that are a table among lines of prose, where no delimiter explains a sample best; else None.
    """
    lines = [line for piece in sample.pieces for line in piece.split("\n")]
    for mark in COMMON:
        if stands_between_values([line for line in lines if mark in line][:_MOST_ROWS], mark):
            return Choice(Marks(mark, marks.quotechar, marks.escapechar), fit.score)
    if NUMBER in fit.kinds:
        return None
    common = [(f.count_together(), m) for f, m in scored if m.delimiter in COMMON]
    run, run_marks = max(common, key=lambda one: one[0], default=(0, marks))
    return Choice(run_marks, fit.score, "", run) if run else None


def _list_rivals(sample: Sample, scored: _Scored, fit: _Fit) -> list[str]:
    """Return the delimiters that a text may have where none explains a sample best."""
    if NUMBER in fit.kinds:
        return [mark for mark in COMMON if _are_names(fit.first, mark) and not _is_value(fit.first[0])]
    rivals = [m.delimiter for f, m in scored if m.delimiter in COMMON and f.regular > _NEARLY_ALL]
    lines = [line for line in sample.pieces[0].split("\n")[:_MOST_ROWS] if line.strip()]
    if len(lines) > 2 and all(map(_ALIGNED.search, lines)):
        rivals.append(WHITESPACE)
    return [*rivals, *(mark for mark in COMMON if lines and _parts_names(lines, mark))]


def _is_swallowed(text: str, quote: str) -> bool:
    """Return whether a text of several lines is one row, since a quote in the first of them is never closed."""
    first, _, below = text.strip().partition("\n")
    return bool(below) and first.count(quote) % 2 == 1 and quote not in below


_Scored = list[tuple["_Fit", Marks]]


def stands_between_values(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether a delimiter stands between values in each of some lines, which are no numbers as a whole."""
    return bool(lines) and all(
        kind_of(line) not in TYPED - {LIST} and all(kind_of(cell) in (*TYPED, BLANK) for cell in line.split(delimiter))
        for line in lines
    )


def _are_names(row: Sequence[str], delimiter: str) -> bool:
    """Return whether a row of one cell holds several names with a delimiter between them, and no blank behind it."""
    return len(row) == 1 and delimiter in row[0] and not any(cell[:1] in " \t" for cell in row[0].split(delimiter))


def _parts_names(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether a delimiter stands between names, and as often in one of the rows below them."""
    count = lines[0].count(delimiter)
    return _are_names(lines[:1], delimiter) and any(line.count(delimiter) == count for line in lines[1:])


def _part_all(rows: Sequence[Sequence[str]], delimiter: str) -> bool:
    """Return whether each of several rows holds the delimiter equally often, not counting titles above the names."""
    first = next((place for place, row in enumerate(rows) if delimiter in row[0]), len(rows))
    cut = rows[first:]
    if len(cut) < 2 or len({row[0].count(delimiter) for row in cut}) > 1:
        return False
    return not first or (_are_names(cut[0], delimiter) and not any(map(_is_value, cut[0][0].split(delimiter))))


def _part_most(rows: Sequence[Sequence[str]], delimiter: str) -> bool:
    """Return whether the first row and most rows below it hold the delimiter, and no blank behind it."""
    below = rows[1:]
    return _are_names(rows[0], delimiter) and 2 * sum(_are_names(row, delimiter) for row in below) > len(below)


def _count_titles(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of rows of one cell above rows of one width, which are at least as many; 0 of any others."""
    first = next((place for place, row in enumerate(rows) if len(row) > 1), 0)
    return first if 2 * first <= len(rows) and len({len(row) for row in rows[first:]}) == 1 else 0


def _are_prose(rows: Sequence[Sequence[str]], delimiter: str) -> bool:
    """Return whether rows are sentences: a blank stands behind each of their commas or semicolons."""
    if delimiter in (" ", WHITESPACE):
        return any(cell[-1:] in (",", ";") for row in rows for cell in row[:-1])
    cells = [cell for row in rows for cell in row[1:]]
    return delimiter in (",", ", ", ";") and bool(cells) and (delimiter == ", " or all(c[:1] == " " for c in cells))


def _are_spaced(rows: Sequence[Sequence[str]], delimiter: str) -> bool:
    """Return whether a blank stands behind each comma or semicolon that another cell follows, in the first row too."""
    filled = [cell for row in rows for cell in row[1:] if cell]
    return delimiter in (",", ";") and "" not in rows[0][1:] and all(cell[:1] == " " for cell in filled)


def _is_value(cell: str) -> bool:
    return kind_of(cell) in (*TYPED, BLANK)


def _width_together(row: Sequence[str], below: Sequence[str]) -> int:
    """Return how many cells each of two rows has, blanks at the end aside; 0 if that differs or they are few, or if a
    blank stands behind a delimiter, as in a sentence.
    """
    if min(len(row), len(below)) < _RUN:
        return 0
    widths = {1 + max((place for place, cell in enumerate(cells) if cell), default=0) for cells in (row, below)}
    width = widths.pop()
    return 0 if widths or width < _RUN or any(cell[:1] in (" ", "\t") for cell in (*row, *below)) else width


def _are_blank(mine: Marks, other: Marks) -> bool:
    """Return whether white space stands between cells under both hypotheses."""
    return all(marks.delimiter in (" ", "\t", WHITESPACE) for marks in (mine, other))


def _rank(marks: Marks) -> int:
    """Return how unusual marks are, for a choice between hypotheses of the same score."""
    order = (",", ";", "\t", "|", ", ", "\x01", "\x1f", " ", WHITESPACE, "^", "~", "#", "::", ":", "")
    place = order.index(marks.delimiter) if marks.delimiter in order else len(order)
    return 4 * place + 2 * (marks.quotechar != '"') + bool(marks.escapechar)


def _are_aligned(text: str) -> bool:
    """Return whether two blanks stand side by side in most rows, as where blanks align columns."""
    lines = [line.strip() for line in text.split("\n")[:_MOST_ROWS] if line.strip()]
    return 2 * sum("  " in line for line in lines) > len(lines)


def _list_hypotheses(text: str, given: Marks, known: frozenset[str]) -> Iterator[Marks]:
    """Yield the hypotheses that a text and the caller allow."""
    if "delimiter" in known:
        delimiters = [given.delimiter]
    else:
        delimiters = [mark for mark in (*COMMON, *_SELDOM) if mark in text and mark != WHITESPACE]
        if " " in text or "\t" in text:
            delimiters.append(WHITESPACE)
        if " " in delimiters and _are_aligned(text):
            delimiters.remove(" ")
        delimiters.append("")
    for delimiter in delimiters:
        if "quotechar" in known:
            quotes = [given.quotechar]
        else:
            quotes = ['"']
            if "'" in text and _stand_beside(text, "'", delimiter):
                quotes.append("'")
        for quote in quotes:
            if "escapechar" in known:
                escapes = [given.escapechar]
            else:
                escapes = ["", "\\"] if quote and "\\" + quote in text else [""]
            for escape in escapes:
                yield Marks(delimiter, quote, escape)


def _stand_beside(text: str, quote: str, delimiter: str) -> bool:
    """Return whether quotes open and close cells somewhere."""
    mark = r"[ \t]" if delimiter == WHITESPACE else re.escape(delimiter) if delimiter else r"\n"
    opens = re.search(rf"(?:^|{mark}){quote}[^{quote}\n]*{quote}(?:{mark}|\r?$)", text, re.MULTILINE)
    return opens is not None


class _Fit:
    """What a hypothesis makes of a sample.

    Attributes:
        score: from 0 to 1; higher is better.
        width: the number of cells that most rows have.
        standing: the share of rows in which the delimiter stands.
        regular: the share of rows of that width; 0 if they have one cell.
        kinds: those of the columns.
        first: the first row.
        count: the number of rows.
        is_even: whether all rows that the delimiter cuts have one width, as has the first; these are most rows.
        is_prose: whether rows are sentences below a name, as a blank stands behind each of their commas.
        is_spaced: whether a blank stands behind each comma or semicolon, also between names, and some cells are text.
    """

    def __init__(self, sample: Sample, marks: Marks) -> None:
        self.width, self.score, self.standing, self.regular = 1, 0.0, 0.0, 0.0
        self.is_even = self.is_prose = self.is_spaced = False
        self._rows: list[list[str]] = []
        self._has_quotes = any(mark in piece for piece in sample.pieces for mark in {'"', "'", marks.quotechar} - {""})
        self.kinds: list[str] = []
        self.first: list[str] = []
        rows = list(_sample_rows(sample, marks))
        rows = [row for row in rows if not row[0].startswith(_COMMENTS)] or rows
        self.count = len(rows)
        if not rows:
            return
        self.first = rows[0]
        self._rows = rows
        self.is_prose = len(rows[0]) == 1 and _are_prose(rows[1:], marks.delimiter)
        cut = [len(row) for row in rows if len(row) > 1]
        self.is_even = 1 < len(cut) > len(rows) / 2 and len(rows[0]) > 1 and len({*cut}) == 1
        lower = rows[max(len(rows) // 4, _count_titles(rows)) :] if len(rows) > 4 else rows[len(rows) > 2 :]
        widths = Counter(map(len, lower))
        self.standing = sum(len(row) > 1 for row in lower) / len(lower)
        self.width = width = max(widths, key=lambda each: (widths[each], each))
        regular = widths[width] / len(lower)
        self.regular = regular if width > 1 else 0.0
        if not marks.delimiter:
            self.score = _NO_DELIMITER * self._likeness(lower, marks, 1)
            if any(_part_all(rows, mark) for mark in COMMON):
                self.score *= _NAMES_PARTED
            elif any(_part_most(rows, mark) for mark in COMMON):
                self.score *= _MOST_PARTED
            return
        if width == 1:
            return
        factor = _SELDOM.get(marks.delimiter, 1.0)
        if len(rows[0]) == width and marks.delimiter in COMMON:
            regular += _SHORT * sum(1 < len(row) < width for row in lower) / len(lower)
        if marks.delimiter in (" ", WHITESPACE) and regular < _BLANKS_REGULAR:
            return  # words of sentences
        first = len(rows[0])
        if first < width and len(rows) > 1 and first != width - 1:
            banners = sum(1 for row in rows if len(row) == 1)
            factor *= _NAMES_DIFFER if width <= 3 and banners < 3 else 0.95
        elif first == width - 1 and len(rows) > 1:
            factor *= _NAMES_DIFFER if first == 1 else 0.9
        self.score = factor * regular * (width - 1) / width * self._likeness(lower, marks, width)
        is_text = not {*self.kinds} <= {*TYPED, BLANK}
        self.is_spaced = first > 1 < len(rows) and is_text and _are_spaced(rows, marks.delimiter)
        if marks.delimiter == "::" and (first != width or width == 2 or TYPED.isdisjoint(self.kinds)):
            self.score = 0.0  # parts of a name, as in std::vector
        if self.is_prose and (TYPED.isdisjoint(self.kinds) or marks.delimiter in (" ", WHITESPACE)):
            self.score *= _PROSE
        if len(rows) == 1 and marks.delimiter not in (*COMMON, ", ") and not {*self.kinds} <= {*TYPED, BLANK}:
            self.score = 0.0  # a sign in a lone text

    def count_together(self) -> int:
        """Return how many cells rows have that stand together, as a table among lines of prose; 0 without such rows."""
        return max((_width_together(*pair) for pair in pairwise(self._rows)), default=0)

    def _likeness(self, rows: Sequence[Sequence[str]], marks: Marks, width: int) -> float:
        """Return how well the columns have one kind each, from 0 to 1."""
        regular = [row for row in rows if len(row) == width][-_MOST_TYPED_ROWS:]
        total = 0.0
        columns = list(zip(*regular, strict=True))[:_MOST_TYPED_COLUMNS]
        is_blank_mark = marks.delimiter in (" ", WHITESPACE)
        typed = 0
        for cells in columns:
            bare, odd = _unquote(cells, marks) if self._has_quotes else (cells, 0.0)
            kinds = [kind_of(cell) for cell in bare]
            kind, share = share_of_kind(kinds)
            weight = WEIGHTS[kind if marks.delimiter or kind != ITEMS else OTHER]
            self.kinds.append(kind)
            if kind == WORD and is_blank_mark:
                weight *= 0.5
            is_torn = OTHER in kinds or (not marks.delimiter and ITEMS in kinds)
            if share < 1 and kind not in TYPED and not is_torn:
                share = max(share, 0.8)  # words, codes and sentences are all text
            typed += kind in TYPED
            total += weight * share * (1 - _QUOTE_ODD * odd)
        if is_blank_mark and not typed:
            total *= 0.75
        blank = self.kinds[-len(columns) :].count(BLANK) if columns else 0
        return total / max(len(columns), 1) if blank < len(columns) else 0.1


def _unquote(cells: Sequence[str], marks: Marks) -> tuple[list[str], float]:
    """Return cells without their quotes, and the share of cells in which a quote stands beside no delimiter."""
    quote, odd, bare = marks.quotechar, 0, []
    for cell in cells:
        text = cell
        if quote and quote in cell:
            if len(cell) > 1 and cell[0] == quote and cell[-1] == quote:
                text = cell[1:-1]
                inside = text.replace(marks.escapechar + quote, "") if marks.escapechar else text
                odd += quote in inside.replace(quote * 2, "")
                text = text.replace(quote * 2, quote)
            else:
                stripped = cell.strip()
                odd += stripped[:1] == quote or stripped[-1:] == quote
        elif len(cell) > 1 and cell[0] in "\"'" and cell[-1] == cell[0]:
            odd += 1  # quotes that are kept
        bare.append(text)
    return bare, odd / max(len(cells), 1)


def _sample_rows(sample: Sample, marks: Marks) -> Iterator[list[str]]:
    """Yield the rows of a sample that hold something."""
    last = len(sample.pieces) - 1
    for index, piece in enumerate(sample.pieces):
        count = 0
        waiting: list[str] | None = None
        for cells in _cut_lines(piece, marks):
            if waiting is not None:
                yield waiting
            waiting = cells if cells[0].strip() or any(map(str.strip, cells)) else None
            count += waiting is not None
            if count > _MOST_ROWS:
                break
        if waiting is not None and (count == 1 or (sample.is_whole if index == 0 else index == last)):
            yield waiting
