"""`sheetarray gsheets`: logging in, and what interrupted writes have left in a Google spreadsheet."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from ..registry import format_of
from .arguments import json_option
from .console import count_noun, print_json, print_line
from .program import Program


@click.group(cls=Program, short_help="Log in to Google Sheets; remove what dead writers left.")
def gsheets() -> None:
    """Log in to Google Sheets, or remove what interrupted writes left in a spreadsheet.

    \b
    Examples:
      sheetarray gsheets login      ask in a browser for permission, once
      sheetarray check URL          list hidden sheets that were left
      sheetarray gsheets clean URL  remove hidden sheets of dead writers
    """


@gsheets.command(short_help="Log in as yourself, in a browser.")
@click.option("--client", metavar="FILE", help="The JSON file of the OAuth client. The default is gspread's file.")
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening a browser.")
@json_option
def login(client: str | None, no_browser: bool, wants_json: bool) -> None:
    """Log in as yourself: your browser asks for permission to read and write your spreadsheets.

    The login is stored where gspread stores it, and only your user can read it. All commands use it, unless
    --credentials or GOOGLE_APPLICATION_CREDENTIALS name other credentials.
    """

    def tell(text: str) -> None:
        for line in text.splitlines():
            print_line(line, err=wants_json)
        sys.stdout.flush()  # also where it is a pipe: somebody is to act on the lines

    path = _load_function("login")(client, open_browser=not no_browser, tell=tell)
    if wants_json:
        print_json({"credentials": str(path)})
    else:
        print_line(f"logged in: {path}")


@gsheets.command(short_help="Remove the hidden sheets of dead writers.")
@click.argument("url")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also remove the sheets of writers that may be alive. These writers then start again.",
)
@click.option(
    "--credentials", metavar="FILE", help="The key file. Without it, GOOGLE_APPLICATION_CREDENTIALS names it."
)
@json_option
def clean(url: str, everything: bool, credentials: str | None, wants_json: bool) -> None:
    """Remove the hidden sheets that interrupted writes left in the spreadsheet at URL."""
    removed = _load_function("clean")(url, everything=everything, credentials=credentials)
    if wants_json:
        print_json({"file": url, "removed": [{"sheet": sheet.location, "message": sheet.message} for sheet in removed]})
        return
    for sheet in removed:
        print_line(f"removed  {sheet.location}: {sheet.message}")
    print_line(f"{count_noun(len(removed), 'hidden sheet')} removed" if removed else "nothing to remove")


def _load_function(verb: str) -> Callable[..., Any]:
    """Return the adapter's function for what is done to a Google spreadsheet or for one."""
    return format_of("gsheets://", "gsheet").function(verb)
