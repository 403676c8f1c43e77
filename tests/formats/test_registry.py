"""Which adapter a path means: the table, its collisions, and what is not installed."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from adapters_deleted import needing
from command_line import run_command

import sheetarray as sa
from sheetarray import formats as registry
from sheetarray.formats import FORMATS, Format, format_of, lookup


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.csv", "csv"),
        ("A.CSV", "csv"),
        ("a.csv.gz", "csv"),
        ("a.CSV.ZST", "csv"),
        ("a.tsv", "tsv"),
        ("a.tab", "tsv"),
        ("a.txt", "txt"),
        ("a.json", "json"),
        ("a.json.gz", "json"),
        (Path("b/c.tsv.zst"), "tsv"),
        ("x.csv.json", "json"),
    ],
)
def test_the_suffix_says_the_format(path: Any, name: str) -> None:
    assert format_of(path).name == name


@needing("xlsx")
@pytest.mark.parametrize("path", ["a", "a.doc"])
def test_suffixes_that_are_only_read_are_said_to_be(path: str) -> None:
    with pytest.raises(sa.NotFoundError) as error:
        sa.write(path, {"x": np.arange(3)})
    known, _, only_read = str(error.value).partition(", and only to read ")
    assert ".xlsx" in known
    assert only_read.startswith(".ods .xls .xlsb")
    assert ".ods" not in known


@needing("ods", "csv")
@pytest.mark.parametrize(("option", "lists"), [("--from", True), ("--to", False)])
def test_a_hint_names_formats_that_are_only_read_for_sources_alone(option: str, lists: bool) -> None:
    command = ["convert", "a.doc", "b.csv"] if lists else ["convert", "-", "b.doc", "--from", "csv"]
    output = run_command(*command, input="").stderr
    assert f"name the format with {option}" in output
    assert (", ods," in output) == lists


def test_a_file_object_needs_a_format_unless_it_has_a_name(tmp_path: Path) -> None:
    with pytest.raises(sa.NotFoundError, match="format="):
        sa.write(io.BytesIO(), {"x": np.arange(3)})
    path = tmp_path / "x.csv"
    with open(path, "wb") as file:
        sa.write(file, {"x": np.arange(3)})
    with open(path, "rb") as file:
        assert sa.read(file)["x"].tolist() == [0, 1, 2]


def test_the_table_is_sorted_and_read_only() -> None:
    assert list(FORMATS) == sorted(FORMATS)
    with pytest.raises(TypeError):
        FORMATS["x"] = FORMATS["csv"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        FORMATS["csv"].suffixes = ()  # type: ignore[misc]


@needing("csv")
@pytest.mark.parametrize(
    "row",
    [
        Format("csv", (".x",), "m", "s", "t"),
        Format("x", (".csv",), "m", "s", "t"),
        Format("x", (".x", ".x"), "m", "s", "t"),
    ],
)
def test_collisions_are_refused(row: Format) -> None:
    with pytest.raises(ValueError, match="belongs to"):
        registry.register_format(row)
    assert format_of("a.csv").module == "sheetarray.sheets.delimited"


@pytest.mark.usefixtures("own_registry")
def test_a_row_is_registered_once_or_again_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Format("mine", (".mine",), "fake_formats", "mine", "my own")
    sa.registry.register_format(row)
    sa.registry.register_format(replace(row))
    assert list(FORMATS).count("mine") == 1
    assert "mine" in FORMATS
    assert FORMATS["mine"] == row
    assert len(FORMATS) == len(list(FORMATS))
    for other in (
        replace(row, title="another"),
        replace(row, name="other"),
        replace(row, name="o", suffixes=(".a.mine",)),
    ):
        with pytest.raises(ValueError, match="belongs to mine"):
            registry.register_format(other)
    for wrong in (replace(row, name="Mine"), replace(row, name=""), replace(row, suffixes=(".MINE",))):
        with pytest.raises(ValueError, match=r"is not|are not"):
            registry.register_format(wrong)


@pytest.mark.usefixtures("own_registry")
@needing("json")
def test_a_row_of_the_session_may_share_a_suffix_by_its_magic(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    registry.register_format(Format("mine", (".json",), "m", "s", "t", magic=re.compile(rb"\A%MINE")))
    (tmp_path / "x.json").write_text("%MINE 1")
    assert format_of(tmp_path / "x.json", reading=True).name == "mine"
    assert format_of(tmp_path / "x.json").name == "json"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A format of one row and one module."""
    module = ModuleType("fake_formats")
    kept: dict[str, Any] = {}
    module.write_fake = lambda target, arrays, *, loud=False: kept.update({str(target): (arrays, loud)})  # type: ignore[attr-defined]
    module.read_fake = lambda source, names=None, *, twice=False: kept[str(source)][0]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    row = Format(
        "fake",
        (".fake",),
        "fake_formats",
        "fake",
        "a fake",
        prefixes=("fake://",),
        writing={"loud": True},
        extra="fakes",
        compressible=False,
    )
    monkeypatch.setattr(lookup, "_rows", {**lookup.INSIDE})
    registry.register_format(row)
    module.kept = kept  # type: ignore[attr-defined]
    return module


