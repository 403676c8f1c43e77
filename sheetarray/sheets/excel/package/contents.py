"""The table of contents in the extended properties (`docProps/app.xml`): the number of worksheets, and their titles.

Source: ECMA-376 part 1, 22.2.2.8 (HeadingPairs) and 22.2.2.32 (TitlesOfParts). Programs rewrite it when they save, and
open a workbook without it. So it is changed only if it is right, that is, lists the worksheets that are there.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....errors import FormatError
from .markup import Element, Markup, escape_text


def add_titles(content: bytes, titles_present: Sequence[str], added: Sequence[str], *, location: str) -> bytes | None:
    """Return the part with the titles of more worksheets; None if it does not list those that the workbook has.

    `titles_present`: the titles of the worksheets that the workbook has, in the order of their tabs. `added`: the
    titles of the worksheets that come after them.
    """
    try:
        part = Markup(content, location=location, depth=5)
    except FormatError:
        return None
    pairs, listed = (_find_vector(part.root, name) for name in ("HeadingPairs", "TitlesOfParts"))
    if pairs is None or listed is None:
        return None
    counts = [at for variant in pairs.children for at in variant.children if at.name == "i4"]
    titles = [entry.text for entry in listed.children]
    if (
        not counts
        or counts[0].text != str(len(titles_present))
        or titles[: len(titles_present)] != list(titles_present)
        or not titles_present
    ):
        return None
    part.replace(counts[0].inner, counts[0].close, str(len(titles_present) + len(added)))
    part.set(listed, "size", str(len(titles) + len(added)))
    prefix = listed.prefix
    text = "".join(f"<{prefix}lpstr>{escape_text(title)}</{prefix}lpstr>" for title in added)
    part.insert(listed.children[len(titles_present) - 1].end, text)
    return part.to_bytes()


def _find_vector(root: Element, name: str) -> Element | None:
    """Return the list within a child of the root; None if the part has no such list."""
    around = root.child_named(name)
    return around.children[0] if around is not None and len(around.children) == 1 else None
