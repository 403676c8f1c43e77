"""The findings of `check` about an array whose checksums the workbook has: unchanged, only rounded, or changed.

An array that is unchanged bit for bit has no finding. Rounding by a program that has saved the file is a warning.
Anything else is an error, which names the stretches of a long array that have changed.

Checksums tell that elements are others, or stand in another order, but neither which rows are which nor what an element
was. An edit that leaves the 15 digits of a number as they were looks like rounding. Rows are told only at the end. By
chance, one edit in 2**48 looks like rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ....dtypes import Buffer
from ....errors import Finding
from ....linear.header import Header
from .hashes import Hashes
from .record import Checksums, exact_checksum, header_checksum, rounded_checksums, stretch_of

RESTORE = "restore it from a copy of the file; if the change was meant, sa.accept takes it"
NAME_CELLS = "write with guard=True, and check names the cells; sa.accept takes the change"
_KEEP_DIGITS = 'write with cells="text" to keep every digit in any program'
_WITHIN = {15: "5e-15", 16: "6.2e-16"}  # relative: half a unit of the last digit of 1.00, and the rounding to a double
_MOST_RANGES = 5


def compare_with_checksums(
    record: Checksums, header: Header, buffer: Buffer, name: str, address: Callable[[int], str]
) -> Iterator[Finding]:
    """Yield findings about what has become of an array since it was written; nothing if it is unchanged.

    `header`: of the array, as it stands in the sheet now. `buffer`: the elements that are there now, of the header's
    dtype: fewer, or more, than were written are accepted. `address`: returns the address of an element's cell, by its
    index in the buffer.
    """
    if record.dtype != header.dtype.name:
        reason = f"written as {record.dtype}, and its header says {header.dtype.name} now"
        yield Finding("error", name, reason, f"type {record.dtype:.40} into the cell below dtype")
        return
    if record.header is not None and record.header != header_checksum(header):
        reason = "its shape, strides, offset or order was edited in the header since it was written"
        yield Finding("error", name, reason, RESTORE)
    if len(buffer) > record.count:
        reason = f"{_count_elements(len(buffer) - record.count)} more than the {record.count} that were written"
        yield Finding("error", name, reason, RESTORE)
    elif len(buffer) < record.count:
        left = len(buffer)
        reason = f"truncated: {left} of {_count_elements(record.count)} {'is' if left == 1 else 'are'} left"
        yield Finding("error", name, reason, RESTORE)
    elif exact_checksum(buffer, header.dtype) != record.exact:
        digits, stretch, changed = find_changed(record, header, buffer)
        if digits:
            yield describe_rounding(name, header, digits)
        else:
            yield _describe_change(record, header, name, address, stretch, changed)


def find_changed(record: Checksums, header: Header, buffer: Buffer) -> tuple[int, int, Sequence[int]]:
    """Return to how many digits an array was only rounded, or 0; and the stretches of elements that have changed.

    The second number is the length of a stretch. `buffer`: of as many elements as were written, or more.
    """
    fine = rounded_checksums(buffer, header.dtype, record.count, record.blocks)
    changed = _differ(record.fifteen, fine)
    if not changed:
        return 15, 0, ()
    stretch = stretch_of(record.count, record.blocks)
    if record.sixteen is None or header.dtype.numpy != np.float64:
        return 0, stretch, changed
    coarse = rounded_checksums(buffer, header.dtype, record.count, record.blocks // 4, digits=16, is_old=record.is_old)
    if not (coarse_changed := _differ(record.sixteen, coarse)):
        return 16, 0, ()
    if len(coarse_changed) * len(fine) < len(changed) * len(coarse):  # a program kept 16 digits, and few were edited
        return 0, stretch_of(record.count, record.blocks // 4), coarse_changed
    return 0, stretch, changed


def describe_rounding(name: str, header: Header, digits: int) -> Finding:
    """Return the finding that a program has only rounded an array when it saved the file."""
    if header.dtype.kind == "float" and header.dtype.numpy.itemsize < 8:
        message = "re-saved by a program that does not know -0.0, which became 0; everything else is as written"
        return Finding("warning", name, message, _KEEP_DIGITS)
    message = f"only rounded: re-saved by a program that keeps {digits} digits"
    if header.dtype.kind == "float":
        message += f": every number differs by at most {_WITHIN[digits]}, relatively"
    return Finding("warning", name, message, _KEEP_DIGITS)


def _differ(then: Hashes, now: Hashes) -> list[int]:
    differing: list[int] = np.flatnonzero(then != now).tolist()
    return differing


def _describe_change(
    record: Checksums, header: Header, name: str, address: Callable[[int], str], stretch: int, changed: Sequence[int]
) -> Finding:
    """Return the finding that elements were edited, in some stretches of `stretch` elements."""
    place, index = _locate_elements(name, address, record.count), None
    if stretch >= record.count > 1:
        message = f"{name}: some of its {_count_elements(record.count)} were edited"
    elif len(changed) * stretch >= record.count > 1:
        message = (
            f"{name}: all {record.count} elements were edited"
            if stretch == 1
            else f"{name}: elements were edited throughout the array, in each run of {stretch}"
        )
    else:
        runs = np.split(changed, np.flatnonzero(np.diff(changed) > 1) + 1)
        spans = [(int(run[0]) * stretch, min((int(run[-1]) + 1) * stretch, record.count) - 1) for run in runs]
        place = address(spans[0][0])
        if spans[0][0] == spans[0][1] and len(spans) == 1:
            index = header.index_at(spans[0][0])
        more = f", and at {len(spans) - _MOST_RANGES} more places" if len(spans) > _MOST_RANGES else ""
        described = ", ".join(_describe_span(header, name, address, *span) for span in spans[:_MOST_RANGES])
        message = f"elements were edited {described}{more}"
    if header.dtype.kind in ("float", "generic") and header.dtype.numpy.itemsize == 8:
        message += ", or rounded in another way than to 15 digits, as openpyxl does"
    return Finding("error", place, message, NAME_CELLS, array=name, index=index)


def _locate_elements(name: str, address: Callable[[int], str], count: int) -> str:
    """Return the cells of all elements, since arrays in several sheets may have one name; else the name.

    `address`: returns the cell of an element by its index in the buffer.
    """
    first, last = address(0), address(count - 1).rpartition("!")[2]
    cell = first.rpartition("!")[2]
    if cell.rstrip("0123456789") == last.rstrip("0123456789"):
        return first if cell == last else f"{first}:{last}"
    return name  # it goes on in other columns


def _describe_span(header: Header, name: str, address: Callable[[int], str], first: int, last: int) -> str:
    ends = [f"{header.describe_element(name, index)} ({address(index).rpartition('!')[2]})" for index in (first, last)]
    return f"at {ends[0]}" if first == last else f"between {ends[0]} and {ends[1]}"


def _count_elements(count: int) -> str:
    return "1 element" if count == 1 else f"{count} elements"
