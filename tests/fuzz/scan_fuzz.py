"""Mutates small texts and gives them to the compiled loops, built with sanitizers of memory and undefined behaviour.

    make fuzz               1,000,000 mutations
    make fuzz FUZZ=10000    so many; a second argument of this program draws others

Each grammar has its texts, and a function that reads one through the same door as the package and checks what comes of
it. Delimited text and rounded doubles are compared with the plain way, bit for bit, moments and wide text with NumPy.
"""

from __future__ import annotations

import os
import random
import re
import struct
import sys
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

os.environ["SHEETARRAY_PLAIN"] = "1"  # what the loops are compared with

from sheetarray import loops
from sheetarray.columns.words import WORDS
from sheetarray.elements import DAY, moment_pattern
from sheetarray.errors import FormatError
from sheetarray.sheets.delimited.plain_records import scan_plainly
from sheetarray.sheets.delimited.records import BLANK, MOMENTS
from sheetarray.sheets.excel.reader.raw_cells import CELL, FORMULA

PIECES = [
    *(b"<row", b'<c r="B2">', b"</c>", b"<v>", b"</v>", b"<is><t>", b"</row>", b"&amp;", b"&#x10FFFF;", b"_xD83D_"),
    *(
        *(b"_xDE00_", b"<!-- -->", b"]]>", b"\xf0\x9f\x98\x80", b"\xff", b' t="s"', b"/>", b"1e999", b"xml:space"),
        b"</si>",
    ),
    *(b'<f t="array" ref="A1:B2">', b"TRUE()", b"\r\n", b"<text:p>", b"</table:table-cell>", b'"', b'""', b",", b";"),
    *(b" table:number-rows-repeated='99'", b"\xc2\xa0", b"version", b"\xe2\x80\x83", b"\n"),
]
SHEETS = [
    b'<row r="1" spans="1:3"><c r="A1"><v>1.5</v></c><c r="B1" t="s"><v>0</v></c><c r="C1" s="2"/></row></sheetData>',
    b"<row r='2'><c r='A2' t='inlineStr'><is><t xml:space='preserve'> a &lt;&#65;_x000D_ </t></is></c></row>\r\n<row/>",
    b'<row><c><v>-1e-300</v></c><c t="b"><v>1</v></c><c t="str"><f>A1&amp;""</f><v>x\xc3\xa9</v></c></row></sheetData>',
    b'<row r="3" x14ac:dyDescent="0.2"><c r="A3"><f aca="1">SUM(A1)</f><v>2</v></c><c><f>TRUE()</f></c></row>',
    b'<row r="1048576"><c r="A1048576" t="e"><v>#N/A</v></c><c t="d"><v>2020-01-01</v></c></row>',
    b"<row><c><f>FALSE()</f><v/></c><c><f>FALSE()</f><v>0</v></c></row>",
]
TABLES = [
    b'<table:table-row><table:table-cell office:value-type="float" office:value="1.5"><text:p>1.5</text:p>'
    b'</table:table-cell><table:table-cell/><table:covered-table-cell table:number-columns-repeated="3"/>'
    b"</table:table-row></table:table>",
    b'<table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="string"><text:p>a &lt;&#65;'
    b"</text:p></table:table-cell><table:table-cell table:formula=\"of:=TRUE()\" office:value-type='boolean' "
    b'office:boolean-value=\'true\'/><table:table-cell office:value-type="time" office:time-value="PT1H" '
    b'table:formula="of:=[.A1]&amp;1"/></table:table-row>',
]
STRINGS = [
    b'<si><t>a</t></si><si/><si><t xml:space="preserve"> b_xD83D__x0041_\xef\xbf\xbd </t></si></sst>',
    b'<si>\n<t>c]&#x1F600;</t></si><si><r><rPr><sz val="1"/></rPr><t>d&quot;</t></r></si></sst>',
]
DELIMITED = [
    b't,n\r\nversion,Data\r\n1.5,-2\r\n"a ""b"", c",NaN\r\n',
    b'a;"two\nlines" rest;\xc3\xa9\n;;\r\r\n1,5;1e999;0x1p3',
    b"-1,18446744073709551615,TRUE\n\xc2\xa0data ,9223372036854775807,false\n\n1e-5,-Infinity,12345678901234567890\n",
    b"2024-02-29,2100-02-28T23:59:59,1969-12-31 00:00:00.25\n0000-02-29,NaT,2261-12-31T23:59:59.123456789\n\n1677-12-3",
    b"0.1234567890123456789,9007199254740993,TRUE\n0.00000001234567890123456e-300,-1.7976931348623159E+308,FALSE\n",
]
PREFIXES = b" xml: x14ac: table: office: calcext:"
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384


