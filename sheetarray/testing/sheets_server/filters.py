"""The methods `...ByDataFilter`, whose ranges are named in A1 notation, as GridRanges, or by developer metadata."""

from __future__ import annotations

from . import masks, resource, values
from .batch import metadata
from .errors import Json, invalid
from .ranges import Span, format_range
from .spreadsheet import ServedSheet, Spreadsheet


def get(spreadsheet: Spreadsheet, body: Json, mask: masks.FieldMask) -> Json:
    """`spreadsheets.getByDataFilter`: return the sheets on which filters match a range; all without filters."""
    filters = body.get("dataFilters") or []
    ranges = [text for data_filter in filters for text in _ranges(spreadsheet, data_filter)]
    if filters and not ranges:
        return {"spreadsheetId": spreadsheet.key}
    return resource.build_resource(spreadsheet, mask, ranges=ranges, grid_data=bool(body.get("includeGridData")))


def batch_get(spreadsheet: Spreadsheet, body: Json) -> Json:
    """`values.batchGetByDataFilter`: return the values of all ranges that the filters match."""
    matched = [
        {"valueRange": values.get(spreadsheet, {**body, "range": text}), "dataFilters": [data_filter]}
        for data_filter in _require_filters(body)
        for text in _ranges(spreadsheet, data_filter)
    ]
    return {"spreadsheetId": spreadsheet.key} | ({"valueRanges": matched} if matched else {})


def batch_update(spreadsheet: Spreadsheet, body: Json) -> Json:
    """`values.batchUpdateByDataFilter`: write values into the ranges that the filters match."""
    pairs = [
        (data_filter, {**{name: data[name] for name in data if name != "dataFilter"}, "range": text})
        for data in body.get("data") or []
        for data_filter in [data.get("dataFilter") or {}]
        for text in _ranges(spreadsheet, data_filter)
    ]
    answer = values.batch_update(spreadsheet, {**body, "data": [block for _, block in pairs]})
    for (data_filter, _), response in zip(pairs, answer.get("responses", []), strict=True):
        response.pop("spreadsheetId", None)
        response["dataFilter"] = data_filter
    return answer


def batch_clear(spreadsheet: Spreadsheet, body: Json) -> Json:
    """`values.batchClearByDataFilter`: clear the ranges that the filters match."""
    ranges = [text for data_filter in _require_filters(body) for text in _ranges(spreadsheet, data_filter)]
    return values.batch_clear(spreadsheet, {"ranges": ranges})


def _require_filters(body: Json) -> list[Json]:
    filters: list[Json] = body.get("dataFilters") or []
    if not filters:
        raise invalid("Must specify at least one data filter.")
    return filters


def _ranges(spreadsheet: Spreadsheet, data_filter: Json) -> list[str]:
    """Return the ranges that a DataFilter matches, in A1 notation."""
    return [format_range(sheet.title, sheet.area(span)) for sheet, span in _spans(spreadsheet, data_filter)]


def _spans(spreadsheet: Spreadsheet, data_filter: Json) -> list[tuple[ServedSheet, Span]]:
    """Return the spans that a DataFilter matches, with their sheets; developer metadata matches what it stands on."""
    if data_filter.get("a1Range") is not None:
        return [spreadsheet.resolve(data_filter["a1Range"])]
    if data_filter.get("gridRange") is not None:
        return [spreadsheet.grid_range(data_filter["gridRange"])]
    if data_filter.get("developerMetadataLookup") is None:
        raise invalid("A data filter must have one of a1Range, gridRange and developerMetadataLookup.")
    spans = []
    for entry in metadata.find_entries(spreadsheet, [data_filter]):
        location = entry["location"]
        if location["locationType"] == "SHEET":
            spans.append((spreadsheet.sheet(location["sheetId"]), Span()))
        elif "dimensionRange" in location:
            on = location["dimensionRange"]
            start, stop = on.get("startIndex", 0), on["endIndex"]
            span = Span(start, stop, None, None) if on["dimension"] == "ROWS" else Span(None, None, start, stop)
            spans.append((spreadsheet.sheet(on.get("sheetId")), span))
    return spans
