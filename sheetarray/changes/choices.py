"""Choices: the file whose value stands in a conflict, as people name it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import FormatError, NotFoundError, quote_names
from .conflicts import Place


def find_name(name: str, names: Sequence[str]) -> str:
    """Return the file that is meant by its name, or by the end of its path."""
    if name in names:
        return name
    ends = [path for path in names if os.path.basename(path) == name]
    if len(ends) != 1:
        raise NotFoundError(f"{name!r} is not one of the files: {quote_names(names)}")
    return ends[0]


def read_choices(
    choices: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | None, names: Sequence[str]
) -> dict[Place, str]:
    """Return the file whose value stands, by the place of each conflict."""
    if choices is None:
        return {}
    source = None
    listed: Any = choices
    if isinstance(choices, (str, os.PathLike)):
        source = os.fspath(choices)
        try:
            with open(choices, encoding="utf-8") as file:
                listed = json.load(file)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"not a file of choices, because it is not JSON: {error!s:.80}", source=source) from error
        listed = listed.get("choices") if isinstance(listed, dict) else listed
    hint = "the page of a merge saves them (sheetarray page --merge)"
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise FormatError("the file has no list of choices", source=source, hint=hint)
    file_of_place: dict[Place, str] = {}
    for number, entry in enumerate(listed):
        where = f"choice {number + 1}"
        if not isinstance(entry, Mapping) or not all(isinstance(entry.get(key), str) for key in _CHOICE_KEYS):
            raise FormatError(
                f"a choice has {', '.join(_CHOICE_KEYS)} and index", location=where, source=source, hint=hint
            )
        index = entry.get("index")
        if index is not None:
            if not isinstance(index, Sequence) or not all(type(step) is int for step in index):
                raise FormatError(
                    "an index must be a list of integers, or null", location=where, source=source, hint=hint
                )
            index = tuple(index)
        place = Place(find_name(entry["of"], names), entry["array"], index)
        file_of_place[place] = find_name(entry["choose"], names)
    return file_of_place


_CHOICE_KEYS = ("array", "of", "choose")
