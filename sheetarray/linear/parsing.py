"""Parses headers, field by field; an error has the address of the cell that is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from .. import dtypes
from ..elements import Cell, is_blank
from ..errors import NEWER, Finding, FormatError, warn_caller
from .header import (
    FIELDS,
    MAX_DIMENSIONS,
    MAX_HEADER_CELLS,
    ORDERS,
    PART_VERSION,
    VERSION,
    AddressOf,
    Header,
    HeaderCutError,
    NoteFinding,
    describe_position,
)

_NUMBER = r"(0|[1-9]\d{0,8})"  # no leading zero: 01.01.2000 is a date that a spreadsheet made of 1.1.0
_SEMVER = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:[-+][0-9A-Za-z.+-]{{1,80}})?", re.ASCII)
_KEYS, _WITH_VALUES = frozenset((*FIELDS, "data")), frozenset(FIELDS[1:])
_INTEGER = re.compile(r"([+-]?\d{1,19})(?:[.,]0*)?", re.ASCII)
_COUNTS = {"shape": (0, MAX_DIMENSIONS), "strides": (0, MAX_DIMENSIONS), "part": (2, 2)}  # least, most; else one

_last: tuple[bool, list[Cell], list[type], Header] | None = None
"""The header that was read last without a warning, with `strict`, its cells and their types (1 and True are equal, but
no header takes one for the other): very many arrays of a file may have the same one. One object, so that another
thread sees the old one or the new one whole."""


def normalize_key(cell: Cell) -> str:
    """Return a header cell as a key: trimmed and in lower case; "" where it is not text."""
    return cell.strip().lower() if isinstance(cell, str) else ""


def warn_of_finding(finding: Finding) -> None:
    """Issue a finding about something that was accepted as a `SheetArrayWarning`."""
    hint = f" ({finding.hint})" if finding.hint else ""
    warn_caller(f"{finding.location}: {finding.message}{hint}")


def count_blanks_before(cells: Sequence[Cell]) -> int:
    """Return the number of blank cells before a header: a column whose neighbours have taller ones has some."""
    if len(cells) and not is_blank(cells[0]):
        return 0  # of very many lists nearly all begin with a header
    return next((index for index, cell in enumerate(cells[: MAX_HEADER_CELLS + 1]) if not is_blank(cell)), 0)


def parse_header(
    cells: Sequence[Cell],
    *,
    strict: bool = False,
    address: AddressOf = describe_position,
    note: NoteFinding = warn_of_finding,
) -> tuple[Header, int]:
    """Return the header at the beginning of some cells, and the index of the first data cell.

    `cells`: Python scalars or text, from `version` on. `strict`: refuse lists without a version. `address`: names a
    cell, from its index. `note`: is called with each finding about what is not as `write` writes it, and accepted.

    Raises:
        FormatError: with the location of the cell to blame.
    """
    global _last
    if _last is not None and _last[0] == strict:
        _, last_cells, kinds, header = _last
        head = list(cells[: len(last_cells)])
        if list(map(type, head)) == kinds and head == last_cells:
            return header, len(head)
    parser = _Parser(cells, strict, address, note)
    header = parser.make_header()
    if not parser.has_noted:
        head = list(cells[: parser.position])
        _last = strict, head, list(map(type, head)), header
    return header, parser.position


class _Parser:
    """The fields of a header, from cells that are gone over once; `position` is the index of the next cell."""

    def __init__(self, cells: Sequence[Cell], strict: bool, address: AddressOf, note: NoteFinding) -> None:
        self.cells, self.strict, self.address = cells, strict, address
        self._note, self.has_noted = note, False
        self.position = 0
        self.key_indices: dict[str, int] = {}
        self.numbers: dict[str, tuple[int, ...]] = {}
        self.texts: dict[str, str] = {}
        begins = [*map(normalize_key, cells[:3:2])] == ["version", "ndarray"]
        version = _SEMVER.fullmatch(str(cells[1]).strip()) if begins else None
        major, minor = map(int, version.group(1, 2)) if version else (0, 0)
        self.position, self.minor = (3, minor) if major == 1 else self.accept_no_version()
        self.keys = _KEYS | {"part"} if self.minor else _KEYS
        while True:
            key = normalize_key(cells[self.position]) if self.position < len(cells) else ""
            key = key if key in self.keys else self.skip_newer_key()
            at, self.position = self.position, self.position + 1
            if key == "data":
                return
            if key in self.key_indices:
                raise self.fail(f"the key {key!r} stands twice", at)
            self.key_indices[key] = at
            if key not in ("order", "dtype"):
                self.numbers[key] = self.read_numbers(key)
            elif self.position < len(cells):
                self.texts[key] = str(cells[self.position])
                self.position += 1
            else:
                raise self.cut_error()

    def read_numbers(self, key: str) -> tuple[int, ...]:
        """Return the numbers behind a key, and pass them."""
        numbers: list[int] = []
        least, most = _COUNTS.get(key, (1, 1))
        while self.position < len(self.cells) and len(numbers) <= most:
            cell = self.cells[self.position]
            if isinstance(cell, str) and (match := _INTEGER.fullmatch(cell.strip())):
                numbers.append(int(match[1]))
            elif type(cell) is int and abs(cell) < 2**63:
                numbers.append(cell)
            elif isinstance(cell, float) and cell.is_integer() and abs(cell) <= 2**53:
                numbers.append(int(cell))
            else:
                break
            self.position += 1
        if self.position >= len(self.cells) or not least <= len(numbers) <= most:
            raise self.error_of_numbers(key, len(numbers), most)
        return tuple(numbers)

    def make_header(self) -> Header:
        """Return the header that the fields make."""
        numbers, part = self.numbers, self.numbers.get("part")
        if absent := [key for key in FIELDS if key not in self.key_indices]:
            raise self.fail(f"the header has no {absent[0]!r}", self.position - 1)
        shape, strides, (capacity,) = numbers["shape"], numbers["strides"], numbers["capacity"]
        if not shape:
            if strides != (0,):
                raise self.fail("an array without dimensions has one stride, 0", self.key_indices["strides"])
            strides = ()
        blamed, step = "dtype", 1  # the cell to blame for what is found out next: a key, and how far behind it
        try:
            dtype = dtypes.from_name(self.texts["dtype"])
            order = ORDERS.get(normalize_key(self.texts["order"]))
            if order is None:
                reason = f"the order is {self.texts['order']!r:.60}; it is 'row-major' or 'column-major'"
                raise self.fail(reason, self.key_indices["order"] + 1)
            blamed, step = "strides", 0
            header = Header(dtype, shape, strides, numbers["offset"][0], order, capacity)
            if part is not None:
                blamed, step = "part", 1
                header = replace(header, part=(part[0], part[1]))
        except FormatError as error:
            self.refuse_negative(blamed)
            error.location = error.location or self.address(min(self.key_indices[blamed] + step, len(self.cells) - 1))
            raise
        length = header.length
        if numbers["length"] != (length,):
            self.refuse_negative("length")
            reason = f"length {numbers['length'][0]} is not the product of the shape, {length}"
            raise self.fail(reason, self.key_indices["length"] + 1)
        if part is None and capacity == length > 0 and header.buffer_range != (0, capacity - 1):
            self.note(self.describe_repeats(header))
        return header

    # What is not as `write` writes it --------------------------------------------------------------------------

    def note(self, finding: Finding) -> None:
        self._note(finding)
        self.has_noted = True

    def fail(self, reason: str, at: int | None = None, hint: str | None = None) -> FormatError:
        return FormatError(reason, location=self.address(self.position if at is None else at), hint=hint)

    def warn(self, message: str) -> None:
        self.note(Finding("warning", self.address(self.position), message))

    def cut_error(self) -> FormatError:
        return HeaderCutError("the header ends before 'data'", location=self.address(len(self.cells) - 1))

    def accept_no_version(self) -> tuple[int, int]:
        """Return the first key's index and the minor version if there is only `ndarray`, as in an older form."""
        if not len(self.cells):
            raise FormatError("an empty list", hint="a flat list begins with version, 1.0.0, ndarray")
        if normalize_key(self.cells[0]) == "ndarray":
            if self.strict:
                raise self.fail("no version before 'ndarray'", hint="strict=False accepts the older form")
            self.warn("the list has no version, as in an older form of the format; it was read as version 1.0")
            return 1, 0
        if normalize_key(self.cells[0]) != "version":
            raise self.fail(f"expected 'version', found {self.cells[0]!r:.60}")
        text = str(self.cells[1]).strip() if len(self.cells) > 1 else ""
        match = _SEMVER.fullmatch(text)
        if match is None:
            written = PART_VERSION if "part" in map(normalize_key, self.cells[:MAX_HEADER_CELLS]) else VERSION
            hint = f"a spreadsheet may have turned it into a date or a number: type {written} as text"
            raise self.fail(f"expected a version such as {written}, found {text!r:.60}", 1, hint)
        if int(match[1]) != 1:
            raise self.fail(f"version {text} of the format; this reader knows 1.x", 1, NEWER if int(match[1]) else None)
        raise self.fail("expected 'ndarray' after the version", min(2, len(self.cells) - 1))

    def skip_newer_key(self) -> str:
        """Skip the keys that only newer versions have, and return the next key that this reader knows."""
        if self.position >= len(self.cells):
            raise self.cut_error()
        if next(reversed(self.key_indices), "") in self.numbers:
            self.refuse_number()
        key = normalize_key(self.cells[self.position])
        if self.minor == 0 or not key:
            raise self.fail(
                f"expected a key ({', '.join(self.missing_keys())}), found {self.describe_cell()}",
                hint=self.order_hint(),
            )
        self.warn(f"the key {key[:60]!r} of a newer version is skipped")
        for at in range(self.position + 1, len(self.cells)):
            if (key := normalize_key(self.cells[at])) in self.keys:
                self.position = at
                return key
        raise self.cut_error()

    def refuse_number(self) -> None:
        """Refuse the current cell if it should be an integer, and is a number."""
        cell = self.cells[self.position]
        if isinstance(cell, float):
            raise self.fail(f"expected an integer, found {cell!r}")
        text = cell.strip() if isinstance(cell, str) else ""
        if text[:1].isdigit() or (text[:1] in ("+", "-", ".") and text[1:2].isdigit()):
            raise self.fail(f"expected an integer, found {text!r:.60}")

    def refuse_negative(self, blamed: str) -> None:
        """Refuse negative sizes, unless a cell that comes before them is to blame."""
        for key in ("shape", "offset", "length", "capacity") if blamed != "dtype" else ():
            for step, value in enumerate(self.numbers[key], 1):
                if value < 0:
                    raise self.fail(f"{key} cannot be negative", self.key_indices[key] + step)

    def missing_keys(self) -> list[str]:
        return [*(key for key in FIELDS if key not in self.key_indices), "data"]

    def order_hint(self) -> str | None:
        """Return a hint if a key stands where the value of another key should be; else None."""
        keys = list(map(normalize_key, self.cells[:MAX_HEADER_CELLS]))
        head = keys[: keys.index("data") + 1] if "data" in keys else keys
        twice = any(key in _WITH_VALUES and after in _KEYS for key, after in pairwise(head) if key)
        return "found a key instead of a value: was a cell deleted, or were the rows sorted?" if twice else None

    def describe_cell(self) -> str:
        """Return the current cell, for messages."""
        return "a blank cell" if is_blank(self.cells[self.position]) else repr(self.cells[self.position])[:60]

    def error_of_numbers(self, key: str, count: int, most: int) -> FormatError:
        """Return the error for too many or too few numbers behind a key, or none below them."""
        if self.position >= len(self.cells):
            return self.cut_error()
        if count > most:
            values = "one value" if most == 1 else f"{most} values"
            return self.fail(f"more than {values} after the key {key!r}", self.position - 1)
        self.refuse_number()
        what = "two integers" if most == 2 else "an integer"
        cell_text = f", found {self.describe_cell()}" if not count else ""
        return self.fail(f"expected {what} after the key {key!r}{cell_text}", hint=self.order_hint())

    def describe_repeats(self, header: Header) -> Finding:
        """Return the finding about strides under which elements repeat, with as many data cells as elements.

        The format allows it: a view may repeat elements, and a buffer may hold others. But where both are equally many,
        each data cell is an element as a rule, and a stride has been overwritten.
        """
        first, last = header.buffer_range
        location = self.address(self.key_indices["strides"] + 1)
        message = (
            f"strides {', '.join(map(str, header.strides))} reach data {first} to {last} of {header.capacity}: "
            "some cells belong to several elements, and others to none"
        )
        return Finding("warning", location, message, f"an array of this shape without gaps has {_side_by_side(header)}")


def _side_by_side(header: Header) -> str:
    """Return the strides of an array of the same shape and order whose elements lie side by side, for messages."""
    sizes = header.shape if header.order == "column-major" else header.shape[::-1]
    strides = [math.prod(sizes[:axis]) for axis in range(len(sizes))]
    return ", ".join(map(str, strides if header.order == "column-major" else strides[::-1]))


def changed_header_cells(cells: Sequence[Cell], header: Header) -> dict[int, int]:
    """Return the cells of a flat list that must change for its header to say what another header says.

    `cells`: from `version` on, keys in any order. `header`: what it is to say; of as many dimensions.

    It returns the integer for each cell that holds another one, by its index in the list.

    Raises:
        FormatError: the cells are no header.
    """
    parser = _Parser(cells, False, describe_position, lambda _: None)
    now = parser.make_header()
    changes: dict[int, int] = {}
    fields = [("shape", now.shape, header.shape), ("strides", now.strides, header.strides)]
    fields += [("length", (now.length,), (header.length,)), ("capacity", (now.capacity,), (header.capacity,))]
    for key, old, new in fields:
        for step, (before, after) in enumerate(zip(old, new, strict=True), 1):
            if before != after:
                changes[parser.key_indices[key] + step] = after
    return changes
