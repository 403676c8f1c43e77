"""Archives of awkward arrays: what is in one, and one with members added or replaced."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from awkward_layouts import every_class

from sheetarray.interchange.awkward import save

CASES = every_class()
LISTS, WORDS = CASES["lists"], CASES["strings"]


def members(path: Any) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert len(set(archive.namelist())) == len(archive.namelist())
        assert all(member.compress_type == zipfile.ZIP_STORED for member in archive.infolist())
        return {name: archive.read(name) for name in archive.namelist()}


def archive(**changes: Any) -> bytes:
    """An archive with arrays, and members that are added or replaced."""
    file = io.BytesIO()
    save(file, {"t": LISTS, "u": WORDS})
    content = members(file) | changes.pop("replaced", {})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", changes.pop("method", zipfile.ZIP_STORED)) as new:
        for name, data in content.items():
            new.writestr(name, data)
    return file.getvalue()
