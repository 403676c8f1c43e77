"""`spreadsheets.batchUpdate`: a list of requests, all of them applied or none."""

from __future__ import annotations

from collections.abc import Callable

from .. import masks, resource
from ..errors import Json, invalid, unsupported_error, within
from ..spreadsheet import Spreadsheet
from . import cells, ranges, sheets

REQUESTS: dict[str, Callable[[Spreadsheet, Json], Json | None]] = {
    "addChart": ranges.add_chart,
    "addConditionalFormatRule": ranges.add_conditional_rule,
    "addDimensionGroup": sheets.add_group,
    "addNamedRange": ranges.add_named_range,
    "addProtectedRange": ranges.add_protected_range,
    "addSheet": sheets.add_sheet,
    "autoResizeDimensions": sheets.auto_resize,
    "clearBasicFilter": cells.clear_basic_filter,
    "copyPaste": cells.copy_paste,
    "createDeveloperMetadata": ranges.create_metadata,
    "cutPaste": cells.cut_paste,
    "deleteDimension": sheets.delete_dimension,
    "deleteDimensionGroup": sheets.delete_group,
    "deleteNamedRange": ranges.delete_named_range,
    "deleteProtectedRange": ranges.delete_protected_range,
    "deleteSheet": sheets.delete_sheet,
    "duplicateSheet": sheets.duplicate_sheet,
    "insertDimension": sheets.insert_dimension,
    "mergeCells": ranges.merge_cells,
    "repeatCell": cells.repeat_cell,
    "setBasicFilter": cells.set_basic_filter,
    "setDataValidation": cells.set_data_validation,
    "sortRange": cells.sort_range,
    "unmergeCells": ranges.unmerge_cells,
    "updateCells": cells.update_cells,
    "updateDeveloperMetadata": ranges.update_metadata,
    "updateDimensionGroup": sheets.update_group,
    "updateDimensionProperties": sheets.update_dimension_properties,
    "updateNamedRange": ranges.update_named_range,
    "updateSheetProperties": sheets.update_properties,
    "updateSpreadsheetProperties": sheets.update_spreadsheet_properties,
}


def update(spreadsheet: Spreadsheet, body: Json, mask: masks.FieldMask) -> Json:
    """Apply the requests to a draft, and put the draft in place when the last one has passed."""
    requests = body.get("requests") or []
    if not requests:
        raise invalid("Must specify at least one request.")
    draft = spreadsheet.copy()
    replies = []
    for index, request in enumerate(requests):
        given = [name for name in request if request[name] is not None]
        if len(given) != 1:
            reason = "No request set." if not given else "More than one request set."
            raise invalid(f"Invalid requests[{index}]: {reason}")
        name = given[0]
        with within(f"Invalid requests[{index}].{name}"):
            if name not in REQUESTS:
                raise unsupported_error(f"The request {name}")
            reply = REQUESTS[name](draft, request[name])
        replies.append({} if reply is None else {name: reply})
    spreadsheet.become(draft)
    answer: Json = {"spreadsheetId": spreadsheet.key, "replies": replies}
    below = masks.mask_below(mask, "updatedSpreadsheet")
    selected: Json = masks.select(answer, mask)
    if body.get("includeSpreadsheetInResponse") and below is not None:
        ranges_wanted, grid_data = body.get("responseRanges"), bool(body.get("responseIncludeGridData"))
        selected["updatedSpreadsheet"] = resource.build_resource(
            spreadsheet, below, ranges=ranges_wanted, grid_data=grid_data
        )
    return selected
