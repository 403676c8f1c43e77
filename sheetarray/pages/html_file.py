"""A page: one HTML file that holds arrays, their labels and findings, and the program that shows them.

Nothing is loaded from elsewhere: the content security policy of the page allows only the one script and the one style
whose hashes it names. Data stand in `script` elements of a type that no browser executes: elements as deflated bytes in
base64, all else as JSON in ASCII, in which no `<` stands. The program puts data on the page as text, never as HTML.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ..errors import escape_controls
from ..files import replacing
from .colours import DIVERGING, RISING
from .contents import Contents
from .encoding import compress_blob

SCRIPTS = (
    "dom.js",
    "values.js",
    "arrays.js",
    "ticks.js",
    "drawing.js",
    "heat_map.js",
    "lines.js",
    "statistics.js",
    "table.js",
    "search.js",
    "panels.js",
    "choice.js",
    "link.js",
    "parts.js",
    "controls.js",
    "showing.js",
    "grids.js",
    "merging.js",
    "page.js",
)
"""The parts of the program, in the order in which they stand in the page."""

_POLICY = "default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none'; form-action 'none'"
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_FRAME_HEIGHT = 780  # pixels, in a notebook


class Page:
    """A page that shows arrays.

    In a notebook it is shown where it is the value of a cell, in a frame of its own that can do nothing but draw.

    Attributes:
        html: the whole page.

    Example:
        >>> from sheetarray.pages import page
        >>> shown = page({"t": [[1.5, 2.5]]})
        >>> shown
        <Page of 1 array: t>
        >>> shown.html.startswith("<!doctype html>")
        True
    """

    def __init__(self, contents: Contents) -> None:
        contents.add_differences()
        self._contents = contents
        self.html = make_html(contents)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page into a file, whole or not at all.

        Raises:
            OSError: the system refuses.
        """
        with replacing(path) as sink:
            sink.write(self.html.encode("utf-8"))

    @property
    def names(self) -> list[str]:
        """The names of the arrays in its list."""
        return [entry["name"] for entry in self._contents.listed]

    def __repr__(self) -> str:
        names = self.names
        noun = "array" if len(names) == 1 else "arrays"
        shown = ", ".join(f"{escape_controls(name):.80}" for name in names[:8])
        return f"<Page of {len(names):,} {noun}: {shown}{', ..' if len(names) > 8 else ''}>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" allow="clipboard-write" title="arrays" '
            f'style="width:100%;height:{_FRAME_HEIGHT}px;border:1px solid #8884;border-radius:6px" '
            f'srcdoc="{html.escape(self.html)}"></iframe>'
        )


@lru_cache
def _read_asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


@lru_cache
def _program() -> tuple[str, str]:
    """Return the script and the style of every page."""
    script = "\n".join(_read_asset(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{script}\n}})();\n', _read_asset("page.css")


def make_html(contents: Contents) -> str:
    """Return a page as HTML."""
    script, style = _program()
    manifest = contents.manifest | {"colours": {"rising": RISING, "diverging": DIVERGING}}
    blobs = "\n".join(
        f'<script type="application/octet-stream" id="blob-{number}">{compress_blob(blob)}</script>'
        for number, blob in enumerate(contents.blobs)
    )
    pieces = {
        "policy": html.escape(_POLICY.format(script=_hash(script), style=_hash(style)), quote=True),
        "style": style,
        "manifest": to_script_json(manifest),
        "blobs": blobs,
        "script": script,
    }
    return _PLACE.sub(lambda match: pieces[match[1]], _read_asset("page.html"))


def to_script_json(value: Any) -> str:
    """Return a value as JSON that can stand in a `script` element: in ASCII, and with no `<`.

    Example:
        >>> to_script_json("</script>")
        '"\\\\u003c/script>"'
    """
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
