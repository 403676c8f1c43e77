"""Limits of the package that tests set lower, so that small files are large ones: where each of them stands."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

LIMITS = {
    # from where on something is large, and goes piece by piece
    "many_elements": "columns.blocks.mapping MANY_ELEMENTS",
    "mapped_elements": "api.blocks _MAPPED",
    "bytes_of_pieces": "columns.blocks.mapping MOST_BYTES",
    "read_into_memory": "files.contents _IN_MEMORY",
    "large_json": "sheets.json.adapter LARGE_TEXT",
    "small_text": "sheets.delimited.reading _SMALL",
    "short_table": "tables.cells SHORT",
    "few_rows": "sheets.delimited.table SHORT",
    "bytes_at_once": "sheets.delimited.table _SMALL",
    "same_bytes": "changes.elements _SMALL_BYTES",
    "rows_that_say_numbers": "sheets.delimited.number_columns _HEAD",
    "few_cells": "elements.from_cells _FEW",
    "short_worksheet": "sheets.excel.reader.worksheet SHORT",
    "short_opendocument": "sheets.excel.reader.opendocument SHORT",
    # how much is handled at once
    "csv_piece": "sheets.delimited.sheet BLOCK",
    "csv_rows_piece": "sheets.delimited.rows_by_bytes _PIECE",
    "json_piece": "sheets.json.sound_lists _PIECE",
    "json_block": "sheets.json.text _BLOCK",
    "large_workbook": "sheets.excel.checking.large LARGE_WORKBOOK",
    "workbook_piece": "sheets.excel.worksheet _CELLS_A_BLOCK",
    "kept_pieces": "columns.blocks.parts _KEPT",
    "first_block": "sheets.excel.reader.parsing _FIRST_BLOCK",
    "block": "sheets.excel.reader.parsing _BLOCK",
    "heads_at_once": "scale.file_headers _AT_ONCE",
    "google_batch": "sheets.google.sent_cells MOST_DIRECT_BYTES",
    "google_request": "sheets.google.sent_cells MOST_BYTES",
    "google_cells_of_a_read": "sheets.google.reading _READ_AT_ONCE",
    "google_cells_at_once": "sheets.google.worksheet MOST_AT_ONCE",
    "google_cells_of_all": "sheets.google.reading MOST_CELLS_AT_ONCE",
    "google_record": "sheets.google.tables.records MOST_TEXT",
    "text_units_at_once": "elements.texts _UNITS_AT_ONCE",
    # how much there may be at most
    "worksheet_rows": "sheets.excel.sheet_writes MAX_ROWS",
    "worksheet_columns": "sheets.excel.sheet_writes MAX_COLUMNS",
    "explained_problems": "elements.problems MOST_EXPLAINED",
    "formula_work": "sheets.excel.tables.formulas _MOST_WORK",
    "padding": "elements.texts MOST_PADDING",
    "inflated": "files.compressed _INFLATED_ALWAYS",
    "inflated_text": "files.compressed _TEXT_ALWAYS",
    "inflated_values": "files.compressed _VALUES_ALWAYS",
    "inflated_in_memory": "files.reading _INFLATED_IN_MEMORY",
    "frames": "files.compressed _MOST_FRAMES",
    "csv_blank_lines": "sheets.delimited.table MOST_BLANK_LINES",
    "csv_table_cells": "sheets.delimited.table MOST_BLANK",
    "avro_records": "interchange.avro.adapter MOST_RECORDS",
    "avro_blocks": "interchange.avro.adapter _MOST_BLOCKS",
    "archive_members": "interchange.npy MOST_MEMBERS",
    "awkward_steps": "interchange.awkward.budget MOST_STEPS",
    "awkward_values": "interchange.awkward.budget MOST_SCHEMA_PARTS",
    "packed_values": "interchange.sciserialize.words MOST_VALUES",
    "full_checksums": "sheets.excel.checksums.record MOST_IN_FULL",
    "guard_bytes": "sheets.snapshot MOST_BYTES",
    "markup_elements": "sheets.excel.package.markup _MOST_ELEMENTS",
    "part_bytes": "sheets.excel.package.properties MOST_BYTES",
    "estimated_cells": "sheets.excel.package.packing _UNCOUNTED",
    "inflated_worksheet": "sheets.excel.reader.parsing _INFLATED_ALWAYS",
    "references": "sheets.excel.reader.book MOST_REFERENCES",
    "parquet_bytes_a_value": "interchange.columnar.parquet_claims _BYTES_A_VALUE",
    "parquet_values": "interchange.columnar.parquet_claims _MOST_VALUES",
    "legacy_seconds": "sheets.excel.reader.legacy _MOST_SECONDS",
    "legacy_text": "sheets.excel.reader.legacy _MOST_TEXT",
    "opendocument_kept": "sheets.excel.reader.opendocument _MOST_KEPT",
    "opendocument_parsed": "sheets.excel.reader.opendocument _MOST_PARSED",
    "opendocument_repeated": "sheets.excel.reader.opendocument _REPEATED_ALWAYS",
    "repeated_strings": "sheets.excel.reader.shared_strings _REPEATED_ALWAYS",
    "least_searched": "sheets.excel.workbook LEAST_BYTES",
    "editable_columns": "sheets.views.plans MOST_EDITABLE_COLUMNS",
    "view_formulas": "sheets.views.plans MOST_FORMULAS",
    "view_window": "sheets.views.plans WINDOW_COLUMNS",
    "page_arrays": "pages.contents MOST_ARRAYS",
    "page_elements": "pages.excerpts MOST_ELEMENTS",
    "page_findings": "pages.contents MOST_FINDINGS",
    "aligned_elements": "changes.row_groups _MOST_ALIGNED",
    "awkward_descriptions": "interchange.awkward.columns MOST_DESCRIPTIONS",
    "odd_rows": "sheets.delimited.mending MOST_ODD",
    "recorded_tables": "sheets.table_areas MOST_RECORDED",
    "terminal_width": "cli.console _ENDLESS",
    # how long somebody waits
    "manifest_patience": "scale.conversions.manifest PATIENCE",
    "scheduler_patience": "scale.conversions.running _PATIENCE",
    # how much of something a workbook may have
    "cell_places": "sheets.excel.reader.cell_order _MOST_KEPT",
    "opendocument_sheets": "sheets.excel.reader.opendocument MOST_TABLES",
    "shared_strings": "sheets.excel.reader.shared_strings MOST_STRINGS",
    "inflated_element": "sheets.excel.reader.xml_elements _LONGEST",
    "styles": "sheets.excel.reader.ooxml MOST_STYLES",
    "sheets": "sheets.excel.reader.titles MOST_SHEETS",
    "sheets_of_tables": "tables.options SearchOptions.most_sheets",
    "written_sheets": "sheets.excel.append MOST_SHEETS",
    "rows_of_cells": "sheets.excel.reader.raw_cells MOST_ROWS",
    "rows_of_worksheet": "sheets.excel.reader.worksheet MOST_ROWS",
    "parsed_in_rows": "sheets.excel.reader.worksheet MOST_IN_ROWS",
    "parsed_in_strings": "sheets.excel.reader.shared_strings MOST_IN_STRINGS",
    "legacy_cells": "sheets.excel.reader.legacy _MOST_CELLS",
    "nested_json": "sheets.json.parsed_lists _MOST_NESTED",
    "flush_every": "files.writing FLUSH_EVERY",
}


def set_limits(patch: pytest.MonkeyPatch, **limits: Any) -> None:
    """Set limits by their names above, until the patch is undone."""
    for name, value in limits.items():
        module, _, constant = LIMITS[name].partition(" ")
        owner: Any = import_module(f"sheetarray.{module}")
        *classes, constant = constant.split(".")
        for part in classes:
            owner = getattr(owner, part)
        patch.setattr(owner, constant, value)


def get_limit(name: str) -> Any:
    """Return what a limit is now."""
    module, _, constant = LIMITS[name].partition(" ")
    return getattr(import_module(f"sheetarray.{module}"), constant)


def lower_limits(part: int, *names: str) -> str:
    """Return the code by which a child has limits that are so many times lower."""
    places = [LIMITS[name].split() for name in names]
    return "".join(f"import sheetarray.{module} as m\nm.{constant} //= {part}\n" for module, constant in places)
