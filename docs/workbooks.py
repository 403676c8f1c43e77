"""Draw workbooks as LibreOffice prints them: `python -m docs.workbooks` writes docs/pictures, with pdftoppm."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import sheetarray as sa

HERE = Path(__file__).parent
PROGRAMS = ("soffice", "pdftoppm")
RESOLUTION, CROP = 80, (30, 40, 830)  # dots an inch; left, top and width in dots
HEIGHT = 330  # of a picture, in dots
SECONDS = 240


def absent_programs() -> list[str]:
    """Return the programs that are needed, and not installed."""
    return [program for program in PROGRAMS if shutil.which(program) is None]


def print_workbook(workbook: Path, folder: Path) -> Path:
    """Have LibreOffice print a workbook, and return the PDF in a folder."""
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = ["soffice", "--headless", profile, "--convert-to", "pdf", "--outdir", str(folder), str(workbook)]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    return folder / f"{workbook.stem}.pdf"


def draw_page(pdf: Path, picture: Path, height: int = HEIGHT, width: int = CROP[2]) -> None:
    """Draw the upper part of the first page of a PDF as PNG."""
    left, top, _ = (str(length) for length in CROP)
    crop = ["-x", left, "-y", top, "-W", str(width), "-H", str(height)]
    command = ["pdftoppm", "-png", "-singlefile", "-r", str(RESOLUTION), *crop, str(pdf), str(picture.with_suffix(""))]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)


def make_arrays() -> dict[str, Any]:
    """Return arrays of several shapes and lengths, so that nobody takes a row of the sheet for a record."""
    return {
        "grid": np.arange(10.0, 22.0).reshape(3, 4) / 8,
        "city": np.array(["Basel", "Genève", "Zürich"]),
        "day": np.datetime64("2026-07-01") + np.arange(7),
        "is_wet": np.array([[True, False], [False, False]]),
        "response": np.array([3 + 4j, 0.5 - 2j]),
    }


def show_headers(workbook: Path) -> None:
    """Unfold the header rows of the arrays in a workbook, as one click does."""
    import openpyxl

    book = openpyxl.load_workbook(workbook)
    for dimensions in book.worksheets[0].row_dimensions.values():
        dimensions.hidden = dimensions.collapsed = False
        dimensions.outlineLevel = 0
    book.save(workbook)


def make_dataset() -> Any:
    """Return a Dataset with coordinates of every kind."""
    import xarray as xr

    rng = np.random.default_rng(1)
    return xr.Dataset(
        {
            "temperature": (("day", "station"), rng.normal(15, 8, (12, 4)).round(1), {"units": "degC"}),
            "wet": ("day", rng.random(12) > 0.5),
        },
        {
            "day": np.datetime64("2026-07-01", "ns") + np.arange(12) * np.timedelta64(1, "D"),
            "station": ["Basel", "Bern", "Chur", "Genève"],
            "height": ("station", [317, 553, 595, 405]),
        },
        {"title": "July"},
    )


def make_grids() -> Any:
    """Return a Dataset of a grid for each month."""
    import xarray as xr

    rng, month = np.random.default_rng(1), np.arange("2026-01", "2026-07", dtype="M8[M]").astype("M8[ns]")
    lat, lon = np.linspace(45, 50, 11), np.linspace(5, 12, 15)
    values = 12 - 1.2 * (lat[:, None] - 45) + 3 * np.sin(lon / 2) + 4 * np.arange(6)[:, None, None]
    values = (values + rng.normal(0, 0.4, values.shape)).round(1)
    attributes = {"units": "degC"}
    return xr.Dataset(
        {"temperature": (("month", "lat", "lon"), values, attributes)}, {"month": month, "lat": lat, "lon": lon}
    )


def run_example(page: str, word: str, folder: Path) -> None:
    """Run the example of a page that has a word in it, in a folder."""
    from docs.results import find_examples

    (example,) = [code for code in find_examples((HERE.parent / page).read_text("utf-8")) if word in code]
    subprocess.run([sys.executable, "-c", example], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def draw_merge(folder: Path, place: Path) -> None:
    """Draw the table that was sent to ten people, a copy that came back, and the merged one; files are in `place`."""
    run_example("docs/analysts.md", "merged.xlsx", place)
    for name, workbook in (("sent", "plan.xlsx"), ("returned", "returned/ben.xlsx"), ("merged", "merged.xlsx")):
        draw_page(print_workbook(place / workbook, place), folder / f"{name}.png", width=420, height=160)


def draw_all(folder: Path) -> None:
    """Draw workbooks of all kinds into a folder."""
    with tempfile.TemporaryDirectory() as place:
        arrays = Path(place, "arrays.xlsx")
        sa.write(arrays, make_arrays())
        show_headers(arrays)
        draw_page(print_workbook(arrays, Path(place)), folder / "arrays.png", height=580)
        table = Path(place, "table.xlsx")
        sa.write_table(table, make_dataset())
        view = Path(place, "view.xlsx")
        sa.write_excel(view, make_grids(), views={"temperature": sa.View(colors="slice")})
        editable = Path(place, "editable.xlsx")
        sa.write_excel(editable, make_grids(), views={"temperature": sa.View(editable=True)})
        run_example("README.md", "plan.xlsx", Path(place))
        draw_page(print_workbook(Path(place, "plan.xlsx"), Path(place)), folder / "plan.png", width=400, height=110)
        draw_merge(folder, Path(place))
        for workbook in (table, view, editable):
            draw_page(print_workbook(workbook, Path(place)), folder / f"{workbook.stem}.png")


if __name__ == "__main__":
    if absent := absent_programs():
        raise SystemExit(f"not installed: {', '.join(absent)}")
    (HERE / "pictures").mkdir(exist_ok=True)
    draw_all(HERE / "pictures")
