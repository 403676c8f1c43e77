"""Notes of cells: texts that a program shows beside a cell, as a part of comments and a drawing of their boxes.

Excel wants both, the second in VML (ECMA-376 part 4, 19); other programs read the comments alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....columns import column_letters
from ..cell_xml import xml_text
from ..package.relations import DECLARED, MAIN
from .plans import PartBeside

_COLUMNS, _ROWS = 2, 4  # of the sheet, that a box takes
_IDS = 1024  # of shapes that a drawing has for itself
_BEGIN = (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:x="urn:schemas-microsoft-com:office:excel">'
    '<o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="{ids}"/></o:shapelayout>'
    '<v:shapetype id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe">'
    '<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>'
)
_BOX = (
    '<v:shape id="_x0000_s{id}" type="#_x0000_t202" style="position:absolute;margin-left:60pt;margin-top:2pt;'
    'width:160pt;height:60pt;z-index:{order};visibility:hidden" fillcolor="#ffffe1" o:insetmode="auto">'
    '<v:fill color2="#ffffe1"/><v:shadow color="black" obscured="t"/><v:path o:connecttype="none"/>'
    '<v:textbox style="mso-direction-alt:auto"><div style="text-align:left"></div></v:textbox>'
    '<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/>'
    "<x:Anchor>{left}, 15, 0, 2, {right}, 15, {bottom}, 4</x:Anchor><x:AutoFill>False</x:AutoFill>"
    "<x:Row>0</x:Row><x:Column>{column}</x:Column></x:ClientData></v:shape>"
)


def make_notes(
    notes: Mapping[int, str], comments: str, drawing: str, *, number: int, hidden: int
) -> tuple[PartBeside, PartBeside]:
    """Return the two XML parts of the notes on cells of the first row: the boxes and the texts. Notes are given by
    column.

    `comments`, `drawing`: the names of the parts. `number`: of the sheet, from which the ids of boxes follow. `hidden`:
    the rows below the first one that are not shown.

    Example:
        >>> made = make_notes({1: "units: K"}, "xl/comments1.xml", "xl/drawings/vmlDrawing1.vml", number=1, hidden=0)
        >>> b'<comment ref="B1" authorId="0">' in made[1].content
        True
    """
    said = '<comment ref="{}1" authorId="0"><text><t xml:space="preserve">{}</t></text></comment>'
    texts = "".join(said.format(column_letters(column), xml_text(text)) for column, text in notes.items())
    boxes = "".join(
        _BOX.format(
            id=_IDS * number + order,
            order=order,
            left=column + 1,
            right=column + 1 + _COLUMNS,
            bottom=hidden + _ROWS,
            column=column,
        )
        for order, column in enumerate(notes, 1)
    )
    last = (_IDS * number + len(notes)) // _IDS
    listed = ",".join(str(block) for block in range(number, last + 1))
    listed_texts = (
        f'{DECLARED}<comments xmlns="{MAIN}"><authors><author></author></authors>'
        f"<commentList>{texts}</commentList></comments>"
    )
    return (
        PartBeside("vmlDrawing", drawing, f"{_BEGIN.format(ids=listed)}{boxes}</xml>".encode()),
        PartBeside("comments", comments, listed_texts.encode()),
    )
