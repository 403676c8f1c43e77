"""Workbooks in memory pass the suite: saved and read by path, or loaded by openpyxl and read as objects."""

from __future__ import annotations

from contextlib import closing
from typing import Any, ClassVar

import openpyxl
import xlsxwriter

import sheetarray as sa
from sheetarray.testing.conformance import Conformance

NO_RECORD = "the workbook has no record of its arrays"  # checksums are in files that sheetarray writes itself


class ObjectConformance(Conformance):
    """Arrays go into an object, which its library saves; they are read from the path."""

    suffix, format = ".xlsx", "workbook"
    binary = text = False
    test_a_long_array_of_each_bulk_path = None  # takes seconds; one class for each library has it

    def write(self, place: Any, arrays: Any, **options: Any) -> None:
        book = openpyxl.Workbook()
        sa.write(book, arrays, **options)
        book.save(place)

    def check(self, place: Any, **options: Any) -> list[sa.Finding]:
        return [finding for finding in sa.check(place, **options) if NO_RECORD not in finding.message]


class TestOpenpyxlSaved(ObjectConformance):
    test_a_long_array_of_each_bulk_path = Conformance.test_a_long_array_of_each_bulk_path


class LoadedConformance(ObjectConformance):
    """The same file, loaded by openpyxl and read as an object."""

    loading: ClassVar[dict[str, Any]] = {}

    def _load(self, place: Any) -> Any:
        return openpyxl.load_workbook(place, **self.loading)

    def read(self, place: Any, names: Any = None, **options: Any) -> dict[str, Any]:
        with closing(self._load(place)) as book:
            return sa.read(book, names, **options)

    def scan(self, place: Any, **options: Any) -> dict[str, sa.ArrayInfo]:
        with closing(self._load(place)) as book:
            return sa.scan(book, **options)

    def check(self, place: Any, **options: Any) -> list[sa.Finding]:
        with closing(self._load(place)) as book:
            return list(sa.check(book, **options))


class TestOpenpyxlLoaded(LoadedConformance):
    every_case = False


class TestOpenpyxlInMemory(LoadedConformance):
    """Read from the object that was written, before it is saved."""

    every_case = False
    books: ClassVar[dict[str, Any]] = {}

    def write(self, place: Any, arrays: Any, **options: Any) -> None:
        book = openpyxl.Workbook()
        sa.write(book.active, arrays, **options)
        self.books[str(place)] = book

    def _load(self, place: Any) -> Any:
        return self.books[str(place)]

    test_writing_replaces = None  # there is no file


class TestOpenpyxlReadOnly(LoadedConformance):
    every_case = False
    loading: ClassVar[dict[str, Any]] = {"read_only": True, "data_only": True}


class TestOpenpyxlWriteOnly(ObjectConformance):
    every_case = False

    def write(self, place: Any, arrays: Any, **options: Any) -> None:
        book = openpyxl.Workbook(write_only=True)
        sa.write(book, arrays, **options)
        book.save(place)


class TestOpenpyxlReadsOurs(LoadedConformance):
    """A file that sheetarray wrote, loaded by openpyxl."""

    every_case = False

    def write(self, place: Any, arrays: Any, **options: Any) -> None:
        sa.write(place, arrays, **options)


class TestXlsxWriterSaved(ObjectConformance):
    every_case = False
    test_a_long_array_of_each_bulk_path = Conformance.test_a_long_array_of_each_bulk_path

    def write(self, place: Any, arrays: Any, **options: Any) -> None:
        book = xlsxwriter.Workbook(place)
        sa.write(book, arrays, **options)
        try:
            book.close()
        except xlsxwriter.exceptions.FileCreateError as error:
            raise FileNotFoundError(str(error)) from error


class TestXlsxWriterConstantMemory(ObjectConformance):
    every_case = False

    def write(self, place: Any, arrays: Any, **options: Any) -> None:
        with xlsxwriter.Workbook(place, {"constant_memory": True}) as book:
            sa.write(book.add_worksheet("data"), arrays, **options)
