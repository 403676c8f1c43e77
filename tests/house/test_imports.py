"""Imports point one way: the house stays a ladder of layers, and an adapter can be deleted on its own."""

from __future__ import annotations

import pytest
from adapters_deleted import HEAVY, MODULES, RUNG, SHARED, adapter, imported, needing, ours, rung


def test_every_module_has_its_place_on_the_ladder():
    assert {module.partition(".")[0] or "__init__" for module in MODULES} <= set(RUNG)


@needing("csv")
def test_the_reader_of_imports_sees_them():
    assert "errors" in ours("dtypes")
    assert "columns" in ours("sheets.delimited.text_writer")
    assert "polars" in imported("sheets.delimited.text_writer")
    assert "polars" not in imported("sheets.delimited.text_writer", top_level=True)


INNER = sorted(set(MODULES) - {"", "__init__", "__main__"})
ADAPTERS = [name for name in INNER if name.startswith(("sheets.", "interchange."))]


def test_imports_point_down():
    for module, other in [(inner, other) for inner in INNER for other in ours(inner) - {""}]:
        beside = other.partition(".")[0] == module.partition(".")[0] or other in SHARED
        assert rung(other) < rung(module) or beside, f"{module} imports {other}"


def test_adapters_import_neither_each_other_nor_registry_nor_api():
    for module, other in [(inner, other) for inner in ADAPTERS for other in ours(inner)]:
        above = other.startswith(("registry", "formats", "api", "cli")) and other != "formats.contract"
        assert not above or module in SHARED, f"{module} imports {other}"
        if other.startswith(("sheets", "interchange")):
            assert other in SHARED or adapter(other) == adapter(module), f"{module} imports {other}"


def test_an_adapter_is_imported_by_the_registry_alone():
    """By the names in its rows, so that the package works without the adapter."""
    for module, other in [(inner, other) for inner in set(INNER) - set(ADAPTERS) for other in ours(inner)]:
        assert not other.startswith(("sheets.", "interchange.")) or other in SHARED, f"{module} imports {other}"


def test_nothing_heavy_is_imported_before_it_is_needed():
    for module in sorted(set(MODULES) - {"__main__", "scale.engine"}):  # xarray itself loads its engines
        if not module.startswith("cli"):  # the command line may load its own libraries
            assert not imported(module, top_level=True) & HEAVY, module


@pytest.mark.parametrize("package", ["columns", "elements", "values"])
def test_modules_of_a_package_import_each_other_in_no_circle(package):
    members = [name for name in MODULES if name.startswith(f"{package}.")]
    edges = {name: {other for other in ours(name) if other in members} for name in members}
    while leaves := [name for name, others in edges.items() if not others & set(edges)]:
        for name in leaves:
            del edges[name]
    assert not edges
