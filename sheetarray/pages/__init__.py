"""Pages: arrays to look at in a browser, in one file that needs nothing else.

`viewing` reads sources, and `contents` gathers what a page shows; `blobs` turns elements into bytes that a browser
reads exactly; `tidy` makes tables of awkward arrays; `page` puts all of it, the style and the program in `assets/`,
into one HTML file. `colours` is the one table of colours, for the terminal too.

`served` and `serving` give the elements of large arrays on demand, from a server on this machine.
"""

from __future__ import annotations

from .page import Page
from .serving import ServedPage
from .viewing import view

__all__ = ["Page", "ServedPage", "view"]
