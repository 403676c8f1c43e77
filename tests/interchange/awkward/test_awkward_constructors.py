"""Each constructor that a schema may name gives what awkward0 gives, or docs/formats.md says why it is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import awkward0_real
import numpy as np
import pytest
from awkward_layouts import Blobs, built, document, refused

from sheetarray.interchange.awkward.constructors.by_name import CONSTRUCTORS

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"
WORDS = np.frombuffer(b"onetwo!", "u1")
JAGGED = ("JaggedArray.fromcounts", [2, 0, 2], [1.5, 2.5, 3.5, 4.5])
LETTERS = ("JaggedArray.fromcounts", [3, 0, 4], WORDS)
UTF16 = ("JaggedArray.fromcounts", [2, 0, 4], np.frombuffer("aüb".encode("utf-16le"), "u1"))
INDEX = ("JaggedArray.fromcounts", [2, 1, 1], [0, 1, 0, 0])
RECORDS = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i8"), ("b", "f8")])
YES, NO = {"json": True}, {"json": False}
CASES: dict[str, tuple[Any, ...]] = {
    "parents": ("JaggedArray.fromparents", [0, 0, 2, 1], [1.5, 2.5, 3.5, 4.5]),
    "parents, some of none": ("JaggedArray.fromparents", [-1, 3, 3, -2], [1, 2, 3, 4]),
    "parents, twice": ("JaggedArray.fromparents", [1, 0, 1], [1, 2, 3]),
    "parents and a length": ("JaggedArray.fromparents", [0, 1], [1, 2], {"json": 5}),
    "parents of lists": ("JaggedArray.fromparents", [0, 0, 1], JAGGED),
    "uniques": ("JaggedArray.fromuniques", [7, 7, -1, 7], [1.5, 2.5, 3.5, 4.5]),
    "one unique": ("JaggedArray.fromuniques", [7], [1]),
    "uniques of nothing": ("JaggedArray.fromuniques", np.array([], "i8"), np.array([], "f8")),
    "local index": ("JaggedArray.fromlocalindex", [0, 1, 0, 0], [1, 2, 3, 4]),
    "local index of lists": ("JaggedArray.fromlocalindex", INDEX, [1, 2, 3, 4]),
    "local index, not looked at": ("JaggedArray.fromlocalindex", [5, 0, 7, 0], [1, 2, 3, 4], NO),
    "local index without 0": ("JaggedArray.fromlocalindex", [5, 6], [1, 2], NO),
    "jagged": ("JaggedArray.fromjagged", JAGGED),
    "regular": ("JaggedArray.fromregular", np.arange(12).reshape(3, 2, 2)),
    "folding": ("JaggedArray.fromfolding", np.arange(7), {"json": 3}),
    "folding to the end": ("JaggedArray.fromfolding", np.arange(6), {"json": 3}),
    "folding of nothing": ("JaggedArray.fromfolding", np.array([], "i8"), {"json": 3}),
    "folding of lists": ("JaggedArray.fromfolding", JAGGED, {"json": 2}),
    "values": ("JaggedArray.fromiter", {"json": [[1.5, 2.5], [], [3.5]]}),
    "values of records": ("JaggedArray.fromiter", {"json": [[{"x": 1, "y": ["a"]}], []]}),
    "no values": ("JaggedArray.fromiter", {"json": []}),
    "text by parents": ("StringArray.fromparents", [0, 0, 0, 2, 2, 2, 2], WORDS),
    "text by uniques": ("StringArray.fromuniques", [5, 5, 5, 1, 1, 1, 1], WORDS),
    "text by offsets": ("StringArray.fromoffsets", [0, 3, 7], WORDS),
    "text of lists": ("StringArray.fromjagged", LETTERS),
    "text in another encoding": ("StringArray.fromjagged", UTF16, {"json": "utf-16le"}),
    "text of values": ("StringArray.fromiter", {"json": ["one", "", "dürfen"]}),
    "a mask of content": ("MaskedArray.fromcontent", [1, 2, 3]),
    "another mask of content": ("MaskedArray.fromcontent", JAGGED, NO),
    "bits of content": ("BitMaskedArray.fromcontent", np.arange(11)),
    "other bits of content": ("BitMaskedArray.fromcontent", np.arange(11), NO),
    "other bits in the other order": ("BitMaskedArray.fromcontent", np.arange(11), NO, YES),
    "an index of content": ("IndexedMaskedArray.fromcontent", [1, 2, 3]),
    "an index without one": ("IndexedMaskedArray.fromcontent", [1, 2, 3], {"json": 1}),
    **{
        f"bits of bools, {when['json']}, {order['json']}": (
            *("BitMaskedArray.fromboolmask", np.arange(11) % 3 == 0, np.arange(11) * 1.5, when, order),
        )
        for when in (YES, NO)
        for order in (YES, NO)
    },
    "bits of integers": ("BitMaskedArray.fromboolmask", [0, 2, 0], [1, 2, 3]),
    "a structured array": ("Table.fromrec", RECORDS),
    "numbered columns": ("Table", [1, 2, 3], JAGGED),
    "rows with a name": ("Table.named", {"json": "Point"}, [1, 2, 3]),
}
LOADED = """
import awkward0
from awkward0.persist import deserialize
said = {}
with open(sys.argv[1]) as file:
    for name, storage in json.load(file).items():
        try:
            said[name] = plain(deserialize({key: bytes.fromhex(value) for key, value in storage.items()}).tolist())
        except Exception as error:
            said[name] = repr(error)
