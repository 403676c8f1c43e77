"""The options of commands: the format of a source or a target, its own options, and those that many commands have."""

from __future__ import annotations

import functools
import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

import click

from ...changes.wording import count_noun
from ...errors import NotFoundError
from ...formats import Format
from ...renamed import OPTIONS, nearest
from ...sheets.sheet_choice import TitleOrIndex
from ...tables import TableOptions
from ..console import print_line
from .usage import FormatName, UsageProblem

Function = TypeVar("Function", bound=Callable[..., Any])

# options of functions that --read and --write do not set: they take objects, or have a flag of their own
_INTERNAL_OPTIONS = ("progress", "client", "table", "storage_options", "keep_edits")
_WORDS = {"true": True, "false": False}


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
