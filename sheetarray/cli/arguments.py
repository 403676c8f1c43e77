"""Options that several commands share, KEY=VALUE pairs that become options of formats, and hints that name them."""

from __future__ import annotations

import functools
import inspect
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from ..changes.wording import count_noun
from ..errors import NotFoundError
from ..files import is_url
from ..formats import FORMATS, Format, list_rows
from ..renamed import OPTIONS, nearest
from ..sheets.sheet_choice import TitleOrIndex
from ..tables import TableOptions
from .console import print_line

Function = TypeVar("Function", bound=Callable[..., Any])

# options of functions that --read and --write do not set: they take objects, or have a flag of their own
_INTERNAL_OPTIONS = ("progress", "client", "table", "storage_options", "keep_edits")
_STORAGE = "sheetarray.storage_options"
_WORDS = {"true": True, "false": False}


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


# The format of a source or a target, and its options ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """The format and the options that the command line gives for one FILE."""

    format: str | None = None  # its name, of --from or --to; None if its suffix says it
    # its options as texts, of --read or --write, by key; several texts where one option takes them
    texts: Mapping[str, str | Sequence[str]] = field(default_factory=dict)

    def parse(self, row: Format, verb: str, *, lenient: bool = False) -> dict[str, Any]:
        """Return the options as the adapter's function takes them; its signature says of which type each value is.

        `row`: the format. `verb`: read, write, scan or check. `lenient`: leave out options that this verb does not
        have, since another verb of the same command has them.

        Raises:
            UsageProblem: an option that the format does not have, or a value that it does not take.
        """
        options_there = options_of_format(row, verb)
        options: dict[str, Any] = {}
        for key, text in self.texts.items():
            if key in options_there:
                options[key] = _parse_value(key, text, *options_there[key]) if isinstance(text, str) else [*text]
            elif not lenient:
                has = f"it has {', '.join(options_there)}" if options_there else "it has none"
                meant = nearest(key, options_there)
                has = OPTIONS.get(key) or (f"did you mean {meant}?" if meant else has)
                if key == "format":
                    has = f"name the format with {'--to' if verb == 'write' else '--from'}"
                raise UsageProblem(f"{verb} has no option {key!r} for {row.name} ({row.title})", has)
        return options

    def refuse_unknown(self, rows: Sequence[Format], verb: str, other_verb: str | None = None) -> None:
        """Raise a `UsageProblem` for an option that none of the formats has; it is enough if one of them has it.

        `other_verb`: another one that the command may turn to; it is enough if that has the option.
        """
        options_there = {key for row in rows for key in options_of_format(row, verb)}
        for row in rows:
            if other_verb is None:
                break
            with suppress(NotFoundError):
                options_there |= {*options_of_format(row, other_verb)}
        for row in rows[:1]:
            unknown = {key: text for key, text in self.texts.items() if key not in options_there}
            FormatOptions(self.format, unknown).parse(row, verb)


FROM = click.option(
    "--from",
    "from_format",
    metavar="FORMAT",
    type=FormatName(),
    help="Read this format, if the input is - or has no known suffix. `sheetarray --help` lists formats.",
)
_READ = click.option(
    "--read",
    "read_pairs",
    metavar="KEY=VALUE",
    multiple=True,
    help="Pass an option to the reader, such as delimiter=';' or encoding=cp1252. You can repeat it.",
)
_MISSING = click.option(
    "--missing",
    "blanks",
    type=click.Choice(["error", "nan"]),
    help="Read blank cells of float and complex arrays as NaN; the default is error.",
)


NA_VALUE = click.option(
    "--na-value",
    "na_values",
    metavar="TEXT",
    multiple=True,
    help="Read this text as a missing value, too. You can repeat it.",
)


def reading_options(*, missing: bool = True) -> Callable[[Function], Function]:
    """Return a decorator that adds --from, --read, --missing and --na-value to a command, which takes them as
    `reading`.
    """
    blanks = [_MISSING, NA_VALUE] if missing else []
    return _gathering("reading", "from_format", "read_pairs", [FROM, _READ, *blanks])


def writing_options(what: str, example: str) -> Callable[[Function], Function]:
    """Return a decorator that adds --to and --write to a command, which takes them as `writing`.

    `what`: the help of --to. `example`: options of --write, for its help.
    """
    help_ = f"Pass an option to the writer, such as {example}. You can repeat it."
    to = click.option("--to", "to_format", metavar="FORMAT", type=FormatName(), help=what)
    write = click.option("--write", "write_pairs", metavar="KEY=VALUE", multiple=True, help=help_)
    return _gathering("writing", "to_format", "write_pairs", [to, write])


