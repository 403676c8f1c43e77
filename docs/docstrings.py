"""An extension of griffe, which reads docstrings for the site: sections `Example:` are shown as code and results."""

from __future__ import annotations

import re
from typing import Any

import griffe

_HEADING = re.compile(r"^Example:$", re.MULTILINE)


class ExampleSections(griffe.Extension):
    """Calls the sections by the name that griffe knows; it takes others for text, and lists in them for links."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Rename the sections of one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = _HEADING.sub("Examples:", obj.docstring.value)
