"""What other packages import to write an adapter: the names of `formats.contract`, which describes each."""

from .formats import contract
from .formats.contract import *  # noqa: F403  (the promised import path of these names)

__all__ = contract.__all__
__doc__ = contract.__doc__
