"""Forms of tags of OpenDocument: tags that are the same but for the value of one attribute are read together.

A document has a few forms. Each is learnt from the first tag of it, and all others are compared with that, eight bytes
at a time. A tag of which the rules here are not sure is left to `opendocument_rows`.

Source: OASIS OpenDocument 1.3 part 3, 9.1 (tables), 19.385 (values).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ....dtypes import Positions
from .cells import BOOLEAN, MOMENT, NUMBER, TEXT, Kinds
from .opendocument_runs import TRUTHS
from .opendocument_tags import LONGEST_TAG, WINDOW, RowTags, TagWindows

ROWS_REPEATED, CELLS_REPEATED = "table:number-rows-repeated", "table:number-columns-repeated"
OF_ROWS = {"table:style-name", "table:default-cell-style-name", "table:visibility", ROWS_REPEATED}
TYPES = {
    "float": (NUMBER, "office:value"),
    "percentage": (NUMBER, "office:value"),
    "currency": (NUMBER, "office:value"),
    "boolean": (BOOLEAN, "office:boolean-value"),
    "date": (MOMENT, "office:date-value"),
    "string": (TEXT, ""),
    "none": (0, ""),
}
OF_CELLS = {
    *("table:style-name", "table:content-validation-name", "table:formula", CELLS_REPEATED),
    *("office:value-type", "office:currency", "calcext:value-type"),
}
LONGEST_COUNT = 7  # digits

NOWHERE, IN_ATTRIBUTE, IN_PARAGRAPH, IN_FORM = range(4)  # where the value of a cell is
_TRUTH_VALUES = {"true": "1", "false": "0"}
_TAG = re.compile(r'<table:table-(?:cell|row)((?: [a-z]+:[a-z-]+="[^"<>&]*")*) ?/?>')
_ATTRIBUTE = re.compile(r' ([a-z]+:[a-z-]+)="([^"]*)"')
_COUNT = re.compile(f"[0-9]{{1,{LONGEST_COUNT}}}")
_FORMULA = b' table:formula="'
_FORMULA_TOLD = len(_FORMULA) + len("of:=[")  # bytes: so that constants, which begin otherwise, are none of those
_MOST_FORMS, _MOST_UNKNOWN = 64, 16


@dataclass(frozen=True)
class TagForm:
    """The bytes that many tags have in common, and what they say of each.

    Attributes:
        head: the bytes that they begin with, up to their value; all of them, without the `>`, where it has none.
        tail: the bytes after the value.
        kind: of the cells.
        place: where the value of each is.
        value: that all of them have, if it is in the form.
        repeats: how often each stands.
    """

    head: bytes
    tail: bytes
    kind: int = 0
    place: int = NOWHERE
    value: str = ""
    repeats: int = 1


@dataclass(frozen=True)
class TagsOfForms:
    """The tags of which the form is known; the arrays run in parallel.

    Attributes:
        form: of each, its index; -1 for a tag that is of none.
        forms: the forms.
    """

    form: Positions
    forms: list[TagForm]

    def kinds(self) -> Kinds:
        """Return the kind of each tag's cell; 0 for a tag that is of none."""
        return np.array([*(form.kind for form in self.forms), 0], np.uint8)[self.form]

    def places(self) -> Kinds:
        """Return the place of each tag's value."""
        return np.array([*(form.place for form in self.forms), NOWHERE], np.uint8)[self.form]

    def repeats(self) -> Positions:
        """Return the number of times that each tag stands; 1 for a tag that is of none."""
        return np.array([*(form.repeats for form in self.forms), 1], np.int64)[self.form]

    def lengths(self, part: str) -> Positions:
        """Return the length of the head or the tail of each tag."""
        lengths: Positions = np.array([*(len(getattr(form, part)) for form in self.forms), 0])[self.form]
        return lengths


def match_forms(tags: RowTags, which: Positions, learn: Callable[[str], TagForm | None]) -> TagsOfForms:
    """Return the forms of some tags.

    Args:
        tags: of a text.
        which: some of them.
        learn: what returns the form of a tag; None where it is not sure.
    """
    forms: list[TagForm] = []
    windows, form_of = TagWindows(tags, which), np.full(len(which), -1, np.int64)
    left, unknown = np.arange(len(which)), 0
    while len(left) and len(forms) < _MOST_FORMS and unknown < _MOST_UNKNOWN:
        start = int(tags.starts[which[left[0]]])
        tag = tags.text[start : start + min(int(windows.lengths[left[0]]), LONGEST_TAG)]
        form = learn(tag.decode("utf-8", "replace"))
        if form is None or len(form.tail) > WINDOW:
            formula = tag.find(_FORMULA)
            same = windows.starting_with(left, tag[: formula + _FORMULA_TOLD]) if formula > 0 else left[:1]
            unknown += 1
        else:
            has_value, size = form.place == IN_ATTRIBUTE, len(form.head) + len(form.tail)
            same = windows.of_length(left, size + has_value, exactly=not has_value)
            same = windows.starting_with(windows.ending_with(same, form.tail), form.head)
            form_of[same] = len(forms)
            forms.append(form)
        rest = np.ones(len(left), np.bool_)
        rest[np.searchsorted(left, same)] = False
        rest[0] = False
        left = left[rest]
    return TagsOfForms(form_of, forms)


def learn_row(tag: str) -> TagForm | None:
    """Return the form of the tag of a row; None if these rules are not sure what the tag says."""
    names = _attributes_of(tag)
    repeats = None if names is None or not set(names) <= OF_ROWS else _repeats_of(names, ROWS_REPEATED)
    return None if repeats is None else TagForm(tag[:-1].encode(), b">", repeats=repeats)


def learn_cell(tag: str) -> TagForm | None:
    """Return the form of the tag of a cell; None if these rules are not sure what the tag says."""
    names = _attributes_of(tag)
    if names is None or '"error"' in tag:
        return None
    kind, attribute = TYPES.get(names.get("office:value-type", "none"), (-1, ""))
    repeats, formula = _repeats_of(names, CELLS_REPEATED), names.get("table:formula")
    if (
        kind < 0
        or repeats is None
        or not set(names) <= OF_CELLS | {attribute}
        or (attribute and attribute not in names)
    ):
        return None
    head, tail, place, value = tag[:-1].encode(), b">", NOWHERE, ""
    if formula is not None:
        if formula not in TRUTHS:
            return None
        kind, place, value = BOOLEAN, IN_FORM, TRUTHS[formula]
    elif kind == BOOLEAN:
        if names[attribute] not in _TRUTH_VALUES:
            return None
        place, value = IN_FORM, _TRUTH_VALUES[names[attribute]]
    elif attribute:
        start = tag.index(f' {attribute}="') + len(f' {attribute}="')
        head, tail = tag[:start].encode(), tag[start + len(names[attribute]) :].encode()
        place = IN_ATTRIBUTE
    elif kind == TEXT:
        place = IN_PARAGRAPH
    elif not tag.endswith("/>"):
        return None  # text without a type is text
    return TagForm(head, tail, kind, place, value, repeats)


def _attributes_of(tag: str) -> dict[str, str] | None:
    """Return the attributes of a tag; None where one comes twice, or has to be looked at."""
    match = _TAG.fullmatch(tag)
    attributes = [] if match is None else _ATTRIBUTE.findall(match[1])
    values = dict(attributes)
    return None if match is None or len(values) < len(attributes) else values


def _repeats_of(names: dict[str, str], name: str) -> int | None:
    """Return the number of times that a tag stands; None if that is not sure."""
    text = names.get(name, "1")
    return max(int(text), 1) if _COUNT.fullmatch(text) else None
