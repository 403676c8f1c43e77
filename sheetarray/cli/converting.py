"""`sheetarray convert` of many files: their options, the progress, and the outcomes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from ..conversions import Conversions, convert_many
from ..files import is_url
from ..registry import format_of
from .arguments import parse_options, storage_options
from .console import count_noun, escape_controls, print_json, print_line
from .endpoints import PIPE
from .program import FINDINGS, FINE, UsageProblem, to_cli_options

_SHOWN = 20  # failures that are listed


def convert_files(
    source: str,
    template: str,
    names: tuple[str, ...],
    formats: tuple[str | None, str | None],
    reading: dict[str, str],
    writing: dict[str, str],
    places: Mapping[str, Any],
    *,
    wants_json: bool,
) -> int:
    """Convert the files of a pattern, and return the exit status.

    Args:
        source: the pattern.
        template: of the targets.
        names: of the arrays; none for all.
        formats: what --from and --to say.
        reading: options of the format read, as texts.
        writing: options of the format written, as texts.
        places: the options `workers`, `scheduler` and `manifest`, which say where the work is done and noted.
        wants_json: whether the result is JSON.

    Raises:
        UsageProblem: a pipe, or a template that cannot be filled.
    """
    if template == PIPE:
        raise UsageProblem("many files do not fit into one pipe", "DST is a template, such as 'out/{stem}.json'")
    from_format, to_format = formats
    options: dict[str, Any] = {
        "reading": parse_options(format_of(source, from_format), "read", reading) if reading else {},
        "writing": parse_options(format_of(template, to_format), "write", writing) if writing else {},
    }
    storage = storage_options() if is_url(source) or is_url(template) else None
    start = time.monotonic()
    with _watching() as progress:
        try:
            result = convert_many(
                source,
                template,
                list(names) or None,
                from_format=from_format,
                to_format=to_format,
                storage_options=storage,
                progress=progress,
                **places,
                **options,
            )
        except ValueError as error:
            if type(error) is not ValueError:
                raise
            raise UsageProblem(str(error)) from error
    if wants_json:
        print_json(_to_json(result))
    else:
        _print_result(result, time.monotonic() - start)
    return FINDINGS if result.failed else FINE


def _print_result(result: Conversions, seconds: float) -> None:
    for failure in result.failed[:_SHOWN]:
        print_line("failed: ", fg="red", bold=True, nl=False, err=True)
        message = failure.error if failure.source in failure.error else f"{failure.source}: {failure.error}"
        click.echo(escape_controls(to_cli_options(message, "--read")), err=True)
    if len(result.failed) > _SHOWN:
        click.echo(f"and {len(result.failed) - _SHOWN:,} more; --json and a manifest have them all", err=True)
    counts = [f"{result.done:,} converted"]
    counts += [f"{result.already:,} before"] if result.already else []
    counts += [f"{len(result.failed):,} failed"] if result.failed else []
    rate = f" ({(result.done + len(result.failed)) / max(seconds, 1e-3):,.0f} a second)" if result.done else ""
    click.echo(f"{count_noun(result.total, 'file')}: {', '.join(counts)}{rate}", err=True)


def _to_json(result: Conversions) -> dict[str, Any]:
    return {
        "files": result.total,
        "converted": result.done,
        "before": result.already,
        "failed": [{"source": file.source, "target": file.target, "error": file.error} for file in result.failed],
    }


@contextmanager
def _watching() -> Iterator[Callable[[Conversions], None] | None]:
    """Show on a terminal the number of files done, the number a second, and the time left; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn(compact=True))
    with Progress(*columns, TextColumn("left"), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("listing", total=None)
        start = time.monotonic()

        def show(result: Conversions) -> None:
            done = result.done + len(result.failed)
            failed = f", {len(result.failed):,} failed" if result.failed else ""
            rate = done / max(time.monotonic() - start, 1e-3)
            text = f"{result.already + done:,} of {result.total:,} files{failed}, {rate:,.0f} a second"
            bar.update(task, description=text, total=result.total - result.already, completed=done)

        yield show
