"""The styles of cells that a write uses, and which of those that a workbook has may stand for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ....errors import FormatError
from .markup import Element, Markup

_DAY, _MINUTE = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
DATE_CODES = {"D": _DAY, "h": _MINUTE, "m": _MINUTE, "s": f"{_MINUTE}:ss", "ms": f"{_MINUTE}:ss.000"}
"""The number format of dates, by the unit of datetime64."""

_WHOLE_FORMAT, _DAY_FORMAT, _MINUTE_FORMAT = "1", "14", "22"  # built in
_PLACES = ("fillId", "borderId", "xfId")  # 0 in a cell that is formatted in no way
_OFF = ("0", "false")
_UNUSED = re.compile(r'\[\$-[0-9A-Fa-f]+\]|[\\"]|;@$')  # of a format: its language, and what quotes characters


@dataclass(frozen=True)
class CellStyles:
    """Indices of styles of a workbook.

    Attributes:
        bold: of a bold cell; None where there is none.
        dates: of dates, by the unit of datetime64, as far as there are any.
        whole: of integers that are shown with all their digits; None where there is none.
    """

    bold: int | None = None
    dates: Mapping[str, int] = field(default_factory=dict)
    whole: int | None = None


OWN_STYLES = CellStyles(bold=1, dates={"D": 2, "h": 3, "m": 3, "s": 4, "ms": 5}, whole=6)
"""The styles of a new workbook."""


def find_styles(content: bytes, *, location: str) -> CellStyles:
    """Return the styles of a workbook that look as ours do, and otherwise as the usual cell.

    Args:
        content: the part of the styles.
        location: its name, for messages.

    Example:
        >>> find_styles(
        ...     b"<styleSheet><fonts><font/><font><b/></font></fonts>"
        ...     b"<cellXfs><xf fontId='0'/><xf fontId='1'/><xf numFmtId='14'/></cellXfs></styleSheet>",
        ...     location="xl/styles.xml",
        ... )
        CellStyles(bold=1, dates={'D': 2}, whole=None)
    """
    try:
        root = Markup(content, location=location).root
    except FormatError:
        return CellStyles()  # too long, or broken: left to its program
    fonts, styles, formats = root.child_named("fonts"), root.child_named("cellXfs"), root.child_named("numFmts")
    if fonts is None or styles is None:
        return CellStyles()
    font_looks = [_look(font) for font in fonts.children_named("font")]
    if not font_looks:
        return CellStyles()
    bold = {str(index) for index, (thick, look) in enumerate(font_looks) if thick and look == font_looks[0][1]}
    codes = {_DAY_FORMAT: _DAY, _MINUTE_FORMAT: _MINUTE}
    for format_ in formats.children_named("numFmt") if formats is not None else ():
        codes[format_.get("numFmtId")] = _UNUSED.sub("", format_.get("formatCode")).lower()
    bold_style, whole, by_code = None, None, dict[str, int]()
    for index, style in enumerate(styles.children_named("xf")):
        number, font = style.get("numFmtId", "0"), style.get("fontId", "0")
        if style.children or any(style.get(name, "0") != "0" for name in _PLACES):
            continue
        if number == "0" and font in bold and bold_style is None:
            bold_style = index
        elif font == "0" and number == _WHOLE_FORMAT and whole is None:
            whole = index
        elif font == "0" and number in codes:
            by_code.setdefault(codes[number], index)
    return CellStyles(bold_style, {unit: by_code[code] for unit, code in DATE_CODES.items() if code in by_code}, whole)


def _look(font: Element) -> tuple[bool, frozenset[tuple[str, frozenset[tuple[str, str]]]]]:
    """Return whether a font is bold, and all else of it."""
    thick = any(child.name == "b" and child.get("val", "1") not in _OFF for child in font.children)
    return thick, frozenset(
        (child.name, frozenset(child.attributes.items())) for child in font.children if child.name != "b"
    )
