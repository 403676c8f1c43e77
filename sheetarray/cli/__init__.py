"""The command line: its commands.

`main` is the entry point. Each command has a module of its name; `restore` is in `accept`. `program` turns errors into
two lines and an exit status, `endpoints` knows paths, URLs and pipes, `running` shows the progress of a verb,
`arguments` has the options that several commands share, `console` knows what a terminal can show. `pictures`
and `drawing` know nothing of the command line. Only the registry knows which formats there are.
"""

from __future__ import annotations

import click

from .. import __version__
from ..formats import FORMATS, list_rows
from ..loops import describe
from ..renamed import COMMANDS
from .accept import run_accept, run_restore
from .append import run_append
from .arguments import UsageProblem, add_storage_option
from .check import check
from .convert import run_convert
from .diff import run_diff
from .export import export
from .git import run_git
from .info import info
from .merge import run_merge
from .page import run_page
from .program import Program
from .show import show
from .table import run_table


class _Main(Program):
    """The command `sheetarray`, whose help lists the formats that there are by then."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant; one of 1.0 is an error that names the new one."""
        if args[0] in COMMANDS:
            raise UsageProblem(f"there is no command {args[0]!r} since 2.0", COMMANDS[args[0]])
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  (click's)
        places = {row.name: row.suffixes or row.prefixes[:2] for row in list_rows()}
        with formatter.section("Formats by suffix; --from and --to take the name of a format"):
            formatter.write_dl([(name, ", ".join(suffixes)) for name, suffixes in places.items() if suffixes])
        for problem in FORMATS.problems:
            formatter.write_text(f"not available: {problem}")


@click.group(
    "sheetarray",
    cls=_Main,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message=f"%(prog)s %(version)s ({describe()})")
def main() -> None:
    """Read, write and check n-dimensional arrays in spreadsheets and text files.

    Each array is one column of cells. Its dtype, shape, strides and order stand above its data. A FILE is a path, a URL
    (such as s3://, https:// or a Google spreadsheet), or - for a pipe. For one that is written, --to names the format.

    \b
    Examples:
      sheetarray info run.csv                    list its arrays
      sheetarray show run.csv temperature        print values and a picture
      sheetarray show run.csv temperature --slice "[:, :, 3]"
      sheetarray convert run.csv run.json        change the format, bit for bit
      sheetarray check run.csv returned.csv      list what is wrong, cell by cell
      sheetarray accept returned.xlsx            accept added or deleted rows
      sheetarray restore returned.xlsx run.xlsx  undo edits, if there is a guard
      sheetarray diff run.csv returned.csv       list the elements that differ
      sheetarray merge run.xlsx returned/*.xlsx -o merged.xlsx
      sheetarray append log.csv new.csv          append rows
      sheetarray table survey.csv -o survey.npz  read an ordinary table
      sheetarray export run.npz run.xlsx         write an ordinary table
      sheetarray page run.xlsx --open            look at the arrays in a browser
      sheetarray git                             have git compare and merge spreadsheets
      curl -s https://example.org/run.csv | sheetarray info - --from csv

    \b
    Exit status:
      0  everything is fine
      1  `check` has findings, `diff` has differences, `merge` has conflicts
      2  wrong usage, no such array or format, a missing or unreadable file
    """


for _command in (
    info,
    show,
    run_convert,
    export,
    check,
    run_accept,
    run_restore,
    run_merge,
    run_append,
    run_diff,
    run_table,
    run_page,
    run_git,
):
    main.add_command(_command)
    add_storage_option(_command)

__all__ = ["main"]
