"""`spreadsheets.batchUpdate`: a list of requests, all of them applied or none."""

from __future__ import annotations

from collections.abc import Callable

from .. import masks, resource
from ..errors import Json, invalid, unsupported, within
from ..spreadsheet import Spreadsheet
from . import cells, dimensions, metadata, names, sheets, shifting

Handler = Callable[[Spreadsheet, Json], Json | None]

REQUESTS: dict[str, Handler] = {
    "addDimensionGroup": dimensions.add_group,
    "addNamedRange": names.add_named_range,
    "addProtectedRange": names.add_protected_range,
    "addSheet": sheets.add_sheet,
    "appendCells": cells.append_cells,
    "appendDimension": dimensions.append_dimension,
    "autoResizeDimensions": dimensions.auto_resize,
    "clearBasicFilter": names.clear_basic_filter,
    "copyPaste": cells.copy_paste,
    "createDeveloperMetadata": metadata.create,
    "cutPaste": cells.cut_paste,
    "deleteDeveloperMetadata": metadata.delete,
    "deleteDimension": dimensions.delete_dimension,
    "deleteDimensionGroup": dimensions.delete_group,
    "updateDimensionGroup": dimensions.update_group,
    "deleteNamedRange": names.delete_named_range,
    "deleteProtectedRange": names.delete_protected_range,
    "deleteRange": shifting.delete_range,
    "deleteSheet": sheets.delete_sheet,
    "duplicateSheet": sheets.duplicate_sheet,
    "insertDimension": dimensions.insert_dimension,
    "insertRange": shifting.insert_range,
    "mergeCells": names.merge_cells,
    "repeatCell": cells.repeat_cell,
    "setBasicFilter": names.set_basic_filter,
    "setDataValidation": cells.set_data_validation,
    "sortRange": cells.sort_range,
    "unmergeCells": names.unmerge_cells,
    "updateCells": cells.update_cells,
    "updateDeveloperMetadata": metadata.update,
    "updateDimensionProperties": dimensions.update_properties,
    "updateNamedRange": names.update_named_range,
    "updateProtectedRange": names.update_protected_range,
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
            raise invalid(
                f"Invalid requests[{index}]: {'No request set.' if not given else 'More than one request set.'}"
            )
        name = given[0]
        with within(f"Invalid requests[{index}].{name}"):
            if name not in REQUESTS:
                raise unsupported(f"The request {name}")
            reply = REQUESTS[name](draft, request[name])
        replies.append({} if reply is None else {name: reply})
    spreadsheet.become(draft)
    answer: Json = {"spreadsheetId": spreadsheet.key, "replies": replies}
    below = masks.mask_below(mask, "updatedSpreadsheet")
    if body.get("includeSpreadsheetInResponse") and below is not None:
        answer["updatedSpreadsheet"] = resource.resource(
            spreadsheet,
            below,
            ranges=body.get("responseRanges"),
            grid_data=bool(body.get("responseIncludeGridData")),
        )
    selected: Json = masks.select(answer, mask)
    return selected
