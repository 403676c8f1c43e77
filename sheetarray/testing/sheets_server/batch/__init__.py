"""`spreadsheets.batchUpdate`: a list of requests, all of them applied or none."""

from __future__ import annotations

from collections.abc import Callable

from .. import masks, resource
from ..errors import Json, invalid, unsupported_error, within
from ..protection import protecting
from ..spreadsheet import Spreadsheet
from . import (
    borders,
    cells,
    dimensions,
    filling,
    filters,
    groups,
    metadata,
    names,
    objects,
    overlays,
    pasting,
    sheets,
    shifting,
    tables,
    texts,
)

_MOVING = {
    "cutPaste",
    "deleteDimension",
    "deleteRange",
    "deleteSheet",
    "insertDimension",
    "insertRange",
    "moveDimension",
    "updateSheetProperties",
}  # the requests after which formulas elsewhere may be written otherwise, since cells moved or a title changed
Handler = Callable[[Spreadsheet, Json], Json | None]

REQUESTS: dict[str, Handler] = {
    "addBanding": overlays.add_banding,
    "addChart": objects.add_chart,
    "addConditionalFormatRule": overlays.add_conditional_rule,
    "addDimensionGroup": groups.add_group,
    "addFilterView": overlays.add_filter_view,
    "addNamedRange": names.add_named_range,
    "addProtectedRange": names.add_protected_range,
    "addSheet": sheets.add_sheet,
    "addSlicer": objects.add_slicer,
    "addTable": tables.add_table,
    "appendCells": cells.append_cells,
    "appendDimension": dimensions.append_dimension,
    "autoFill": filling.auto_fill,
    "autoResizeDimensions": dimensions.auto_resize,
    "clearBasicFilter": filters.clear_basic_filter,
    "copyPaste": pasting.copy_paste,
    "createDeveloperMetadata": metadata.create,
    "cutPaste": pasting.cut_paste,
    "deleteBanding": overlays.delete_banding,
    "deleteConditionalFormatRule": overlays.delete_conditional_rule,
    "deleteDeveloperMetadata": metadata.delete,
    "deleteDimension": dimensions.delete_dimension,
    "deleteDimensionGroup": groups.delete_group,
    "updateDimensionGroup": groups.update_group,
    "deleteDuplicates": filling.delete_duplicates,
    "deleteEmbeddedObject": objects.delete_object,
    "deleteFilterView": overlays.delete_filter_view,
    "deleteNamedRange": names.delete_named_range,
    "deleteProtectedRange": names.delete_protected_range,
    "deleteRange": shifting.delete_range,
    "deleteSheet": sheets.delete_sheet,
    "deleteTable": tables.delete_table,
    "duplicateFilterView": overlays.duplicate_filter_view,
    "duplicateSheet": sheets.duplicate_sheet,
    "findReplace": texts.find_replace,
    "insertDimension": dimensions.insert_dimension,
    "insertRange": shifting.insert_range,
    "mergeCells": names.merge_cells,
    "moveDimension": dimensions.move_dimension,
    "pasteData": texts.paste_data,
    "randomizeRange": cells.randomize_range,
    "repeatCell": cells.repeat_cell,
    "setBasicFilter": filters.set_basic_filter,
    "setDataValidation": cells.set_data_validation,
    "sortRange": cells.sort_range,
    "textToColumns": texts.text_to_columns,
    "trimWhitespace": texts.trim_whitespace,
    "unmergeCells": names.unmerge_cells,
    "updateBanding": overlays.update_banding,
    "updateBorders": borders.update_borders,
    "updateCells": cells.update_cells,
    "updateChartSpec": objects.update_chart_spec,
    "updateConditionalFormatRule": overlays.update_conditional_rule,
    "updateDeveloperMetadata": metadata.update,
    "updateDimensionProperties": dimensions.update_properties,
    "updateEmbeddedObjectBorder": objects.update_border,
    "updateEmbeddedObjectPosition": objects.update_position,
    "updateFilterView": overlays.update_filter_view,
    "updateNamedRange": names.update_named_range,
    "updateProtectedRange": names.update_protected_range,
    "updateSheetProperties": sheets.update_properties,
    "updateSlicerSpec": objects.update_slicer_spec,
    "updateSpreadsheetProperties": sheets.update_spreadsheet_properties,
    "updateTable": tables.update_table,
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
                raise unsupported_error(f"The request {name}")
            with protecting(draft, moves=name in _MOVING):
                reply = REQUESTS[name](draft, request[name])
        replies.append({} if reply is None else {name: reply})
    spreadsheet.become(draft)
    spreadsheet.evaluator = None  # one of the draft's knows cells that later requests have changed
    answer: Json = {"spreadsheetId": spreadsheet.key, "replies": replies}
    below = masks.mask_below(mask, "updatedSpreadsheet")
    selected: Json = masks.select(answer, mask)
    if body.get("includeSpreadsheetInResponse") and below is not None:
        selected["updatedSpreadsheet"] = resource.build_resource(
            spreadsheet,
            below,
            ranges=body.get("responseRanges"),
            grid_data=bool(body.get("responseIncludeGridData")),
        )
    return selected