def _gathering(name: str, format: str, pairs: str, options: Sequence[Any]) -> Callable[[Function], Function]:
    """Return a decorator that adds options to a command, which takes them as one `FormatOptions`."""

    def add(function: Function) -> Function:
        @functools.wraps(function)
        def run(**given: Any) -> Any:
            texts = split_pairs(given.pop(pairs))
            if _MISSING in options:
                blanks, named = given.pop("blanks"), given.pop("na_values")
                texts = ({"missing": blanks} if blanks else {}) | ({"na_values": named} if named else {}) | texts
            return function(**{name: FormatOptions(given.pop(format), texts)}, **given)

        command: Any = run
        for option in reversed(options):
            command = option(command)
        return cast("Function", command)

    return add


json_option = click.option("--json", "wants_json", is_flag=True, help="Print JSON instead of text.")
MOST_LINES = 20  # of details, unless --all


def all_option(what: str) -> Callable[[Function], Function]:
    """Return a decorator that adds --all to a command, which prints the first `MOST_LINES` of `what` otherwise."""
    return click.option("--all", "wants_all", is_flag=True, help=f"Print all {what}, not the first {MOST_LINES}.")


def print_left_out(count: int, noun: str) -> None:
    """Say how many lines of details are not printed, if any."""
    if count > 0:
        print_line(f"and {count_noun(count, f'more {noun}')} (--all shows them)", dim=True)


def split_pairs(pairs: Sequence[str]) -> dict[str, Any]:
    """Return the values of KEY=VALUE pairs by their keys; each pair is cut at the first =.

    Raises:
        UsageProblem: a text without =, or a key that is there already.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        key, mark, value = pair.partition("=")
        if not mark or not key.strip():
            raise UsageProblem(f"expected KEY=VALUE, found {pair!r}", "for example delimiter=';'")
        key = key.strip().replace("-", "_")
        if key in options and key != "na_values":
            raise UsageProblem(f"{key} is given twice", f"keep {key}={options[key]} or {key}={value}")
        options[key] = [*options.get(key, ()), value] if key == "na_values" else value
    return options


def options_of_format(row: Format, verb: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the options of an adapter's function: the annotation of each, and the names that it may use.

    `scan` and `check` take those of an ordinary table, too.
    """
    function = row.function(verb)
    of_table: dict[str, tuple[str, dict[str, Any]]] = {}
    if verb in ("scan", "check"):
        with suppress(NotFoundError):  # the format has no ordinary tables
            of_table = options_of_format(row, "read_columns")
    return of_table | {
        parameter.name: (str(parameter.annotation), vars(sys.modules[owner.__module__]))
        for owner in (function, TableOptions)[: 2 if verb == "read_columns" else 1]
        for parameter in inspect.signature(owner).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in _INTERNAL_OPTIONS
    }


def _parse_value(key: str, text: str, annotation: str, names: dict[str, Any]) -> Any:
    """Return a value of the kind that the annotation names."""
    words = {annotation}
    if isinstance(names.get(annotation), UnionType):  # it is the name of a type
        annotation = str(names[annotation])
    words |= set(re.findall(r"\w+", annotation))
    choices: list[Any] = re.findall(r"['\"](\w[\w-]*)['\"]", annotation)
    for word in words:
        if get_origin(names.get(word)) is Literal:
            choices += get_args(names[word])
    if key == "sheet" and "SheetChoice" in words:
        return TitleOrIndex(text)
    if text.lower() == "none" and "None" in words:
        return None
    if "Mapping[str, str]" in annotation and not ("str |" in annotation and _CODE_ALONE.fullmatch(text)):
        return _parse_mapping(key, text)
    if "bool" in words and text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if "int" in words and re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    if "float" in words and re.fullmatch(r"[+-]?(\d++\.?+\d*+|\.\d++)([eE][+-]?\d++)?", text):
        return float(text)
    if choices and text not in choices:
        words_known = [*map(repr, choices), *(["true", "false"] if "bool" in words else [])]
        raise UsageProblem(f"{key} is {' or '.join(words_known)}, not {text!r}")
    if not choices and "str" not in words and words & {"bool", "int", "float"}:
        expected = "true or false" if "bool" in words else "a number"
        raise UsageProblem(f"{key} is {expected}, not {text!r}")
    return text.replace("\\t", "\t")


_CODE_ALONE = re.compile(r"General|[^={][^=]*[0#?][^=]*|[0#?][^=]*")  # a format for all names, and not for one


def _parse_mapping(key: str, text: str) -> dict[str, str]:
    """Return the texts that belong to names, given as `t=0.0`, or several as JSON, `{"t": "0.0", "u": "0"}`."""
    name, mark, value = text.partition("=")
    if not text.lstrip().startswith("{") and mark and name:
        return {name: value}
    with suppress(ValueError, RecursionError):
        texts = json.loads(text)
        if isinstance(texts, dict) and all(isinstance(written, str) for written in texts.values()):
            return texts
    raise UsageProblem(f"{key} is NAME=TEXT, or an object of JSON, not {text!r:.80}", f"--write {key}=t=0.0")


# Hints that name options --------------------------------------------------------------------------------------------

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


# Storage options of URLs --------------------------------------------------------------------------------------------


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
