"""`convert`, of one file and of many.

`one_or_many` says which of both is meant. For many files, `many` makes a `job` of each, with its target from
`templates`; `manifest` keeps what has become of each, and `running` has them done, here, in processes or on a cluster.
"""

from __future__ import annotations

from .one_or_many import convert, is_conversion_of_many

__all__ = ["convert", "is_conversion_of_many"]
