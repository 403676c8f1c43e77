"""Templates of targets: `s3://out/{stem}.avro` is another file for each source."""

from __future__ import annotations

import os
import re
import string
from collections.abc import Mapping

from ..files import COMPRESSIONS, PathLike, RemoteFile, locate, name_part

FIELDS = ("stem", "name", "index")
_WIDEST = 99  # characters of a field: a file system takes no name with a longer one
_FORM = re.compile(r"(?:[^{}\0]?[<>=^])?[-+ ]?#?0?\d{0,2}[,_]?(?:\.\d{0,2})?[sdboxX]?")


def check_template(template: str, count: int) -> None:
    """Refuse a template that cannot be filled, or that would name one target for several sources.

    Args:
        template: of the targets.
        count: the number of sources.

    Raises:
        ValueError: says what is wrong with the template.
    """
    fields = set()
    try:
        for _, field, form, conversion in string.Formatter().parse(template):
            if field is None:
                continue
            if field not in FIELDS:
                raise ValueError(f"{{{field}}} is none of {', '.join(f'{{{known}}}' for known in FIELDS)}")
            if conversion or not _FORM.fullmatch(form or ""):
                raise ValueError(f"{{{field}}} takes a form such as 05 or >20, of {_WIDEST} characters at most")
            fields.add(field)
            format(0 if field == "index" else "", form or "")
    except ValueError as error:
        raise ValueError(f"the template {template!r:.200}: {error}; {{{{ is a brace") from None
    if not fields and count > 1:
        raise ValueError(f"{template!r:.200} is one target for {count:,} sources: give it a field, such as {{stem}}")


def fill_template(template: str, source: PathLike, index: int) -> str:
    """Return the target of a source.

    Args:
        template: of the targets, in which `{name}` is the source's file name, `{stem}` the same without its suffixes,
            and `{index}` its number.
        source: a path or a URL.
        index: counted from 0.

    Example:
        >>> fill_template("out/{stem}-{index:03}.json", "in/run.2024.csv.gz", 7)
        'out/run.2024-007.json'
    """
    name = os.path.basename(name_part(source))
    bare = next((name.removesuffix(suffix) for suffix in COMPRESSIONS if name.lower().endswith(suffix)), name)
    return template.format_map({"stem": os.path.splitext(bare)[0], "name": name, "index": index})


def check_targets(targets: Mapping[str, str]) -> None:
    """Refuse targets of which two are one file, or that are a source.

    Args:
        targets: by source, both as `label_of` names them.

    Raises:
        ValueError: names both sources.
    """
    owners: dict[str, str] = {}
    for source, target in targets.items():
        if target in owners:
            raise ValueError(
                f"{owners[target]} and {source} would both become {target}: {{index}} in the template tells them apart"
            )
        if target in targets:
            raise ValueError(f"{source} would become {target}, which is one of the sources")
        owners[target] = source


def label_of(place: PathLike) -> str:
    """Return the name of a file in a manifest and in messages: a path from the root, or a URL without secrets."""
    located = locate(place)
    return os.fspath(located) if isinstance(located, RemoteFile) else os.path.realpath(located)
