"""The manifest: an SQLite file that says of each source what has become of it."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from ...errors import FormatError, LimitError, system_error
from ...files import RemoteFile, is_url
from .job import Job
from .templates import label_of

PATIENCE = 60.0  # seconds that a conversion waits for another one that uses its manifest
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
    """An open manifest. No other process can open it at the same time.

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
            self._database = sqlite3.connect(self._name, timeout=PATIENCE, isolation_level=None)
        try:
            with self._naming():
                self._open(about)
        except BaseException:
            self._database.close()
            raise

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Turn errors of the database into errors of sheetarray, with the name of the manifest."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise LimitError(
                    f"{self._name}: another process has been using the manifest for {PATIENCE:g} seconds"
                ) from error
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
        stored = dict(run("SELECT key, value FROM about").fetchall())
        for key, value in about.items():
            if stored.get(key) != value:
                raise LimitError(
                    f"{self._name}: a manifest of other conversions: their {key} is {stored.get(key)!s:.200}, "
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
        """Add sources with their targets, which are to be converted."""
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
        """Record that a source was converted, or why it failed."""
        with self._naming():
            self._database.execute(
                "UPDATE files SET state = ?, error = ? WHERE number = ?",
                ("done" if error is None else "failed", error, number),
            )
