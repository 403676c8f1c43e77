"""Elements <-> cells, one to one: how a value of each dtype looks, as a Python scalar and as text.

`scalar_text` has the look of a single value, `encode` and `decode` turn a whole buffer at once. NumPy only, so that
`import sheetarray` stays light; `sheetarray.cells` does the same in bulk through polars and asks here
whatever its fast path cannot settle.
"""

from __future__ import annotations

from .dates import dates_to_iso
from .decode import Missing, check_missing, decode
from .encode import (
    EXACT_IN_JSON,
    MOST_GENERIC,
    ComplexForm,
    encode,
    encode_generic,
    find_element_problem,
    find_unholdable_generic,
    parts_to_text,
)
from .problems import MOST_EXPLAINED, Problem
from .scalar_text import (
    Cell,
    Unreadable,
    escape_formula,
    format_bool,
    generic_from_text,
    generic_to_text,
    generic_to_typed,
    is_blank,
    parse_string,
    shortest_text,
    unescape_formula,
)
from .scalars import describe_object, suggest_instead, to_scalar
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
    moment_pattern,
    shows_minus,
)
from .texts import (
    blank_missing,
    check_texts,
    is_mostly_padding,
    is_unicode,
    text_array,
    to_fixed_width,
    to_variable_width,
)

__all__ = [
    "DAY",
    "EVALUATED_PATTERN",
    "EXACT_IN_JSON",
    "FALSE",
    "FALSE_WORDS",
    "INFINITY",
    "MOST_EXPLAINED",
    "MOST_GENERIC",
    "NEGATIVE_INFINITY",
    "NO_TIME",
    "TRUE",
    "TRUE_WORDS",
    "Cell",
    "ComplexForm",
    "Missing",
    "Problem",
    "Unreadable",
    "blank_missing",
    "check_missing",
    "check_texts",
    "dates_to_iso",
    "decode",
    "describe_object",
    "encode",
    "encode_generic",
    "escape_formula",
    "find_element_problem",
    "find_unholdable_generic",
    "format_bool",
    "generic_from_text",
    "generic_to_text",
    "generic_to_typed",
    "is_blank",
    "is_mostly_padding",
    "is_unicode",
    "moment_pattern",
    "parse_string",
    "parts_to_text",
    "shortest_text",
    "shows_minus",
    "suggest_instead",
    "text_array",
    "to_fixed_width",
    "to_scalar",
    "to_variable_width",
    "unescape_formula",
]
