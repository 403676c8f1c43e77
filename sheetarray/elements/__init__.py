"""Elements <-> cells, one to one: how a value of each dtype looks, as a Python scalar and as text.

`scalars` has the look of a single value, `encode` and `decode` turn a whole buffer at once. `to_cells` and
`from_cells` do the same for whole columns through polars, and leave to `scalars` whatever no vectorised rule settles.
polars is imported at the first use, so that reading headers never waits for it.
"""

from __future__ import annotations

from .column_dates import cast_dates
from .column_strings import buffer_from_joined, longest_text, strings_to_text, unescape_texts
from .dates import convert_times, dates_to_iso, label_text
from .decoding import decode
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
from .engine import engine_dtype
from .from_cells import buffer_from_text, buffer_from_texts, buffer_from_typed
from .generics import generic_from_text, generic_to_text, generic_to_typed
from .missing import (
    Missing,
    MissingOption,
    NamedMissing,
    NaValues,
    check_missing,
    is_number,
    leave_words,
    missing_of,
    names_cell,
    put_missing,
    takes_blanks,
)
from .objects import SCALARS, describe_object, suggest_instead, to_scalar
from .problems import MOST_EXPLAINED, Problem
from .scalars import (
    Cell,
    Unreadable,
    escape_formula,
    format_bool,
    is_blank,
    parse_string,
    shortest_text,
    unescape_formula,
)
from .spelling import (
    DAY,
    EVALUATED_PATTERN,
    FALSE,
    FALSE_WORDS,
    INFINITY,
    MISSING_WORDS,
    NEGATIVE_INFINITY,
    NO_TIME,
    SHEET_ERRORS,
    TRUE,
    TRUE_WORDS,
    FormulaMode,
    TextLook,
    is_missing_word,
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
from .to_cells import buffer_to_text, texts_of_cells
from .to_typed_cells import TypedCells, buffer_to_typed, put_null

__all__ = [
    "DAY",
    "EVALUATED_PATTERN",
    "EXACT_IN_JSON",
    "FALSE",
    "FALSE_WORDS",
    "INFINITY",
    "MISSING_WORDS",
    "MOST_EXPLAINED",
    "MOST_GENERIC",
    "NEGATIVE_INFINITY",
    "NO_TIME",
    "SCALARS",
    "SHEET_ERRORS",
    "TRUE",
    "TRUE_WORDS",
    "Cell",
    "ComplexForm",
    "FormulaMode",
    "Missing",
    "MissingOption",
    "NaValues",
    "NamedMissing",
    "Problem",
    "TextLook",
    "TypedCells",
    "Unreadable",
    "blank_missing",
    "buffer_from_joined",
    "buffer_from_text",
    "buffer_from_texts",
    "buffer_from_typed",
    "buffer_to_text",
    "buffer_to_typed",
    "cast_dates",
    "check_missing",
    "check_texts",
    "convert_times",
    "dates_to_iso",
    "decode",
    "describe_object",
    "encode",
    "encode_generic",
    "engine_dtype",
    "escape_formula",
    "find_element_problem",
    "find_unholdable_generic",
    "format_bool",
    "generic_from_text",
    "generic_to_text",
    "generic_to_typed",
    "is_blank",
    "is_missing_word",
    "is_mostly_padding",
    "is_number",
    "is_unicode",
    "label_text",
    "leave_words",
    "longest_text",
    "missing_of",
    "moment_pattern",
    "names_cell",
    "parse_string",
    "parts_to_text",
    "put_missing",
    "put_null",
    "shortest_text",
    "shows_minus",
    "strings_to_text",
    "suggest_instead",
    "takes_blanks",
    "text_array",
    "texts_of_cells",
    "to_fixed_width",
    "to_scalar",
    "to_variable_width",
    "unescape_formula",
    "unescape_texts",
]
