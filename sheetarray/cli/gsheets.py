"""`sheetarray gsheets`: logging in, and what interrupted writes have left in a Google spreadsheet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from ..registry import format_of
from .console import count_noun, escape_controls, print_line

_credentials_option = click.option(
    "--credentials", metavar="FILE", help="A key file; GOOGLE_APPLICATION_CREDENTIALS if not given."
)


@click.group(short_help="Log in to Google Sheets; clean up after dead writers of a spreadsheet.")
def gsheets() -> None:
    """Log in to Google Sheets, and take away what interrupted writes have left in a spreadsheet.

    \b
    Examples:
      sheetarray gsheets login            asks you in a browser, once, for leave to your spreadsheets
      sheetarray check URL                names leftover hidden sheets, their writers, and how old they are
      sheetarray gsheets clean URL        removes hidden sheets of writers that are dead
    """


@gsheets.command(short_help="Log in as yourself, in a browser.")
@click.option("--client", metavar="FILE", help="The OAuth client's JSON file; gspread's if not given.")
@click.option("--no-browser", is_flag=True, help="Open none; the address is printed in any case.")
def login(client: str | None, no_browser: bool) -> None:
    """Ask in a browser for leave to read and write your spreadsheets, and keep it where gspread keeps it.

    Nobody else may read the file. All commands find it there, unless --credentials or GOOGLE_APPLICATION_CREDENTIALS
    name other credentials.
    """
    path = _load_function("login")(client, open_browser=not no_browser, tell=_say)
    print_line(escape_controls(f"logged in: {path}"))


def _say(text: str) -> None:
    """Print lines at once, also where standard output is a pipe: somebody is to act on them."""
    for line in text.splitlines():
        print_line(escape_controls(line))
    sys.stdout.flush()


@gsheets.command(short_help="Remove the hidden sheets of dead writers.")
@click.argument("url")
@click.option("--all", "everything", is_flag=True, help="Those of writers that may be alive too; these begin again.")
@_credentials_option
def clean(url: str, everything: bool, credentials: str | None) -> None:
    """Remove the hidden sheets that interrupted writes have left in the spreadsheet at URL."""
    removed = _load_function("clean")(url, everything=everything, credentials=credentials)
    _print_leftovers("removed", "hidden sheet", removed)


def _load_function(verb: str) -> Callable[..., Any]:
    """Return the adapter's function for what is done to a Google spreadsheet or for one."""
    return format_of("gsheets://", "gsheet").function(verb)


def _print_leftovers(what: str, noun: str, leftovers: Sequence[Any]) -> None:
    for leftover in leftovers:
        print_line(escape_controls(f"{what}  {leftover}"))
    print_line(f"{count_noun(len(leftovers), noun)} {what}" if leftovers else f"nothing to be {what}")
