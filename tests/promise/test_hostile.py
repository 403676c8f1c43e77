"""Text made of the format's own words ends in arrays or a `FormatError`; the shipped suite has all other bytes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from examples import cross, examples
from hostile import FORMATS, GLUE, WORDS, put, survive


# Text that tabs delimit is read as text that commas do.
@pytest.mark.parametrize(("format", "seed"), cross(FORMATS, "0123", "json"))
def test_random_words_of_the_format(format: str, seed: str) -> None:
    source = random.Random(int(seed))
    for _ in range(examples(250)):
        glue = source.sample(GLUE, source.randint(1, 4))
        parts = [source.choice(WORDS) + source.choice(glue) for _ in range(source.randint(1, 80))]
        survive("".join(parts).encode(), format)


@pytest.mark.parametrize(("format", "seed"), cross(FORMATS, "012345"))
def test_headers_with_random_fields(format: str, seed: str) -> None:
    source = random.Random(int(seed))
    for _ in range(examples(120)):
        cells: list[Any] = ["version", source.choice(["1.0.0", "1.1.0", "1.9.0"]), "ndarray"]
        for key in source.sample(
            ["shape", "strides", "offset", "order", "dtype", "length", "capacity", "part", "new"], 8
        ):
            cells += [key, *[source.choice(WORDS) for _ in range(source.randint(0, 3))]]
        cells += ["data", *[source.choice(WORDS) for _ in range(source.randint(0, 5))]]
        survive(put(cells, format), format)
