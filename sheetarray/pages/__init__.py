"""Pages: arrays to look at in a browser, in one file that needs nothing else.

`sources` reads sources, and `contents` gathers what a page shows, awkward arrays as tables; `encoding` turns elements
into bytes that a browser reads exactly; `html_file` puts all of it, the style and the program in `assets/`, into one
HTML file. `colours` is the one table of colours, for the terminal too.
"""

from __future__ import annotations

from .html_file import Page
from .sources import page

__all__ = ["Page", "page"]
