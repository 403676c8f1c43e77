"""Draw the pages of `sa.page` as a browser shows them: `python -m docs.page_pictures` writes docs/pictures/page-*.png.

It drives the Chromium that the tests drive, by their helper.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd

import sheetarray as sa

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "helpers"))

PHONE = {"width": 390, "height": 1500}
DESKTOP = {"width": 1200, "height": 1080}


def make_climate() -> Any:
    """Return a Dataset of temperatures on a grid, of which a few are missing."""
    import xarray as xr

    rng, lat, lon = np.random.default_rng(1), np.arange(-87.5, 90, 5), np.arange(0, 360, 5.0)
    values = 30 * np.cos(np.radians(lat))[:, None] ** 2 + 6 * np.sin(np.radians(lon)) - 12
    values = values + 5 * np.cos(np.arange(12) * np.pi / 6)[:, None, None] * np.sin(np.radians(lat))[:, None]
    values = (values + rng.normal(0, 0.7, values.shape)).round(4)
    values[:, 20:24, 10:20] = np.nan
    time = np.arange("2026-01", "2027-01", dtype="M8[M]").astype("M8[s]")
    temperature = (("time", "lat", "lon"), values, {"units": "°C", "long_name": "air temperature"})
    return xr.Dataset({"temperature": temperature}, {"time": time, "lat": lat, "lon": lon})


def edit_cells(workbook: Path, edits: dict[float, float], target: Path) -> None:
    """Save a workbook with other numbers in place of some of its own, as somebody with openpyxl would."""
    book = openpyxl.load_workbook(workbook)
    for row in book.worksheets[0].iter_rows():
        for cell in row:
            if isinstance(cell.value, float) and cell.value in edits:
                cell.value = edits[cell.value]
    book.save(target)


def make_returned(folder: Path) -> tuple[Path, list[Path]]:
    """Write the workbook of the recipe for ten people, and the copies of those who changed it."""
    days = pd.Index(pd.date_range("2026-03-01", periods=6, unit="s"), name="day")
    plan = folder / "plan.xlsx"
    frame = pd.DataFrame(
        {"visitors": [120.0, 80.0, 95.0, 110.0, 60.0, 130.0], "note": ["", "rain", "", "", "", "fair"]}, index=days
    )
    sa.write_table(plan, frame)
    (folder / "returned").mkdir()
    copies = []
    for person, was, now in (("ann", 80, 85), ("ben", 60, 70), ("carl", 60, 65)):
        copies.append(folder / "returned" / f"{person}.xlsx")
        book = openpyxl.load_workbook(plan)
        (cell,) = [cell for cell in book.worksheets[0]["B"] if cell.value == was]
        cell.value = now
        book.save(copies[-1])
    return plan, copies


def draw_all(browser: Any, folder: Path, place: Path) -> None:
    """Draw each page into a folder; files are made in `place`."""
    climate = make_climate()
    sent, returned, other = place / "climate.xlsx", place / "returned.xlsx", place / "climate2.xlsx"
    sa.write(sent, climate)
    values = climate["temperature"].values
    edit_cells(sent, {float(values[0, 29, 40]): 25.0, float(values[0, 12, 8]): 0.0}, returned)
    html = sa.page(returned).html
    browser.open(html, dark=True, **DESKTOP, fragment="#array=temperature&index=0,29,40&axes=1,2")
    (folder / "page-dark.png").write_bytes(browser.picture())
    browser.open(html, **PHONE)
    (folder / "page-phone.png").write_bytes(browser.picture())
    climate["temperature"][0, 25:28, 30:35] = (climate["temperature"][0, 25:28, 30:35] + 2).round(4)
    sa.write(other, climate)
    browser.open(sa.page(sent, other).html, width=1200, height=760)
    (folder / "page-difference.png").write_bytes(browser.picture())
    plan, copies = make_returned(place)
    browser.open(sa.page(sa.merge(plan, *copies, key="day")).html, width=1280, height=760)
    browser.driver.find_elements("css selector", "#conflicts input[type=radio]")[1].click()
    (folder / "page-merge.png").write_bytes(browser.picture())


if __name__ == "__main__":
    from browser import running_browser

    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        raise SystemExit("not installed: chromium, chromedriver")
    with tempfile.TemporaryDirectory() as place, running_browser(Path(place)) as running:
        draw_all(running, HERE / "pictures", Path(place))
