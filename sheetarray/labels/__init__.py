"""Labels: dimension names, coordinates, attributes and indexes, kept beside the arrays that they describe.

They stand in one array of text, `dataset.json`. `description` is its content and the values of attributes; `datasets`
and `frames` are xarray's and pandas' sides of it; `columns` puts it among the arrays of a container and takes it out;
`tables` puts labels into the rows of an ordinary table. xarray and pandas are imported only when they are needed.
"""

from __future__ import annotations

from .columns import (
    LabelledArrays,
    check_fit,
    check_labels,
    describe_arrays,
    find_renamed_description,
    give_labels,
    has_labels,
    name_infos,
    parse_label_column,
    reading_labels,
    refuse_description,
    report_damage,
    spread_labels,
    wants_labels,
)
from .datasets import build_dataset, holds_labelled, name_dimensions
from .description import NAME, DatasetLabels, FrameLabels, VariableLabels, find_notes
from .differences import compare_labels
from .frames import build_frame, check_lengths, index_levels
from .pandas_dtypes import is_numpy_dtype
from .tables import (
    ElementRows,
    TableNote,
    lay_out_labels,
    passing_over_tables,
    stack_labels,
    takes_recorded_tables,
)

__all__ = [
    "NAME",
    "DatasetLabels",
    "ElementRows",
    "FrameLabels",
    "LabelledArrays",
    "TableNote",
    "VariableLabels",
    "build_dataset",
    "build_frame",
    "check_fit",
    "check_labels",
    "check_lengths",
    "compare_labels",
    "describe_arrays",
    "find_notes",
    "find_renamed_description",
    "give_labels",
    "has_labels",
    "holds_labelled",
    "index_levels",
    "is_numpy_dtype",
    "lay_out_labels",
    "name_dimensions",
    "name_infos",
    "parse_label_column",
    "passing_over_tables",
    "reading_labels",
    "refuse_description",
    "report_damage",
    "spread_labels",
    "stack_labels",
    "takes_recorded_tables",
    "wants_labels",
]
