"""`sheetarray page`: a page of arrays, for a browser."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from .. import api
from .arguments import FILE, FormatOptions, UsageProblem, json_option, reading_options
from .console import format_size, print_json, print_line
from .endpoints import PIPE, STDOUT, Endpoint, merging_options, place_of, source_endpoints
from .running import refusing_values


@click.command("page", short_help="Make a page that shows arrays in a browser.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option(
    "-o",
    "--output",
    metavar="PAGE",
    help="Write the page to this file; - is standard output. The default is the name of FILE with .html.",
)
@click.option("--name", "names", metavar="NAME", multiple=True, help="Show only this array. You can repeat it.")
@click.option(
    "--slice",
    "slices",
    metavar="SLICE",
    multiple=True,
    help='Show a part of an array: "t[0:100, :, ::2]", or by labels: "time=2026-07". You can repeat it.',
)
@click.option(
    "--open", "opens", is_flag=True, help="Open the page in your browser. Without -o, the page is a temporary file."
)
@click.option(
    "--merge",
    "merges",
    is_flag=True,
    help="Show the conflicts of a merge, so you can choose values. The first FILE is the base.",
)
@click.option(
    "--key",
    multiple=True,
    help="With --merge: an array whose values tell which rows belong together; repeat it for several.",
)
@reading_options()
@json_option
def run_page(
    files: tuple[str, ...],
    output: str | None,
    names: tuple[str, ...],
    slices: tuple[str, ...],
    opens: bool,
    merges: bool,
    key: tuple[str, ...],
    reading: FormatOptions,
    wants_json: bool,
) -> None:
    """Make one HTML file that shows the arrays of each FILE. It needs no network and no server.

    The page has a slider for each dimension, a heat map, lines, a histogram, statistics and a table of values. It also
    lists the findings of `check`. If you give two files, the page shows arrays of the same name side by side, with
    their difference.

    A page holds 4,000,000 elements. If the arrays have more, it shows the slices that --slice names. Otherwise it shows
    every n-th element along the long axes, and says so.

    \b
    Examples:
      sheetarray page run.csv                         write run.html beside it
      sheetarray page run.csv --open                  open the page in the browser
      sheetarray page run.csv returned.csv -o both.html
      sheetarray page run.xlsx --name temperature -o page.html
      sheetarray page huge.csv --slice "t[0:100]" --slice "u[0]"
      cat run.csv | sheetarray page - --from csv -o - > page.html
      sheetarray page --merge original.xlsx returned/*.xlsx -o merge.html
      sheetarray page --merge sites.csv returned/*.csv --key site -o merge.html
    """
    from ..pages.sources import make_merge_page, make_page, read_file

    if key and not merges:
        raise UsageProblem("--key says which rows of copies belong together", "give --merge too")
    places = source_endpoints(files, reading, "read_columns" if merges else None)
    if output in STDOUT and (wants_json or opens):
        raise UsageProblem("-o - writes the page to standard output, and nothing else", "leave --json and --open out")
    target = _target_of(places[0], output, opens=opens)
    if merges:
        if names:
            raise UsageProblem("--merge makes a page of whole files", "leave --name out")
        if len(places) < 2:
            raise UsageProblem(
                "--merge needs the file that you sent, and the files that came back",
                "the file that you sent comes first, the others after it",
            )
        if PIPE in files:
            raise UsageProblem("merge reads files, not pipes", "name each file")
        with refusing_values():
            merged = api.merge(*(place.place for place in places), key=key, **merging_options(places))
        with _explaining_slices():
            shown = make_merge_page(merged, slices)
    else:
        titles = [os.path.basename(place.text) or place.text for place in places]
        with ExitStack() as opened:
            read = []
            for place, title in zip(places, titles, strict=True):
                title = title if titles.count(title) == 1 else place.label
                options = place.options("read")
                with refusing_values():
                    source, row = place.source(), place.row
                    read.append(read_file(source, names or None, row.name, options, title=title, opened=opened))
            with _explaining_slices():
                shown = make_page(read, slices)
    shown.save(target)
    if output in STDOUT:
        return
    size = len(shown.html.encode())
    if wants_json:
        print_json({"page": str(target), "bytes": size, "arrays": shown.names})
    else:
        print_line(f"{target} ({format_size(size)})")
    if opens:
        click.launch(Path(target).resolve().as_uri() if isinstance(target, (str, Path)) else str(target))


@contextmanager
def _explaining_slices() -> Iterator[None]:
    """Turn an error of a slice into one of the command line."""
    from ..pages.slices import SliceError

    try:
        yield
    except SliceError as error:
        raise UsageProblem(f"--slice: {error}", "sheetarray info lists arrays and dimensions") from None


def _target_of(place: Endpoint, output: str | None, *, opens: bool) -> Any:
    """Return the file that the page goes to."""
    if output in STDOUT:
        return sys.stdout.buffer
    if output is not None:
        return place_of(output)
    if opens:
        return Path(tempfile.mkdtemp(prefix="sheetarray-")) / "page.html"
    if place.pipe is not None or "://" in place.text:
        raise UsageProblem(f"no page can be written beside {place.label}", "name the page with -o page.html")
    return Path(os.path.splitext(place.text)[0] + ".html")
