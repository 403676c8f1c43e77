"""Spreadsheets as CSV and TSV: what Drive exports, and what is uploaded to it."""

from __future__ import annotations

import csv
import io
import json
from email import message_from_bytes
from email.message import Message
from itertools import zip_longest

from . import entered, rendered
from .errors import FileContent, Json, invalid, unsupported_error
from .grid import SKIP
from .ranges import Span
from .spreadsheet import Spreadsheet

_SEPARATORS = {"text/csv": ",", "text/tab-separated-values": "\t"}


def export(spreadsheet: Spreadsheet, kind: str) -> FileContent:
    """Return the first visible sheet as people see it, as text of a media type.

    As at the service, no line break stands at its end.
    """
    if kind not in _SEPARATORS:
        raise unsupported_error(f"An export as {kind or 'nothing'}")
    sheet = next((sheet for sheet in spreadsheet.sheets if not sheet.hidden), spreadsheet.sheets[0])
    columns = rendered.render_columns(spreadsheet, sheet, sheet.area(Span()))
    while columns and not columns[-1]:
        columns.pop()
    lines = io.StringIO()
    if kind == "text/csv":
        csv.writer(lines, lineterminator="\r\n").writerows(zip_longest(*columns, fillvalue=""))
    else:
        for row in zip_longest(*columns, fillvalue=""):
            lines.write("\t".join(" ".join(str(cell).split("\t")) for cell in row) + "\r\n")
    return FileContent(lines.getvalue().removesuffix("\r\n").encode(), kind)


def put_text(spreadsheet: Spreadsheet, text: str, between: str) -> None:
    """Replace all sheets by one with the cells of a CSV, each read as if someone had typed it.

    Args:
        spreadsheet: which is changed.
        text: the CSV.
        between: the separator.
    """
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff")), delimiter=between))
    draft = spreadsheet.copy()
    sheet = draft.sheets[0]
    sheet.merges, sheet.overlays, sheet.basic_filter, sheet.protected = [], {}, None, {}
    del draft.sheets[1:]
    sheet.grid.resize(1, 1)
    draft.resize(sheet, max(1000, len(rows)), max(26, max(map(len, rows), default=0)))
    for column, cells in enumerate(zip_longest(*rows, fillvalue="")):
        entries = [entered.cell_from_entry(cell) for cell in cells]
        sheet.grid.write(column, 0, [None if cell is SKIP else cell for cell, _ in entries])
        marks = sheet.grid.marks(column)
        for row, (_, number_format) in enumerate(entries):
            if number_format:
                marks.put(row, row + 1, {"userEnteredFormat": {"numberFormat": number_format}})
    spreadsheet.become(draft)


def parts_of_upload(body: bytes) -> tuple[Json, str, str]:
    """Return the properties of a file, its text and its separator, from the body of a multipart upload."""
    boundary = body.lstrip().split(b"\n", 1)[0].strip().removeprefix(b"--")
    message = message_from_bytes(b'Content-Type: multipart/related; boundary="' + boundary + b'"\n\n' + body)
    payload = message.get_payload()
    parts = [part for part in payload if isinstance(part, Message)] if isinstance(payload, list) else []
    content = [part.get_payload(decode=True) for part in parts]
    if len(content) != 2 or not all(isinstance(part, bytes) for part in content):
        raise invalid("Malformed multipart body.")
    kind = parts[1].get_content_type()
    if kind not in _SEPARATORS:
        raise unsupported_error(f"An upload of {kind}")
    try:
        properties, text = json.loads(str(content[0], "utf-8")), str(content[1], "utf-8-sig")  # type: ignore[arg-type]
    except ValueError:
        raise invalid("Malformed multipart body.") from None
    return properties, text, _SEPARATORS[kind]
