"""Messages and hints that name options of Python: spelled as the options of the command that runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import cast

import click

from ...errors import NotFoundError
from ...formats import FORMATS
from ...renamed import OPTIONS, nearest
from .format_options import options_of_format

_ARGUMENT = re.compile(r"\b([a-z][a-z_]*)=(?:'([^']*)'|\"([^\"]*)\"|(True|False|\d+)|(?=[\s),;:]|$))")
_CALL = re.compile(r"\bsa\.(accept|restore)\b")
_READING = re.compile(r"reading=\{'([a-z_]+)': ([^}]*)\}")  # an option of `read`, as `convert` takes it
_SIDES = {"--read": "--from", "--write": "--to"}
_VERBS = {  # whose options --read and --write of a command take, where they are not those of `read` and `write`
    "check": {"--read": "check"},
    "info": {"--read": "scan"},
    "table": {"--read": "read_columns"},
    "export": {"--write": "write_table"},
}


def to_cli_options(text: str, side: str) -> str:
    """Return arguments as Python has them, `encoding='cp1252'`, as options of the command that runs, calls as commands.

    An option of a format that this command does not take is that of `sheetarray convert`. Whatever is no option of any
    format stays as it is.

    `text`: a message or a hint. `side`: the option, --read or --write, that takes what a source and a target both have;
    a text that begins with "write" means --write.
    """
    side = "--write" if text.startswith("write") else side
    text = _CALL.sub(r"sheetarray \1", _READING.sub(r"\1=\2", text))
    context = _find_command(click.get_current_context(silent=True))
    return _ARGUMENT.sub(
        lambda match: _respell(match, side, context), text.replace("storage_options", "--storage-option")
    )


def _find_command(context: click.Context | None) -> click.Context | None:
    """Return the context of the command that runs or has failed, given the innermost one."""
    if context is None or not isinstance(context.command, click.Group) or not context.invoked_subcommand:
        return context
    command = context.command.get_command(context, context.invoked_subcommand)
    return context if command is None else click.Context(command, context, context.invoked_subcommand)


def _respell(match: re.Match[str], side: str, context: click.Context | None) -> str:
    key, value = match[1], next((group for group in match.groups()[1:] if group is not None), None)
    own = next((param for param in context.command.params if key == _key_of(param)), None) if context else None
    if isinstance(own, click.Argument):
        return own.make_metavar(cast("click.Context", context)).strip("[].")
    if own is not None:
        return own.opts[0] if value is None or getattr(own, "is_flag", False) else f"{own.opts[0]} {shlex.quote(value)}"
    if key == "format":  # which --read and --write do not take
        return _SIDES[side] if value is None else f"{_SIDES[side]} {value}"
    verbs = _find_verbs(context.info_name if context else None)
    spelled = next((place for place in (side, *_SIDES) if has_option(verbs[place], key)), None)
    through = ""
    if spelled is None and verbs["--read"] != "read" and has_option("read", key):
        spelled, through = "--read", "sheetarray convert "
    if spelled is None:
        return match[0]
    if context is not None and not any(spelled in param.opts for param in context.command.params):
        through = "sheetarray convert "
    pair = f"{key}={'..' if value is None else value.lower() if match[4] else value}"
    return f"{through}{spelled} {shlex.quote(pair)}"


def _find_verbs(command: str | None) -> dict[str, str]:
    return {"--read": "read", "--write": "write"} | _VERBS.get(command or "", {})


def _key_of(parameter: click.Parameter) -> str:
    """Return the key by which messages mean an option or an argument of a command; "" if they cannot mean it."""
    if isinstance(parameter, click.Argument):
        return "names" if parameter.name in ("name", "names") else ""
    longest = max(parameter.opts, key=len)
    if longest == "--na-value":
        return "na_values"
    return "names" if longest in ("--name", "--columns") else longest.lstrip("-").replace("-", "_")


def _list_options(verbs: Iterable[str]) -> Iterator[str]:
    """Yield the names of the options of some verbs in all formats."""
    for verb in verbs:
        for name in FORMATS:
            with suppress(NotFoundError, ImportError):  # a format without the verb, or whose package is missing
                yield from options_of_format(FORMATS[name], verb)


def has_option(verb: str, key: str) -> bool:
    """Return whether a function for a verb has an option, of any format."""
    return key in _list_options([verb])


def hint_at_option(option: str, command: click.Command) -> str:
    """Return a hint for an option that a command does not have, if a format has it, or 1.0 had; else an empty text."""
    key = option.lstrip("-").replace("-", "_")
    sides = [side for parameter in command.params for side in parameter.opts if side in _SIDES]
    verbs = _find_verbs(command.name)
    fitting = [side for side in sides if has_option(verbs[side], key)]
    if not fitting and sides and key == "worksheet":
        return f"{OPTIONS[key]}; {hint_at_option('sheet', command)}"
    if not fitting and (meant := nearest(key, [*_list_options(verbs[side] for side in sides)])):
        return hint_at_option(meant, command)
    if not fitting:
        return OPTIONS.get(key, "")
    return f"pass options of a format as {' or '.join(f'{side} {key}=..' for side in fitting)}"
