"""Draw the pictures of the documentation: `python -m docs.pictures` writes them, from files that sheetarray makes."""

from __future__ import annotations

import csv
import struct
import tempfile
import zlib
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

import sheetarray as sa

HERE = Path(__file__).parent
WIDTHS, HEIGHT, MARGIN = (110, 110, 190), 20, 40
PAPER, LINES, HEAD, NAME, INK, FAINT = "#ffffff", "#d0d7de", "#eef3f8", "#d8e6f3", "#1f2328", "#6e7781"


def sheet_svg() -> str:
    """Draw the first rows of a CSV with three arrays, as a spreadsheet program shows it."""
    arrays = {
        "temperature": np.random.default_rng(1).normal(15, 8, size=(12, 180, 360)).round(2),
        "station": np.array(["007", "=1+1", "Zürich"]),
        "counts": np.array([2**53 + 1, 2**64 - 1], dtype="uint64"),
    }
    with tempfile.TemporaryDirectory() as folder:
        sa.write(f"{folder}/climate.csv", arrays)
        with open(f"{folder}/climate.csv", newline="", encoding="utf-8") as file:
            rows = [row for row, _ in zip(csv.reader(file), range(28), strict=False)]
    body = [[], ["A", "B", "C"], *rows]
    lines, edges = [], [MARGIN, *(MARGIN + sum(WIDTHS[: n + 1]) for n in range(3))]
    header_ends = [next(number for number, row in enumerate(rows) if row[column] == "data") for column in range(3)]
    for number, row in enumerate(body[1:]):
        top = number * HEIGHT
        label = "" if number == 0 else str(number)
        lines.append(f'<text x="{MARGIN - 8}" y="{top + 14}" text-anchor="end" fill="{FAINT}">{label}</text>')
        for column, cell in enumerate(row):
            left, width = edges[column], WIDTHS[column]
            fill = HEAD if 0 < number <= header_ends[column] + 1 else PAPER
            fill = NAME if number == 1 else PAPER if number == 0 else fill
            lines.append(
                f'<rect x="{left}" y="{top}" width="{width}" height="{HEIGHT}" fill="{fill}" stroke="{LINES}"/>'
            )
            weight = ' font-weight="bold"' if number == 1 else ""
            colour = FAINT if number == 0 else INK
            place = f'x="{left + width / 2:g}" text-anchor="middle"' if number == 0 else f'x="{left + 6}"'
            lines.append(f'<text {place} y="{top + 14}" fill="{colour}"{weight}>{escape(cell)}</text>')
    width, height = edges[-1] + 1, len(body[1:]) * HEIGHT + 1
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="Arial, Helvetica, sans-serif" font-size="13" role="img">'
        f"<title>Three arrays in a spreadsheet: names, headers, values</title>"
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>\n' + "\n".join(lines) + "\n</svg>\n"
    )


def elevation_png() -> bytes:
    """Draw the elevation grid of sample_sheets in the colours of `sheetarray show`."""
    from sheetarray.cli.drawing import pixels
    from sheetarray.cli.drawing.statistics import compute_statistics

    grid = sa.read(HERE.parent / "sample_sheets" / "elevation.csv")["elevation"]
    levels = pixels.to_levels(grid, compute_statistics(grid), *grid.shape)
    colours = np.array([pixels.level_colour(level) for level in range(100)], dtype="u1")
    pixels = colours[levels].repeat(3, axis=0).repeat(3, axis=1)
    rows = np.concatenate([np.zeros((len(pixels), 1), "u1"), pixels.reshape(len(pixels), -1)], axis=1)
    header = struct.pack(">2I5B", pixels.shape[1], pixels.shape[0], 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


if __name__ == "__main__":
    (HERE / "sheet.svg").write_text(sheet_svg(), encoding="utf-8")
    (HERE / "elevation.png").write_bytes(elevation_png())
