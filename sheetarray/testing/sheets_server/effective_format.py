"""The format in which a cell is shown: the default, banding, its own, and what conditional formats add to it."""

from __future__ import annotations

from .conditions import Condition
from .errors import Json
from .formats import with_pattern
from .formulas import Evaluator, FormulaError, Scalar
from .gradients import Gradient
from .ranges import GridArea, Span
from .spreadsheet import ServedSheet

WHITE = {"red": 1, "green": 1, "blue": 1}
DEFAULT_FORMAT: Json = {
    "backgroundColor": WHITE,
    "padding": {"top": 2, "right": 3, "bottom": 2, "left": 3},
    "verticalAlignment": "BOTTOM",
    "wrapStrategy": "OVERFLOW_CELL",
    "textFormat": {
        "foregroundColor": {},
        "fontFamily": "arial,sans,sans-serif",
        "fontSize": 10,
        "bold": False,
        "italic": False,
        "strikethrough": False,
        "underline": False,
        "foregroundColorStyle": {"rgbColor": {}},
    },
    "backgroundColorStyle": {"rgbColor": WHITE},
}
_DEEP = {"textFormat", "borders", "padding"}


class EffectiveFormats:
    """The effective formats of the cells of one sheet; equal ones are the same object, which is made only once."""

    def __init__(self, evaluator: Evaluator, sheet: ServedSheet) -> None:
        grid = sheet.grid
        self._bandings = [
            (Span.from_json(entry["range"]).on(grid.rows, grid.columns), entry)
            for entry in sheet.overlays.get("bandedRanges", [])
        ]
        self._rules: list[tuple[list[GridArea], Condition | Gradient, Json]] = []
        for rule in sheet.overlays.get("conditionalFormats", []):
            boolean = rule.get("booleanRule")
            areas = [Span.from_json(grid_range).on(grid.rows, grid.columns) for grid_range in rule["ranges"]]
            if boolean is not None and areas:
                condition = Condition(evaluator, sheet, boolean["condition"], areas[0].top, areas[0].left)
                self._rules.append((areas, condition, boolean.get("format") or {}))
            elif areas:
                self._rules.append((areas, Gradient(evaluator, sheet, rule.get("gradientRule") or {}, areas), {}))
        self._known: dict[tuple[str, tuple[int, ...], tuple[str, ...]], Json] = {}
        self._layers: list[Json] = []  # kept alive, since `_known` knows them by their ids
        self._bands: dict[tuple[int, str, str], Json] = {}

    @property
    def conditional(self) -> bool:
        """Whether there are conditional formats, for which `of` must be given the value and the text of each cell."""
        return bool(self._rules)

    def of(
        self,
        row: int,
        column: int,
        mark: Json | None,
        value: Scalar | FormulaError,
        shown: str,
        number_format: Json | None = None,
    ) -> Json:
        """Return the effective format of one cell.

        Args:
            row: of the cell.
            column: of the cell.
            mark: the marks of the cell.
            value: what the cell comes to.
            shown: the text that the cell shows; only conditional formats look at it.
            number_format: the one that a formula brings along, if any.
        """
        layers = [self._band(area, entry, row, column) for area, entry in self._bandings if area.holds(row, column)]
        layers.append((mark or {}).get("userEnteredFormat") or {})
        for areas, rule, look in reversed(self._rules):
            if not any(area.holds(row, column) for area in areas):
                continue
            if isinstance(rule, Condition):
                layers += [look] if rule.is_met(row, column, value, shown) else []
            elif type(value) is float:
                layers.append(rule.format_of(value))
        kind = "RIGHT" if type(value) is float else "LEFT" if isinstance(value, str) else "CENTER"
        numbered = tuple(number_format.values()) if number_format else ()
        key = (kind if value is not None else "", tuple(id(layer) for layer in layers if layer), numbered)
        if key not in self._known:
            effective = DEFAULT_FORMAT | ({} if value is None else {"horizontalAlignment": kind})
            self._layers += layers
            for layer in layers:
                effective = _over(effective, layer)
            if brought := number_format or effective.get("numberFormat"):
                effective |= {"numberFormat": with_pattern(brought)}
            self._known[key] = effective | {"hyperlinkDisplayType": effective.get("hyperlinkDisplayType", "PLAIN_TEXT")}
        return self._known[key]

    def _band(self, area: GridArea, entry: Json, row: int, column: int) -> Json:
        """Return the background of a banded range at a cell."""
        for name, place, start, stop in (
            ("rowProperties", row, area.top, area.bottom),
            ("columnProperties", column, area.left, area.right),
        ):
            colors = entry.get(name)
            if not colors:
                continue
            if place == start and "headerColor" in colors:
                band = "headerColor"
            elif place == stop - 1 and "footerColor" in colors:
                band = "footerColor"
            else:
                band = "secondBandColor" if (place - start - ("headerColor" in colors)) % 2 else "firstBandColor"
            if band in colors:
                look = {"backgroundColor": colors[band], "backgroundColorStyle": colors[f"{band}Style"]}
                return self._bands.setdefault((id(entry), name, band), look)
        return {}


def _over(base: Json, layer: Json) -> Json:
    """Return a format with those parts replaced that another one has."""
    merged = base | layer
    for name in _DEEP & base.keys() & layer.keys():
        merged[name] = base[name] | layer[name]
    return merged
