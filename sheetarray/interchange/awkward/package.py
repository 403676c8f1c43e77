"""The package awkward, which is imported when it is needed, and what its layouts are to the type checker."""

from __future__ import annotations

from typing import Any

from ..untrusted import load_package

AwkwardLayout = Any  # one of ak.contents, which has no types to check against


def awkward_module() -> Any:
    """Return the package awkward."""
    return load_package("awkward", "Awkward arrays need awkward", "'sheetarray[awkward]'")
