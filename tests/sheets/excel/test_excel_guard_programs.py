"""Every dtype through every program, and back by the guard: what nobody has edited comes back bit for bit."""

from __future__ import annotations

import re
import shutil
import warnings
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from exact_powers import powers_of_ten
from excel_packages import edit_part, parts, with_parts
from programs import resave, resave_by_node

import sheetarray as sa
from sheetarray.errors import SheetArrayWarning
from sheetarray.testing.cases import assert_same, dtype_cases


def _arrays() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    arrays = {name.replace("[", " ").replace("]", ""): array for name, array in dtype_cases().items()}
    arrays["doubles"] = rng.standard_normal(240) * powers_of_ten(rng.integers(-12, 12, 240))
    arrays["large"] = rng.integers(-(2**63), 2**63 - 1, 200)
    arrays["pairs"] = rng.standard_normal(100) + 1j * rng.standard_normal(100)
    steps = {"D": 1, "s": 86_407, "ms": 86_401_117, "us": 86_400_111_711, "ns": 86_400_001_117_111}
    for unit, step in steps.items():
        arrays[f"moments {unit}"] = (rng.integers(10**3, 3 * 10**4, 60) * step).view(f"datetime64[{unit}]")
    return arrays


def _by_openpyxl(path: Path, folder: Path) -> Path:
    openpyxl.load_workbook(path).save(folder / "openpyxl.xlsx")
    return folder / "openpyxl.xlsx"


def _by_fifteen(path: Path, folder: Path) -> Path:
    """Write every number as `%.15g` does."""

    target = shutil.copy(path, folder / "fifteen.xlsx")
    return edit_part(
        target,
        "xl/worksheets/sheet1.xml",
        lambda text: re.sub("<v>([^<]*)</v>", lambda number: f"<v>{float(number[1]):.15g}</v>", text),
    )


PROGRAMS = {
    "openpyxl": _by_openpyxl,
    "%.15g": _by_fifteen,
    "SheetJS": lambda path, folder: resave_by_node("sheetjs", path, folder / "sheetjs.xlsx"),
    "SheetJS, ods": lambda path, folder: resave_by_node("sheetjs", path, folder / "sheetjs.ods"),
    "exceljs": lambda path, folder: resave_by_node("exceljs", path, folder / "exceljs.xlsx"),
    "LibreOffice, xlsx": lambda path, folder: resave(path, "xlsx", folder / "xlsx"),
    "LibreOffice, ods": lambda path, folder: resave(path, "ods", folder / "ods"),
}


