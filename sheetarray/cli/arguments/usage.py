"""What a command line gives wrong, and the types of FILE arguments and of names of formats."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from ...formats import FORMATS


class UsageProblem(click.UsageError):
    """A command line that cannot be carried out, and what to do instead."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


FILE = click.Path(readable=False)  # a path or a URL, of which nothing is asked yet; a shell completes paths


class FormatName(click.types.StringParamType):
    """The type of options that name a format; the registry is asked only when a name is given."""

    name = "format"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of a format."""
        if value not in FORMATS:
            self.fail(f"{value!r} is not one of {', '.join(map(repr, FORMATS))}.", param, ctx)
        return str(value)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002  (click's signature)
        param: click.Parameter,  # noqa: ARG002  (the same)
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return the names of formats that begin with `incomplete`."""
        return [CompletionItem(name) for name in FORMATS if name.startswith(incomplete)]
