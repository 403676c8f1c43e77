"""Arrays that come block by block: kept in files without a name until all are there, then written as always.

A target is so written whole or not at all, with fingerprints and labels, whatever its format; memory does not grow with
the arrays, as long as they are joined along their first or their last axis.
"""

from __future__ import annotations

from .blocks import Spool, spool_blocks
from .pieces import MOST_BYTES, NotInPiecesError, PiecedArrays

__all__ = ["MOST_BYTES", "NotInPiecesError", "PiecedArrays", "Spool", "spool_blocks"]
