"""Texts by the compiled loop, by the plain way, and by parsers of Python alone: the same, or the same refusal."""

from __future__ import annotations

import io
import random
import warnings
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import pytest
from delimited_grammar import Options, make_delimited
from token_changes import change
from xml_grammar import Grammar

import sheetarray as sa
from sheetarray import loops
from sheetarray.columns.grid import column_number
from sheetarray.errors import FormatError
from sheetarray.sheets.excel.reader import opendocument, parsing, worksheet, xml_elements
from sheetarray.sheets.excel.reader.cells import PENDING
from sheetarray.sheets.excel.reader.shared_strings import _Items
from sheetarray.sheets.excel.reader.xml_elements import _ODD
from sheetarray.sheets.xml_texts import without_escapes

KINDS = ("worksheet", "strings", "content", "delimited")
_MOST = 10**6  # elements, more than any text here has
_REASON = "not well-formed"


def try_text(dice: random.Random, kind: str) -> tuple[str, bool]:
    """Give a text of a kind to all ways, and return the kind, and whether it could be read."""
    changes = dice.choice((0, 0, 1, 1, 1, 2))
    if kind == "delimited":
        tokens, options = make_delimited(dice)
        return kind, not isinstance(assert_texts_agree("".join(change(tokens, dice, changes)).encode(), options), str)
    text = "".join(change(Grammar(dice).document(kind), dice, changes)).encode()
    return kind, not isinstance(assert_parts_agree(kind, text, dice), str)


# Parts of XML ---------------------------------------------------------------------------------------------------


def assert_parts_agree(kind: str, text: bytes, dice: random.Random) -> Any:
    """Assert that both ways give the same or refuse alike, and expat with them; return what they give.

    The blocks of the part end anywhere, and the loop takes over again soon after it was stopped.
    """
    cut = len(text) + 1 if dice.randrange(8) else dice.choice((90, dice.randint(1, len(text) + 1)))
    blocks = [text[start : start + cut] for start in range(0, len(text), cut)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xml_elements, "_ODD", dice.choice((16, 64, _ODD)))
        compiled = _read_part(kind, blocks)
        patch.setattr(xml_elements, "COMPILED", False)
        plain = _read_part(kind, blocks)
    assert compiled == plain, (text, compiled, plain)
    try:
        text.decode()
        expat.ParserCreate("utf-8", namespace_separator=" ").Parse(text, True)
    except (expat.ExpatError, UnicodeDecodeError):
        assert isinstance(plain, str), (text, plain)
    else:
        assert not isinstance(plain, str) or _REASON not in plain, (text, plain)
        if kind != "content" and not isinstance(plain, str):
            _assert_as_in_tree(kind, ElementTree.fromstring(text), plain)
    return plain


def _read_part(kind: str, blocks: list[bytes]) -> Any:
    """Return what a part holds, or the message of the error."""
    try:
        return _list_elements(kind, parsing.blocks_to_utf8(iter(blocks), kind))
    except FormatError as error:  # expat says more or less by what it has seen so far
        return str(error).partition(" (")[0] if _REASON in str(error) else str(error)


def _list_elements(kind: str, blocks: Iterator[bytes]) -> list[Any]:
    if kind == "strings":
        return [text for series in _Items().read(blocks, kind, most=_MOST) for text in series.to_list()]
    if kind == "worksheet":
        return [cell for raw in worksheet._Rows(kind).read(blocks, kind, most=_MOST) for cell in _list_cells(raw)]
    tables, cells, repeats = opendocument._Rows(2**24), [], []
    for batch in tables.read(blocks, kind, most=_MOST):
        for table in batch:
            of_table = zip(_list_cells(table.cells), table.across.tolist(), strict=True)
            cells += [(table.title, *cell, times) for cell, times in of_table]
            repeats += [(table.title, *pair) for pair in table.repeats.reshape(-1, 2).tolist()]
    return [tables.titles, cells, repeats]


