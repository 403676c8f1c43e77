"""A flat list as a whole: `LinearArray`, and the codec between one ndarray and one list of cells."""

from .array import LinearArray, from_linear, resize_to_cells, to_linear
from .buffers import iter_rest, ravel_in_order, view_of

__all__ = ["LinearArray", "from_linear", "iter_rest", "ravel_in_order", "resize_to_cells", "to_linear", "view_of"]
