"""Names for the named ranges of arrays.

Formulas understand names of letters, digits and underscores that do not look like the address of a cell.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

_LONGEST = 200  # characters of a name, before a number is put behind it
_CELL_LIKE = re.compile(r"[A-Z]{1,3}\d+|R\d*|C\d*|R\d*C\d*|(?:TRUE|FALSE).*|\d.*", re.IGNORECASE | re.ASCII | re.DOTALL)


def range_name(name: str, taken: Collection[str]) -> str:
    """Return the name for the range of an array's elements: the array's name, changed as far as needed.

    Args:
        name: of the array.
        taken: the names, in lower case, of ranges that exist.

    Example:
        >>> range_name("sea level", ()), range_name("T1", ()), range_name("größe", {"grosse"})
        ('sea_level', '_T1', 'grosse_2')
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
    letters = re.sub(r"\W+", "_", plain, flags=re.ASCII)[:_LONGEST].strip("_") or "array"
    name_free = base = f"_{letters}" if _CELL_LIKE.fullmatch(letters) else letters
    index = 1
    while name_free.lower() in taken:
        index += 1
        name_free = f"{base}_{index}"
    return name_free
