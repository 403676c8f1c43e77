"""TLorentzVectorArray, TVector3Array and TVector2Array of uproot_methods -> records that the package vector knows.

Source: https://github.com/scikit-hep/uproot3-methods, classes; they are in awkward0's own whitelist. Names of records
and fields are those of vector's behaviors for awkward arrays (https://vector.readthedocs.io): after
`vector.register_awkward()` an array has `pt`, `eta`, `mass` and so on, whatever its coordinates are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import FormatError
from .builder import Builder
from .calls import Spec
from .packages import AwkwardLayout

_CARTESIAN = ("x", "y", "z", "t")
_LORENTZ: dict[tuple[str, ...], tuple[str, ...]] = {
    (): _CARTESIAN,
    ("from_cartesian",): _CARTESIAN,
    ("from_cylindrical",): ("rho", "phi", "z", "t"),
    ("from_xyzm",): ("x", "y", "z", "mass"),
    ("from_ptetaphi",): ("pt", "eta", "phi", "energy"),
    ("from_ptetaphie",): ("pt", "eta", "phi", "energy"),
    ("from_ptetaphim",): ("pt", "eta", "phi", "mass"),
}
_CLASSES: dict[tuple[str, str], tuple[str, dict[tuple[str, ...], tuple[str, ...]]]] = {
    ("TLorentzVector", "TLorentzVectorArray"): ("Momentum4D", _LORENTZ),
    ("TLorentzVector", "PtEtaPhiMassLorentzVectorArray"): ("Momentum4D", {(): ("pt", "eta", "phi", "mass")}),
    ("TVector3", "TVector3Array"): (
        "Vector3D",
        {(): ("x", "y", "z"), ("from_cartesian",): ("x", "y", "z"), ("from_cylindrical",): ("rho", "phi", "z")},
    ),
    ("TVector2", "TVector2Array"): (
        "Vector2D",
        {(): ("x", "y"), ("from_cartesian",): ("x", "y"), ("from_polar",): ("rho", "phi")},
    ),
}


def _constructor(name: str, fields: Sequence[str]) -> Callable[..., AwkwardLayout]:
    def vectors(build: Builder, *components: Any) -> AwkwardLayout:
        if len(components) != len(fields):
            raise FormatError(f"{len(components)} components, where {', '.join(fields)} are expected")
        layouts = [build.to_layout(value, field) for field, value in zip(fields, components, strict=True)]
        return build.check_measured(_zip_fields(build, name, fields, layouts))

    return vectors


def _zip_fields(build: Builder, name: str, fields: Sequence[str], layouts: list[AwkwardLayout]) -> AwkwardLayout:
    """Return records of components; where those are lists, lists of records."""
    lengths = {layout.length for layout in layouts}
    if len(lengths) > 1:
        raise FormatError(f"components of different lengths: {', '.join(map(str, sorted(lengths)))}")
    contents = build.ak.contents
    if not any(layout.is_list for layout in layouts):
        return contents.RecordArray(layouts, list(fields), length=lengths.pop(), parameters={"__record__": name})
    if not all(layout.is_list for layout in layouts):
        raise FormatError("some components are lists, and others are not")
    bounds = [(np.asarray(layout.starts), np.asarray(layout.stops)[: layout.length]) for layout in layouts]
    starts, stops = bounds[0]
    inner = [layout.content for layout in layouts]
    if not all(np.array_equal(starts, other[0]) and np.array_equal(stops, other[1]) for other in bounds[1:]):
        starts, stops, inner = _side_by_side(build, layouts, bounds)
    shortest = min(layout.length for layout in inner)
    records = _zip_fields(build, name, fields, [layout[:shortest] for layout in inner])
    return contents.ListArray(build.to_index(starts), build.to_index(stops), records)


def _side_by_side(
    build: Builder, layouts: list[AwkwardLayout], bounds: list[tuple[Any, Any]]
) -> tuple[Any, Any, list[AwkwardLayout]]:
    """Return the starts and stops of lists of the same lengths, put side by side, and their contents."""
    counts = bounds[0][1] - bounds[0][0]
    if not all(np.array_equal(stops - starts, counts) for starts, stops in bounds[1:]):
        raise FormatError("components whose lists have different lengths")
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    total = int(offsets[-1])
    inner = []
    for layout, (starts, _) in zip(layouts, bounds, strict=True):
        build.budget.take(16 * total, "components, put side by side")
        places = np.repeat(starts - offsets[:-1], counts)
        places += np.arange(total)
        inner.append(build.simplifying_class("IndexedArray", build.to_index(places), layout.content))
    return offsets[:-1], offsets[1:], inner


VECTORS: dict[Spec, Callable[..., AwkwardLayout]] = {
    (f"uproot3_methods.classes.{module}", function, *method): _constructor(name, fields)
    for (module, function), (name, methods) in _CLASSES.items()
    for method, fields in methods.items()
}
"""By the names that schemas have for them, as of uproot3_methods; those of the older uproot_methods mean the same."""
