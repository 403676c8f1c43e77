"""The styles of a new workbook, for the formats that its cells need."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ....elements.serials import DATE_CODES
from ...decimals import FLOAT_CODES
from ...workbooks import TRUTH_CODE
from ...xml_texts import quote_attribute
from ..package.relations import DECLARED, MAIN
from .cell_styles import FILTER_INDENT, CellStyles, plain_code

DAYS_AND_TIMES = tuple(dict.fromkeys(DATE_CODES.values()))
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
    codes = list(dict.fromkeys([*DAYS_AND_TIMES, TRUTH_CODE, *FLOAT_CODES, *formats]))
    own = [code for code in codes if code not in _WITHOUT_NUMBER]
    numbers = _WITHOUT_NUMBER | {code: number for number, code in enumerate(own, _OWN_FORMATS)}
    listed = "".join(f'<numFmt numFmtId="{numbers[code]}" formatCode={quote_attribute(code)}/>' for code in own)
    styles = [f'<xf {_FORMAT.format(0)} xfId="0"/>', f"{_BOLD}/>"]
    styles.append(f'{_BOLD} applyAlignment="1"><alignment horizontal="right"/></xf>')

    def add(style: str, formats_of_style: Sequence[str]) -> dict[str, int]:
        """Add a style with each of some formats, and return their indices by the codes."""
        first = len(styles)
        styles.extend(style.format(numbers[code]) for code in formats_of_style)
        return {code: first + place for place, code in enumerate(formats_of_style)}

    index = add(_NUMBERS, codes)
    kinds, unlocked = dict[str, int](), dict[str, int]()
    if views:
        choosers = add(_CHOOSER, ["", "@", *DAYS_AND_TIMES])
        kinds = {"": choosers[""], "@": choosers["@"], **{unit: choosers[code] for unit, code in DATE_CODES.items()}}
        unlocked = add(_UNLOCKED, ["", *codes])
    by_style = {index.get(code): place for code, place in unlocked.items()}
    formats_of = {plain_code(code): place for code, place in index.items()}
    plain = CellStyles(1, 2, formats_of, kinds, by_style, bold_filtered=len(styles))
    styles.append(f'{_BOLD} applyAlignment="1"><alignment horizontal="right" indent="{FILTER_INDENT}"/></xf>')
    return OwnStyles(
        plain,
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
