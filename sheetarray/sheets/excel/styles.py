"""The styles of cells that a write uses: those of a new workbook, and what looks the same in another program's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from ...elements.serials import DATE_CODES
from ...errors import FormatError
from ..looks import FLOAT_CODES
from ..workbooks import TRUTH_CODE, quote_attribute
from .open_workbook import OpenWorkbook
from .package.markup import Element, Markup
from .package.relations import DECLARED, MAIN

_MOST_BYTES = 2**24  # of the part that holds styles


@dataclass(frozen=True)
class CellStyles:
    """The indices of a workbook's styles of cells, by what they are for; None for a style that the workbook lacks."""

    bold: int | None = None  # for bold cells
    bold_right: int | None = None  # for bold cells above numbers, whose text is at the right end as numbers are
    # for numbers, dates and booleans, by the codes of their formats without marks that quote
    formats: Mapping[str, int] = field(default_factory=dict)
    # for the choosers of views: by the unit of datetime64 for dates, by "@" for text, by "" for anything else; empty
    # for workbooks of other programs
    choosers: Mapping[str, int] = field(default_factory=dict, repr=False)
    # for cells that people may change in a protected sheet, by the style that they have else, None for the usual one;
    # empty for workbooks of other programs, and for those without views
    unlocked: Mapping[int | None, int] = field(default_factory=dict, repr=False)

    def of_formats(self, codes: Iterable[str | None]) -> list[int | None]:
        """Return the style for each of some formats; None for the general one, and where the workbook lacks it."""
        return [None if code is None else self.formats.get(_plain_code(code)) for code in codes]

    def code_of(self, style: int | None) -> str | None:
        """Return the code of the format of a style for numbers, without marks that quote; None for any other style."""
        return None if style is None else self._codes.get(style)

    @cached_property
    def _codes(self) -> dict[int, str]:
        return {index: code for code, index in reversed([*self.formats.items()])}


# What is left out of the code of a format before it is compared: its language, the marks that quote characters, and a
# last section that shows texts as they are
_UNUSED = re.compile(r'\[\$-[0-9A-Fa-f]+\]|[\\"]|;@$')


@lru_cache(maxsize=64)
def _plain_code(code: str) -> str:
    """Return the code of a format as codes are compared."""
    return _UNUSED.sub("", code).lower()


_DAYS_AND_TIMES = tuple(dict.fromkeys(DATE_CODES.values()))
_WITHOUT_NUMBER = {
    "": 0,
    "0": 1,
    "0.00": 2,
    "0.00E+00": 11,
    "@": 49,
}  # the numbers of formats that a workbook need not list
_OWN_FORMATS = 164  # from this number on, formats are those of the workbook; lower numbers are built-in formats
_FONT = '<sz val="11"/><name val="Calibri"/><family val="2"/>'
_CHOOSER_FILL = '<fill><patternFill patternType="solid"><fgColor rgb="FFFFF2CC"/></patternFill></fill>'
_CHOOSER_EDGES = "".join(
    f'<{side} style="thin"><color rgb="FFBF9000"/></{side}>' for side in ("left", "right", "top", "bottom")
)
_FORMAT = 'numFmtId="{}" fontId="0" fillId="0" borderId="0"'
_BOLD = '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"'
_NUMBERS = f'<xf {_FORMAT} xfId="0" applyNumberFormat="1"/>'
_CHOOSER = (
    '<xf numFmtId="{}" fontId="0" fillId="2" borderId="1" xfId="0" applyNumberFormat="1" applyFill="1" applyBorder="1" '
    'applyAlignment="1" applyProtection="1"><alignment horizontal="left"/><protection locked="0"/></xf>'
)
_UNLOCKED = f'<xf {_FORMAT} xfId="0" applyNumberFormat="1" applyProtection="1"><protection locked="0"/></xf>'


class OwnStyles(NamedTuple):
    """The styles of a new workbook, and the XML of the part that holds them."""

    styles: CellStyles
    part: str


