"""The command line, called as a shell calls it, in this process."""

from __future__ import annotations

from typing import Any

from click.testing import CliRunner, Result

from sheetarray.cli import main


def run_command(*arguments: object, **options: Any) -> Result:
    """What a command has printed, and its exit status; `options` are those of click's runner, such as `input`."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
