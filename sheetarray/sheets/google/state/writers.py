"""`Writer`, the process that writes: its mark in the spreadsheet, and whether it can still be alive.

A mark has a time by the clock of the service, and a writer: a digest of the machine, the process, and a random part. On
the same machine a dead process is seen at once. Elsewhere a write is given up for dead after two hours; no write lasts
that long. A mistake here costs a writer its work, and never a reader an array: each commit proves that its own mark is
still there.
"""

from __future__ import annotations

import calendar
import hashlib
import os
import platform
import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

GIVEN_UP_AFTER = 7200.0  # seconds

_MARK = re.compile(r"(\d{8}T\d{6}Z) by ([0-9a-f]{8})-(\d{1,10})-([0-9a-f]{12})")
_TIME = "%Y%m%dT%H%M%SZ"
_OURS: set[str] = set()  # the random parts of what this process is writing


@cache
def this_machine() -> str:
    """Return a code of this machine that does not give its name away.

    Two writers with one code run on one machine, so that their process ids can be compared."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    with suppress(OSError), open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        parts.append(file.read())
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class Writer:
    """A write under way."""

    began: float  # seconds since 1970, by the service's clock
    machine: str = field(default_factory=this_machine)  # a digest
    process: int = field(default_factory=os.getpid)  # its id there
    random: str = field(default_factory=lambda: secrets.token_hex(6))  # unique

    def __str__(self) -> str:
        when = time.strftime(_TIME, time.gmtime(self.began))
        return f"{when} by {self.machine}-{self.process}-{self.random}"

    @classmethod
    def from_text(cls, text: str) -> Writer | None:
        """Return the writer whose mark a text has; None where it has none."""
        if not (match := _MARK.search(text)):
            return None
        try:
            began = float(calendar.timegm(time.strptime(match[1], _TIME)))
        except ValueError:
            began = 0.0
        return cls(began, match[2], int(match[3]), match[4])

    def describe(self, now: float) -> str:
        """Return a sentence about who writes, and for how long; `now` is by the service's clock.

        Example:
            >>> Writer(100.0, machine="ab12cd34", process=7, random="0" * 12).describe(1000.0)
            'process 7 on another machine (ab12cd34) has been writing for 15 minutes'
        """
        ours = self.machine == this_machine()
        where = "this machine" if ours else f"another machine ({self.machine})"
        minutes = max(round((now - self.began) / 60), 0)
        age = f"{minutes / 60:.1f} hours" if minutes >= 120 else f"{minutes} minute{'s' * (minutes != 1)}"
        if self.is_dead(now):
            return f"process {self.process} on {where} began {age} ago and is dead"
        return f"process {self.process} on {where} has been writing for {age}"

    def __enter__(self) -> Writer:
        _OURS.add(self.random)
        return self

    def __exit__(self, *_: object) -> None:
        _OURS.discard(self.random)

    def is_dead(self, now: float) -> bool:
        """Return whether the writer has died, or is older than `GIVEN_UP_AFTER`."""
        if now - self.began > GIVEN_UP_AFTER:
            return True
        if self.machine != this_machine() or os.name != "posix":
            return False
        if self.process == os.getpid():
            return self.random not in _OURS
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):
            return False
        return False
