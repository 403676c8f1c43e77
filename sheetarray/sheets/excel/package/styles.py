"""The styles of cells that a write uses, and those of another program's workbook that look the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ....cells.serials import DATE_CODES
from ....errors import FormatError
from .markup import Element, Markup

TRUTH_CODE = '"TRUE";"TRUE";"FALSE"'
"""The number format of booleans, for LibreOffice; Excel shows booleans as TRUE and FALSE without one."""

_WHOLE_FORMAT, _DAY_FORMAT, _MINUTE_FORMAT = "1", "14", "22"  # numbers of built-in formats
_PLACES = ("fillId", "borderId", "xfId")  # attributes that are 0 in the style of a cell without fill and border
_OFF = ("0", "false")  # values of an attribute that mean no
# What is left out of the code of a format before it is compared: its language, the marks that quote characters, and a
# last section that shows texts as they are
_UNUSED = re.compile(r'\[\$-[0-9A-Fa-f]+\]|[\\"]|;@$')


@dataclass(frozen=True)
class CellStyles:
    """The indices of a workbook's styles of cells, by what they are for; None for a style that the workbook lacks.

    Attributes:
        bold: for bold cells.
        bold_right: for bold cells above numbers, whose text is at the right end as numbers are.
        dates: for dates, by the unit of datetime64; without the units that the workbook has no style for.
        whole: for integers that are to be shown with all their digits.
        truth: for booleans that LibreOffice, too, shows as TRUE and FALSE, and not as 1 and 0.
        choosers: for the choosers of views: by the unit of datetime64 for dates, by "@" for text, by "" for anything
            else; empty for workbooks of other programs.
    """

    bold: int | None = None
    bold_right: int | None = None
    dates: Mapping[str, int] = field(default_factory=dict)
    whole: int | None = None
    truth: int | None = None
    choosers: Mapping[str, int] = field(default_factory=dict, repr=False)


OWN_STYLES = CellStyles(1, 2, {"D": 3, "h": 4, "m": 4, "s": 5, "ms": 6}, 7, 8)
"""The styles of a new workbook."""
VIEW_STYLES = replace(OWN_STYLES, choosers={"": 9, "@": 10, "D": 11, "h": 12, "m": 12, "s": 13, "ms": 14})
"""The styles of a new workbook with views."""


def find_styles(content: bytes, *, location: str) -> CellStyles:
    """Return the styles of a workbook that look as those of `OWN_STYLES` do, and in all else like its default style.

    Args:
        content: of the part that holds the styles.
        location: the part's name, for messages.

    Example:
        >>> find_styles(
        ...     b"<styleSheet><fonts><font/><font><b/></font></fonts>"
        ...     b"<cellXfs><xf fontId='0'/><xf fontId='1'/><xf numFmtId='14'/></cellXfs></styleSheet>",
        ...     location="xl/styles.xml",
        ... )
        CellStyles(bold=1, bold_right=None, dates={'D': 2}, whole=None, truth=None)
    """
    try:
        root = Markup(content, location=location).root
    except FormatError:
        return CellStyles()  # styles that are too long or broken stay as they are, and none of them is used
    fonts, styles, formats = root.child_named("fonts"), root.child_named("cellXfs"), root.child_named("numFmts")
    if fonts is None or styles is None:
        return CellStyles()
    font_looks = [_look(font) for font in fonts.children_named("font")]
    if not font_looks:
        return CellStyles()
    bold = {str(index) for index, (thick, look) in enumerate(font_looks) if thick and look == font_looks[0][1]}
    codes = {_DAY_FORMAT: DATE_CODES["D"], _MINUTE_FORMAT: DATE_CODES["m"]}
    wanted = {*DATE_CODES.values(), _UNUSED.sub("", TRUTH_CODE).lower()}
    for format_ in formats.children_named("numFmt") if formats is not None else ():
        codes[format_.get("numFmtId")] = _UNUSED.sub("", format_.get("formatCode")).lower()
    bold_style, right, whole, by_code = None, None, None, dict[str, int]()
    for index, style in enumerate(styles.children_named("xf")):
        number, font = style.get("numFmtId", "0"), style.get("fontId", "0")
        if any(style.get(name, "0") != "0" for name in _PLACES):
            continue
        if style.children:
            if number == "0" and font in bold and right is None and _stands_right(style):
                right = index
        elif number == "0" and font in bold and bold_style is None:
            bold_style = index
        elif font == "0" and number == _WHOLE_FORMAT and whole is None:
            whole = index
        elif font == "0" and codes.get(number) in wanted:
            by_code.setdefault(codes[number], index)
    dates = {unit: by_code[code] for unit, code in DATE_CODES.items() if code in by_code}
    return CellStyles(bold_style, right, dates, whole, by_code.get(_UNUSED.sub("", TRUTH_CODE).lower()))


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