def test_a_row_and_a_module_add_a_format(fake: ModuleType) -> None:
    sa.write("a.fake", {"x": 1})
    assert fake.kept["a.fake"] == ({"x": 1}, True)
    assert sa.read("a.fake") == {"x": 1}
    assert format_of("fake://key/1.csv").name == "fake"
    with pytest.raises(TypeError, match="twice"):
        sa.read("a.fake", thrice=True)


def test_a_verb_that_a_format_lacks_is_said(fake: ModuleType) -> None:
    with pytest.raises(sa.NotFoundError, match=r"a fake.*scan"):
        sa.scan("a.fake")


def test_a_format_that_does_not_compress_has_no_compressed_suffix(fake: ModuleType) -> None:
    with pytest.raises(sa.NotFoundError):
        format_of("a.fake.gz")


@pytest.mark.usefixtures("own_registry")
def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Format("absent", (".absent",), "sheetarray.sheets.absent", "absent", "an absent format", extra="absents")
    registry.register_format(row)
    with pytest.raises(sa.MissingDependencyError, match=r"pip install 'sheetarray\[absents\]'") as caught:
        sa.read("x.absent")
    assert isinstance(caught.value, ImportError)
    assert caught.value.name == "sheetarray.sheets.absent"


@pytest.mark.parametrize("row", FORMATS.values(), ids=lambda row: row.name)
def test_every_row_leads_to_functions(row: Format) -> None:
    for verb in ("read", "write", "scan", "check"):
        try:
            function = row.function(verb)
        except sa.MissingDependencyError:
            pytest.skip("its extra is not installed")
        except sa.NotFoundError:
            assert verb == "write", f"{row.name} has no {verb}"
            continue
        assert callable(function)


def test_convert_is_read_then_write(tmp_path: Path) -> None:
    arrays = {"a": np.arange(3), "b": np.array(["x"])}
    sa.write(tmp_path / "x.csv", arrays)
    sa.convert(tmp_path / "x.csv", tmp_path / "x.json", ["b"])
    assert list(sa.read(tmp_path / "x.json")) == ["b"]
    sa.convert(tmp_path / "x.csv", tmp_path / "y", from_format="csv", to_format="tsv", writing={"names": False})
    assert list(sa.read(tmp_path / "y", format="tsv")) == ["A", "B"]
    with pytest.raises(sa.NotFoundError):
        sa.convert(tmp_path / "absent.csv", tmp_path / "x.unknown")
    with pytest.raises(sa.NotFoundError):
        sa.convert(tmp_path / "x.csv", tmp_path / "z.json", ["absent"])
    assert not (tmp_path / "z.json").exists()


def test_a_folder_may_end_in_a_slash(tmp_path: Path) -> None:
    sa.write(tmp_path / "x.ra", {"a": np.arange(2), "b": np.arange(3)})
    assert list(sa.read(f"{tmp_path}/x.ra/")) == ["a", "b"]
