"""The style of a bold cell among those that a workbook has."""

from __future__ import annotations

from ....errors import FormatError
from .markup import Element, Markup

_GENERAL = ("numFmtId", "fillId", "borderId", "xfId")  # 0 in a cell that is formatted in no way
_OFF = ("0", "false")


def bold_style(content: bytes, *, location: str) -> int | None:
    """Return the index of a style that is bold and otherwise as the usual cell; None where there is none.

    Args:
        content: the part of the styles.
        location: its name, for messages.

    Example:
        >>> bold_style(
        ...     b"<styleSheet><fonts><font/><font><b/></font></fonts>"
        ...     b"<cellXfs><xf fontId='0'/><xf fontId='1'/></cellXfs></styleSheet>",
        ...     location="xl/styles.xml",
        ... )
        1
    """
    try:
        root = Markup(content, location=location).root
    except FormatError:
        return None  # too long, or broken: left to its program
    fonts, styles = root.child_named("fonts"), root.child_named("cellXfs")
    if fonts is None or styles is None:
        return None
    font_looks = [_look(font) for font in fonts.children_named("font")]
    if not font_looks:
        return None
    bold = {str(index) for index, (thick, look) in enumerate(font_looks) if thick and look == font_looks[0][1]}
    for index, style in enumerate(styles.children_named("xf")):
        usual = all(style.get(name, "0") == "0" for name in _GENERAL) and not style.children
        if style.get("fontId", "0") in bold and usual:
            return index
    return None


def _look(font: Element) -> tuple[bool, frozenset[tuple[str, frozenset[tuple[str, str]]]]]:
    """Return whether a font is bold, and all else of it."""
    thick = any(child.name == "b" and child.get("val", "1") not in _OFF for child in font.children)
    return thick, frozenset(
        (child.name, frozenset(child.attributes.items())) for child in font.children if child.name != "b"
    )
