"""Many conversions: thousands of files, each to one of its own, in several processes or on a cluster, and resumed.

`templates` says which file becomes which, `manifest` keeps what has been done, `running` does it, and `many` is the
verb.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .many import FIELDS

if TYPE_CHECKING:
    from .many import Conversions, FailedConversion, convert_many

__all__ = ["FIELDS", "Conversions", "FailedConversion", "convert_many"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # which need processes and a database
        from . import many

        return getattr(many, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
