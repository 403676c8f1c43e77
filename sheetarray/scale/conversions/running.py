"""Where jobs run: here, in processes, on a cluster; a failure is an outcome."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ... import api
from ...errors import FormatError, MissingDependencyError, RemoteError, SheetArrayWarning
from ...files import RemoteFile, file_version
from .job import Job

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
            api.convert_one(job.source, job.target, job.names, **job.options)
        except Exception as error:  # it concerns this file alone
            return Outcome(_describe(error), tuple(messages))
    return Outcome(None, tuple(messages))


def _describe(error: BaseException) -> str:
    kind = type(error)
    plain = kind.__module__.startswith("sheetarray") or issubclass(kind, OSError)
    return str(error) if plain and str(error) else f"{kind.__name__}: {error}"


@contextmanager
def _busy_process() -> Iterator[None]:
    """Let this process write its file to the end, even if its parent ends meanwhile (see `_end_with_parent`)."""
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
                    "no process can be started: a script has to call convert below "
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
