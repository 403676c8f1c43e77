"""Addresses of spreadsheets and worksheets, from URLs, keys or objects of gspread; and ranges in A1 notation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from ...columns import column_letters, quote_title
from ...errors import LimitError, NotFoundError, check_kinds
from ...files import conceal_secrets
from ..sheet_choice import SheetChoice, parse_index

_KEY = re.compile(r"[A-Za-z0-9_-]{15,200}")
_OURS = re.compile(r"gsheets://([^/?#]*)(?:/(.*?))?(?:[?#]gid=([^&#]*))?", re.DOTALL)  # a title may contain ? and #
_DEFAULTS = ("arrays", "table")  # of `sheet=` where something is written; they say nothing beside a worksheet
_OLD_HOSTS = ("spreadsheets.google.com", "docs.google.com")


@dataclass(frozen=True, slots=True)
class SheetAddress:
    """A spreadsheet, and perhaps one of its worksheets.

    Example:
        >>> address = parse_address("https://docs.google.com/spreadsheets/d/1aBcDeFgHiJkLmNoP/edit#gid=7")
        >>> address.key, address.gid
        ('1aBcDeFgHiJkLmNoP', 7)
    """

    key: str  # of the spreadsheet, as its URL has it
    gid: int | None  # the id of the worksheet; None if the address says its title, or no worksheet
    title: str | None  # of the worksheet; None if the caller and the address do not say it
    label: str  # the name of the spreadsheet in messages
    http: Any = None  # gspread's HTTP client, if the source was an object of gspread; otherwise None
    index: int | None = None  # of the worksheet among those with cells, counted from 0, if a caller says so


def parse_address(source: Any, sheet: SheetChoice = None, *, reads: bool = False) -> SheetAddress:
    """Return the spreadsheet and the worksheet that a source or a target names.

    `reads`: whether `sheet` may be an index, too.
    """
    if not reads:
        check_kinds(str | None, "the title of a worksheet, text", sheet=sheet)
    if sheet is not None and not isinstance(sheet, str):
        index, address = parse_index(sheet), parse_address(source)
        if address.gid is not None or address.title is not None:
            raise ValueError(f"the source names a worksheet, and sheet={index} an index: leave one of them out")
        return replace(address, index=index)
    address = _from_text(source) if isinstance(source, str) else _from_object(source, sheet)
    is_named = address.gid is not None or address.title is not None
    if sheet is not None and not (is_named and sheet.casefold() in _DEFAULTS):
        if address.title is not None and address.title.casefold() != sheet.casefold():
            raise NotFoundError(two_worksheets_problem(address.title, sheet))
        address = replace(address, title=sheet if address.title is None else address.title)
    if address.title is not None:
        check_gsheet_title(address.title, "worksheet", 100)
    return address


def two_worksheets_problem(title: str, sheet: str) -> str:
    """Return a sentence that says that a URL names a worksheet, and `sheet=` another."""
    return f"the URL names the worksheet {title!r:.80}, and sheet={sheet!r:.80} another: leave one of them out"


def url_of_key_gsheet(text: str) -> str:
    """Return the URL of the spreadsheet that has a key; any other text as it is.

    Example:
        >>> url_of_key_gsheet("1aBcDeFgHiJkLmNoP"), url_of_key_gsheet("run.csv")
        ('gsheets://1aBcDeFgHiJkLmNoP', 'run.csv')
    """
    return f"gsheets://{text}" if _KEY.fullmatch(text) else text


def check_gsheet_title(title: str, what: str, most: int) -> None:
    """Refuse a title that no worksheet or spreadsheet can have, with a LimitError, or a TypeError if it is no text."""
    check_kinds(str, f"the title of a {what}, text", **{"sheet" if what == "worksheet" else "title": title})
    length = len(title) if title.strip() else 0
    if not 0 < length <= most:
        raise LimitError(f"the title of a {what} has 1 to {most:,} characters, not {length:,}")
    if re.search(r"[\ud800-\udfff]", title):
        raise LimitError(f"the title of a {what} must be valid Unicode, not {title!r:.80}")


def _from_text(text: str) -> SheetAddress:
    """Return the address that a URL or a key means."""
    if parse_new(text) is not None:
        raise NotFoundError(f"{conceal_secrets(text)}: only a write makes a spreadsheet")
    if text.startswith("gsheets://"):
        match = _OURS.fullmatch(text)
        key, title = _check_key(match[1] if match else "", text), match and match[2]
        if title and match and match[3]:
            raise NotFoundError(f"{conceal_secrets(text)}: this means two worksheets; leave out the title, or gid=")
        gid = _parse_gid(match and match[3], text)
        return SheetAddress(key, gid, _unquote(title, text) if title else None, conceal_secrets(text))
    if text.startswith(("https://", "http://")):
        try:
            parts = urlsplit(text)
        except ValueError:
            parts = urlsplit("")  # whose key is none
        query, fragment = parse_qs(parts.query), parse_qs(parts.fragment)
        named = re.search(r"/spreadsheets/(?:u/\d+/)?d/([^/]+)", parts.path)
        key = named[1] if named else query.get("key", [""])[0] if parts.hostname in _OLD_HOSTS else ""
        if key == "e":
            raise NotFoundError(
                f"{conceal_secrets(text)}: this is the address of a published copy; use the one in the address bar "
                "of the spreadsheet"
            )
        (digits,) = fragment.get("gid", query.get("gid", [None]))[:1]
        return SheetAddress(_check_key(key, text), _parse_gid(digits, text), None, conceal_secrets(text))
    return SheetAddress(_check_key(text, text), None, None, f"gsheets://{text}")


def _check_key(key: str, text: str) -> str:
    """Return the key that was found in a text, if it looks like one; a NotFoundError otherwise."""
    if _KEY.fullmatch(key):
        return key
    if key and key != text:
        raise NotFoundError(
            f"{conceal_secrets(text)}: {key!r:.80} is not a key of Google Sheets; copy the one from the address bar, "
            "https://docs.google.com/spreadsheets/d/KEY/edit, where KEY has about 44 characters"
        )
    raise NotFoundError(
        f"{conceal_secrets(text)}: neither a URL of Google Sheets (https://docs.google.com/spreadsheets/d/KEY/edit, "
        "gsheets://KEY/worksheet) nor a key"
    )


def _parse_gid(gid: str | None, text: str) -> int | None:
    """Return the id of a worksheet that was found in a text as a number; None if the text has no id."""
    if not gid:
        return None
    if not re.fullmatch(r"\d{1,10}", gid, re.ASCII):
        raise NotFoundError(
            f"{conceal_secrets(text)}: no worksheet has the id {gid!r}, which is not a whole number of up to 10 digits"
        )
    return int(gid)


def _unquote(part: str, text: str) -> str:
    """Return a part of a text with its %-escapes replaced."""
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise NotFoundError(
            f"{conceal_secrets(text)}: its %-escapes are not UTF-8; a percent sign itself is %25"
        ) from None


def _from_object(source: Any, sheet: str | None) -> SheetAddress:
    """Return the address of a Spreadsheet or a Worksheet of gspread."""
    if type(source).__module__.partition(".")[0] == "gspread" or hasattr(source, "client"):
        import gspread

        if isinstance(source, gspread.Worksheet):
            if sheet is not None and sheet.casefold() not in (source.title.casefold(), *_DEFAULTS):
                raise ValueError(
                    f"this is the worksheet {source.title!r:.80}, {sheet!r:.80} is another: pass the spreadsheet"
                )
            key = source.spreadsheet_id
            return SheetAddress(key, source.id, None, f"gsheets://{key}/{source.title}", source.client)
        if isinstance(source, gspread.Spreadsheet):
            return SheetAddress(source.id, None, None, f"gsheets://{source.id}", source.client)
    raise TypeError(
        f"expected a URL or a key of Google Sheets, or a gspread Spreadsheet or Worksheet, not {type(source).__name__}"
    )


@dataclass(frozen=True, slots=True)
class NewSpreadsheet:
    """A spreadsheet that is to be made.

    Example:
        >>> parse_new("gsheets://new?title=run%2012&share=me@example.org")
        NewSpreadsheet(title='run 12', share=('me@example.org',))
    """

    title: str
    share: tuple[str, ...]  # addresses of people and groups who may edit it


def parse_new(target: Any) -> NewSpreadsheet | None:
    """Return the spreadsheet that a target asks for; None if the target means an existing one.

    Raises:
        NotFoundError: the target asks for a new spreadsheet and has no title, or several, or what no spreadsheet has.
        LimitError: no spreadsheet can have this title.
        ValueError: it cannot be shared with one of the addresses.
    """
    if not isinstance(target, str) or not re.match(r"gsheets://new(?:[?/#&]|$)", target):
        return None
    said: dict[str, list[str]] = {}
    shown = conceal_secrets(target)
    for pair in target.partition("?")[2].split("&") if target.startswith("gsheets://new?") else ():
        key, _, value = pair.partition("=")
        if key not in ("title", "share"):
            raise NotFoundError(
                f"{shown}: a new spreadsheet has title= and share=, not {key!r:.80}; in a title, & is written %26"
            )
        said.setdefault(key, []).append(_unquote(value.replace("+", " ") if key == "title" else value, target))
    if len(said.get("title", [])) != 1 or not said["title"][0]:
        raise NotFoundError(f"{shown}: a new spreadsheet is gsheets://new?title=TITLE&share=ADDRESS")
    (title,), people = said["title"], tuple(dict.fromkeys(said.get("share", ())))
    check_gsheet_title(title, "spreadsheet", 1000)
    for address in people:
        if not re.fullmatch(r"[^\s,@\ud800-\udfff]+@[^\s,@\ud800-\udfff]+", address):
            raise ValueError(f"{address!r:.80} is no address to share with; repeat share= for several")
    return NewSpreadsheet(title, people)


ALL_ROWS = 10_000_000  # more than any worksheet has: the bottom of ranges that go down to the last row
ALL_COLUMNS = 18_278  # as many as a worksheet can have: the right side of ranges of whole rows


class Rect(NamedTuple):
    """A range of cells of a worksheet: from a row and a column, counted from 0, to those before `bottom` and `right`.

    Example:
        >>> Rect(0, 2, 20, 3).to_a1, Rect(4, 0, ALL_ROWS, 1).to_a1, Rect(0, 0, 9, ALL_COLUMNS).to_a1
        ('C1:C20', 'A5:A', '1:9')
    """

    top: int
    left: int
    bottom: int
    right: int

    @property
    def to_a1(self) -> str:
        """The range in A1 notation, without the worksheet."""
        if (self.left, self.right) == (0, ALL_COLUMNS):
            return f"{self.top + 1}:{self.bottom}"
        last = "" if self.bottom >= ALL_ROWS else str(self.bottom)
        return f"{column_letters(self.left)}{self.top + 1}:{column_letters(self.right - 1)}{last}"

    def clip(self, rows: int, columns: int) -> Rect | None:
        """Return the part of the range that lies within a grid of so many rows and columns; None without one."""
        part = self._replace(bottom=min(self.bottom, rows), right=min(self.right, columns))
        return part if part.top < part.bottom and part.left < part.right else None

    def holds(self, row: int, column: int) -> bool:
        """Return whether a cell is within the range."""
        return self.top <= row < self.bottom and self.left <= column < self.right

    def overlaps(self, other: Rect) -> bool:
        """Return whether two ranges have a cell in common."""
        rows = self.top < other.bottom and other.top < self.bottom
        return rows and self.left < other.right and other.left < self.right

    def to_grid_range(self, gid: int) -> dict[str, int]:
        """Return the range as a GridRange, the JSON for it in requests of batchUpdate."""
        ends = {"endRowIndex": self.bottom} if self.bottom < ALL_ROWS else {}
        ends |= {"endColumnIndex": self.right} if self.right < ALL_COLUMNS else {}
        return {"sheetId": gid, "startRowIndex": self.top, "startColumnIndex": self.left, **ends}


def one_cell(row: int, column: int) -> Rect:
    """Return the range of one cell."""
    return Rect(row, column, row + 1, column + 1)


def join_columns(rects: Iterable[Rect]) -> list[Rect]:
    """Return ranges; neighbouring columns with the same rows are joined.

    Example:
        >>> join_columns([Rect(0, 0, 5, 1), Rect(0, 1, 5, 2), Rect(0, 2, 6, 3)])
        [Rect(top=0, left=0, bottom=5, right=2), Rect(top=0, left=2, bottom=6, right=3)]
    """
    joined: list[Rect] = []
    for rect in rects:
        last = joined[-1] if joined else None
        if last and (last.top, last.bottom, last.right) == (rect.top, rect.bottom, rect.left):
            joined[-1] = last._replace(right=rect.right)
        else:
            joined.append(rect)
    return joined


def worksheet_url(key: str, gid: int) -> str:
    """Return the URL of a worksheet, as a browser opens it."""
    return f"https://docs.google.com/spreadsheets/d/{key}/edit#gid={gid}"


def range_on_sheet(title: str, rect: Rect) -> str:
    """Return a range in A1 notation, with its worksheet.

    Example:
        >>> range_on_sheet("Bob's", Rect(0, 0, 1, 2))
        "'Bob''s'!A1:B1"
    """
    return f"{quote_title(title)}!{rect.to_a1}"
