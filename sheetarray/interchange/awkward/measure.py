"""The size of a layout: its depth, the layouts in it, and their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from .packages import AwkwardLayout

BUFFERS = ("offsets", "starts", "stops", "index", "mask", "tags")


class Measure:
    """The size of a layout.

    Attributes:
        depth: layouts within each other.
        arrays: in it, itself included; one that stands in two places counts twice.
        size: their bytes, likewise.
    """

    __slots__ = ("arrays", "depth", "layout", "size")

    def __init__(self, layout: AwkwardLayout, inner: Sequence[Measure]) -> None:
        self.layout = layout  # kept: its id stays its own
        self.depth: int = 1 + max((measure.depth for measure in inner), default=0)
        self.arrays: int = 1 + sum(measure.arrays for measure in inner)
        self.size: int = _node_size(layout) + sum(measure.size for measure in inner)


def contents_of(layout: AwkwardLayout) -> list[AwkwardLayout]:
    """Return the layouts that stand directly within a layout."""
    contents = getattr(layout, "contents", None)
    if contents is None:
        inner = getattr(layout, "content", None)
        contents = [] if inner is None else [inner]
    return list(contents)


def _node_size(layout: AwkwardLayout) -> int:
    if layout.is_numpy:
        return int(layout.data.nbytes)
    parts = (getattr(layout, name, None) for name in BUFFERS)
    return sum(int(part.data.nbytes) for part in parts if part is not None and hasattr(part, "data"))
