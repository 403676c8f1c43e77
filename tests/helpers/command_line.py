"""The command line, called as a shell calls it, in this process."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from click.testing import CliRunner, Result


def run_command(*arguments: object, **options: Any) -> Result:
    """What a command has printed, and its exit status; `options` are those of click's runner, such as `input`."""
    (command,) = entry_points(group="console_scripts", name="sheetarray")
    return CliRunner().invoke(command.load(), [str(argument) for argument in arguments], **options)
