"""`.npy` and `.npz` files of any bytes whatever: arrays or a `FormatError`, little memory, no hang."""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples import examples
from hostile import NUMBERS, Hostile, bounded_memory, mutate, survive
from hypothesis import given
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray.testing.hostile import Content


def saved(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def archived(**options: Any) -> bytes:
    file = io.BytesIO()
    sa.write(
        file,
        {"t": np.arange(40.0).reshape(5, 8), "s": np.array(["a", "ü"]), "b": np.array(True)},
        format="npz",
        **options,
    )
    return file.getvalue()


def compact(text: str, data: bytes, version: bytes = b"\1\0") -> bytes:
    return (
        b"\x93NUMPY"
        + version
        + struct.pack("<H" if version == b"\1\0" else "<I", len(text))
        + text.encode("latin-1")
        + data
    )


TEXT = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }"
VALID = {
    "floats": saved(np.arange(24.0).reshape(2, 3, 4)),
    "compact": compact(TEXT, bytes(48)),
    "version 3": compact(TEXT, bytes(48), b"\3\0"),
    "text": saved(np.array(["a", "ü", "漢字"])),
    "big-endian": saved(np.array([1, 2], ">M8[25s]")),
    "bool": saved(np.array([[True], [False]])),
    "opaque": saved(np.zeros(3, "V5")),
    "empty": saved(np.zeros((0, 3), "c16")),
}
REFUSED = {
    "objects": saved(np.array([None, 1])),
    "structures": saved(np.zeros(2, [("a", "i4")])),
    "bytes": saved(np.array([b"ab"])),
}
ARCHIVES = {"stored": archived(), "deflated": archived(compress=True)}
PIECES = [
    "{",
    "}",
    "(",
    ")",
    ",",
    ":",
    "'",
    '"',
    "\\",
    "[",
    "]",
    "-",
    "0",
    "1",
    "9" * 20,
    "9" * 4400,
    "L",
    " ",
    "\n",
    "\0",
    "True",
    "False",
    "'descr'",
    "'shape'",
    "'fortran_order'",
    "'<f8'",
    "'|O'",
    "'<U3'",
    "'>M8[ns]'",
    "'V8'",
    "(2, 3)",
    "(0,)",
    "()",
    "1e3",
    "0x10",
    "[('a', '<i4')]",
    "\xff",
    "__import__('os')",
]


class TestHostileArrays(Hostile):
    suffix, format = ".npy", "npy"
    tries = examples(200)

    def samples(self, place: Path) -> Mapping[str, Content]:
        return VALID


class TestHostileArchives(Hostile):
    suffix, format = ".npz", "npz"

    def samples(self, place: Path) -> Mapping[str, Content]:
        return ARCHIVES


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused_is_refused_however_it_is_changed(kind: str) -> None:
    source = random.Random(kind)
    with bounded_memory():
        for _ in range(examples(400)):
            survive(mutate(REFUSED[kind], source, header=90), "npy")
    assert not any(survive(REFUSED[kind][:length], "npy") for length in range(len(REFUSED[kind]) + 1))


@pytest.mark.parametrize("seed", range(4))
def test_headers_of_random_pieces(seed: int) -> None:
    source = random.Random(seed)
    with bounded_memory():
        for _ in range(examples(400)):
            text = TEXT
            for _ in range(source.randint(1, 4)):
                at = source.randrange(len(text))
                text = (
                    text[:at]
                    + "".join(source.choices(PIECES, k=source.randint(0, 3)))
                    + text[at + source.choice((0, 1, 5)) :]
                )
            survive(compact(text, bytes(48), source.choice((b"\1\0", b"\2\0", b"\3\0"))), "npy")


@pytest.mark.parametrize("piece", PIECES)
def test_a_header_of_one_piece_again_and_again(piece: str) -> None:
    for text in (
        piece * (9_000 // len(piece)),
        "{'descr': " + piece * (9_000 // len(piece)),
        "{'shape': (" + piece * (9_000 // len(piece)),
    ):
        assert not survive(compact(text, b""), "npy")


def test_every_shape_of_numbers() -> None:
    with bounded_memory():
        for one in NUMBERS:
            for other in NUMBERS:
                for dtype in ("<f8", "|u1", "<U7", "|V9"):
                    survive(
                        compact(
                            f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({one}, {other}), }}", bytes(16)
                        ),
                        "npy",
                    )


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=120))
def test_any_descr_and_shape(text: str) -> None:
    survive(compact(TEXT.replace("<f8", text), bytes(48)), "npy")
    survive(compact(TEXT.replace("(2, 3)", text), bytes(48)), "npy")


@pytest.mark.parametrize("kind", ARCHIVES)
def test_every_field_of_the_directory_with_every_number(kind: str) -> None:
    content = ARCHIVES[kind]
    tail = content.index(b"PK\1\2")
    with bounded_memory():
        for at in [*range(tail, tail + 60), *range(len(content) - 22, len(content))]:
            for size, mark in ((2, "<H"), (4, "<I")):
                for number in NUMBERS[at % 8 :: 8]:  # other ones in each field
                    survive(content[:at] + struct.pack(mark, number % 256**size) + content[at + size :], "npz")


def test_a_pickle_that_would_do_harm_is_never_run(tmp_path: Any) -> None:
    pickle = b"cos\nsystem\n(S'touch " + bytes(tmp_path / "harm") + b"'\ntR."
    for text in (TEXT.replace("<f8", "|O"), TEXT.replace("<f8", "O"), TEXT.replace("'<f8'", "[('a', '|O')]")):
        assert not survive(compact(text, pickle), "npy")
    assert not survive(pickle, "npy")
    assert not survive(pickle, "npz")
    assert list(tmp_path.iterdir()) == []
