"""The command line: its commands.

`main` is the entry point. Most commands have a module of their name; `check` is in `info`, `restore` and `merge` are
in `adopt`, `export` is in `convert`. `program` turns errors into two lines and an exit status, `endpoints` knows
paths, URLs and pipes, `arguments` the options that several commands share, `console` what a terminal can show;
`slices`, `values`, `pictures` and `comparing` know nothing of the command line. Which formats there are, only the
registry knows.
"""

from __future__ import annotations

import click

from .. import __version__
from ..loops import describe
from ..registry import FORMATS
from .adopt import adopt, merge, restore
from .arguments import add_storage_option
from .convert import convert, export
from .diff import diff
from .gsheets import gsheets
from .info import check, info
from .program import Program
from .show import show
from .table import table
from .view import view


class _Main(Program):
    """The command `sheetarray`, whose help lists the formats that there are by then."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  (click's)
        places = {row.name: row.suffixes or row.prefixes[:2] for row in FORMATS.values()}
        with formatter.section("Formats, by suffix; --from and --to take the name"):
            formatter.write_dl([(name, ", ".join(known)) for name, known in places.items() if known])
        for problem in FORMATS.problems:
            formatter.write_text(f"not available: {problem}")


@click.group(
    "sheetarray",
    cls=_Main,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message=f"%(prog)s %(version)s ({describe()})")
def main() -> None:
    """Work with n-dimensional arrays that live in spreadsheets and text.

    Each array is one column of cells, with its dtype, shape, strides and order written above its data. A FILE is
    a path, a URL (s3:// https:// and the like, or of a Google spreadsheet), or - for a pipe (then --from and --to say
    the format).

    \b
    Examples:
      sheetarray info run.csv                          what is in it
      sheetarray show run.csv temperature              values and a picture, of the middle slice
      sheetarray show run.csv temperature --slice "[:, :, 3]"
      sheetarray convert run.csv run.json              one format to another, bit for bit
      sheetarray check run.csv returned.csv            what is damaged, cell by cell
      sheetarray adopt returned.xlsx                   accept rows that were added or deleted
      sheetarray restore returned.xlsx run.xlsx        a guarded workbook as it was written
      sheetarray diff run.csv returned.csv             which elements were changed
      sheetarray merge run.xlsx returned/*.xlsx -o merged.xlsx
      sheetarray table survey.csv -o survey.npz        an ordinary table: one array a column
      sheetarray export run.npz run.xlsx               arrays as an ordinary table, for other programs
      sheetarray view run.xlsx --open                  a page with pictures, in the browser
      curl -s https://example.org/run.csv | sheetarray info - --from csv

    \b
    Exit status:
      0  fine
      1  `check` has findings, `diff` has differences, `merge` has conflicts
      2  wrong usage, no such array or format, a missing or unreadable file
    """


for _command in (info, show, convert, export, check, adopt, restore, merge, diff, table, view, gsheets):
    main.add_command(_command)
    if isinstance(_command, click.Group):
        continue  # of Google Sheets alone
    add_storage_option(_command)

__all__ = ["main"]
