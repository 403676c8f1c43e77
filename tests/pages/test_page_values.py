"""Every value that a page shows is the one that `read` gives, whatever its dtype; in a real browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser
from children import GIVEN_UP_AFTER
from exact_powers import powers_of_two

import sheetarray as sa

EXTREMES = {
    "float16": [0.0, -0.0, np.nan, np.inf, -np.inf, 65504, 6e-8, 0.1, 1 / 3, 2.0, 1024.5],
    "float32": [0.0, -0.0, np.nan, np.inf, 3.4028235e38, 1e-45, 0.1, 1 / 3, 16777216, 1.1754944e-38],
    "float64": [0.0, -0.0, np.nan, -np.inf, 1.7976931348623157e308, 5e-324, 0.1, 1 / 3, 1e22, 123456789012345678],
    "complex64": [0j, complex(-0.0, -0.0), complex(np.nan, 1), complex(0.1, 1e-45), complex(1, -np.inf)],
    "complex128": [complex(0, -np.inf), complex(-0.0, 5e-324), complex(1 / 3, 3), complex(1, -1)],
    **{name: [np.iinfo(name).min, 0, np.iinfo(name).max] for name in ("int8", "int16", "int32", "int64")},
    **{name: [np.iinfo(name).min, 1, np.iinfo(name).max] for name in ("uint8", "uint16", "uint32", "uint64")},
    "bool": [True, False],
    "datetime64[ns]": ["1677-09-21T00:12:43.145224193", "2026-07-01", "NaT"],
    "datetime64[D]": ["-0001-01-01", "99999-12-31", "NaT"],
    "timedelta64[s]": [2**62, "NaT", -5],
}


def table(browser: Browser) -> list[list[str]]:
    """The texts of the table's rows that are in the page, without heads, notes and addresses."""
    rows: list[list[str]] = browser.run(
        "return [...document.querySelectorAll('#table tbody tr')].map((row) =>"
        " [...row.querySelectorAll('td')].map((cell) => cell.querySelector('bdi').textContent))"
    )
    return rows


def same(text: str, value: Any) -> bool:
    """Whether a text means an element, to the last bit."""
    dtype = np.asarray(value).dtype
    cells = [*sa.to_linear(np.asarray(value))[:-1], text]
    if dtype.kind in "fc" and text.startswith("-0") and "." not in text:
        cells[-1] = text
    back = sa.from_linear(cells)
    return bool(back.tobytes() == np.asarray(value).tobytes() or (np.isnan(back) and np.isnan(value)))


def test_every_dtype_is_shown_exactly(browser: Browser) -> None:
    arrays = {name: np.array(values, name) for name, values in EXTREMES.items()}
    browser.open(sa.page(arrays).html)
    for number, (name, array) in enumerate(arrays.items()):
        browser.choose_array(number)
        texts = [row[0] for row in table(browser)]
        assert len(texts) == len(array), name
        for text, value in zip(texts, array, strict=True):
            assert same(text, value), (name, text, value)


@pytest.mark.parametrize("dtype", ["U", "T", object])
def test_text_is_shown_as_it_is(browser: Browser, dtype: Any) -> None:
    texts = ["", "007", " a  b ", "<b>x</b>", "</script>", "שלום", "👩\u200d🔬", "a\nb", "x" * 20_000]
    browser.open(sa.page(np.array(texts, np.dtypes.StringDType() if dtype == "T" else dtype)).html)
    assert [row[0] for row in table(browser)] == texts


def test_generic_elements_are_shown(browser: Browser) -> None:
    browser.open(sa.page(np.array([None, True, 2**70, 0.1, "None"], object)).html)
    assert [row[0] for row in table(browser)] == ["None", "TRUE", str(2**70), "0.1", "None"]
    kinds = browser.run("return [...document.querySelectorAll('#table td')].map((cell) => cell.className.trim())")
    assert [kind.removesuffix(" cursor") for kind in kinds] == ["missing", "", "", "", "text"]


def test_every_element_of_an_array_of_three_dimensions_is_reached(browser: Browser) -> None:
    array = np.random.default_rng(0).normal(size=(4, 3, 4))
    browser.open(sa.page({"t": array}).html)
    seen = []
    for first in range(4):
        seen.append([[float(text) for text in row] for row in table(browser)])
        assert browser.texts("#slice") == [f"t[{first}, :, :]"]  # the last two dimensions are shown
        browser.focus("#slider-0")
        browser.press("ARROW_RIGHT")
    assert np.array_equal(np.stack(seen), array)


def test_an_array_without_elements_or_dimensions_is_shown(browser: Browser) -> None:
    browser.open(sa.page({"none": np.zeros((0, 3)), "one": np.array(2.5), "word": np.array("a")}).html)
    assert browser.texts("#readout") == ["no elements"]
    browser.choose_array(1)
    assert table(browser) == [["2.5"]]
    assert browser.texts("#readout b") == ["one[()]"]
    browser.choose_array(2)
    assert table(browser) == [["a"]]


def test_statistics_are_those_of_numpy(browser: Browser) -> None:
    array = np.random.default_rng(0).normal(1e9, 1, size=(2, 30, 40))
    array[0, 3, 4], array[0, 5, 6] = np.nan, np.inf
    ids = np.array([2**63 - 1, 2**63 - 2, -(2**63)])
    browser.open(sa.page({"t": array, "ids": ids}).html)
    rows = browser.texts("#statistics tbody tr")
    cells = {
        row[0]: row[1:]
        for row in (browser.texts(f"#statistics tbody tr:nth-child({n + 1}) > *") for n in range(len(rows)))
    }
    for column, values in ((0, array[0]), (1, array)):
        finite = values[np.isfinite(values)]
        assert cells["elements"][column] == f"{values.size:,}"
        assert cells["NaN"][column] == "1"
        assert cells["infinite"][column] == "1"
        assert float(cells["least"][column]) == finite.min()
        assert float(cells["greatest"][column]) == finite.max()
        assert float(cells["mean"][column]) == pytest.approx(finite.mean(), rel=1e-8)
        assert float(cells["std"][column]) == pytest.approx(finite.std(), rel=1e-5)
    browser.choose_array(1)
    texts = browser.texts("#statistics tbody td")
    assert texts[2:4] == [str(-(2**63)), str(2**63 - 1)]