class Fuzz:
    """The module under test, and dice."""

    def __init__(self, scan: Any, seed: int) -> None:
        self.scan, self.dice = scan, random.Random(seed)

    def mutate(self, texts: list[bytes]) -> np.ndarray[Any, Any]:
        """Return one of the texts with some bytes changed, in memory that ends where it ends."""
        dice, text = self.dice, bytearray(self.dice.choice(texts))
        for _ in range(dice.randint(1, 6)):
            at = dice.randint(0, len(text))
            match dice.randrange(6):
                case 0 if at < len(text):
                    text[at] = dice.randrange(256)
                case 1:
                    del text[at : at + dice.randint(1, 8)]
                case 2:
                    text.insert(at, dice.randrange(256))
                case 3:
                    text[at:at] = dice.choice(PIECES)
                case 4:
                    start = dice.randint(0, len(text))
                    text[at:at] = text[start : start + dice.randrange(40)]
                case _:
                    del text[at:]
        return np.frombuffer(bytes(text), np.uint8).copy()

    def mutate_xml(self, texts: list[bytes]) -> np.ndarray[Any, Any]:
        """Return the same for XML, of which the package has made sure that it is UTF-8."""
        text = bytes(self.mutate(texts)).decode(errors="ignore")
        return np.frombuffer(text.encode(), np.uint8).copy()

    def read_rows(self, texts: list[bytes], scan_rows: Any) -> None:
        """Read rows of a worksheet, or of a table of OpenDocument."""
        text, dice = self.mutate_xml(texts), self.dice
        start = 0 if dice.randrange(20) else dice.randrange(len(text) + 9)
        prefix = b"" if dice.randrange(9) else b"x:"
        end, _, raw, texts, formulas, repeats = scan_rows(text, start, prefix, PREFIXES, 0, MOST_ROWS)
        assert end <= len(text)
        cells = np.frombuffer(raw, CELL)
        assert (cells["row"] < MOST_ROWS).all()
        assert (cells["column"] < MOST_COLUMNS).all()
        assert len(self.to_texts(texts)) == len(cells)
        assert len(self.to_texts(formulas)) == np.count_nonzero(cells["type"] & FORMULA)
        runs = np.frombuffer(repeats, np.int64).reshape(-1, 2)
        assert (runs.sum(axis=1) <= MOST_ROWS).all()

    def to_texts(self, texts: Any) -> list[Any]:
        """Return texts that a loop has made, which are UTF-8."""
        return loops.texts_to_series(texts).cast(pl.Binary).cast(pl.String).to_list()

    def read_strings(self) -> None:
        """Read shared strings."""
        text = self.mutate_xml(STRINGS)
        end, _, _, texts, *_ = self.scan.scan_strings(text, 0, b"", b" xml:", 0, 0)
        assert end <= len(text)
        self.to_texts(texts)

    def write_rows(self) -> None:
        """Write cells with any bits."""
        text, dice = self.mutate(SHEETS), self.dice
        count = len(text) // 8
        bits = text[: 8 * count]
        layers: list[Any] = [
            ("A", dice.randrange(4), "<v>", "d", bits.view("f8").copy(), "</c>" * dice.randrange(9)),
            ("A", dice.randrange(4), "a" * dice.randrange(40), "i", bits.view("i8").copy(), ""),
            ("B", 0, "", "v", [None, "", "é" * dice.randrange(90)] * dice.randint(0, count), ""),
        ]
        dice.shuffle(layers)
        made = self.scan.format_rows(1, count + 4, ["", " a"], layers)
        assert made.decode().count("<row r=") == count + 4
        doubles = bits.view("f8")
        for number in doubles[np.isfinite(doubles)][:1].tolist():
            one = self.scan.format_rows(1, 1, [], [("A", 0, "|", "d", np.array([number]), "|")])
            assert struct.pack("d", float(one.split(b"|")[1])) == struct.pack("d", number)

    def make_digits(self) -> None:
        """Make digits of doubles with any bits."""
        text = self.mutate(SHEETS)
        numbers = text[: len(text) // 8 * 8].view("f8").copy()
        digits, half_up = self.dice.randint(15, 17), self.dice.randrange(2) == 1
        rounded, whole, exponents = self.scan.round_doubles(numbers, digits, half_up)
        assert rounded == loops.round_doubles(numbers, digits, half_up=half_up).tobytes()
        parts = loops.digits_of_doubles(numbers, digits, half_up=half_up)
        assert (whole, exponents) == (parts[0].tobytes(), parts[1].tobytes())

    def read_delimited(self) -> None:
        """Read columns and words of a delimited text."""
        text, dice = self.mutate(DELIMITED), self.dice
        mark, place, size = dice.choice([ord(","), ord(";"), -1]), dice.randrange(len(text) + 9), dice.randint(1, 60)
        runs = [
            (at // 2, at % 2 * 2, at % 2 * 2 + 2, dice.choice("tsdfDFiubny0369")) for at in range(dice.randrange(6))
        ]
        words = list(WORDS) if dice.randrange(2) else []
        given = (mark, size, dice.randrange(3), words, runs)
        end, *index, pieces = self.scan.read_delimited(text, place, *given)
        assert place >= len(text) or place < end <= len(text)
        try:
            bytes(text[place:end]).decode()
        except UnicodeDecodeError:
            return
        if place < len(text):
            other_end, *plain, texts = scan_plainly(bytes(text), place, *given)
            assert end == other_end
            assert index[:2] == plain[:2], (bytes(text), place, given, index, plain)
            assert [bytes(some) for some in index[2:]] == [some.tobytes() for some in plain[2:]]
            for (*_, kind), piece, other in zip(runs, pieces, texts, strict=True):
                if kind == "t":
                    assert loops.texts_to_series(piece).to_list() == other
                    self.widen(piece, other)
                elif kind == "s":
                    assert piece[0] == other[0].tobytes()
                    assert loops.texts_to_series(piece[1]).to_list() == other[1]
            texts = scan_plainly(bytes(text), place, *given[:-1], [(*run[:3], "t") for run in runs])[-1]
            for (*_, kind), piece, cells in zip(runs, pieces, texts, strict=True):
                if kind in MOMENTS:
                    counts = count_moments(cells, kind)
                    assert (piece and np.frombuffer(piece[0], np.int64).tolist()) == counts, (kind, cells, piece)

    def widen(self, texts: Any, expected: list[str]) -> None:
        """Compare texts in units of four bytes with those of NumPy; lying ends are refused."""
        _, ends, joined = texts
        most = self.dice.choice([10**6, 40])
        wide = self.scan.widen_texts(ends, joined, most)
        longest = max(1, *map(len, expected), 1)
        padded = "".join(text.ljust(longest, "\0") for text in expected).encode("utf-32-le")
        assert wide == (None if len(padded) > most else padded)
        if self.dice.randrange(9) == 0:
            lying = np.frombuffer(ends, np.int64) + self.dice.choice([-1, 1, 2**62])
            with suppress(ValueError):
                self.scan.widen_texts(lying, joined, most)

    def run(self) -> None:
        """Try one mutation."""
        match self.dice.randrange(8):
            case 0:
                self.read_strings()
            case 1:
                self.make_digits()
            case 2 | 3:
                self.read_delimited()
            case 4:
                self.write_rows()
            case 5:
                self.read_rows(TABLES, self.scan.scan_table_rows)
            case _:
                self.read_rows(SHEETS, self.scan.scan_rows)


def count_moments(cells: list[str], kind: str) -> list[int] | None:
    """Return moments as NumPy counts them; None if one is none, or too fine."""
    digits = "" if kind in "y0" else f"1,{kind}"
    pattern = DAY if kind == "y" else moment_pattern("") + (f"|{moment_pattern(digits)}" if digits else "")
    counts = []
    for cell in cells:
        if cell in ("", "NaT"):
            counts.append(BLANK if cell == "" else np.iinfo(np.int64).min)
            continue
        if not re.fullmatch(pattern, cell) or (kind == "9" and not "1678" <= cell[:4] <= "2261"):
            return None
        try:
            counts.append(int(np.datetime64(cell.replace(" ", "T"), MOMENTS[kind]).astype(np.int64)))
        except ValueError:
            return None
    return counts


def main(path: Path, mutations: int, seed: int) -> None:
    """Try so many mutations of texts on a module."""
    spec = spec_from_file_location("_scan", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    fuzz = Fuzz(module, seed)
    for number in range(mutations):
        try:
            fuzz.run()
        except (AssertionError, ValueError, FormatError):
            print(f"mutation {number} of seed {seed}", file=sys.stderr)  # noqa: T201
            raise
    print(f"{mutations:,} mutations, nothing found")  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 20261123)
