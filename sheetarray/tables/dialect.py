"""What was assumed of an ordinary table, as one line of text, and as the call that states it."""

from __future__ import annotations

from dataclasses import dataclass, field

from .hypotheses import Marks


@dataclass(frozen=True, repr=False)
class Dialect:
    """What was assumed of a table.

    Attributes:
        marks: delimiter, quote and escape; None in a sheet of cells.
        encoding: of the text; None in a sheet of cells, and for UTF-8.
        decimal: the decimal mark.
        thousands: the mark between thousands; None if numbers have no such mark.
        above: the number of rows above the names, or above the first row of data.
        names: the rows that hold names, counted from 1.
        columns: the number of columns.
        rows: the number of rows of data.

    Example:
        >>> dialect = Dialect(Marks(";"), decimal=",", above=2, names=(3,), columns=4, rows=120)
        >>> dialect
        delimiter ';', decimal ',', names in row 3, 2 rows above, 4 columns x 120 rows
        >>> dialect.call
        'sa.read_columns(path, delimiter=";", decimal=",", skip_rows=2, header=1)'
    """

    marks: Marks | None = None
    encoding: str | None = None
    decimal: str = "."
    thousands: str | None = None
    above: int = 0
    names: tuple[int, ...] = field(default=())
    columns: int = 0
    rows: int = 0

    def __repr__(self) -> str:
        parts = []
        if self.marks is not None:
            parts.append("one column" if not self.marks.delimiter else f"delimiter {self.marks.delimiter!r}")
            if self.marks.quotechar != '"':
                parts.append(f"quote {self.marks.quotechar!r}" if self.marks.quotechar else "no quotes")
            if self.marks.escapechar:
                parts.append(f"escape {self.marks.escapechar!r}")
        if self.encoding is not None:
            parts.append(f"encoding {self.encoding}")
        is_delimiter = self.marks is not None and self.decimal == self.marks.delimiter  # then it is found, not given
        if (self.decimal != "." or self.thousands is not None) and not is_delimiter:
            parts.append(f"decimal {self.decimal!r}")
        if self.thousands is not None:
            parts.append(f"thousands {self.thousands!r}")
        parts.append(self._describe_names())
        if self.above:
            parts.append(f"{self.above} {'row' if self.above == 1 else 'rows'} above")
        columns = "column" if self.columns == 1 else "columns"
        parts.append(f"{self.columns:,} {columns} x {self.rows:,} {'row' if self.rows == 1 else 'rows'}")
        return ", ".join(parts)

    def _describe_names(self) -> str:
        if not self.names:
            return "no names"
        if len(self.names) == 1:
            return f"names in row {self.names[0]}"
        first, last = self.names[0], self.names[-1]
        return f"names in rows {first} to {last}"

    @property
    def call(self) -> str:
        """The call that reads the table, with every assumption as an option."""
        options = []
        if self.marks is not None and self.marks.delimiter:
            options.append(f"delimiter={_quoted(self.marks.delimiter)}")
        if self.marks is not None and self.marks.quotechar != '"':
            options.append(f"quotechar={_quoted(self.marks.quotechar)}")
        if self.marks is not None and self.marks.escapechar:
            options.append(f"escapechar={_quoted(self.marks.escapechar)}")
        if self.encoding is not None:
            options.append(f"encoding={_quoted(self.encoding)}")
        is_delimiter = self.marks is not None and self.decimal == self.marks.delimiter  # then it is found, not given
        if (self.decimal != "." or self.thousands is not None) and not is_delimiter:
            options.append(f"decimal={_quoted(self.decimal)}")
        if self.thousands is not None:
            options.append(f"thousands={_quoted(self.thousands)}")
        if self.above:
            options.append(f"skip_rows={self.above}")
        options.append(f"header={len(self.names)}")
        return f"sa.read_columns({', '.join(['path', *options])})"


def _quoted(text: str) -> str:
    return '"' + repr(text)[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
