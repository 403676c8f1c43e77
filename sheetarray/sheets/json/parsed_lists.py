"""The lists of a JSON text that is parsed at once: their arrays, the errors of their items, and their headers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ...columns import (
    MOST_ARRAYS,
    UNEVEN_HINT,
    ArrayInfo,
    ReportError,
    column_letters,
    describe_uneven_rows,
    errors_of_problems,
    keep_unreadable,
    keeps_none,
    too_many_arrays,
)
from ...elements import Cell, Missing, Problem
from ...errors import Finding, FormatError
from ...files import Source, check_structure, refuse_empty
from ...formats.contract import Progress, ignore_progress
from ...linear.array import decode_list, resize_to_cells
from ...linear.buffers import view_of
from ...linear.data_cells import TakenWords
from ...linear.header import AddressOf, Header, NoteFinding
from ...linear.named import default_name, select
from ...linear.parsing import warn_of_finding
from ..arrays_of_sheets import find_fixed_columns
from .parsing import parse_text
from .text import NO_ARRAY, read_header

_MOST_NESTED = 3_000_000  # lists, and objects such as {"type": "float64", "value": "NaN"}, in a text
_KINDS = {dict: "an object", str: "a string", bool: "a boolean", type(None): "null"}  # as JSON calls them


class ParsedLists:
    """The flat lists of a JSON text.

    `resize`: lists take the length that their cells have.

    Attributes:
        cells: of each list, by name; they are looked at when its array is read.
        fixed: the lists that keep the length of their header, since others depend on them; all without `resize`.
        progress: is called with the cells read, and the cells in all.
    """

    def __init__(
        self, cells: dict[str, Any], *, strict: bool = False, missing: Missing = "error", resize: bool = False
    ) -> None:
        self.cells, self._strict, self._missing = cells, strict, missing
        self.fixed: Collection[str] = self.cells.keys()
        self.progress: Progress | None = None
        self._done = self._total = 0
        if resize:
            self.fixed = find_fixed_columns(self.read, self.scan)

    def read(self, names: Sequence[str] | None) -> dict[str, Any]:
        """Return arrays by name; all of them for None."""
        selected = self.cells if names is None else select(self.cells, names)
        report = self.progress or ignore_progress
        self._total += sum(len(cells) for cells in selected.values() if isinstance(cells, list))
        report(self._done, self._total)
        arrays, words = {}, TakenWords()
        for name, cells in selected.items():
            arrays[name] = self.read_array(name, words=words)
            self._done += len(cells)
            report(self._done, self._total)
        if words.counts:
            warn_of_finding(words.to_finding())
        return arrays

    def read_array(
        self,
        name: str,
        *,
        note: NoteFinding = warn_of_finding,
        report: ReportError | None = None,
        words: TakenWords | None = None,
    ) -> np.ndarray[Any, Any]:
        """Return the array of a list; `report` takes the errors of its cells, `words` words for missing values."""
        cells = self.cells[name]
        if not isinstance(cells, list):
            raise FormatError(f"expected a flat list, found {_KINDS.get(type(cells), 'a number')}", location=name)

        def take(header: Header, problems: Sequence[Problem], data: Sequence[Cell], address: AddressOf) -> None:
            each = len(data) // header.capacity
            errors: Iterable[FormatError] | None
            if (errors := keep_unreadable(name, header, problems, data.__getitem__, address, cells_each=each)) is None:
                errors = errors_of_problems(problems, header, name, address, cells_each=each)
            for error in errors:
                if report is None:
                    raise error
                report(error)

        header, buffer = decode_list(
            cells,
            strict=self._strict,
            missing=self._missing,
            address=lambda index: f"{name}[{index}]",
            name=name,
            note=note,
            resize=name not in self.fixed,
            take_problems=take,
            words=words,
            keeps_words=not keeps_none(),
        )
        return view_of(header, buffer)

    def scan(self, *, resized: bool = False, missing: Missing = "error") -> dict[str, ArrayInfo]:
        """Return the infos of the lists by their headers, or by their cells; damaged headers are left out."""
        infos = {}
        for name, cells in self.cells.items():
            if isinstance(cells, list):
                with suppress(FormatError):
                    _, header, start = read_header(cells, name, strict=self._strict, note=ignore_finding)
                    if resized and name not in self.fixed:
                        header = resize_to_cells(header, cells[start:], missing)
                    infos[name] = ArrayInfo.from_header(header, f"{name}[0]", start)
        return infos

    def warn_of_uneven(self) -> None:
        """Warn of arrays that had as many rows each, and have not now."""
        alike: dict[int, dict[str, int]] = {}
        resized = self.scan(resized=True)
        for name, written in self.scan().items():
            if written.shape:
                axis = 0 if written.order == "row-major" else -1
                alike.setdefault(written.shape[axis], {})[name] = resized[name].shape[axis]
        for before, rows in alike.items():
            if (uneven := describe_uneven_rows(before, rows)) is not None:
                warn_of_finding(Finding("warning", uneven[0], uneven[1], UNEVEN_HINT))


def ignore_finding(_: Finding) -> None:
    """Ignore what reading tells of a header."""


def read_lists(source: Source) -> dict[str, Any]:
    """Return the flat lists of a JSON text by name; their cells are not checked.

    Raises:
        FormatError: no JSON, or no list in it.
    """
    text = bytes(source.whole())
    refuse_empty(text)
    check_structure(text, _MOST_NESTED)
    content = parse_text(text)
    is_several = isinstance(content, dict) or (
        isinstance(content, list) and content[:1] and isinstance(content[0], list)
    )
    if is_several and len(content) > MOST_ARRAYS:
        raise too_many_arrays()
    if isinstance(content, dict) and content:
        return content
    if isinstance(content, list) and content and not isinstance(content[0], list):
        return {default_name(source.name): content}
    if isinstance(content, list) and content and all(isinstance(cells, list) for cells in content):
        return {column_letters(index): cells for index, cells in enumerate(content)}
    raise FormatError(NO_ARRAY)
