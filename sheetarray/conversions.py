"""convert_many: thousands of files, each converted to one of its own, in several processes or on a cluster; resumed."""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import sqlite3
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from . import api
from .arrays import list_names
from .errors import (
    FormatError,
    LimitError,
    MissingDependencyError,
    RemoteError,
    SheetArrayError,
    SheetArrayWarning,
    check_kinds,
    parse_count,
    system_error,
    warn_caller,
)
from .files import (
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
class Job:
    """One conversion."""

    number: int  # of the source, counted from 0; it stays the same in a manifest
    source: PathLike  # an absolute path, or a remote file with the state that it had when it was listed
    target: PathLike  # an absolute path, or a remote file
    # that of a source on this machine when it was listed; None for a remote file
    version: tuple[Any, ...] | None = None
    names: Sequence[str] | None = None  # of the arrays; None for all
    options: Mapping[str, Any] = field(default_factory=dict)  # for `convert`
    notes: bool = False  # whether warnings are part of the outcome
    label: str = ""  # of the source, in a manifest and in messages
    etag: str | None = None  # a text that differs for each version of the source; None if it has none
    # a text that differs for each version of the target: that of the version that is there now; None for a remote one
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
    """Convert many files, each to a file of its own. A file that fails is skipped and reported.

    With a manifest, you can stop or kill the conversion at any time. The same call then converts the files that are not
    done, that failed, or that changed since then. A complete target on this machine is not written again.

    Args:
        sources: a path or a URL with wildcards, or a list of both.
        template: the name of each target: `{name}` is the file name of a source, `{stem}` the same without suffixes,
            `{index}` its number, counted from 0 (`{index:05}` with zeros).
        names: the arrays to convert; None converts all.
        workers: the number of processes, which share the processors; 1 is this process.
        scheduler: the address of a dask.distributed scheduler. Its workers convert the files, instead of processes on
            this machine.
        manifest: an SQLite file that keeps the ETag, target, state and error of each source.
        from_format: the name of the sources' format; None chooses it by the suffixes.
        to_format: the name of the targets' format; None chooses it by the suffix.
        reading: options for `read`.
        writing: options for `write`.
        storage_options: options of the file systems of URLs.
        progress: a function, called after each file with the counts so far.

    Returns:
        The number of files that were converted, the number that were done before, and the error of each other file.

    Raises:
        FileNotFoundError: no file matches, or the folder of a target does not exist. Nothing was converted.
        FormatError: the manifest is a file of another kind.
        LimitError: the manifest belongs to other conversions, or is in use.
        MissingDependencyError: you name a scheduler, and dask.distributed is not installed.
        NotFoundError: the format does not exist.
        RemoteError: the scheduler does not answer.
        TypeError: a format does not have one of the options. Nothing was converted.
        ValueError: the template cannot be filled, two sources have one target, or a target is a source. Nothing was
            converted.

    Warns:
        SheetArrayWarning: the warnings of `convert`, each once.

    Example:
        >>> import pathlib, tempfile
        >>> from sheetarray import write
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for day in range(3):
        ...     write(folder / f"{day}.csv", {"t": [day]})
        >>> convert_many(folder / "*.csv", folder / "day-{stem}.json").done
        3
    """
    workers = parse_count("process", workers=workers)
    check_kinds(str | None, "the address of a scheduler, text", scheduler=scheduler)
    check_kinds(str | os.PathLike, "a path", template=template)
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
        shared = {"names": names, "options": options, "notes": scheduler is None and workers > 1}
        jobs, already = _plan(places, text, shared, kept, storage_options)
        result = Conversions(len(places), already=already)
        if kept is not None:
            kept.add(jobs)
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
            if kept is not None:
                kept.note(job.number, outcome.error)
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
            raise ValueError(f"{label} is named twice among the sources")
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


# Templates of targets: `s3://out/{stem}.avro` is another file for each source ------------------------------------

FIELDS = ("stem", "name", "index")
_FIELD = re.compile(
    r"\{(?:(stem|name|index)|index:0?([1-9]\d?))\}|(\{\{|\}\})"
)  # the last: a brace that is written twice


def check_template(template: str, count: int) -> None:
    """Refuse a template that cannot be filled, or that would name one target for several sources.

    `count`: the number of sources.
    """
    if set("{}") & set(_FIELD.sub("", template)):
        raise ValueError(
            f"the template {template!r:.200}: fields are {{stem}}, {{name}}, {{index}} or {{index:05}}; {{{{ is a brace"
        )
    if count > 1 and all(match[3] for match in _FIELD.finditer(template)):
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
    values = {"stem": os.path.splitext(bare)[0], "name": name, "index": str(index)}

    def fill(match: re.Match[str]) -> str:
        field, width, brace = match.groups()
        return brace[0] if brace else values[field] if field else values["index"].zfill(int(width))

    return _FIELD.sub(fill, template)


def check_targets(targets: Mapping[str, str]) -> None:
    """Refuse two targets that are the same file, and targets that are sources.

    `targets`: by source, both as `label_of` names them.
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


# The manifest: an SQLite file that says of each source what has become of it ---------------------------------------

_MARK = 0x53414D31  # application_id of a manifest, "SAM1"
_OF_THE_SYSTEM = ("SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_PERM", "SQLITE_READONLY")
_SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (number INTEGER PRIMARY KEY, source TEXT NOT NULL UNIQUE, etag TEXT, target TEXT, state TEXT NOT NULL
    CHECK (state IN ('waiting', 'done', 'failed')), error TEXT, before TEXT);
"""


@dataclass(frozen=True)
class ManifestEntry:
    """The entry of a source in a manifest."""

    number: int  # of the source, counted from 0; it stays the same
    etag: str | None  # a text that differs for each version of the source: that of the version to be converted
    target: str | None  # the path or URL that it is converted to
    state: str  # "waiting", "done" or "failed"
    # a text that differs for each version of the target: that of the version when the source began to wait; None if it
    # was not noted
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
            raise ValueError(f"{RemoteFile(self._name)}: a manifest must be a file on this machine")
        if os.path.isdir(self._name):
            raise system_error(errno.EISDIR, self._name)
        if not os.path.isdir(os.path.dirname(self._name) or "."):
            raise system_error(errno.ENOENT, self._name)
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
                raise FormatError("is a database, but not a manifest of conversions", source=self._name)
            for statement in filter(str.strip, _SCHEMA.split(";")):
                run(statement)
            run(f"PRAGMA application_id = {_MARK}")
            self._database.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        known = dict(run("SELECT key, value FROM about").fetchall())
        for key, value in about.items():
            if known.get(key) != value:
                raise LimitError(
                    f"{self._name}: a manifest of other conversions: their {key} is {known.get(key)!s:.200}, "
                    f"not {value:.200}; name another manifest to begin again"
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

    def add(self, jobs: Iterable[Job]) -> None:
        """Note what is to be done."""
        rows = ((job.number, job.label, job.etag, label_of(job.target), job.before) for job in jobs)
        with self._naming():
            self._database.execute("BEGIN")
            self._database.executemany(
                "INSERT INTO files (number, source, etag, target, before, state) VALUES (?, ?, ?, ?, ?, 'waiting') "
                "ON CONFLICT (source) DO UPDATE SET etag = excluded.etag, target = excluded.target, "
                "state = excluded.state, error = NULL, before = excluded.before",
                rows,
            )
            self._database.execute("COMMIT")

    def note(self, number: int, error: str | None) -> None:
        """Note that a source is done, or why it failed."""
        with self._naming():
            self._database.execute(
                "UPDATE files SET state = ?, error = ? WHERE number = ?",
                ("done" if error is None else "failed", error, number),
            )


# Where jobs run: here, in processes, on a cluster; a failure is an outcome ------------------------------------------

_WINDOW = 4  # conversions that wait for each process, so that none is idle
_PATIENCE = "15s"  # for the answer of a scheduler
_ENGINE_THREADS = "POLARS_MAX_THREADS"

_busy = threading.Lock()  # held while this process converts a file


@dataclass(frozen=True)
class Outcome:
    """The result of a conversion: its error, None for success, and its warnings."""

    error: str | None = None
    warnings: tuple[str, ...] = ()


def run_job(job: Job) -> Outcome:
    """Convert one file; an error is not raised, but is the outcome."""
    with _busy_process(), _noting(job.notes) as messages:
        try:
            if not isinstance(job.source, RemoteFile) and file_version(job.source) != job.version:
                raise FormatError("the file has changed since it was listed", source=os.fspath(job.source))
            api.convert(job.source, job.target, job.names, **job.options)
        except Exception as error:  # it concerns this file alone
            return Outcome(_describe(error), tuple(messages))
    return Outcome(None, tuple(messages))


def _describe(error: BaseException) -> str:
    kind = type(error)
    plain = kind.__module__.startswith("sheetarray") or issubclass(kind, OSError)
    return str(error) if plain and str(error) else f"{kind.__name__}: {error}"


@contextmanager
def _busy_process() -> Iterator[None]:
    """Keep this process from ending with its parent before a file is written (see `_end_with_parent`)."""
    held = _busy.acquire(blocking=False)
    try:
        yield
    finally:
        if held:
            _busy.release()


@contextmanager
def _noting(notes: bool) -> Iterator[list[str]]:
    messages: list[str] = []
    if not notes:
        yield messages
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SheetArrayWarning)
        yield messages
        messages += dict.fromkeys(str(entry.message) for entry in caught)


def run_in_processes(jobs: Iterator[Job], workers: int) -> Iterator[tuple[Job, Outcome]]:
    """Yield the outcomes of conversions in processes that are started for them, and not forked off this one.

    When a process dies, the conversions of the others are lost as well. All of these are done again, each file in a
    process of its own; a file that ends this one too has failed.

    Raises:
        RuntimeError: no process can be started.
    """
    works = False
    while True:
        lost: list[Job] = []
        for job, outcome in _run_in_pool(jobs, workers, _WINDOW * workers, lost):
            works = True
            yield job, outcome
        if not lost:
            return
        for job in lost:
            lost_again: list[Job] = []
            outcomes = list(_run_in_pool(iter([job]), 1, 1, lost_again))
            works = works or bool(outcomes) or _can_start_process()
            if not works:
                raise RuntimeError(
                    "no process can be started: a script has to call convert_many below "
                    'if __name__ == "__main__":, as with any processes of Python'
                )
            yield from outcomes or [
                (job, Outcome("the process that converted this file died, perhaps for lack of memory"))
            ]


def _run_in_pool(jobs: Iterator[Job], workers: int, window: int, lost: list[Job]) -> Iterator[tuple[Job, Outcome]]:
    pool = _make_pool(workers)
    try:
        yield from _run_on(pool, jobs, window, lost)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _make_pool(workers: int) -> ProcessPoolExecutor:
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    share = max(1, (os.cpu_count() or 1) // workers)
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_process, initargs=(share,))


def _can_start_process() -> bool:
    """Return whether a process that has nothing to do starts; where none does, no file is to blame."""
    with _make_pool(1) as pool:
        try:
            pool.submit(os.getpid).result()
        except BrokenProcessPool:
            return False
    return True


def run_on_scheduler(jobs: Iterator[Job], address: Any) -> Iterator[tuple[Job, Outcome]]:
    """Yield the outcomes of conversions on a cluster of dask.distributed.

    `address`: of its scheduler, such as `tcp://10.0.0.1:8786`; or what else its `Client` takes.

    Raises:
        MissingDependencyError: distributed is not installed.
        RemoteError: no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingDependencyError(
            f"a cluster needs {error.name}: pip install 'sheetarray[dask]'", name=error.name
        ) from error
    make_client: Any = Client
    try:
        client = make_client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RemoteError(f"{address}: no scheduler answers ({type(error).__name__}: {error})") from error
    with client:
        threads = sum(client.nthreads().values()) or 1
        yield from _run_on(client.get_executor(pure=False), jobs, _WINDOW * threads, [])


def _run_on(executor: Executor, jobs: Iterator[Job], window: int, lost: list[Job]) -> Iterator[tuple[Job, Outcome]]:
    """Yield outcomes as they come; jobs that were not done when the processes died are put into `lost`."""
    pending: dict[Future[Outcome], Job] = {}
    while True:
        while len(pending) < window and (job := next(jobs, None)) is not None:
            try:
                pending[executor.submit(run_job, job)] = job
            except BrokenProcessPool:
                lost.append(job)
                break
        if not pending:
            return
        ready, _ = wait(pending, return_when=FIRST_COMPLETED)
        for future in ready:
            job = pending.pop(future)
            try:
                yield job, future.result()
            except BrokenProcessPool:
                lost.append(job)
            except Exception as error:  # of the cluster: this file is not done
                yield job, Outcome(_describe(error))
        if lost:
            lost += pending.values()
            return


def _begin_process(threads: int) -> None:
    """Let the columnar engine of this process have its share of the processors, and end it with its parent."""
    os.environ.setdefault(_ENGINE_THREADS, str(threads))
    _end_with_parent()


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, after the file that is being written."""
    import multiprocessing
    from multiprocessing.connection import wait as wait_for

    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            wait_for([parent.sentinel])
            _busy.acquire()
            os._exit(1)

    threading.Thread(target=watch, name="sheetarray-parent", daemon=True).start()
