"""Output: text for a terminal or for a program that reads it, JSON, and sizes and shapes as people write them."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal

import click

from ..errors import escape_controls

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPED_WIDTH = 80  # characters of a picture, if the output is no terminal
_ENDLESS = 100_000
_OF_256_COLOURS = ("xterm", "screen", "tmux", "rxvt")  # have 256 colours even if TERM names no number, as in containers


def make_console() -> Console:
    """Return the console of standard output: a terminal's width and colours, or plain text that is never cut."""
    from rich.console import Console

    plain: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False}
    if _wants_no_colour():
        plain["color_system"] = None
    console = Console(**plain)
    if console.color_system == "standard" and os.environ.get("TERM", "").startswith(_OF_256_COLOURS):
        console = Console(**plain, color_system="256")
    return console if console.is_terminal else Console(**plain, width=_ENDLESS)


def _wants_no_colour() -> bool:
    return bool(os.environ.get("NO_COLOR"))  # https://no-color.org


def print_line(text: str, *, nl: bool = True, err: bool = False, **style: Any) -> None:
    """Print a line, or with nl=False a part of one; its style is used only in a terminal that shows colours."""
    text = escape_controls(text)
    click.echo(text if _wants_no_colour() or not style else click.style(text, **style), nl=nl, err=err)


_NOTES: dict[str, dict[str, Any]] = {
    "error": {"fg": "red", "bold": True},
    "failed": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "hint": {"fg": "cyan"},
}


def print_note(kind: str, text: str) -> None:
    """Write a line to standard error that begins with what it is: an error, a failure, a warning or a hint."""
    print_line(f"{kind}: ", nl=False, err=True, **_NOTES[kind])
    print_line(text, err=True)


def print_headed(head: str, text: str, *, indent: int = 2, used: int = 0) -> None:
    """Print a line that begins with a head, bold in a terminal; a long one is broken between words and goes on below.

    `indent`: the number of blanks before each further line. `used`: the number of the terminal's columns that are
    taken already.
    """
    head, text = escape_controls(head), escape_controls(text)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _ENDLESS
    first, *more = textwrap.wrap(
        head + text,
        max(width, 2 * indent, 20),
        initial_indent=" " * used,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    ) or [" " * used]
    first = first[used:]
    if head and first.startswith(head.rstrip()):
        print_line(head, bold=True, nl=False)
        first = first[len(head) :]
    click.echo("\n".join([first, *more]))


def line_width(console: Console) -> int | None:
    """Return the number of the terminal's columns; None where lines may be of any length."""
    return console.width if console.is_terminal else None


def has_colours(console: Console) -> bool:
    """Return whether the terminal shows shades: 256 colours or more, and colours are not switched off."""
    return not console.no_color and console.color_system in ("256", "truecolor", "windows")


def has_blocks(console: Console) -> bool:
    """Return whether block characters can be written."""
    return (console.encoding or "").lower().startswith("utf")


def print_renderable(console: Console, renderable: Any) -> None:
    """Print; without blanks at the ends of lines where a program may read them."""
    with nullcontext() if console.is_terminal else console.capture() as captured:
        console.print(renderable, no_wrap=True, overflow="ignore", crop=False)
    if captured is not None:
        text = captured.get() if has_blocks(console) else captured.get().replace("…", "~")
        click.echo("\n".join(line.rstrip() for line in text.split("\n")), nl=False)


def make_table(columns: Sequence[tuple[str, Sequence[Any]]], *, right: Collection[str]) -> Table:
    """Return a table without lines between its cells, which take several lines where the terminal is narrow.

    `columns`: the title of each column, and its cells, texts of rich or plain ones. `right`: the titles of columns
    whose cells stand at their right.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold")
    for title, _ in columns:
        justify: Literal["left", "right"] = "right" if title in right else "left"
        table.add_column(title, justify=justify, overflow="fold")
    for row in zip(*(cells for _, cells in columns), strict=True):
        table.add_row(*row)
    return table


def print_json(value: Any) -> None:
    r"""Print one JSON value, in one line; in its texts `\u` escapes stand for what could steer a terminal."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    click.echo("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text))


def format_size(count: int) -> str:
    """Return a number of bytes, in decimal units.

    Example:
        >>> format_size(2_140_000)
        '2.1 MB'
    """
    if count < 1000:
        return f"{count} B"
    size, units = count / 1000, iter(("kB", "MB", "GB", "TB"))
    unit = next(units)
    while size >= 999.5 and unit != "TB":
        size, unit = size / 1000, next(units)
    return f"{size:.1f} {unit}" if size < 10 else f"{size:.0f} {unit}"
