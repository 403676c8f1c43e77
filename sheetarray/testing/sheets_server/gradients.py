"""The colours that a GradientRule gives to cells: between those of two or three points, by the numbers in the cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import entered, normalized_formats
from .errors import Json
from .formulas import Evaluator
from .grid import Formula
from .ranges import GridArea
from .spreadsheet import ServedSheet

_CHANNELS = ("red", "green", "blue")
# A number, and the red, green and blue of its colour, from 0 to 1
_Point = tuple[float, tuple[float, ...]]


class Gradient:
    """A GradientRule on some ranges of a sheet.

    Attributes:
        areas: the ranges.
    """

    def __init__(self, evaluator: Evaluator, sheet: ServedSheet, rule: Json, areas: Sequence[GridArea]) -> None:
        self.areas = areas
        self._evaluator, self._sheet, self._rule = evaluator, sheet, rule
        self._points: list[_Point] | None = None
        self._formats: dict[str, Json] = {}

    def format_of(self, value: float) -> Json:
        """Return the format of a cell with a number; an empty one if less than two points of the rule have one."""
        if self._points is None:
            self._points = sorted(self._find_points(), key=lambda point: point[0])
        if len(self._points) < 2:
            return {}
        limits = [limit for limit, _ in self._points]
        channels = [
            float(np.interp(value, limits, [color[channel] for _, color in self._points])) for channel in range(3)
        ]
        color = normalized_formats.normalize_look(dict(zip(_CHANNELS, channels, strict=True)))
        look = {"backgroundColor": color, "backgroundColorStyle": {"rgbColor": color}}
        return self._formats.setdefault(repr(color), look)  # equal ones are the same object

    def _find_points(self) -> Iterator[_Point]:
        """Yield the number and the colour of each point that the rule has."""
        numbers = np.array(list(self._numbers()), np.float64)
        for name in ("minpoint", "midpoint", "maxpoint"):
            point = self._rule.get(name)
            limit = self._find_limit(point, numbers) if point else None
            if point and limit is not None:
                yield limit, _color_of(point)

    def _numbers(self) -> Iterator[float]:
        """Yield the numbers in the ranges, results of formulas included."""
        grid = self._evaluator.grid(self._sheet)
        for area in self.areas:
            for column in range(area.left, area.right):
                for row, cell in enumerate(grid.column(column, area.top, area.bottom), area.top):
                    value: Any = cell
                    if isinstance(cell, Formula):
                        value = self._evaluator.result(self._sheet, row, column, cell)
                    if type(value) is float:
                        yield value

    def _find_limit(self, point: Json, numbers: np.ndarray[Any, np.dtype[np.float64]]) -> float | None:
        """Return the number at which a point has its colour; None if it cannot be worked out.

        Args:
            point: an InterpolationPoint.
            numbers: all numbers in the ranges.
        """
        kind = point.get("type")
        if kind in ("MIN", "MAX"):
            return (float(numbers.min()) if kind == "MIN" else float(numbers.max())) if len(numbers) else None
        text = str(point.get("value", ""))
        if text.startswith("="):
            value: Any = self._evaluator.calculate(self._sheet, 0, 0, text)
        else:
            value = entered.cell_from_entry(text)[0]
        if type(value) is not float:
            return None
        if kind == "NUMBER":
            return value
        if not len(numbers) or not 0 <= value <= 100:
            return None
        if kind == "PERCENT":
            return float(numbers.min() + (numbers.max() - numbers.min()) * value / 100)
        return float(np.percentile(numbers, value)) if kind == "PERCENTILE" else None


def _color_of(point: Json) -> tuple[float, ...]:
    """Return red, green and blue of the colour of a point; white if it has none, or one of a theme."""
    style = point.get("colorStyle") or {}
    color = style.get("rgbColor") if "rgbColor" in style else point.get("color")
    if color is None:
        return (1.0, 1.0, 1.0)
    return tuple(float(color.get(channel, 0)) for channel in _CHANNELS)
