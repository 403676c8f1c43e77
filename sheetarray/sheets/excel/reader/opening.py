"""Finds out which kind of workbook a file is, and opens it."""

from __future__ import annotations

import codecs

from ....errors import FormatError
from ....files import Source, refuse_empty
from ..package.parts import Package, has_directory
from ..package.relations import TYPES, ContentTypes, Relations
from .cells import WorkbookReader, encrypted_error
from .compound import MAGIC, Compound
from .legacy import Excel97Book, XlsbBook
from .ooxml import OoxmlBook
from .opendocument import CONTENT, MANIFEST, OdsBook

_ZIP = b"PK"
_BEFORE_EXCEL_5 = (b"\t\0\4\0", b"\t\2\6\0", b"\t\4\6\0")  # records that begin a file of Excel 2, 3 or 4
_BINARY = "application/vnd.ms-excel.sheet.binary"


def open_workbook(source: Source) -> WorkbookReader:
    """Return the workbook in a source.

    Raises:
        FormatError: the source is no workbook, or one that is damaged, encrypted or hostile.
    """
    start = source.prefix(len(MAGIC))
    refuse_empty(start)
    if start == MAGIC:
        return _open_compound(Compound(source.whole()))
    if start.startswith(_BEFORE_EXCEL_5):
        raise FormatError("a workbook of a version before Excel 5", hint="save it as .xlsx first")
    if not start.startswith(_ZIP) and not has_directory(source.ranges()):
        markup = start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<")
        raise FormatError(
            "no workbook: neither a zip package (.xlsx, .xlsm, .xlsb, .ods) nor a compound file (.xls)",
            hint="if a spreadsheet program opens this HTML or XML, save it as .xlsx there"
            if markup
            else "text is read as .csv",
        )
    package = Package(source.ranges())
    if CONTENT in package and ("mimetype" in package or MANIFEST in package):
        return OdsBook(package)
    part = Relations(package, "").present_target("officeDocument")
    if part is None or TYPES not in package:
        raise FormatError("a zip package that holds no workbook")
    if ContentTypes(package).type_of(part).startswith(_BINARY):
        return XlsbBook(package, part)
    return OoxmlBook(package, part)


def _open_compound(file: Compound) -> WorkbookReader:
    if "EncryptedPackage" in file:
        raise encrypted_error()
    for name in ("Workbook", "Book"):
        if name in file:
            return Excel97Book(file.read(name))
    raise FormatError("a compound file that holds no workbook")