print(json.dumps(said))
"""
FROM = """
import awkward0, inspect
names = set()
for name, owner in vars(awkward0).items():
    if inspect.isclass(owner) and owner.__module__.startswith("awkward0.array"):
        names |= {f"{name}.{each}" for each in dir(owner) if each.startswith("from")}
print(json.dumps(sorted(names)))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What awkward0 makes of each case."""
    storages = {}
    for name, case in CASES.items():
        blobs = Blobs()
        blobs[""] = document(built(blobs, case))
        storages[name] = {key: value.hex() for key, value in blobs.items()}
    path = tmp_path_factory.mktemp("constructors") / "storages.json"
    path.write_text(json.dumps(storages))
    result: dict[str, Any] = awkward0_real.run_json(awkward0_real.PLAIN + LOADED, path)
    return result


@pytest.mark.parametrize("name", CASES)
def test_a_constructor_gives_what_awkward0_gives(name: str, said: dict[str, Any]) -> None:
    blobs = Blobs()
    ours = awkward0_real.plain(blobs.read(built(blobs, CASES[name])).to_list())
    theirs = said[name]
    if CASES[name][0] == "Table" or "structured" in name:
        ours, theirs = awkward0_real.without_names(ours), awkward0_real.without_names(theirs)
    assert ours == theirs


def test_each_constructor_of_awkward0_is_read_or_listed_with_a_reason() -> None:
    page = PAGE.read_text()
    lacking = {
        name
        for name in awkward0_real.run_json(FROM)
        if ("awkward0", *name.split(".")) not in CONSTRUCTORS and f"`{name}`" not in page
    }
    assert lacking == set()


@pytest.mark.parametrize(
    ("case", "match"),
    [
        (("JaggedArray.fromparents", [2**40, 0], [1, 2]), "bytes"),
        (("JaggedArray.fromparents", [2**62, 0], [1, 2]), "bytes"),
        (("JaggedArray.fromparents", [0], [1, 2]), "not 2 integers"),
        (("JaggedArray.fromparents", [0.5, 1], [1, 2]), "not 2 integers"),
        (("JaggedArray.fromparents", np.array([2**63, 0], "u8"), [1, 2]), "63 bits"),
        (("JaggedArray.fromuniques", [1], [1, 2]), "not 2 integers"),
        (("JaggedArray.fromlocalindex", [0, 2], [1, 2]), "one more than the one before"),
        (("JaggedArray.fromlocalindex", ("JaggedArray.fromcounts", [1, 1], [0, 1]), [1, 2]), "not those"),
        (("JaggedArray.fromlocalindex", ("StringArray.fromcounts", [3, 4], WORDS), [1, 2]), "not lists of numbers"),
        (("JaggedArray.fromfolding", [1, 2], {"json": 0}), "below 1"),
        (("JaggedArray.fromfolding", [1, 2], {"json": -1}), "below 1"),
        (("JaggedArray.fromjagged", [1, 2]), "not lists"),
        (("JaggedArray.fromregular", [1, 2]), "two dimensions"),
        (("JaggedArray.fromregular", np.zeros((2, 0))), "two dimensions"),
        (("JaggedArray.fromiter", {"json": 5}), "not a list"),
        (("JaggedArray.fromiter", {"list": [[1, 2]]}), "JSON does not have"),
        (("StringArray.fromiter", {"json": ["a", 5]}), "else than text"),
        (("StringArray.fromiter", {"json": ["\ud800"]}), "surrogate"),
        (("StringArray.fromjagged", [1, 2]), "not lists"),
        (("StringArray.fromjagged", JAGGED), "bytes are expected"),
        (("StringArray.fromparents", [0] * 7, WORDS, {"json": "rot13"}), "encoding"),
        (("BitMaskedArray.fromboolmask", [True], np.arange(9)), "too short"),
        (("Table.fromrec", [1, 2]), "without fields"),
        (("Table.named", {"json": 5}, [1]), "not text"),
    ],
)
def test_what_a_constructor_cannot_take_is_refused(case: tuple[Any, ...], match: str) -> None:
    blobs = Blobs()
    refused(blobs, built(blobs, case), match)


def test_parents_of_nothing_are_no_lists() -> None:
    """awkward0 itself fails there."""
    blobs = Blobs()
    assert blobs.read(built(blobs, ("JaggedArray.fromparents", np.array([], "i8"), np.array([], "f8")))).to_list() == []


def test_folding_by_more_than_there_is_gives_one_list() -> None:
    blobs = Blobs()
    case = ("JaggedArray.fromfolding", [1, 2], {"json": 2**64 - 1})
    assert blobs.read(built(blobs, case)).to_list() == [[1, 2]]