def _list_cells(raw: Any) -> list[tuple[Any, ...]]:
    """Return all that is known of each cell."""
    is_pending = (raw.kinds == PENDING).tolist()  # the loop gives these an empty text, which nobody sees
    texts = [None if mark else text for mark, text in zip(is_pending, raw.written().to_list(), strict=True)]
    numbers = [number.hex() for number in raw.numbers.tolist()]
    marks = [False] * len(raw) if raw.formulas is None else raw.formulas.tolist()
    sources = iter([] if raw.sources is None else raw.sources.to_list())
    formulas = [next(sources) if mark else None for mark in marks]
    styles = [None] * len(raw) if raw.styles is None else raw.styles.tolist()
    columns = (raw.rows.tolist(), raw.columns.tolist(), raw.kinds.tolist(), styles)
    return list(zip(*columns, texts, numbers, formulas, strict=True))


# The same by Python's tree of elements ----------------------------------------------------------------------------


def _assert_as_in_tree(kind: str, root: Any, elements: list[Any]) -> None:
    """Assert that shared strings, or the values of cells, are those in a tree of elements."""
    if kind == "strings":
        space = root.tag.removesuffix("sst")
        assert elements == [_text_of_item(item, space) for item in root.findall(f"{space}si")], ElementTree.tostring(
            root
        )
        return
    values = [(row, column, value) for row, column, _, _, value, *_ in elements]
    by_tree = list(_list_cells_of_tree(root))
    assert values == by_tree, (ElementTree.tostring(root), values, by_tree)


def _text_of_item(item: Any, space: str) -> str:
    """Return the text of a string item, of its `t` elements and those of its runs."""
    pieces = []
    for child in item:
        for text in [child] * (child.tag == f"{space}t") + child.findall(f"{space}t") * (child.tag == f"{space}r"):
            keeps = text.get("{http://www.w3.org/XML/1998/namespace}space") == "preserve"
            joined = _join_text(text)
            pieces.append(without_escapes(joined if keeps else joined.strip(" \t\r\n")))
    return "".join(pieces)


def _join_text(element: Any) -> str:
    """Return the text that stands in an element itself, between others within it."""
    return (element.text or "") + "".join(inner.tail or "" for inner in element)


def _list_cells_of_tree(root: Any) -> Iterator[tuple[int, int, str | None]]:
    """Yield the row, the column and the value of each cell that has a value or a formula."""
    space, row = root.tag.rpartition("}")[0] + "}" if "}" in root.tag else "", -1
    for line in root.findall(f"{space}sheetData/{space}row"):
        row, column = int(line.get("r", row + 2)) - 1, -1
        for cell in line.findall(f"{space}c"):
            reference, type_, value = cell.get("r"), cell.get("t", "n"), None
            column = column_number(reference.rstrip("0123456789")) if reference else column + 1
            for child in cell:
                value = child.text or "" if child.tag == f"{space}v" else value
                value = _text_of_item(child, space) if child.tag == f"{space}is" else value
            value = without_escapes(value) if value and type_ == "str" else value
            value = value if value or type_ in ("str", "inlineStr") else None
            formulas = cell.findall(f"{space}f")
            if value is None and formulas and formulas[-1].keys() in ([], ["aca"]):  # such a value needs no calculation
                value = {"TRUE()": "1", "FALSE()": "0"}.get(_join_text(formulas[-1]))
            if value is not None or formulas:
                yield row, column, value


# Delimited text ---------------------------------------------------------------------------------------------------


def assert_texts_agree(text: bytes, options: Options) -> Any:
    """Assert that both ways give the same arrays or the same error, and return them."""
    compiled = _read_text(text, options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "COMPILED", False)
        plain = _read_text(text, options)
    assert compiled == plain, (text, options, compiled, plain)
    return compiled


def _read_text(text: bytes, options: Options) -> Any:
    """Return the arrays of a text and the warnings, or the message of the error."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            arrays = sa.read_csv(io.BytesIO(text), **options)
        except FormatError as error:
            return str(error)
    listed = [
        (name, str(array.dtype), array.shape, array.size and array.strides, repr(array.tolist()))
        for name, array in arrays.items()
    ]
    return listed, [str(one.message) for one in warned]
