"""The styles of another program's workbook, among which those that a write uses are found."""

from __future__ import annotations

from ....elements.serials import DATE_CODES
from ....errors import FormatError
from ..package.markup import Element, Markup
from ..workbook_part import WorkbookPart
from .cell_styles import FILTER_INDENT, MOST_BYTES, CellStyles, plain_code
from .own import DAYS_AND_TIMES

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


def find_styles(book: WorkbookPart) -> CellStyles:
    """Return the styles of a workbook that look as those of a new one do, and in all else like its default style.

    There are none for dates where the workbook counts them from 1904.
    """
    part = book.relations.present_target("styles")
    if part is None or book.package.member(part).size > MOST_BYTES:
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
        codes[format_.get("numFmtId")] = plain_code(format_.get("formatCode"))
    if book.from_1904:
        codes = {number: code for number, code in codes.items() if code not in DAYS_AND_TIMES}
    bold_style, right, filtered, by_code = None, None, None, dict[str, int]()
    for index, style in enumerate(styles.children_named("xf")):
        number, font = style.get("numFmtId", "0"), style.get("fontId", "0")
        if any(style.get(name, "0") != "0" for name in _PLACES):
            continue
        if style.children:
            if number == "0" and font in bold and right is None and _stands_right(style):
                right = index
            elif number == "0" and font in bold and filtered is None and _stands_right(style, FILTER_INDENT):
                filtered = index
        elif number == "0" and font in bold and bold_style is None:
            bold_style = index
        elif font == "0" and number in codes:
            by_code.setdefault(codes[number], index)
    return CellStyles(bold_style, right, by_code, bold_filtered=filtered)


def _stands_right(style: Element, indent: int = 0) -> bool:
    """Return whether the children of a style say that text stands at the right end, indented, and nothing else."""
    first, *more = style.children
    look = {"horizontal": "right"} | ({"indent": str(indent)} if indent else {})
    return not more and first.name == "alignment" and dict(first.attributes) == look


def _look(font: Element) -> tuple[bool, frozenset[tuple[str, frozenset[tuple[str, str]]]]]:
    """Return whether a font is bold, and everything else that is said of it, in a form that can be compared."""
    thick = any(child.name == "b" and child.get("val", "1") not in _OFF for child in font.children)
    return thick, frozenset(
        (child.name, frozenset(child.attributes.items())) for child in font.children if child.name != "b"
    )
