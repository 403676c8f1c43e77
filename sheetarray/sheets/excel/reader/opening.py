"""Which kind of workbook some bytes are."""

from __future__ import annotations

from ....errors import FormatError
from ....files import Source
from ..package.parts import Package
from ..package.relations import TYPES, ContentTypes, Relations
from .cells import Container
from .compound import MAGIC, Compound
from .excel97 import Excel97Book
from .ooxml import OoxmlBook
from .opendocument import CONTENT, OdsBook
from .xlsb import XlsbBook

_ZIP = b"PK"
_BINARY = "application/vnd.ms-excel.sheet.binary"


def opened(source: Source) -> Container:
    """The workbook in a source.

    Raises:
        FormatError: no workbook, or one that is damaged, encrypted or hostile.
    """
    start = source.prefix(len(MAGIC))
    if not start:
        raise FormatError("the file is empty")
    if start == MAGIC:
        return _compound(Compound(source.whole()))
    if not start.startswith(_ZIP):
        raise FormatError("no workbook: neither a zip package (.xlsx, .xlsm, .xlsb, .ods) nor a compound file (.xls)",
                          hint="text is read as .csv")  # fmt: skip
    package = Package(source.whole())
    if CONTENT in package and "mimetype" in package:
        return OdsBook(package)
    part = Relations(package, "").present("officeDocument")
    if part is None or TYPES not in package:
        raise FormatError("a zip package that holds no workbook")
    if ContentTypes(package).of(part).startswith(_BINARY):
        return XlsbBook(package, part)
    return OoxmlBook(package, part)


def _compound(file: Compound) -> Container:
    if "EncryptedPackage" in file:
        raise FormatError("the workbook is encrypted with a password", hint="save it without one first")
    for name in ("Workbook", "Book"):
        if name in file:
            return Excel97Book(file.read(name))
    raise FormatError("a compound file that holds no workbook")
