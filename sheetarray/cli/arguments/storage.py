"""--storage-option: options for the file systems of URLs."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

import click

from ...files import is_url
from ...formats import list_rows
from .usage import UsageProblem

_STORAGE = "sheetarray.storage_options"


def add_storage_option(command: click.Command) -> None:
    """Add the option --storage-option to a command; `storage_options()` returns its values."""
    run = command.callback
    assert run is not None

    @functools.wraps(run)
    def run_with_options(*, storage_pairs: tuple[str, ...], **parameters: Any) -> Any:
        options = click.get_current_context().meta[_STORAGE] = dict(map(_parse_storage_pair, storage_pairs))
        texts = [text for value in parameters.values() for text in (value if isinstance(value, tuple) else (value,))]
        if options and not any(map(_is_under_url, texts)):
            raise UsageProblem("--storage-option is for a URL, such as s3://bucket/run.csv, and no file here is one")
        return run(**parameters)

    command.callback = run_with_options
    help_ = "Pass an option to the file system of a URL, such as anon=true. You can repeat it."
    command.params.append(
        click.Option(["--storage-option", "storage_pairs"], metavar="KEY=VALUE", multiple=True, help=help_)
    )


def storage_options() -> dict[str, Any]:
    """Return the storage options of the command that runs."""
    context = click.get_current_context(silent=True)
    return {} if context is None else dict(context.meta.get(_STORAGE, {}))


def _is_under_url(text: Any) -> bool:
    """Return whether a FILE lies in a file system of URLs, and not on this machine or at a service."""
    if not is_url(text) or text.startswith("file:"):
        return False
    return not any(text.startswith(row.prefixes or "\0") for row in list_rows())


def _parse_storage_pair(pair: str) -> tuple[str, Any]:
    key, mark, text = pair.partition("=")
    if not mark or not key.strip():
        raise UsageProblem("--storage-option takes KEY=VALUE", "for example anon=true")  # which may be a secret
    return key.strip(), _parse_storage_value(text)


def _parse_storage_value(text: str) -> Any:
    """Return a JSON value of an object, a list, a short number, true, false or null; any other text as it is."""
    if text in ("true", "false", "null") or re.fullmatch(r"[0-9]{1,5}", text) or text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text
