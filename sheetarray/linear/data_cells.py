"""The data cells under a header: how many there have to be, the buffer that they hold, and errors in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import Buffer, DType
from ..elements import (
    Cell,
    Missing,
    NamedMissing,
    Problem,
    Unreadable,
    decode,
    is_blank,
    names_cell,
    put_missing,
    takes_blanks,
    text_array,
)
from ..errors import Finding, FormatError, quote_names
from .header import AddressOf, Header, NoteFinding, describe_position
from .parsing import warn_of_finding
from .resizing import resize_hint

# The data cells under a header: how many there have to be, the buffer that they hold, and errors in them.
_IMAGINARY = ("i", "j", "I", "J", "i)", "j)", "I)", "J)")
MAX_TRIMMED_BLANKS = 1_048_576  # blanks at the end of a column that a program may have dropped
_TRIMMED_HINT = "some programs leave out blanks at the end of a column; if there was more, the file is cut short"


def fit_cells(
    data: Sequence[Cell],
    header: Header,
    *,
    missing: Missing = "error",
    address: AddressOf = describe_position,
    name: str = "array",
    note: NoteFinding = warn_of_finding,
) -> Sequence[Cell]:
    """Return the data cells that belong to the array: trailing padding dropped, trimmed blanks put back.

    `address`: of a data cell, by its index. `note`: is called with a finding if blanks have been put back.

    Raises:
        FormatError: too few cells, or something that is no blank after the last.
    """
    count = len(data)
    if count == header.capacity:
        return data
    while count > header.capacity and is_blank(data[count - 1]):
        count -= 1
    expected = expected_cell_count(data, count, header)
    if error := check_cell_count(expected, count, len(data), header, missing=missing, address=address):
        if error.location is None:
            error.location = address(next(i for i in range(header.capacity, count) if not is_blank(data[i])))
        raise error
    if expected <= len(data):
        return data[:expected]
    note(describe_missing_cells(name, expected - len(data), address(len(data) - 1)))
    return [*data, *[None] * (expected - len(data))]


def expected_cell_count(data: Iterable[Cell], count: int, header: Header) -> int:
    """Return the number of cells that an array takes: two for each element of interleaved complex numbers.

    `data`: the cells, blanks at the end included. `count`: the number of cells up to the last that is not blank.
    """
    if header.dtype.kind != "complex" or count != 2 * header.capacity:
        return header.capacity
    # There are more cells than elements. If any has an imaginary unit, they are texts, and something stands below them.
    is_text = any(isinstance(cell, str) and cell.rstrip().endswith(_IMAGINARY) for cell in islice(data, count))
    return header.capacity if is_text else count


def count_elements(data: Sequence[Cell], header: Header) -> int | None:
    """Return the number of elements in cells, without blanks at the end; None if half a complex number is left.

    Numbers without an imaginary unit are interleaved, where a complex array has another number of cells than elements.
    """
    count = len(data)
    if count and header.dtype.kind != "complex" and not is_blank(data[count - 1]):
        return count
    while count and is_blank(data[count - 1]):
        count -= 1
    if header.dtype.kind != "complex" or count == header.capacity:
        return count
    if any(isinstance(cell, str) and cell.rstrip().endswith(_IMAGINARY) for cell in islice(data, count)):
        return count
    return None if count % 2 else count // 2


def may_be_blank(header: Header, missing: Missing) -> bool:
    """Return whether a blank may be an element of an array."""
    kind = header.dtype.kind
    return kind in ("string", "generic") or (takes_blanks(missing) and kind in ("float", "complex"))


def check_cell_count(
    wanted: int, count: int, present: int, header: Header, *, missing: Missing, address: AddressOf
) -> FormatError | None:
    """Return an error if there are too few or too many data cells, else None.

    `wanted`: the number of cells that the array takes; see `expected_cell_count`. `count`: the number of cells up to
    the last that is not blank. `present`: the number of cells, blanks at the end included. `address`: of a data cell,
    by its index.

    It returns the error; if there are too many cells it has no location, since only the caller knows which is not
    blank.
    """
    if count == wanted or (count < wanted and may_be_blank(header, missing) and wanted - present <= MAX_TRIMMED_BLANKS):
        return None
    cells_per_element = wanted // header.capacity if header.capacity else 1
    hint = resize_hint(header, count // cells_per_element) or None
    if count > wanted:
        return FormatError(f"expected no more than {wanted} data cells, found another", hint=hint)
    reason = f"capacity is {wanted}, but the data end after {count} cells"
    index = header.index_at(count * header.capacity // wanted)
    return FormatError(reason, location=address(count), hint=hint, index=index)


def describe_missing_cells(name: str, count: int, last: str, *, orient: str = "columns") -> Finding:
    """Return the finding about cells at the end of an array that are not there and are read as blank.

    `count`: the number of these cells. `orient`: "rows" where they would stand to the right of it.
    """
    are, where = "cell is" if count == 1 else "cells are", "below" if orient == "columns" else "to the right of"
    message = f"{name}: {count} {are} missing {where} {last} and {are.split()[1]} read as blank"
    return Finding("warning", last, message, _TRIMMED_HINT, array=name)


def decode_data(
    cells: Sequence[Cell], header: Header, *, missing: Missing = "error"
) -> tuple[np.ndarray[tuple[int], np.dtype[Any]], list[Problem]]:
    """Return the buffer that the data cells hold; twice as many cells as elements are interleaved complex."""
    if header.dtype.kind != "complex" or len(cells) == header.capacity:
        return decode(cells, header.dtype, missing=missing)
    parts, problems = decode(cells, complex_part_dtype(header.dtype), missing=missing)
    return parts.view(header.dtype.numpy), problems


def buffer_from_numbers(numbers: Buffer, dtype: DType) -> Buffer | None:
    """Return the buffer of a column of plain numbers; None if its dtype does not hold one of them.

    `numbers`: booleans of bool; int64 or uint64 of integers; int64 of moments and of time spans; floats of the width of
    their dtype; text of any width.
    """
    if dtype.kind == "string":
        return numbers
    if dtype.kind in ("timedelta", "datetime") or numbers.dtype == dtype.numpy:
        return numbers.view(dtype.numpy)
    limits = np.iinfo(dtype.numpy)
    if len(numbers) and (numbers.min() < limits.min or numbers.max() > limits.max):
        return None
    return numbers.astype(dtype.numpy)


def complex_part_dtype(dtype: DType) -> DType:
    """Return the float dtype of the real and the imaginary part of a complex one."""
    return dtypes.from_name("float64" if dtype.numpy.itemsize == 16 else "float32")


class TakenWords:
    """The cells that hold words for missing values, such as `n/a`, and were read as NaN: one finding for all.

    Attributes:
        counts: how many cells of each array; empty without such cells.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._read_as = "NaN"
        self._first = ("", 0, "", "")  # array, index, address, word

    def take(
        self,
        name: str,
        buffer: Buffer,
        problems: list[Problem],
        *,
        missing: Missing,
        cell: Callable[[int], Cell],
        address: AddressOf,
    ) -> list[Problem]:
        """Put missing values in the place of words into the buffer of an array, and return the problems that are left.

        `missing`: "error" leaves all. `cell`: returns a data cell, by its index. `address`: of a data cell.
        """
        kind = buffer.dtype.kind
        takes_all = takes_blanks(missing) and kind in "fc"
        if kind not in "fcmM" or not (takes_all or isinstance(missing, NamedMissing)):
            return problems
        words = [p.index for p in problems if p.is_word and (takes_all or names_cell(missing, cell(p.index)))]
        if words:
            put_missing(buffer, words)
            self._count(name, kind, len(words), (name, words[0], address(words[0]), _word_of(cell(words[0]))))
        taken = {*words}
        return [problem for problem in problems if problem.index not in taken or problem.rest]

    def take_cell(self, name: str, kind: str, index: int, address: str, word: str) -> None:
        """Count a cell whose missing value stands in an array already; `kind`: of the array's dtype."""
        self._count(name, kind, 1, (name, index, address, word))

    def take_elements(self, name: str, buffer: Buffer, missing: NamedMissing, address: AddressOf) -> Buffer:
        """Return the buffer of an array with a missing value for each element that a caller calls so, such as -999.

        `address`: of an element, by its index.
        """
        if not (mask := missing.find(buffer)).any():
            return buffer
        first = int(np.argmax(mask))
        self._count(name, buffer.dtype.kind, int(mask.sum()), (name, first, address(first), repr(buffer[first].item())))
        buffer = buffer.copy()
        put_missing(buffer, mask)
        return text_array(buffer.tolist()) if buffer.dtype.kind == "U" else buffer  # no wider than the texts left

    def _count(self, name: str, kind: str, count: int, first: tuple[str, int, str, str]) -> None:
        if not self.counts or (self._first[0] == name and first[1] < self._first[1]):
            self._first = first
        self.counts[name] = self.counts.get(name, 0) + count
        if kind not in "fc":
            self._read_as = "missing"

    def to_finding(self) -> Finding:
        """Return the finding that counts the words, if there are any."""
        *_, location, word = self._first
        count, names = sum(self.counts.values()), quote_names(list(self.counts), 20)
        cells = "1 cell holds a word for a missing value, and is" if count == 1 else f"{count:,} cells hold words for "
        cells += "" if count == 1 else "missing values, and are"
        array = next(iter(self.counts)) if len(self.counts) == 1 else None
        message = f"{names}: {cells} read as {self._read_as}; the first is {word}"
        return Finding("warning", location, message, array=array)


def _word_of(cell: Cell) -> str:
    return cell.reason.rpartition("found ")[2] if isinstance(cell, Unreadable) else repr(cell)


def error_for_problem(
    problem: Problem, header: Header, name: str, address: AddressOf, *, cells_each: int = 1
) -> FormatError:
    """Return the `FormatError` for a cell that could not be decoded, with its address and array index."""
    position = problem.index // cells_each
    return FormatError(
        problem.reason,
        location=address(problem.index),
        element=header.describe_element(name, position),
        hint=problem.hint or None,
        array=name,
        index=header.index_at(position),
    )