def _write(folder: Path, arrays: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    sa.write(folder / "run.xlsx", arrays, guard=True)
    return folder / "run.xlsx", arrays


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A guarded workbook, and its arrays."""
    return _write(tmp_path_factory.mktemp("run"), _arrays())


@pytest.fixture(scope="module")
def run_without_largest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Likewise, for two programs in turn."""
    arrays = {name: _without_largest(array) for name, array in _arrays().items()}
    return _write(tmp_path_factory.mktemp("run"), arrays)


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_nobody_has_edited_comes_back(program: str, run: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    path, arrays = run
    saved = PROGRAMS[program](path, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # date cells in the place of text
        actual = sa.read(saved)
    assert list(actual) == list(arrays)
    for name, array in arrays.items():
        assert_same(actual[name], array)
    assert [finding for finding in sa.check(saved) if "edited" in finding.message or " -> " in finding.message] == []


def _without_largest(array: Any) -> Any:
    """Without the largest doubles: rounded up they are no doubles, and the second program makes blanks of them."""
    if array.dtype.kind == "O":
        return np.array([1.5 if isinstance(x, float) and 1.7e308 < abs(x) < np.inf else x for x in array], dtype=object)
    if array.dtype.kind not in "fc":
        return array
    parts = array.view(array.real.dtype)
    return np.where(np.isfinite(parts) & (np.abs(parts.astype("f8")) > 1.7e308), 1.5, parts).view(array.dtype)


CHAINS = {
    "openpyxl, LibreOffice, xlsx": ("openpyxl", "LibreOffice, xlsx"),
    "openpyxl, LibreOffice, ods": ("openpyxl", "LibreOffice, ods"),
    "%.15g, openpyxl": ("%.15g", "openpyxl"),
    "LibreOffice, xlsx, SheetJS": ("LibreOffice, xlsx", "SheetJS"),
    "exceljs, SheetJS, ods": ("exceljs", "SheetJS, ods"),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_what_nobody_has_edited_comes_back_from_two_programs_in_turn(
    chain: str, run_without_largest: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    saved, arrays = run_without_largest
    for number, program in enumerate(CHAINS[chain]):
        folder = tmp_path / str(number)
        folder.mkdir()
        saved = PROGRAMS[program](saved, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)
        actual = sa.read(saved)
    for name, array in arrays.items():
        assert_same(actual[name], array)


def _by_sixteen_then_fifteen(path: Path, target: Path, edits: dict[bytes, bytes]) -> Path:
    """Write every number as openpyxl does, and that as LibreOffice does; and some cells as they were edited."""

    def rounded(match: re.Match[bytes]) -> bytes:
        twice = Context(prec=15, rounding=ROUND_HALF_UP).plus(Decimal(f"{float(match[2]):.16g}"))
        return b"%s<v>%s</v>" % (match[1], edits.get(match[2]) or str(twice).encode())

    content = parts(path.read_bytes())
    xml = re.sub(rb'(<c r="[A-Z]+[0-9]+"[^>t]*>)<v>([^<]*)</v>', rounded, content[part := "xl/worksheets/sheet1.xml"])
    target.write_bytes(with_parts(path.read_bytes(), {part: xml}))
    return target


def test_a_number_that_went_straight_to_15_digits_is_edited_where_others_went_twice(tmp_path: Path) -> None:
    numbers = np.random.default_rng(5).standard_normal(300)
    sa.write(tmp_path / "t.xlsx", {"t": numbers}, guard=True)
    saved = _by_sixteen_then_fifteen(tmp_path / "t.xlsx", tmp_path / "saved.xlsx", {})
    assert_same(sa.read(saved)["t"], numbers)
    assert [finding for finding in sa.check(saved) if finding.severity == "error"] == []
    straight = np.array(
        [float(Context(prec=15, rounding=ROUND_HALF_UP).plus(Decimal(repr(x)))) for x in numbers.tolist()]
    )
    places = np.flatnonzero(straight != sa.read(saved, guard=False)["t"])
    assert len(places) > 5
    edits = {repr(float(numbers[places[0]])).encode(): repr(float(straight[places[0]])).encode()}
    mixed = _by_sixteen_then_fifteen(tmp_path / "t.xlsx", tmp_path / "mixed.xlsx", edits)
    assert any(" -> " in finding.message for finding in sa.check(mixed) if finding.severity == "error")


def test_the_largest_doubles_come_back_where_a_program_has_made_infinities_of_them(tmp_path: Path) -> None:
    largest = 1.7976931348623157e308
    array = np.array([0.1, largest, -largest, 1.797693134862315e308, 1.7976931348623147e308, 7])
    sa.write(tmp_path / "t.xlsx", {"t": array}, guard=True)
    first = sa.scan(tmp_path / "t.xlsx")["t"].cells - len(array) + 2

    def saved(cells: dict[int, str]) -> Path:
        content = parts((tmp_path / "t.xlsx").read_bytes())
        xml = content[(part := "xl/worksheets/sheet1.xml")].decode()
        for place, text in cells.items():
            xml, count = re.subn(rf'(<c r="A{first + place}"[^>]*>)<v>[^<]*</v>', rf"\1{text}", xml)
            assert count == 1
        path = tmp_path / "saved.xlsx"
        path.write_bytes(with_parts((tmp_path / "t.xlsx").read_bytes(), {part: xml.encode()}))
        return path

    infinities = {1: "<v>INF</v>", 2: "<v>-Infinity</v>", 3: "<v>inf</v>"}
    assert_same(sa.read(saved(infinities))["t"], array)
    assert list(sa.check(saved(infinities))) == []
    for place, text in ((1, "<v>-INF</v>"), (2, "<v>INF</v>"), (4, "<v>INF</v>"), (5, "<v>INF</v>"), (1, "<v/>")):
        (finding,) = sa.check(saved(infinities | {place: text}))
        assert (finding.location, finding.severity) == (f"arrays!A{first + place}", "error")
