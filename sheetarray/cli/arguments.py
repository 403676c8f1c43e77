"""Options that several commands share, and the KEY=VALUE pairs that become options of the formats."""

from __future__ import annotations

import functools
import inspect
import json
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from ..errors import NotFoundError
from ..files import is_url
from ..registry import FORMATS, Format
from ..tables import TableOptions
from .program import UsageProblem

Function = TypeVar("Function", bound=Callable[..., Any])

_INTERNAL_OPTIONS = ("progress", "client", "table")  # objects that no command line can name
_STORAGE = "sheetarray.storage_options"
_WORDS = {"true": True, "false": False}


class FormatName(click.types.StringParamType):
    """The type of options that name a format; the registry is asked only when a name is given."""

    name = "format"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of a format.

        Raises:
            click.BadParameter: there is no such format.
        """
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


def from_and_read_options(function: Function) -> Function:
    """Add the options --from and --read to a command."""
    function = click.option(
        "--read",
        "read_pairs",
        metavar="KEY=VALUE",
        multiple=True,
        help="An option of the format read, such as delimiter=';' or encoding=cp1252; repeatable.",
    )(function)
    return click.option(
        "--from",
        "from_format",
        metavar="FORMAT",
        type=FormatName(),
        help="Format of -, or of a file whose suffix does not say it; `sheetarray --help` lists them.",
    )(function)


def to_and_write_options(what: str, example: str) -> Callable[[Function], Function]:
    """Return a decorator that adds the options --to and --write to a command, for formats and examples of theirs."""

    def add(function: Function) -> Function:
        help_ = f"An option of the {example}; repeatable."
        function = click.option("--write", "write_pairs", metavar="KEY=VALUE", multiple=True, help=help_)(function)
        return click.option("--to", "to_format", metavar="FORMAT", type=FormatName(), help=f"Format of DST{what}.")(
            function
        )

    return add


def missing_option(function: Function) -> Function:
    """Add the option --missing to a command."""
    return click.option(
        "--missing",
        type=click.Choice(["error", "nan"]),
        help="What a blank cell means in float and complex arrays; an error, unless this says nan.",
    )(function)


def json_option(function: Function) -> Function:
    """Add the option --json to a command."""
    return click.option("--json", "wants_json", is_flag=True, help="JSON on standard output instead of text.")(function)


def split_pairs(pairs: Sequence[str], missing: str | None = None) -> dict[str, str]:
    """Return the values of KEY=VALUE pairs by their keys; each pair is cut at the first =.

    Raises:
        UsageProblem: a text without =.
    """
    options: dict[str, str] = {} if missing is None else {"missing": missing}
    for pair in pairs:
        key, mark, value = pair.partition("=")
        if not mark or not key.strip():
            raise UsageProblem(f"expected KEY=VALUE, found {pair!r}", "for example delimiter=';'")
        options[key.strip().replace("-", "_")] = value
    return options


def add_storage_option(command: click.Command) -> None:
    """Add the option --storage-option to a command; `storage_options()` returns its values."""
    assert command.callback is not None
    command.callback = _refuse_without_url(command.callback)
    command.params.append(
        click.Option(
            ["--storage-option"],
            metavar="KEY=VALUE",
            multiple=True,
            expose_value=False,
            callback=_keep_storage_options,
            help="For the file system of a URL, such as anon=true or endpoint_url=..; repeatable.",
        )
    )


def storage_options() -> dict[str, Any]:
    """Return the storage options of the command that runs."""
    context = click.get_current_context(silent=True)
    return {} if context is None else dict(context.meta.get(_STORAGE, {}))


def _refuse_without_url(run: Function) -> Function:
    """Return a command's function that refuses storage options where none of its files is a URL.

    Raises:
        UsageProblem: none is.
    """

    @functools.wraps(run)
    def run_checked(*arguments: Any, **parameters: Any) -> Any:
        texts = [text for value in parameters.values() for text in (value if isinstance(value, tuple) else (value,))]
        if storage_options() and not any(map(_is_under_url, texts)):
            raise UsageProblem("--storage-option is for a URL, such as s3://bucket/run.csv: no file here is one")
        return run(*arguments, **parameters)

    return cast("Function", run_checked)


def _is_under_url(text: Any) -> bool:
    """Return whether a FILE lies in a file system of URLs, and not on this machine or at a service."""
    if not is_url(text) or text.startswith("file:"):
        return False
    return not any(text.startswith(row.prefixes or "\0") for row in FORMATS.values())


def _keep_storage_options(context: click.Context, parameter: click.Parameter, pairs: tuple[str, ...]) -> None:  # noqa: ARG001  (click's signature)
    options: dict[str, Any] = {}
    for pair in pairs:
        key, mark, text = pair.partition("=")
        if not mark or not key.strip():
            raise UsageProblem("--storage-option takes KEY=VALUE", "for example anon=true")  # which may be a secret
        options[key.strip()] = _parse_storage_value(text)
    context.meta[_STORAGE] = options


def _parse_storage_value(text: str) -> Any:
    """Return a JSON value of an object, a list, a short number, true, false or null; any other text as it is."""
    if text in ("true", "false", "null") or re.fullmatch(r"[0-9]{1,5}", text) or text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def parse_options(row: Format, verb: str, given: dict[str, str], *, lenient: bool = False) -> dict[str, Any]:
    """Return options as the adapter's function takes them; its signature says of which type each value is.

    `lenient`: leave out options that this verb does not have, since another verb of the same command has them.

    Raises:
        UsageProblem: an option that the format does not have, or a value that it does not take.
    """
    function = row.function(verb)
    known = {
        parameter.name: (str(parameter.annotation), vars(sys.modules[owner.__module__]))
        for owner in (function, TableOptions)[: 2 if verb == "read_columns" else 1]
        for parameter in inspect.signature(owner).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in _INTERNAL_OPTIONS
    }
    options: dict[str, Any] = {}
    for key, text in given.items():
        if key in known:
            options[key] = _parse_value(key, text, *known[key])
        elif not lenient:
            has = f"it has {', '.join(known)}" if known else "it has none"
            if key == "format":
                has = f"{'--to' if verb == 'write' else '--from'} names the format"
            raise UsageProblem(f"{verb} has no option {key!r} for {row.name} ({row.title})", has)
    return options


def refuse_unknown(rows: Sequence[Format], verb: str, given: dict[str, str]) -> None:
    """Refuse an option that none of the formats has; it is enough if one of them has it.

    Raises:
        UsageProblem: none has it.
    """
    for key in given:
        if rows and not any(parse_options(row, verb, {key: given[key]}, lenient=True) for row in rows):
            parse_options(rows[0], verb, {key: given[key]})


def takes_progress(row: Format, verb: str) -> bool:
    """Return whether the adapter has a verb and reports its progress."""
    try:
        return "progress" in inspect.signature(row.function(verb.removesuffix("_labelled"))).parameters
    except NotFoundError:
        return False


def _parse_value(key: str, text: str, annotation: str, names: dict[str, Any]) -> Any:
    """Return a value of the kind that the annotation names."""
    words = set(re.findall(r"\w+", annotation))
    choices: list[Any] = re.findall(r"['\"](\w[\w-]*)['\"]", annotation)
    for word in words:
        if get_origin(names.get(word)) is Literal:
            choices += get_args(names[word])
    if text.lower() == "none" and "None" in words:
        return None
    if "bool" in words and text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if "int" in words and re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    if "float" in words and re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        return float(text)
    if choices and text not in choices:
        raise UsageProblem(f"{key} is {' or '.join(map(repr, choices))}, not {text!r}")
    if not choices and "str" not in words and words & {"bool", "int", "float"}:
        wanted = "true or false" if "bool" in words else "a number"
        raise UsageProblem(f"{key} is {wanted}, not {text!r}")
    return text.replace("\\t", "\t")
