"""Elements <-> cells, one to one: how a value of each dtype looks, as a Python scalar and as text.

`looks` has the look of a single value, `encode` and `decode` turn a whole buffer at once. NumPy only, so that
`import sheetarray` stays light; `sheetarray.cells` does the same in bulk through polars and asks here
whatever its fast path cannot settle.
"""

from __future__ import annotations

from .dates import iso_texts
from .decode import Missing, Problem, check_missing, decode
from .encode import EXACT_IN_JSON, ComplexLook, element_problem, encode, generic_cells, generic_problem
from .looks import (
    Cell,
    Unreadable,
    bool_text,
    escape,
    generic_from_text,
    generic_to_text,
    generic_to_typed,
    is_blank,
    shortest,
    string_of,
    unescape,
)
from .scalars import describe, instead_of, to_scalar
from .spelling import (
    DAY,
    EVALUATED_PATTERN,
    FALSE,
    FALSE_WORDS,
    INFINITY,
    NEGATIVE_INFINITY,
    NO_TIME,
    TRUE,
    TRUE_WORDS,
    moment,
    shows_minus,
)
from .texts import check_texts, fixed_width, is_mostly_padding, text_array, variable_width, without_missing

__all__ = [
    "DAY",
    "EVALUATED_PATTERN",
    "EXACT_IN_JSON",
    "FALSE",
    "FALSE_WORDS",
    "INFINITY",
    "NEGATIVE_INFINITY",
    "NO_TIME",
    "TRUE",
    "TRUE_WORDS",
    "Cell",
    "ComplexLook",
    "Missing",
    "Problem",
    "Unreadable",
    "bool_text",
    "check_missing",
    "check_texts",
    "decode",
    "describe",
    "element_problem",
    "encode",
    "escape",
    "fixed_width",
    "generic_cells",
    "generic_from_text",
    "generic_problem",
    "generic_to_text",
    "generic_to_typed",
    "instead_of",
    "is_blank",
    "is_mostly_padding",
    "iso_texts",
    "moment",
    "shortest",
    "shows_minus",
    "string_of",
    "text_array",
    "to_scalar",
    "unescape",
    "variable_width",
    "without_missing",
]
