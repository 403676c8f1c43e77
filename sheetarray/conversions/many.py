"""Many files converted: their targets, the manifest of what is done, and the processes or the cluster at work."""

from __future__ import annotations

import errno
import itertools
import json
import operator
import os
import re
import sqlite3
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from .. import api
from ..errors import FormatError, LimitError, SheetArrayError, warn_caller
from ..files import (
    COMPRESSIONS,
    PathLike,
    RemoteFile,
    file_version,
    find_places,
    is_url,
    locate,
    name_part,
    read_states,
    takes_options,
)
from ..labelled import list_names
from .running import Job, run_here, run_in_processes, run_on_scheduler

# The manifest of many conversions: an SQLite file that says of each source what has become of it.

_MARK = 0x53414D31  # application_id of a manifest, "SAM1"
_OF_THE_SYSTEM = ("SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_PERM", "SQLITE_READONLY")
_SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (number INTEGER PRIMARY KEY, source TEXT NOT NULL UNIQUE, etag TEXT, target TEXT, state TEXT NOT NULL
    CHECK (state IN ('waiting', 'done', 'failed')), error TEXT, before TEXT);
"""


@dataclass(frozen=True)
class ManifestEntry:
    """The entry of a source in a manifest.

    Attributes:
        number: of the source, counted from 0; it stays the same.
        etag: a text that differs for each version of the source: that of the version to be converted.
        target: the path or URL that it is converted to.
        state: "waiting", "done" or "failed".
        before: a text that differs for each version of the target: that of the version when the source began to wait;
            None if it was not noted.
    """

    number: int
    etag: str | None
    target: str | None
    state: str
    before: str | None = None


class Manifest:
    """An open manifest, which no other process can open meanwhile.

    `path`: of the file, which is made if it does not exist. `about`: texts that describe the conversions, such as
    their template; a manifest that exists has to have the same.

    Raises:
        FormatError: the file is no manifest.
        LimitError: it is one of other conversions, or is in use.
        OSError: it cannot be opened, or written.
        ValueError: it is under a URL.
    """

    def __init__(self, path: str | os.PathLike[str], about: Mapping[str, str]) -> None:
        self._name = os.fspath(path)
        if is_url(self._name):
            raise ValueError(f"{RemoteFile(self._name)}: a manifest is a file of this machine")
        _check_path(self._name)
        with self._naming():
            self._database = sqlite3.connect(self._name, timeout=0, isolation_level=None)
        try:
            with self._naming():
                self._open(about)
        except BaseException:
            self._database.close()
            raise

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Make errors of the database ours."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise LimitError(f"{self._name}: the manifest is in use by another process") from error
            if getattr(error, "sqlite_errorname", "").startswith(_OF_THE_SYSTEM):
                raise OSError(errno.EIO, f"{error}", self._name) from error
            raise FormatError(f"is not a manifest of conversions ({error})", source=self._name) from error

    def _open(self, about: Mapping[str, str]) -> None:
        run = self._database.execute
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")  # a kill loses nothing, a loss of power perhaps the last lines
        run("BEGIN EXCLUSIVE")
        mark = run("PRAGMA application_id").fetchone()[0]
        if mark != _MARK:
            if run("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise FormatError("is a database, and no manifest of conversions", source=self._name)
            for statement in filter(str.strip, _SCHEMA.split(";")):
                run(statement)
            run(f"PRAGMA application_id = {_MARK}")
            self._database.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        if "before" not in [column[1] for column in run("PRAGMA table_info(files)")]:  # of an older manifest
            run("ALTER TABLE files ADD COLUMN before TEXT")
        known = dict(run("SELECT key, value FROM about").fetchall())
        for key, value in about.items():
            if known.get(key) != value:
                raise LimitError(
                    f"{self._name}: a manifest of other conversions: their {key} is {known.get(key)!s:.200}, "
                    f"not {value:.200}; a new manifest begins anew"
                )
        run("COMMIT")

    def __enter__(self) -> Manifest:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def entries(self) -> dict[str, ManifestEntry]:
        """Return the entries of the manifest, by source."""
        with self._naming():
            rows = self._database.execute("SELECT source, number, etag, target, state, before FROM files")
            return {source: ManifestEntry(*rest) for source, *rest in rows}

    def add(self, entries: Iterable[tuple[int, str, str | None, str, str | None]]) -> None:
        """Note what is to be done.

        `entries`: number, source, ETag and target of each, and the version that the target has before.
        """
        with self._naming():
            self._database.execute("BEGIN")
            self._database.executemany(
                "INSERT INTO files (number, source, etag, target, before, state) VALUES (?, ?, ?, ?, ?, 'waiting') "
                "ON CONFLICT (source) DO UPDATE SET etag = excluded.etag, target = excluded.target, "
                "state = excluded.state, error = NULL, before = excluded.before",
                entries,
            )
            self._database.execute("COMMIT")

    def note(self, number: int, error: str | None) -> None:
        """Note that a source is done, or why it failed."""
        with self._naming():
            self._database.execute(
                "UPDATE files SET state = ?, error = ? WHERE number = ?",
                ("done" if error is None else "failed", error, number),
            )


def _check_path(name: str) -> None:
    """Refuse a folder, and a file in a folder that does not exist.

    Raises:
        OSError: it is one of them.
    """
    code = errno.EISDIR if os.path.isdir(name) else 0
    code = code or (0 if os.path.isdir(os.path.dirname(name) or ".") else errno.ENOENT)
    if code:
        raise OSError(code, os.strerror(code), name)


# convert_many: thousands of files, each converted to one of its own.

# Templates of targets: `s3://out/{stem}.avro` is another file for each source.

FIELDS = ("stem", "name", "index")
_WIDEST = 99  # characters of a field: a file system takes no name with a longer one
_FORM = re.compile(r"(?:[^{}\0]?[<>=^])?[-+ ]?#?0?\d{0,2}[,_]?(?:\.\d{0,2})?[sdboxX]?")


def check_template(template: str, count: int) -> None:
    """Refuse a template that cannot be filled, or that would name one target for several sources.

    `count`: the number of sources.

    Raises:
        ValueError: says what is wrong with the template.
    """
    fields = set()
    try:
        for _, field, form, conversion in string.Formatter().parse(template):
            if field is None:
                continue
            if field not in FIELDS:
                raise ValueError(f"{{{field}}} is not one of {', '.join(f'{{{known}}}' for known in FIELDS)}")
            if conversion or not _FORM.fullmatch(form or ""):
                raise ValueError(f"{{{field}}} takes a form such as 05 or >20, of {_WIDEST} characters at most")
            fields.add(field)
            format(0 if field == "index" else "", form or "")
    except ValueError as error:
        raise ValueError(f"the template {template!r:.200}: {error}; {{{{ is a brace") from None
    if not fields and count > 1:
        raise ValueError(f"{template!r:.200} is one target for {count:,} sources: give it a field, such as {{stem}}")


def fill_template(template: str, source: PathLike, index: int) -> str:
    """Return the target of a source.

    `template`: of the targets, in which `{name}` is the source's file name, `{stem}` the same without its suffixes,
    and `{index}` its number. `index`: counted from 0.

    Example:
        >>> fill_template("out/{stem}-{index:03}.json", "in/run.2024.csv.gz", 7)
        'out/run.2024-007.json'
    """
    name = os.path.basename(name_part(source))
    bare = next((name.removesuffix(suffix) for suffix in COMPRESSIONS if name.lower().endswith(suffix)), name)
    return template.format_map({"stem": os.path.splitext(bare)[0], "name": name, "index": index})


def check_targets(targets: Mapping[str, str]) -> None:
    """Refuse targets of which two are one file, or that are a source.

    `targets`: by source, both as `label_of` names them.

    Raises:
        ValueError: names both sources.
    """
    owners: dict[str, str] = {}
    for source, target in targets.items():
        if target in owners:
            raise ValueError(
                f"{owners[target]} and {source} would both become {target}: {{index}} in the template tells them apart"
            )
        if target in targets:
            raise ValueError(f"{source} would become {target}, which is one of the sources")
        owners[target] = source


def label_of(place: PathLike) -> str:
    """Return the name of a file in a manifest and in messages: a path from the root, or a URL without secrets."""
    located = locate(place)
    return os.fspath(located) if isinstance(located, RemoteFile) else os.path.realpath(located)


# convert_many: thousands of files, each converted to one of its own.

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


@dataclass(frozen=True)
class _Plan:
    """A source, its target, whether it has been converted already, and the version that the target has now."""

    job: Job
    label: str
    target: str
    etag: str | None
    is_done: bool
    before: str | None = None


def convert_many(
    sources: PathLike | Iterable[PathLike],
    template: PathLike,
    names: Sequence[str] | None = None,
    *,
    workers: int = 1,
    scheduler: Any = None,
    manifest: str | os.PathLike[str] | None = None,
    from_format: str | None = None,
    to_format: str | None = None,
    reading: Mapping[str, Any] | None = None,
    writing: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: Callable[[Conversions], None] | None = None,
) -> Conversions:
    """Convert many files, each to one of its own, as `convert` does; a file that fails is passed over, and reported.

    With a manifest the work can be stopped, or killed, at any time: whoever calls the same again goes on with what is
    not done yet, with files that have failed, and with those that have changed since. A target on this machine that was
    complete when the work was killed is not written again, though nobody could note that it was.

    Args:
        sources: a path or a URL with wildcards, or a list of both.
        template: of the targets: `{name}` is the file name of a source, `{stem}` the same without suffixes, `{index}`
            its number, counted from 0 (`{index:05}` with zeros).
        names: only these arrays; None for all.
        workers: processes that convert, each with its share of the processors; 1 is this one.
        scheduler: address of a dask.distributed scheduler, whose workers convert instead.
        manifest: an SQLite file that keeps of each source its ETag, target, state and error.
        from_format: the sources', instead of their suffixes.
        to_format: the targets', instead of their suffix.
        reading: options for `read`.
        writing: options for `write`.
        storage_options: for the file systems of URLs.
        progress: is called after each file, with the same numbers as are returned in the end.

    Returns:
        The number of files that were converted, the number that had been before, and the error of each other file.

    Raises:
        FileNotFoundError: no file matches, or there is no folder for a target; before anything is converted.
        FormatError: the manifest is a file of another kind.
        LimitError: the manifest is one of other conversions, or in use.
        MissingDependencyError: a scheduler, and dask.distributed is not installed.
        NotFoundError: no such format.
        RemoteError: no scheduler answers.
        TypeError: an option that no format of the sources, or the targets' format, has; before anything is converted.
        ValueError: a template that cannot be filled, two sources of one target, or a target that is a source; before
            anything is converted.

    Warns:
        SheetArrayWarning: what `convert` warns of, each once.

    Example:
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for day in range(3):
        ...     api.write(folder / f"{day}.csv", {"t": [day]})
        >>> convert_many(folder / "*.csv", folder / "day-{stem}.json").done
        3
    """
    workers = operator.index(workers)
    if workers < 1:
        raise ValueError(f"workers: one process at least, not {workers}")
    if scheduler is not None and workers > 1:
        raise ValueError("workers are processes of this machine, and a scheduler has its own: one of both")
    names = list_names(names)
    text = os.fspath(template)
    is_only_target = takes_options(text) and isinstance(sources, (str, os.PathLike)) and not takes_options(sources)
    places = find_places(sources, None if is_only_target else storage_options)
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
        kept = None if manifest is None else stack.enter_context(Manifest(manifest, about))
        sample = Job(0, text, text, None, names, options, scheduler is None and workers > 1)
        plans = _plan(places, text, sample, kept, storage_options)
        result = Conversions(len(plans), already=sum(plan.is_done for plan in plans))
        waiting = [plan for plan in plans if not plan.is_done]
        if kept is not None:
            kept.add((plan.job.number, plan.label, plan.etag, plan.target, plan.before) for plan in waiting)
        if waiting:
            outcomes = _run(iter([plan.job for plan in waiting]), workers, scheduler)
            _collect(stack.enter_context(closing(outcomes)), waiting, result, kept, progress)
    return result


def _check_reading(places: Sequence[PathLike], format: str | None, options: Mapping[str, Any]) -> None:
    """Refuse options that reading would refuse; they are tried with the first file of each suffix.

    Raises:
        TypeError: the format of a file has no such option.
    """
    suffixes = {os.path.splitext(name_part(place))[1].lower(): place for place in reversed(places) if options}
    for place in suffixes.values():
        with suppress(SheetArrayError, OSError):  # of this file alone
            api.check_readable(place, format, options)


def _plan(
    places: Sequence[PathLike],
    template: str,
    sample: Job,
    manifest: Manifest | None,
    storage_options: Mapping[str, Any] | None,
) -> list[_Plan]:
    """Return a plan for each source, once everything that cannot be done has been refused."""
    read_states([place for place in places if isinstance(place, RemoteFile)])  # an error is raised by the conversion
    entries = manifest.entries() if manifest is not None else {}
    numbers = itertools.count(1 + max((entry.number for entry in entries.values()), default=-1))
    labels = [label_of(place) for place in places]
    if len({*labels}) < len(labels):
        double = next(label for index, label in enumerate(labels) if label in labels[:index])
        raise ValueError(f"{double} is named twice among the sources")
    plans = []
    for place, label in zip(places, labels, strict=True):
        entry = entries.get(label)
        number = entry.number if entry is not None else next(numbers)
        target: Any = fill_template(template, place, number)
        target = locate(target, storage_options if takes_options(target) else None)
        target = target if isinstance(target, RemoteFile) else os.path.abspath(target)
        remote = isinstance(place, RemoteFile)
        version = None if remote else file_version(place)
        etag = _etag_of(place.state if isinstance(place, RemoteFile) else version)
        before = None if isinstance(target, RemoteFile) else json.dumps(file_version(target))
        is_done = entry is not None and entry.etag == etag and etag is not None and entry.target == label_of(target)
        if is_done and entry is not None and entry.state == "done":
            is_done = isinstance(target, RemoteFile) or os.path.exists(target)
        elif is_done and entry is not None and (is_done := _was_written(target, entry, before)) and manifest:
            manifest.note(number, None)  # the process that wrote it was killed before it could note that
        job = Job(number, place if remote else label, target, version, sample.names, sample.options, sample.notes)
        plans.append(_Plan(job, label, label_of(target), etag, is_done, before))
    check_targets({plan.label: plan.target for plan in plans})
    folders = {os.path.dirname(plan.target): plan.job.target for plan in plans}
    for target in folders.values():
        api.check_writable(target, sample.options["to_format"], sample.options["writing"])
    return plans


def _was_written(target: Any, entry: ManifestEntry, version: str | None) -> bool:
    """Return whether a target of this machine has another version than when its source began to wait: since targets
    appear whole or not at all, the conversion was then complete.
    """
    if entry.state != "waiting" or entry.before is None or isinstance(target, RemoteFile):
        return False
    return os.path.isfile(target) and version != entry.before


def _etag_of(state: Any) -> str | None:
    """Return a text that differs for each version of a file, made of its state; None if it has none."""
    if isinstance(state, Mapping):
        return str(state["ETag"]) if "ETag" in state else json.dumps(state, sort_keys=True, default=str)
    return None if state is None else json.dumps(state)


def _run(jobs: Iterator[Job], workers: int, scheduler: Any) -> Any:
    if scheduler is not None:
        return run_on_scheduler(jobs, scheduler)
    return run_here(jobs) if workers == 1 else run_in_processes(jobs, workers)


def _collect(
    outcomes: Any,
    plans: Sequence[_Plan],
    result: Conversions,
    manifest: Manifest | None,
    progress: Callable[[Conversions], None] | None,
) -> None:
    """Put each outcome into the result and the manifest as soon as it is known."""
    by_number = {plan.job.number: plan for plan in plans}
    messages: set[str] = set()
    for job, outcome in outcomes:
        if manifest is not None:
            manifest.note(job.number, outcome.error)
        plan = by_number[job.number]
        if outcome.error is None:
            result.done += 1
        else:
            result.failed.append(FailedConversion(plan.label, plan.target, outcome.error))
        for message in outcome.warnings:
            if message not in messages and len(messages) < _MOST_WARNINGS:
                messages.add(message)
                warn_caller(message)
        if progress is not None:
            progress(result)
