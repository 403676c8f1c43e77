"""Empty lists in JSON: `read`, `scan` and `check` say the same of them."""

from __future__ import annotations

import io

import pytest

import sheetarray as sa


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"z": []}', "an empty list"),
        ('{"z": [ ]}', "an empty list"),
        ('{"z": [], "a": [1]}', "an empty list"),
        ("[[]]", "an empty list"),
        ("[]", "no array of the exchange format here"),
        (" [ ] ", "no array of the exchange format here"),
        ("{}", "no array of the exchange format here"),
    ],
)
def test_every_verb_says_the_same_of_an_empty_list(text: str, message: str) -> None:
    for verb in (sa.read, sa.scan):
        with pytest.raises(sa.FormatError, match=message):
            verb(io.BytesIO(text.encode()), format="json")
    first, *_ = sa.check(io.BytesIO(text.encode()), format="json")
    assert message in first.message
