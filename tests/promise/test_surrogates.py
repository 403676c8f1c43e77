"""Half a character is refused before anything is written, and the element that holds it is named."""

from __future__ import annotations

import io

import numpy as np
import pytest
from limits import set_limits

import sheetarray as sa

HALF = "x\ud800"
ARRAYS = {
    "t[2, 0]": np.array(["a", "\uffff\U0001f600", HALF]).reshape(3, 1),
    "t[0, 1]": np.asfortranarray([["a", "\udfff"], ["c", "d"]]),
    "t[1]": np.array([1, HALF, None], dtype=object),
    "t": np.array("\ud800"),
}


@pytest.mark.parametrize("suffix", ["csv", "json", "xlsx"])
@pytest.mark.parametrize("element", ARRAYS)
def test_the_element_is_named(tmp_path, element, suffix):
    path = tmp_path / f"t.{suffix}"
    with pytest.raises(sa.DTypeError) as caught:
        sa.write(path, {"first": np.arange(2), "t": ARRAYS[element]})
    assert str(caught.value).startswith(f"{element} is text that is not valid Unicode ('\\ud")
    assert not path.exists()


@pytest.mark.parametrize("suffix", ["csv", "json", "xlsx", "avro", "npz", "msgpack"])
def test_a_name_with_half_a_character_is_refused(tmp_path, suffix):
    with pytest.raises(sa.LimitError, match=r"the name 'x\\ud800' is not valid Unicode"):
        sa.write(tmp_path / f"t.{suffix}", {HALF: np.arange(2)})


def test_every_block_of_text_is_searched(monkeypatch):
    set_limits(monkeypatch, text_units_at_once=4)
    for index in range(9):
        array = np.array(["ab\ue000"] * 9)
        array[index] = "\udc00"
        for given in (array, array.astype(array.dtype.newbyteorder()), array.astype(object)):
            with pytest.raises(sa.DTypeError, match=rf"t\[{index}\] is text that is not valid Unicode"):
                sa.write(io.StringIO(), {"t": given}, format="csv")
