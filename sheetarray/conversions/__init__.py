"""Many conversions: thousands of files, each to one of its own, in several processes or on a cluster, and resumed.

`templates` says which file becomes which, `manifest` keeps what has been done, `running` does it, and `many` is the
verb.
"""

from __future__ import annotations

from .many import Conversions, FailedConversion, convert_many

__all__ = ["Conversions", "FailedConversion", "convert_many"]
