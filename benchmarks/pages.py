"""Pages: their size, and how long a browser takes to show one and to go on to another slice.

    python -m benchmarks.pages

It needs Chromium with its driver, and selenium. Numbers are noise, which deflate hardly shortens.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import sheetarray as sa

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
SHAPES = [(10, 10, 10), (10, 100, 100), (40, 50, 500), (40, 200, 500)]
RUNS = 5

NEXT_SLICE = """
const done = arguments[arguments.length - 1], slider = document.querySelector("#slider-0"), start = performance.now();
slider.value = arguments[0];
slider.dispatchEvent(new Event("input"));
requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
"""


HEADINGS = ("elements", "page", "made in", "ready in", "next slice", "cursor")


def measure_pages(shapes: Sequence[tuple[int, ...]] = SHAPES, *, runs: int = RUNS) -> Iterator[list[str]]:
    """Yield a row of figures for each shape; none where there is no Chromium to show a page."""
    if not (shutil.which("chromium") and shutil.which("chromedriver") and find_spec("selenium")):
        return
    from browser import running_browser

    with tempfile.TemporaryDirectory() as folder, running_browser(Path(folder)) as browser:
        for shape in shapes:
            array = np.random.default_rng(0).normal(size=shape)
            start = time.perf_counter()
            html = sa.page({"t": array}).html
            made = time.perf_counter() - start
            ready, slices, cursors = [], [], []
            for _ in range(runs):
                start = time.perf_counter()
                browser.open(html)
                ready.append(time.perf_counter() - start)
                slices += [browser.driver.execute_async_script(NEXT_SLICE, number) for number in (1, 2)]
                browser.focus("canvas.map")
                start = time.perf_counter()
                browser.press("ARROW_DOWN")
                cursors.append(1000 * (time.perf_counter() - start))
            sizes = [f"{array.size:,}", f"{len(html) / 1e6:.2f} MB"]
            times = [f"{made:.2f} s", f"{min(ready):.2f} s", f"{min(slices):.0f} ms", f"{min(cursors):.0f} ms"]
            yield [*sizes, *times]


def main() -> None:
    """Measure and print."""
    print(f"| {' | '.join(HEADINGS)} |", f"|{'---:|' * len(HEADINGS)}", sep="\n")
    for row in measure_pages():
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
