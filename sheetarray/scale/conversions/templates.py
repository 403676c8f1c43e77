"""Templates of targets: `s3://out/{stem}.avro` is another file for each source."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from ...errors import escape_controls
from ...files import PathLike, RemoteFile, locate, name_part, stem_of

FIELDS = ("stem", "name", "index")
_FIELD = re.compile(
    r"\{(?:(stem|name|index)|index:0?([1-9]\d?))\}|(\{\{|\}\})"
)  # the last: a brace that is written twice


def is_template(text: str) -> bool:
    """Return whether a text has a field, and so is the target of any number of sources."""
    return any(match[3] is None for match in _FIELD.finditer(text))


def check_template(template: str, count: int) -> None:
    """Refuse a template that cannot be filled, or that would name one target for several sources.

    `count`: the number of sources.
    """
    if set("{}") & set(_FIELD.sub("", template)):
        raise ValueError(
            f"the template {template!r:.200}: fields are {{stem}}, {{name}}, {{index}} or {{index:05}}; {{{{ is a brace"
        )
    if count > 1 and not is_template(template):
        raise ValueError(f"{template!r:.200} is one target for {count:,} sources: give it a field, such as {{stem}}")


def fill_template(template: str, source: PathLike, index: int) -> str:
    """Return the target of a source.

    `template`: of the targets, in which `{name}` is the source's file name, `{stem}` the same without its suffixes,
    and `{index}` its number. `index`: counted from 0.

    Example:
        >>> fill_template("out/{stem}-{index:03}.json", "in/run.2024.csv.gz", 7)
        'out/run.2024-007.json'
    """
    name = os.path.basename(name_part(source))
    values = {"stem": stem_of(source), "name": name, "index": str(index)}
    if values["stem"] in (os.curdir, os.pardir) and "{stem}" in template:  # of `...gz`
        raise ValueError(
            escape_controls(f"{name}: its stem {values['stem']!r} would lead out of the folder: use {{name}}")
        )

    def fill(match: re.Match[str]) -> str:
        field, width, brace = match.groups()
        return brace[0] if brace else values[field] if field else values["index"].zfill(int(width))

    return _FIELD.sub(fill, template)


def check_targets(targets: Mapping[str, str]) -> None:
    """Refuse two targets that are the same file, and targets that are sources.

    `targets`: by source, both as `label_of` names them.
    """
    owners: dict[str, str] = {}
    for source, target in targets.items():
        if target in owners:
            raise ValueError(
                f"{owners[target]} and {source} would both become {target}: {{index}} in the template tells them apart"
            )
        if target in targets:
            raise ValueError(escape_controls(f"{source} would become {target}, which is one of the sources"))
        owners[target] = source


def label_of(place: PathLike) -> str:
    """Return the name of a file in a manifest and in messages: a path from the root, or a URL without secrets."""
    located = locate(place)
    return os.fspath(located) if isinstance(located, RemoteFile) else os.path.realpath(located)
