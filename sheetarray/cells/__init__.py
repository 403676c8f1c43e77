"""Elements <-> cells of text in bulk: the same look as `elements`, at the speed of a columnar engine.

`to_text` makes of a buffer a polars Series whose CSV text is right: numbers stay numbers there, since the engine's
own text of them is the shortest that reads back. `buffer_from_typed` takes a column that the engine has parsed under
`engine_dtype` already, and gives up (None) at the slightest doubt; `from_text` then looks at the text itself and
leaves to `elements` the cells that no vectorised rule settles. `to_typed` is for containers that tell numbers, text and
booleans apart. `dates` and `strings` have both directions of theirs.

polars is imported at the first use, so that reading headers never waits for it.
"""

from __future__ import annotations

from .dates import cast_dates
from .reading import buffer_from_text, buffer_from_texts, buffer_from_typed
from .strings import longest_text
from .text_look import FormulaMode, TextLook, engine_dtype
from .writing import TypedCells, buffer_to_text, buffer_to_typed, texts_of_cells

__all__ = [
    "FormulaMode",
    "TextLook",
    "TypedCells",
    "buffer_from_text",
    "buffer_from_texts",
    "buffer_from_typed",
    "buffer_to_text",
    "buffer_to_typed",
    "cast_dates",
    "engine_dtype",
    "longest_text",
    "texts_of_cells",
]
