"""The template of new workbooks: one without sheets, to which sheets are added as to any other.

Equal arrays make equal files, as no time of writing is noted. Elements and attributes of XML stand in the order
of the schema (ECMA-376 part 1, 18): Excel insists on it in some places, other programs in others.
"""

from __future__ import annotations

import io
import os
from functools import lru_cache

from ....files import name_part
from ..package.package import Package
from ..package.packing import PackageWriter
from ..package.properties import PROPERTIES
from ..package.relations import DECLARED, MAIN, PACKAGE, RELATIONS, TYPES, ContentTypes, relations_xml
from .sheet_xml import MAKER, OFFICE

CONTENT_TYPES = {  # of the workbook's own part, by the suffix: Excel does not open a file that has another's
    ".xlsx": f"{OFFICE}spreadsheetml.sheet.main+xml",
    ".xlsm": "application/vnd.ms-excel.sheet.macroEnabled.main+xml",
    ".xltx": f"{OFFICE}spreadsheetml.template.main+xml",
    ".xltm": "application/vnd.ms-excel.template.macroEnabled.main+xml",
}
STYLES = "xl/styles.xml"
_ROOT_RELATIONS = relations_xml(  # from which a program finds the other parts
    [
        (f"{RELATIONS}/officeDocument", "xl/workbook.xml"),
        (f"{PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"),
        (f"{RELATIONS}/extended-properties", "docProps/app.xml"),
        (f"{RELATIONS}/custom-properties", PROPERTIES),
    ]
)
_NEW_SUFFIXES = {
    "rels": "application/vnd.openxmlformats-package.relationships+xml",
    "xml": "application/xml",
}
_NEW_TYPES = [
    ("/xl/styles.xml", f"{OFFICE}spreadsheetml.styles+xml"),
    ("/docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml"),
    ("/docProps/app.xml", f"{OFFICE}extended-properties+xml"),
]
# The version of the calculation engine, of Excel 2019 and later: for a lower one Excel computes all formulas on opening
_CALCULATION = 191029


def suffix_of(target: object) -> str:
    """Return the suffix that says which kind of workbook a target is; `.xlsx` for any other target."""
    suffix = os.path.splitext(name_part(target))[1].lower() if isinstance(target, (str, os.PathLike)) else ""
    return suffix if suffix in CONTENT_TYPES else ".xlsx"


@lru_cache
def make_template(suffix: str) -> Package:
    """Return a workbook without sheets, for a file of a suffix, one of `CONTENT_TYPES`; its styles are yet to be made.

    Example:
        >>> make_template(".xlsm").names()[-1]
        'xl/_rels/workbook.xml.rels'
    """
    types = ContentTypes(_NEW_SUFFIXES, [("/xl/workbook.xml", CONTENT_TYPES[suffix]), *_NEW_TYPES])
    texts = {
        TYPES: types.to_bytes().decode(),
        "_rels/.rels": _ROOT_RELATIONS.decode(),
        "xl/workbook.xml": f'{DECLARED}<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><workbookPr/><bookViews>'
        '<workbookView activeTab="0"/></bookViews><sheets></sheets>'
        f'<calcPr calcId="{_CALCULATION}" fullCalcOnLoad="0"/></workbook>',
        STYLES: "",
        "docProps/core.xml": f'{DECLARED}<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>{MAKER}</dc:creator></cp:coreProperties>',
        "docProps/app.xml": f'{DECLARED}<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/'
        f'extended-properties"><Application>{MAKER}</Application></Properties>',
        "xl/_rels/workbook.xml.rels": relations_xml([(f"{RELATIONS}/styles", "styles.xml")]).decode(),
    }
    file = io.BytesIO()
    writer = PackageWriter(file)
    for name, text in texts.items():
        writer.write_part(name, text.encode())
    writer.finish()
    return Package(file.getvalue())
