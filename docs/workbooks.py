"""Draw workbooks as LibreOffice prints them: `python -m docs.workbooks` writes docs/pictures, with pdftoppm."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import sheetarray as sa

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "sample_sheets"
PROGRAMS = ("soffice", "pdftoppm")
RESOLUTION, CROP = 80, (30, 40, 830, 330)  # dots an inch; left, top, width and height in dots
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


def draw_page(pdf: Path, picture: Path) -> None:
    """Draw the upper part of the first page of a PDF as PNG."""
    left, top, width, height = (str(length) for length in CROP)
    crop = ["-x", left, "-y", top, "-W", width, "-H", height]
    command = ["pdftoppm", "-png", "-singlefile", "-r", str(RESOLUTION), *crop, str(pdf), str(picture.with_suffix(""))]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)


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


def draw_all(folder: Path) -> None:
    """Draw the sample workbooks and a Dataset into a folder."""
    with tempfile.TemporaryDirectory() as place:
        dataset = Path(place, "dataset.xlsx")
        sa.write(dataset, make_dataset())
        table = Path(place, "table.xlsx")
        sa.write_table(table, make_dataset())
        view = Path(place, "view.xlsx")
        sa.write_excel(view, make_grids(), views={"temperature": sa.View(colors="slice")})
        editable = Path(place, "editable.xlsx")
        sa.write_excel(editable, make_grids(), views={"temperature": sa.View(editable=True)})
        for workbook in (*sorted(SAMPLES.glob("*.xlsx")), dataset, table, view, editable):
            draw_page(print_workbook(workbook, Path(place)), folder / f"{workbook.stem}.png")


if __name__ == "__main__":
    if absent := absent_programs():
        raise SystemExit(f"not installed: {', '.join(absent)}")
    (HERE / "pictures").mkdir(exist_ok=True)
    draw_all(HERE / "pictures")
