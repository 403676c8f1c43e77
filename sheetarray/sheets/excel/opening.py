"""Which kind of workbook a file is, by its first bytes and its parts."""

from __future__ import annotations

import codecs
import re

from ...errors import FormatError
from ...files import Source, refuse_empty
from .package.package import Package
from .package.parts import has_directory
from .package.relations import TYPES, ContentTypes, Relations
from .reader.cells import WorkbookReader, encrypted_error
from .reader.legacy import LegacyBook
from .reader.ooxml import OoxmlCells
from .reader.opendocument import CONTENT, MANIFEST, OdsBook
from .workbook_part import WorkbookPart

_ZIP = b"PK"
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # begins a file of files, as an .xls is
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le").ljust(64, b"\0") + b"\x22\0\2"  # the entry of such a file in it
_LOCKED = re.compile(  # an .xls begins its settings with the record of a password
    rb"\x09\x08(?:\x10\0\0\x06\x05\0.{12}|\x08\0\0\x05\x05\0.{4})(?:\x86\0\0\0)?\x2f\0", re.DOTALL
)
_BEFORE_EXCEL_5 = (b"\t\0\4\0", b"\t\2\6\0", b"\t\4\6\0")  # records that begin a file of Excel 2, 3 or 4
_BINARY = "application/vnd.ms-excel.sheet.binary"


def open_cells(source: Source) -> WorkbookReader:
    """Return the cells of the workbook in a source, of the kind that its first bytes tell; refuse any other source."""
    start = source.prefix(len(_COMPOUND))
    if not start.startswith(_ZIP):
        refuse_empty(start)
        if start == _COMPOUND:
            return _open_compound(source)
        if start.startswith(_BEFORE_EXCEL_5) or not has_directory(source.ranges()):
            raise _other_kind_error(start)
    package = Package(source.ranges())
    if CONTENT in package and ("mimetype" in package or MANIFEST in package):
        return OdsBook(package)
    relations = Relations(package, "")
    part = relations.present_target("officeDocument")
    if part is None or TYPES not in package:
        raise FormatError("a zip package that holds no workbook")
    # the types of an .xlsx stand in a list that is read only where a sheet is added
    if part.lower().endswith(".bin") and ContentTypes.of_package(package).type_of(part).startswith(_BINARY):
        return LegacyBook(source.whole(), package)
    return OoxmlCells(WorkbookPart(package, part, relations))


def _open_compound(source: Source) -> WorkbookReader:
    """Return the cells of an .xls."""
    content = source.whole()
    if content.find(_ENCRYPTED) >= 0 or _LOCKED.search(content):
        raise encrypted_error()
    return LegacyBook(content)


def _other_kind_error(start: bytes) -> FormatError:
    """Return the error for a source that is no workbook, or one that is too old, given its first bytes."""
    if start.startswith(_BEFORE_EXCEL_5):
        return FormatError("a workbook of a version before Excel 5", hint="save it as .xlsx first")
    markup = start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<")
    return FormatError(
        "not a workbook: neither a zip package (.xlsx, .xlsm, .xlsb, .ods) nor a compound file (.xls)",
        hint="if a spreadsheet program opens this HTML or XML, save it as .xlsx there"
        if markup
        else "text is read as .csv",
    )
