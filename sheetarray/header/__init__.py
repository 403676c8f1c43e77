"""The header of a flat list: its fields, their grammar, and what must hold between them.

    version 1.0.0 ndarray shape .. strides .. offset .. order .. dtype .. length .. capacity .. data

Source: the linear exchange format (https://github.com/stdlib-js/stdlib/issues/1140). Strides, offset, length and
capacity count elements. Version 1.1 adds `part k n`: the k-th of n pieces of an array longer than a column.
"""

from __future__ import annotations

from .fields import (
    FIELDS,
    MAX_DIMENSIONS,
    MAX_HEADER_CELLS,
    AddressOf,
    Header,
    HeaderCutError,
    NoteFinding,
    Order,
    check_dimensions,
    check_size,
    describe_position,
    memory_error,
)
from .parser import count_blanks_before, find_fields, normalize_key, parse_header, warn_of_finding

__all__ = [
    "FIELDS",
    "MAX_DIMENSIONS",
    "MAX_HEADER_CELLS",
    "AddressOf",
    "Header",
    "HeaderCutError",
    "NoteFinding",
    "Order",
    "check_dimensions",
    "check_size",
    "count_blanks_before",
    "describe_position",
    "find_fields",
    "memory_error",
    "normalize_key",
    "parse_header",
    "warn_of_finding",
]
