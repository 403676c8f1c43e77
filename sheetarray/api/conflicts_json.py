"""The changes and the conflicts of a merge, as JSON has them and as messages show them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..changes.conflicts import DELETED, Conflict, FileChanges
from ..linear.array import to_linear


def conflict_to_json(conflict: Conflict) -> dict[str, Any]:
    """Return a conflict as JSON has it. Its `index` counts the rows of the file that `of` names."""
    return {
        "array": conflict.array,
        "index": None if conflict.index is None else list(conflict.index),
        "of": conflict.place.file,
        "labels": conflict.labels,
        "base": _value_to_json(conflict.base),
        "values": {file: _value_to_json(value) for file, value in conflict.values.items()},
        "cells": conflict.cells,
        "chosen": conflict.chosen,
    }


def describe_value(value: Any) -> str:
    """Return the value that a file has in a conflict, as a message shows it."""
    if value is DELETED:
        return "row deleted"
    if isinstance(value, np.ndarray):
        return f"{describe_element(value)['dtype']} {' x '.join(map(str, value.shape)) or 'one value'}"
    if value is not None and hasattr(value, "type"):
        return str(value.type)
    return repr(value) if isinstance(value, str) else str(value)  # of a formula its text, without quotes


def _value_to_json(value: Any) -> Any:
    """Return an element as its cell, `{"deleted": true}` for a deleted one, an array as its dtype and shape."""
    if value is None:
        return None
    if value is DELETED:
        return {"deleted": True}
    if isinstance(value, np.ndarray) or hasattr(value, "layout"):
        return describe_element(value)
    return to_linear(np.asarray(value, object if isinstance(value, (bool, int, float, str)) else None))[-1]


def describe_element(array: Any) -> dict[str, Any]:
    """Return the dtype and the shape of an array, as JSON has them."""
    if isinstance(array, np.ndarray):
        return {"dtype": array.dtype.name if array.dtype.kind not in "UT" else "string", "shape": list(array.shape)}
    return {"type": str(array.type)}


def changes_to_json(changes: FileChanges) -> dict[str, Any]:
    """Return what one person changed, as JSON has it."""
    return {
        "file": changes.file,
        "elements": changes.elements,
        "rows_added": changes.added,
        "rows_deleted": changes.deleted,
        "rows_sorted": changes.moved,
        "new": changes.new,
        "absent": changes.absent,
        "other": changes.other,
        "renamed": changes.renamed,
        "unreadable": [
            {"array": lost.array, "index": list(lost.index), "cell": lost.cell, "text": lost.text}
            for lost in changes.unreadable
        ],
        "remarks": [{"cell": remark.cell, "text": remark.text} for remark in changes.remarks],
    }
