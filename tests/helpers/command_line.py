"""The command line, called as a shell calls it, in this process."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from types import SimpleNamespace
from typing import Any

from click.testing import CliRunner, Result


def has_compiled_loops() -> bool:
    """Whether the compiled loops run, as `--version` says it."""
    return run_command("--version").output.endswith("(compiled)\n")


def run_command(*arguments: object, **options: Any) -> Result:
    """What a command has printed, and its exit status; `options` are those of click's runner, such as `input`."""
    (command,) = entry_points(group="console_scripts", name="sheetarray")
    return CliRunner().invoke(command.load(), [str(argument) for argument in arguments], **options)


def run_diff(*arguments: object) -> SimpleNamespace:
    """What `diff` has printed, without the addresses of cells, and its exit status."""
    result = run_command("diff", *arguments)
    texts = {name: re.sub(r", cell ([^:,]*!)?[A-Z]+[0-9]+:", ":", getattr(result, name)) for name in _STREAMS}
    return SimpleNamespace(exit_code=result.exit_code, exception=result.exception, **texts)


_STREAMS = ("output", "stdout", "stderr")