# Pictures ------------------------------------------------------------------------------------------------------------

PIXEL = """
const canvas = document.querySelector("canvas.map"), copy = document.createElement("canvas");
[copy.width, copy.height] = [canvas.width, canvas.height];
const pen = copy.getContext("2d", {willReadFrequently: true});
pen.drawImage(canvas, 0, 0);
const plot = {left: 76, top: 6, width: canvas.clientWidth - 86, height: canvas.clientHeight - 94};
const x = plot.left + arguments[0] * plot.width, y = plot.top + arguments[1] * plot.height;
return [...pen.getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1).data].slice(0, 3)
"""


def test_colours_are_those_of_the_terminal_and_missing_elements_have_none(browser: Browser) -> None:
    array = np.linspace(0, 1, 40).reshape(4, 10)
    array[2, 5] = np.nan
    browser.open(sa.page(array).html)
    browser.select("#scale", "array full")
    for (row, column), expected in {(1, 1): (55, 90, 140), (3, 9): (253, 231, 37), (1, 7): (39, 128, 142)}.items():
        pixel = browser.run(PIXEL, (column + 0.3) / 10, (row + 0.3) / 4)
        assert np.abs(np.subtract(pixel, expected)).max() <= 2, (row, column)
    hatching = browser.run(PIXEL, 5.3 / 10, 2.3 / 4)
    assert max(hatching) - min(hatching) < 40  # grey


def test_one_outlier_does_not_flatten_the_colours(browser: Browser) -> None:
    array = np.tile(np.linspace(0, 1, 50), (50, 1))
    array[0, 0] = 1e9
    browser.open(sa.page(array).html)
    left, right = (browser.run(PIXEL, (column + 0.5) / 50, 0.5) for column in (3, 46))
    assert np.abs(np.subtract(left, right)).max() > 100


def test_copied_code_is_numpy(browser: Browser) -> None:
    name = 'te"m\\p\n</script>'
    array = np.arange(60.0).reshape(3, 4, 5)
    browser.open(sa.page({name: array}).html)
    browser.focus("#slider-0")
    browser.press("ARROW_RIGHT")
    for button, expected in (("#copy-element", array[1, 0, 0]), ("#copy-slice", array[1])):
        browser.click(button)
        browser.wait_until("document.querySelector('#message').textContent.startsWith('Copied: ')")
        code = browser.texts("#message")[0].removeprefix("Copied: ")
        assert np.array_equal(eval(code, {"arrays": {name: array}}), expected)
        browser.run("document.querySelector('#message').textContent = ''")


# The texts of floats in a page are the shortest that give the float back --------------------------------------

ASSETS = Path(sa.__file__).parent / "pages" / "assets"
PROGRAM = """
const [, kind, layout] = process.argv;
const buffer = require("fs").readFileSync(0);
const bytes = buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.length);
const elements = makeElements({kind, layout}, [bytes]);
console.log(JSON.stringify(Array.from({length: elements.count}, (_, i) => elements.text(i))));
"""


def texts_of(array: np.ndarray[Any, Any]) -> list[str]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    program = (ASSETS / "values.js").read_text(encoding="utf-8") + PROGRAM
    kind = {"f": "float", "c": "complex"}[array.dtype.kind]
    command = [node, "--eval", program, kind, array.dtype.str[1:]]
    done = subprocess.run(command, input=array.tobytes(), capture_output=True, timeout=GIVEN_UP_AFTER, check=False)
    assert done.returncode == 0, done.stderr
    texts: list[str] = json.loads(done.stdout)
    return texts


def random_bits(dtype: str, count: int = 20_000) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(7)
    powers = powers_of_two(np.arange(-149, 128))
    if dtype == "f4":
        return np.concatenate([rng.integers(0, 2**32, count, np.uint32).view("f4"), powers.astype("f4")])
    return np.concatenate([rng.integers(0, 2**64, count, np.uint64).view("f8"), powers])


def digits(text: str) -> int:
    return len(text.lstrip("-").partition("e")[0].replace(".", "").strip("0"))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_texts_give_the_same_float_back_and_none_is_longer_than_numpys(dtype: str) -> None:
    array = np.arange(2**16, dtype="u2").view("f2") if dtype == "f2" else random_bits(dtype)
    texts = texts_of(array)
    special = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
    back = np.array([float(special.get(text, text)) for text in texts], dtype)
    known = ~np.isnan(array)
    assert back[known].tobytes() == array[known].tobytes()
    assert np.isnan(back[~known]).all()
    finite = np.isfinite(array)
    for text, value in zip(np.array(texts)[finite].tolist(), array[finite], strict=True):
        assert digits(text) <= digits(np.format_float_scientific(value, trim="-")), text


def test_parts_of_complex_numbers_are_floats_of_their_size() -> None:
    array = np.array([complex(0.1, -0.0), complex(-0.0, 1e-45), complex(np.nan, -np.inf)], "c8")
    assert texts_of(array) == ["0.1-0i", "-0+1e-45i", "NaN-Infinityi"]
