"""The texts of floats in a page are the shortest that give the float back: all halves, and many others; under Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import GIVEN_UP_AFTER

from sheetarray.pages import page

ASSETS = Path(page.__file__).parent / "assets"
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
    powers = 2.0 ** np.arange(-149, 128)
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
