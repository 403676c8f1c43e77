"""`sheetarray convert` of many files, by a pattern of sources and a template of targets."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ..changes.wording import count_noun
from ..files import find_places, is_url
from ..formats import format_of
from ..scale import conversions
from .arguments import (
    FormatOptions,
    UsageProblem,
    storage_options,
    to_cli_options,
)
from .console import print_json, print_note
from .endpoints import PIPE, is_many
from .program import FINDINGS, FINE
from .running import Bar, refusing_values

if TYPE_CHECKING:
    from ..scale.conversions.many import Conversions

_FAILURES_SHOWN = 20


def convert_files(
    sources: tuple[str, ...],
    template: str,
    names: tuple[str, ...],
    reading: FormatOptions,
    writing: FormatOptions,
    where: Mapping[str, Any],
    *,
    wants_json: bool,
) -> int:
    """Convert many files, and return the exit status; `where` says where the work is done and noted."""
    if template == PIPE:
        raise UsageProblem(
            "many files cannot be written to one pipe", "give a template as DST, such as 'out/{stem}.json'"
        )
    if PIPE in sources:
        raise UsageProblem("a pipe is one file, and cannot be converted with others", "convert it alone")
    first, sources_found = sources[0], None
    if len(sources) > 1 and not conversions.is_conversion_of_many(first, template):
        raise UsageProblem(
            f"{template} is one target for {len(sources):,} files: name a template, such as 'out/{{stem}}.json'",
            "--name NAME converts only that array",
        )
    if len(sources) > 1:
        sources_found = [
            place
            for text in sources
            for place in (find_places(text, storage_options() if is_url(text) else None) if is_many(text) else [text])
        ]
    options: dict[str, Any] = {
        "reading": reading.parse(format_of(first, reading.format), "read") if reading.texts else {},
        "writing": writing.parse(format_of(template, writing.format), "write") if writing.texts else {},
    }
    storage = storage_options() if any(map(is_url, (*sources, template))) else None
    start = time.monotonic()
    with closing(Bar()) as bar:

        def show(result: Conversions) -> None:
            done = result.done + len(result.failed)
            failed = f", {len(result.failed):,} failed" if result.failed else ""
            rate = done / max(time.monotonic() - start, 1e-3)
            text = f"{result.already + done:,} of {result.total:,} files{failed}, {rate:,.0f} a second"
            bar.update(text, done, result.total - result.already)

        with refusing_values():
            result = conversions.convert(
                first if sources_found is None else sources_found,
                template,
                list(names) or None,
                from_format=reading.format,
                to_format=writing.format,
                storage_options=storage,
                progress=show if sys.stderr.isatty() else None,
                **where,
                **options,
            )
    if wants_json:
        counts = {"files": result.total, "converted": result.done, "before": result.already}
        print_json({**counts, "failed": [asdict(failure) for failure in result.failed]})
    else:
        _print_result(result, time.monotonic() - start)
    return FINDINGS if result.failed else FINE


def _print_result(result: Conversions, seconds: float) -> None:
    for failure in result.failed[:_FAILURES_SHOWN]:
        message = failure.error if failure.source in failure.error else f"{failure.source}: {failure.error}"
        print_note("failed", to_cli_options(message, "--read"))
    if len(result.failed) > _FAILURES_SHOWN:
        click.echo(f"and {len(result.failed) - _FAILURES_SHOWN:,} more; --json or a manifest lists all", err=True)
    counts = [f"{result.done:,} converted"]
    counts += [f"{result.already:,} before"] if result.already else []
    counts += [f"{len(result.failed):,} failed"] if result.failed else []
    rate = f" ({(result.done + len(result.failed)) / max(seconds, 1e-3):,.0f} a second)" if result.done else ""
    click.echo(f"{count_noun(result.total, 'file')}: {', '.join(counts)}{rate}", err=True)