@lru_cache(maxsize=8)
def make_styles(formats: tuple[str, ...] = (), *, views: bool = False) -> OwnStyles:
    """Return the styles of a new workbook: the usual one, two bold ones, and one for each format.

    In one with views there follow those of choosers, and the usual one and those of the formats once more, unlocked.

    `formats`: codes that a caller has chosen.
    """
    codes = list(dict.fromkeys([*_DAYS_AND_TIMES, TRUTH_CODE, *FLOAT_CODES, *formats]))
    own = [code for code in codes if code not in _WITHOUT_NUMBER]
    numbers = _WITHOUT_NUMBER | {code: number for number, code in enumerate(own, _OWN_FORMATS)}
    listed = "".join(f'<numFmt numFmtId="{numbers[code]}" formatCode={quote_attribute(code)}/>' for code in own)
    styles = [f'<xf {_FORMAT.format(0)} xfId="0"/>', f"{_BOLD}/>"]
    styles.append(f'{_BOLD} applyAlignment="1"><alignment horizontal="right"/></xf>')

    def add(style: str, some: Sequence[str]) -> dict[str, int]:
        """Add a style with each of some formats, and return their indices by the codes."""
        first = len(styles)
        styles.extend(style.format(numbers[code]) for code in some)
        return {code: first + place for place, code in enumerate(some)}

    index = add(_NUMBERS, codes)
    made = CellStyles(1, 2, {_plain_code(code): place for code, place in index.items()})
    if views:
        choosers = add(_CHOOSER, ["", "@", *_DAYS_AND_TIMES])
        kinds = {"": choosers[""], "@": choosers["@"], **{unit: choosers[code] for unit, code in DATE_CODES.items()}}
        unlocked = add(_UNLOCKED, ["", *codes])
        made = CellStyles(1, 2, made.formats, kinds, {index.get(code): place for code, place in unlocked.items()})
    return OwnStyles(
        made,
        f'{DECLARED}<styleSheet xmlns="{MAIN}"><numFmts count="{len(own)}">{listed}</numFmts>'
        f'<fonts count="2"><font>{_FONT}</font><font><b/>{_FONT}</font></fonts>'
        f'<fills count="{2 + views}"><fill><patternFill patternType="none"/></fill>'
        f'<fill><patternFill patternType="gray125"/></fill>{_CHOOSER_FILL * views}</fills>'
        f'<borders count="{1 + views}"><border><left/><right/><top/><bottom/><diagonal/></border>'
        f"{f'<border>{_CHOOSER_EDGES}<diagonal/></border>' * views}</borders>"
        f'<cellStyleXfs count="1"><xf {_FORMAT.format(0)}/></cellStyleXfs>'
        f'<cellXfs count="{len(styles)}">{"".join(styles)}</cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
    )


_BUILT_IN = {  # the codes of formats that every workbook has, by their numbers
    "1": "0",
    "2": "0.00",
    "3": "#,##0",
    "4": "#,##0.00",
    "9": "0%",
    "10": "0.00%",
    "11": "0.00e+00",
    "14": DATE_CODES["D"],
    "22": DATE_CODES["m"],
}
_PLACES = ("fillId", "borderId", "xfId")  # attributes that are 0 in the style of a cell without fill and border
_OFF = ("0", "false")  # values of an attribute that mean no


def find_styles(book: OpenWorkbook) -> CellStyles:
    """Return the styles of a workbook that look as those of a new one do, and in all else like its default style.

    There are none for dates where the workbook counts them from 1904.
    """
    part = book.relations.present_target("styles")
    if part is None or book.package.member(part).size > _MOST_BYTES:
        return CellStyles()
    try:
        root = Markup(book.package.read(part), location=part).root
    except FormatError:
        return CellStyles()  # styles that are too long or broken stay as they are, and none of them is used
    fonts, styles, formats = root.child_named("fonts"), root.child_named("cellXfs"), root.child_named("numFmts")
    font_looks = [] if fonts is None else [_look(font) for font in fonts.children_named("font")]
    if not font_looks or styles is None:
        return CellStyles()
    bold = {str(index) for index, (thick, look) in enumerate(font_looks) if thick and look == font_looks[0][1]}
    codes = dict(_BUILT_IN)
    for format_ in formats.children_named("numFmt") if formats is not None else ():
        codes[format_.get("numFmtId")] = _plain_code(format_.get("formatCode"))
    if book.from_1904:
        codes = {number: code for number, code in codes.items() if code not in _DAYS_AND_TIMES}
    bold_style, right, by_code = None, None, dict[str, int]()
    for index, style in enumerate(styles.children_named("xf")):
        number, font = style.get("numFmtId", "0"), style.get("fontId", "0")
        if any(style.get(name, "0") != "0" for name in _PLACES):
            continue
        if style.children:
            if number == "0" and font in bold and right is None and _stands_right(style):
                right = index
        elif number == "0" and font in bold and bold_style is None:
            bold_style = index
        elif font == "0" and number in codes:
            by_code.setdefault(codes[number], index)
    return CellStyles(bold_style, right, by_code)


def _stands_right(style: Element) -> bool:
    """Return whether the children of a style say that text stands at the right end, and nothing else."""
    (first, *more) = style.children
    return not more and first.name == "alignment" and dict(first.attributes) == {"horizontal": "right"}


def _look(font: Element) -> tuple[bool, frozenset[tuple[str, frozenset[tuple[str, str]]]]]:
    """Return whether a font is bold, and everything else that is said of it, in a form that can be compared."""
    thick = any(child.name == "b" and child.get("val", "1") not in _OFF for child in font.children)
    return thick, frozenset(
        (child.name, frozenset(child.attributes.items())) for child in font.children if child.name != "b"
    )
