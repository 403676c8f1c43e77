"""Convert many files, each to a file of its own, in several processes or on a cluster. A killed run can be resumed."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from typing import Any

from ... import api
from ...errors import SheetArrayError, check_kinds, escape_controls, parse_count, warn_caller
from ...files import PathLike, RemoteFile, file_version, find_places, locate, name_part, read_states, takes_options
from ...formats import is_service_url
from ...linear.named import list_names
from .job import Job
from .manifest import Manifest, ManifestEntry
from .running import run_in_processes, run_job, run_on_scheduler
from .templates import check_targets, check_template, fill_template, label_of

_MOST_WARNINGS = 100  # different ones that are passed on


@dataclass(frozen=True)
class FailedConversion:
    """A file that could not be converted.

    Attributes:
        source: its path or URL.
        target: the path or URL that it was to be converted to.
        error: a sentence that says what is wrong.
    """

    source: str
    target: str
    error: str


@dataclass
class Conversions:
    """The numbers of files that were converted or not, and the failures.

    Attributes:
        total: the number of files.
        done: the number of files that have been converted.
        already: the number of files that had been converted before, as the manifest says.
        failed: the files that could not be converted.
    """

    total: int
    done: int = 0
    already: int = 0
    failed: list[FailedConversion] = field(default_factory=list)


def convert_many(
    sources: PathLike | Iterable[PathLike],
    template: PathLike,
    names: str | Sequence[str] | None,
    *,
    workers: int | None,
    scheduler: Any,
    manifest: str | os.PathLike[str] | None,
    from_format: str | None,
    to_format: str | None,
    reading: Mapping[str, Any] | None,
    writing: Mapping[str, Any] | None,
    storage_options: Mapping[str, Any] | None,
    progress: Callable[[Conversions], None] | None,
) -> Conversions:
    """Convert many files, each to a file of its own."""
    workers = 1 if workers is None else workers
    workers = parse_count("process", workers=workers)
    check_kinds(str | None, "the address of a scheduler, text", scheduler=scheduler)
    check_kinds(str | os.PathLike | None, "a path", manifest=manifest)
    check_kinds(Mapping | None, "a mapping of option names to values", reading=reading, writing=writing)
    if scheduler is not None and workers > 1:
        raise ValueError(
            "workers= starts processes on this machine, and scheduler= uses a cluster: pass only one of them"
        )
    names = list_names(names)
    text = os.fspath(template)
    is_only_target = takes_options(text) and isinstance(sources, (str, os.PathLike)) and not takes_options(sources)
    places = find_places(sources, None if is_only_target else storage_options)
    for place in (text, *(place.url for place in places if isinstance(place, RemoteFile))):
        if is_service_url(place):
            raise ValueError(f"{place:.200}: many files are converted from files to files; convert this one alone")
    check_template(text, len(places))
    options: dict[str, Any] = {
        "from_format": from_format,
        "to_format": to_format,
        "reading": dict(reading or {}),
        "writing": dict(writing or {}),
    }
    about = {"template": label_of(text), "options": json.dumps([names, options], sort_keys=True, default=repr)}
    _check_reading(places, from_format, options["reading"])
    with ExitStack() as stack:
        jobs_file = None if manifest is None else stack.enter_context(Manifest(manifest, about))
        shared = {"names": names, "options": options, "notes": scheduler is None and workers > 1}
        jobs, already = _plan(places, text, shared, jobs_file, storage_options)
        result = Conversions(len(places), already=already)
        if jobs_file is not None:
            jobs_file.add(jobs)
        if not jobs:
            return result
        if scheduler is not None:
            outcomes: Any = run_on_scheduler(iter(jobs), scheduler)
        elif workers > 1:
            outcomes = run_in_processes(iter(jobs), workers)
        else:
            outcomes = ((job, run_job(job)) for job in jobs)
        messages: set[str] = set()
        for job, outcome in stack.enter_context(closing(outcomes)):
            if jobs_file is not None:
                jobs_file.note(job.number, outcome.error)
            if outcome.error is None:
                result.done += 1
            else:
                result.failed.append(FailedConversion(job.label, label_of(job.target), outcome.error))
            for message in outcome.warnings:
                if message not in messages and len(messages) < _MOST_WARNINGS:
                    messages.add(message)
                    warn_caller(message)
            if progress is not None:
                progress(result)
    return result


def _check_reading(places: Sequence[PathLike], format: str | None, options: Mapping[str, Any]) -> None:
    """Refuse options that reading would refuse; they are tried with the first file of each suffix."""
    suffixes = {os.path.splitext(name_part(place))[1].lower(): place for place in reversed(places) if options}
    for place in suffixes.values():
        with suppress(SheetArrayError, OSError):  # of this file alone
            api.check_readable(place, format, options)


def _plan(
    places: Sequence[PathLike],
    template: str,
    shared: Mapping[str, Any],
    manifest: Manifest | None,
    storage_options: Mapping[str, Any] | None,
) -> tuple[list[Job], int]:
    """Return a job for each source that is not converted yet, and the number of the others.

    What cannot be done is refused before. `shared`: the attributes that all jobs have.
    """
    read_states([place for place in places if isinstance(place, RemoteFile)])  # an error is raised by the conversion
    entries = manifest.entries() if manifest is not None else {}
    numbers = itertools.count(1 + max((entry.number for entry in entries.values()), default=-1))
    jobs: list[Job] = []
    targets: dict[str, str] = {}
    folders: dict[str, PathLike] = {}
    for place in places:
        label = label_of(place)
        if label in targets:
            raise ValueError(escape_controls(f"{label} is named twice among the sources"))
        entry = entries.get(label)
        number = entry.number if entry is not None else next(numbers)
        target: Any = fill_template(template, place, number)
        target = locate(target, storage_options if takes_options(target) else None)
        target = target if isinstance(target, RemoteFile) else os.path.abspath(target)
        targets[label] = label_of(target)
        folders[os.path.dirname(targets[label])] = target
        remote = place if isinstance(place, RemoteFile) else None
        version = file_version(place) if remote is None else None
        etag = _etag_of(remote.state if remote is not None else version)
        before = None if isinstance(target, RemoteFile) else json.dumps(file_version(target))
        job = Job(number, remote or label, target, version, label=label, etag=etag, before=before, **shared)
        if entry is None or manifest is None or not _is_done(job, entry, targets[label]):
            jobs.append(job)
        elif entry.state == "waiting":
            manifest.note(number, None)  # the process that wrote it was killed before it could note that
    check_targets(targets)
    for target in folders.values():
        api.check_writable(target, shared["options"]["to_format"], shared["options"]["writing"])
    return jobs, len(places) - len(jobs)


def _is_done(job: Job, entry: ManifestEntry, target: str) -> bool:
    """Return whether a source has been converted, and neither it nor its target has changed since.

    A target of this machine that has another version than when its source began to wait was written: since targets
    appear whole or not at all, the conversion was then complete.
    """
    if job.etag is None or (entry.etag, entry.target) != (job.etag, target):
        return False
    remote = isinstance(job.target, RemoteFile)
    if entry.state == "done":
        return remote or os.path.exists(job.target)
    waits = entry.state == "waiting" and entry.before is not None and not remote
    return waits and os.path.isfile(job.target) and job.before != entry.before


def _etag_of(state: Any) -> str | None:
    """Return a text that differs for each version of a file, made of its state; None if it has none."""
    if isinstance(state, Mapping):
        return str(state["ETag"]) if "ETag" in state else json.dumps(state, sort_keys=True, default=str)
    return None if state is None else json.dumps(state)
