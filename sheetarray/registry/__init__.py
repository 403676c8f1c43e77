"""What other packages import to register a format: the names of `formats`, which describes the table of formats."""

from .. import formats
from ..formats import *  # noqa: F403  (the promised import path of these names)

__all__ = formats.__all__
__doc__ = formats.__doc__
