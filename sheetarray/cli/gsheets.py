"""`sheetarray gsheets`: what interrupted writes have left in a Google spreadsheet, and who may write to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from .console import count_noun, escape_controls, print_line

_credentials_option = click.option(
    "--credentials", metavar="FILE", help="A key file; GOOGLE_APPLICATION_CREDENTIALS if not given."
)


@click.group(short_help="Take over from dead writers of a Google spreadsheet.")
def gsheets() -> None:
    """Take away what interrupted writes have left in a Google spreadsheet.

    \b
    Examples:
      sheetarray check URL                names stages and marks that are left, whose they are, and how old
      sheetarray gsheets clean URL        removes hidden sheets of writers that are dead
      sheetarray gsheets unlock URL       takes a worksheet over from whoever writes to it in place
    """


@gsheets.command(short_help="Remove the hidden sheets of dead writers.")
@click.argument("url")
@click.option("--all", "everything", is_flag=True, help="Those of writers that may be alive too; these begin again.")
@_credentials_option
def clean(url: str, everything: bool, credentials: str | None) -> None:
    """Remove the hidden sheets that interrupted writes have left in the spreadsheet at URL."""
    from ..sheets.google import clean_gsheet

    _print_leftovers("removed", "hidden sheet", clean_gsheet(url, everything=everything, credentials=credentials))


@gsheets.command(short_help="Take worksheets over from a writer that is dead.")
@click.argument("url")
@_credentials_option
def unlock(url: str, credentials: str | None) -> None:
    """Take the spreadsheet at URL, or one worksheet of it, over from whoever writes to it in place.

    Whatever that writer still sends has no effect. Its arrays stay as they are, not whole, until somebody writes them
    again.
    """
    from ..sheets.google import unlock_gsheet

    _print_leftovers("unlocked", "array", unlock_gsheet(url, credentials=credentials))


def _print_leftovers(what: str, noun: str, leftovers: Sequence[Any]) -> None:
    for leftover in leftovers:
        print_line(escape_controls(f"{what}  {leftover}"))
    print_line(f"{count_noun(len(leftovers), noun)} {what}" if leftovers else f"nothing to be {what}")
