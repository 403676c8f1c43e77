"""Pages: their size, and how long a browser takes to show one and to go on to another slice.

    python -m benchmarks.pages

It needs Chromium with its driver, and selenium. Numbers are noise, which deflate hardly shortens.
"""

from __future__ import annotations

import sys
import tempfile
import time
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


def main() -> None:
    from browser import running_browser

    print("| elements | page | made in | ready in | slice | cursor |\n|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder, running_browser(Path(folder)) as browser:
        for shape in SHAPES:
            array = np.random.default_rng(0).normal(size=shape)
            start = time.perf_counter()
            html = sa.view({"t": array}).html
            made = time.perf_counter() - start
            ready, slices, cursors = [], [], []
            for _ in range(RUNS):
                start = time.perf_counter()
                browser.open(html)
                ready.append(time.perf_counter() - start)
                slices += [browser.driver.execute_async_script(NEXT_SLICE, number) for number in (1, 2)]
                browser.focus("canvas.map")
                start = time.perf_counter()
                browser.press("ARROW_DOWN")
                cursors.append(1000 * (time.perf_counter() - start))
            print(
                f"| {array.size:,} | {len(html) / 1e6:.2f} MB | {made:.2f} s | {min(ready):.2f} s "
                f"| {min(slices):.0f} ms | {min(cursors):.0f} ms |",
                flush=True,
            )


if __name__ == "__main__":
    main()
