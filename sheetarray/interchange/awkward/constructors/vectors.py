"""Vectors of uproot_methods: records with the names and fields that the package vector knows.

Sources: https://github.com/scikit-hep/uproot3-methods, classes, which awkward0's own whitelist allows; and
https://vector.readthedocs.io, whose names of records and fields these are: after `vector.register_awkward()` an array
has `pt`, `eta`, `mass` and so on, whatever its coordinates are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....errors import FormatError
from ..builder import (
    Builder,
)
from ..package import AwkwardLayout
from ..packed_sizes import packed_size

VECTORS = {
    "TLorentzVector TLorentzVectorArray": "Momentum4D x y z t",
    "TLorentzVector TLorentzVectorArray from_cartesian": "Momentum4D x y z t",
    "TLorentzVector TLorentzVectorArray from_cylindrical": "Momentum4D rho phi z t",
    "TLorentzVector TLorentzVectorArray from_xyzm": "Momentum4D x y z mass",
    "TLorentzVector TLorentzVectorArray from_ptetaphi": "Momentum4D pt eta phi energy",
    "TLorentzVector TLorentzVectorArray from_ptetaphie": "Momentum4D pt eta phi energy",
    "TLorentzVector TLorentzVectorArray from_ptetaphim": "Momentum4D pt eta phi mass",
    "TLorentzVector PtEtaPhiMassLorentzVectorArray": "Momentum4D pt eta phi mass",
    "TVector3 TVector3Array": "Vector3D x y z",
    "TVector3 TVector3Array from_cartesian": "Vector3D x y z",
    "TVector3 TVector3Array from_cylindrical": "Vector3D rho phi z",
    "TVector2 TVector2Array": "Vector2D x y",
    "TVector2 TVector2Array from_cartesian": "Vector2D x y",
    "TVector2 TVector2Array from_polar": "Vector2D rho phi",
}


def vectors_constructor(name: str, *fields: str) -> Callable[..., AwkwardLayout]:
    """Return the constructor of records of this name, from one array for each field."""

    def vectors(build: Builder, *components: Any) -> AwkwardLayout:
        if len(components) != len(fields):
            raise FormatError(f"{len(components)} components, where {', '.join(fields)} are expected")
        layouts = [build.to_layout(value, field) for field, value in zip(fields, components, strict=True)]
        if len({layout.length for layout in layouts}) > 1 or len({layout.purelist_depth for layout in layouts}) > 1:
            raise FormatError("the components differ in length or in how deep their lists go")
        for layout in layouts:
            build.budget.take(packed_size(layout), "components, put side by side")
        try:
            vector = build.ak.zip(dict(zip(fields, layouts, strict=True)), with_name=name, highlevel=False)
        except Exception as error:  # awkward has errors of many classes for what it cannot put side by side
            raise FormatError("components whose lists have different lengths, or are not lists of numbers") from error
        return build.check_measured(vector)

    return vectors
