"""Faults that tests ask for: errors, resets, slow and truncated answers; and the quotas of the service."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .errors import ApiError

# The faults other than an HTTP status, as `Fault.status` names them
KINDS = ("reset-before", "reset-after", "slow", "late", "truncated", "quota", "empty", "wrong", "repeated")
ODD_ANSWERS = {"empty": b"{}", "wrong": b'{"kind": "drive#file", "id": "0"}'}

_MESSAGES = {
    400: "Request contains an invalid argument.",
    401: "Request had invalid authentication credentials.",
    403: "The caller does not have permission",
    404: "Requested entity was not found.",
    409: "The operation was aborted.",
    500: "Internal error encountered.",
    503: "The service is currently unavailable.",
    504: "Deadline expired before operation could complete.",
}


@dataclass
class Fault:
    """One thing that goes wrong, once or several times.

    Attributes:
        status: an HTTP status from 400 on, or a word: "reset-before" (the connection is reset, nothing is applied),
            "reset-after" (it is applied, then the connection is reset), "truncated" (applied, and half of the answer
            arrives), "slow" (applied at once, answered after `seconds`), "late" (nothing is done for `seconds`, then
            it is applied and answered, whether or not anyone still waits), "quota" (429), "empty" (200 and `{}`),
            "wrong" (200 and JSON of another kind), "repeated" (200 and the answer before, once more).
        method: only requests of this HTTP method.
        path: only requests in whose path and query, unquoted, this regular expression is found.
        times: how many matching requests it strikes; None for all.
        after: how many matching requests pass before it strikes the first.
        retry_after: seconds that a Retry-After header names; None for no such header.
        seconds: that "slow" and "late" wait.
        applied: whether a request that is answered with an HTTP status, or in an odd way, is applied all the same.

    Example:
        >>> Fault(status=503, method="PUT", times=3)
        Fault(status=503, method='PUT', path=None, times=3, after=0, retry_after=None, seconds=1.0, applied=False)
    """

    status: int | str
    method: str | None = None
    path: str | None = None
    times: int | None = 1
    after: int = 0
    retry_after: float | None = None
    seconds: float = 1.0
    applied: bool = False
    seen: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.status, int) and 400 <= self.status < 600) and self.status not in KINDS:
            raise ValueError(f"{self.status!r} is neither an HTTP status from 400 to 599 nor one of {KINDS}")

    def strikes(self, method: str, path: str) -> bool:
        """Return whether the fault strikes a request, and count the request if it matches."""
        if self.method is not None and self.method.upper() != method:
            return False
        if self.path is not None and not re.search(self.path, path):
            return False
        self.seen += 1
        past = self.seen - self.after
        return past > 0 and (self.times is None or past <= self.times)

    @property
    def odd(self) -> bool:
        """Whether the answer has the status of a success, while its content is not that of a success."""
        return self.status in ("empty", "wrong", "repeated")

    @property
    def error_code(self) -> int:
        """The HTTP status that is answered; 0 for faults of another kind."""
        return 429 if self.status == "quota" else self.status if isinstance(self.status, int) else 0

    def error(self, *, writes: bool) -> ApiError:
        """Return the error of a fault that answers with an HTTP status, for a request that writes or does not."""
        headers = {} if self.retry_after is None else {"Retry-After": f"{self.retry_after:g}"}
        if self.error_code == 429:
            return quota_error(60, writes=writes, headers=headers)
        message = _MESSAGES.get(self.error_code, "Something went wrong on purpose.")
        return ApiError(self.error_code, message, headers=headers)


def find_fault(faults: Sequence[Fault], method: str, path: str) -> Fault | None:
    """Return the first fault that strikes a request; the faults after it do not count the request."""
    return next((fault for fault in faults if fault.strikes(method, path)), None)


class Quota:
    """The quotas of reads and of writes per minute, None for no limit; a minute begins with its first request."""

    def __init__(self, limits: tuple[int, int] | None, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._since: dict[bool, float] = {}
        self._used: dict[bool, int] = {}

    def take(self, *, writes: bool) -> None:
        """Count a request; one beyond the limit is refused with 429."""
        if self._limits is None:
            return
        with self._lock:
            now = self._clock()
            if now - self._since.get(writes, float("-inf")) >= 60:
                self._since[writes], self._used[writes] = now, 0
            self._used[writes] += 1
            if self._used[writes] > self._limits[writes]:
                raise quota_error(self._limits[writes], writes=writes)


def quota_error(limit: int, *, writes: bool, headers: dict[str, str] | None = None) -> ApiError:
    """Return the service's answer to a request beyond its quota."""
    word = "Write" if writes else "Read"
    return ApiError(
        429,
        f"Quota exceeded for quota metric '{word} requests' and limit '{word} requests per minute per user' of "
        "service 'sheets.googleapis.com' for consumer 'project_number:0'.",
        details=[
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "RATE_LIMIT_EXCEEDED",
                "domain": "googleapis.com",
                "metadata": {"quota_limit": f"{word}RequestsPerMinutePerUser", "quota_limit_value": str(limit)},
            }
        ],
        headers=headers,
    )
