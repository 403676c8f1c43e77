"""The formats of numbers that a caller chooses."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..dtypes import DType
from ..errors import NotFoundError
from .workbooks import GENERAL

_LONGEST_CODE = 255  # characters
_LITERAL = r'(?:[ $€£¥()+\-]|"[^"\x00-\x1f]*"|\\[^\x00-\x1f])*'
_NUMERAL = r"(?:(?:[0#?,]*[0#?],*(?:\.[0#?]+)?|\.[0#?]+)(?:E[+-]0+)?%?)"
_COLOUR = r"(?:\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow)\])?"
_SECTION = f"{_COLOUR}{_LITERAL}{_NUMERAL}{_LITERAL}"
_CODE = re.compile(f"{_SECTION}(?:;(?:{_SECTION}|{_COLOUR}{_LITERAL}|@)){{0,3}}")


def check_formats(formats: str | Mapping[str, str] | None, dtypes: Mapping[str, DType]) -> dict[str, str]:
    """Return the formats that a caller has chosen for numbers, by the names of arrays.

    `formats`: one code for all arrays of floats, or codes by names. `dtypes`: of all arrays, by their names.

    Raises:
        ValueError: an array that is no numbers, or a code that spreadsheet programs would not take for numbers.
        NotFoundError: no array of that name.
    """
    if formats is None:
        return {}
    if isinstance(formats, str):
        if not _is_code(formats):
            raise ValueError(f'formats is a code for numbers, such as "0.00", or codes by names, not {formats!r:.80}')
        return {name: formats for name, dtype in dtypes.items() if dtype.kind == "float"}
    if not isinstance(formats, Mapping):
        raise ValueError(f'formats is a code such as "0.00", or codes by names such as {{"t": "0.0"}}: {formats!r:.80}')
    for name, code in formats.items():
        if name not in dtypes:
            raise NotFoundError(f"no array {name!r:.80} to format; there is {', '.join(map(repr, dtypes)):.400}")
        if dtypes[name].kind not in ("float", "int"):
            raise ValueError(f"{name!r:.80} has the dtype {dtypes[name].name}, and formats are for floats and integers")
        if not _is_code(code):
            raise ValueError(f'the format of {name!r:.80} is a code for numbers, such as "0.00", not {code!r:.80}')
    return dict(formats)


def _is_code(code: object) -> bool:
    """Return whether spreadsheet programs take a code as the format of numbers."""
    return isinstance(code, str) and len(code) <= _LONGEST_CODE and bool(_CODE.fullmatch(code) or code == GENERAL)
