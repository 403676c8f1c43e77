"""What goes wrong with a request, and how long it is tried again.

The waiting grows from one second to a minute, with jitter; Retry-After is honoured; all requests of one read or write
share one `Retries`.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from ...errors import RemoteError

Result = TypeVar("Result")

MOST_RETRIES = 60  # requests repeated in one read or write
MOST_WAITING = 1800.0  # seconds waited, and lost in requests that failed
TIMEOUT = 600.0  # seconds for all requests of one read or write, beyond waiting for a quota
_IN_A_ROW = 8  # failures of one request that are no matter of a quota
_UNREACHED = 4  # of them, where nothing answers at all
_LONGEST_PAUSE = 64.0  # seconds


class ChangedError(Exception):
    """Somebody has written while it was read; or something else is the matter, in the service's words."""


class RefusedError(Exception):
    """A request that the service understood and did not carry out.

    Attributes:
        status: the HTTP status.
        message: the service's own.
        batch: the requests, where they were several.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message
        self.batch: Sequence[dict[str, Any]] = ()

    @property
    def limit(self) -> int | None:
        """The number of cells that a spreadsheet may have, where that was the reason."""
        match = re.search(r"above the limit of ([\d,]+) cells", self.message)
        return int(match[1].replace(",", "")) if match else None

    @property
    def names(self) -> list[str]:
        """The names of the range that could not be added and of those behind it, where that was the reason."""
        match = re.match(r"Invalid requests\[(\d{1,9})\]\.addNamedRange", self.message)
        behind = self.batch[int(match[1]) :] if match else ()
        return [
            request["addNamedRange"]["namedRange"]["name"].lower() for request in behind if "addNamedRange" in request
        ]


@dataclass(eq=False)
class FailedError(Exception):
    """A request that may succeed later.

    Attributes:
        what: happened, for messages.
        undone: whether it certainly had no effect.
        quota: whether a quota is used up.
        unreached: what to look at, where there was no connection; empty where there was one.
        retry_after: seconds that the service asks for.
        status: of the answer.
        seconds: that it took to fail.
    """

    what: str
    undone: bool = False
    quota: bool = False
    unreached: str = ""
    retry_after: float = 0.0
    status: int | None = None
    seconds: float = 0.0


def _is_time(timeout: object) -> bool:
    """Return whether something is a number above 0."""
    try:
        return bool(timeout > 0)  # type: ignore[operator]
    except (TypeError, ValueError):
        return False


class Retries:
    """The repetitions of requests, and the waiting for them, in one read or write.

    Args:
        waiting: told the seconds of each pause, and why.
        most_retries: requests repeated.
        most_waiting: seconds waited, and lost in requests that failed.
        timeout: seconds for requests and pauses together, those for a quota not counted; None for no bound.
    """

    def __init__(
        self,
        waiting: Callable[[float, str], None] | None = None,
        *,
        most_retries: int = MOST_RETRIES,
        most_waiting: float = MOST_WAITING,
        timeout: float | None = None,
    ) -> None:
        if timeout is not None and not _is_time(timeout):
            raise ValueError(f"timeout is a number of seconds above 0, not {timeout!r:.80}")
        self.retries, self.waited, self.spent = 0, 0.0, 0.0
        self.timeout = timeout
        self._waiting, self._most_retries, self._most_waiting = waiting, most_retries, most_waiting

    def run(self, request: Callable[[], Result]) -> Result:
        """Return the result of a request, within the time that is left for it.

        It runs in a thread of its own: no timeout of a connection ends an answer of one byte a second.

        Raises:
            RemoteError: no time is left.
        """
        if self.timeout is None:
            return request()
        begun, left = time.monotonic(), self.timeout - self.spent
        outcome: Future[Result] = Future()
        if left > 0:
            threading.Thread(target=_settle, args=(outcome, request), daemon=True).start()
        try:
            return outcome.result(max(left, 0))
        except FutureTimeoutError:
            if outcome.done():  # an error of the request's own
                raise
            raise self._timeout_error() from None
        finally:
            self.spent += time.monotonic() - begun

    def can_pause(self, seconds: float) -> bool:
        """Return whether there is time for a pause, and for anything after it."""
        in_time = self.timeout is None or self.spent + seconds < self.timeout
        return in_time and self.waited + seconds <= self._most_waiting

    def _timeout_error(self) -> RemoteError:
        return RemoteError(
            f"given up after {self.spent:.0f} seconds, of {self.timeout:g} that timeout= allows",
            hint="pass a longer timeout= for large arrays, or try again later",
        )

    def repeat(self, attempt: Callable[[], Result]) -> Result:
        """Attempt something until it succeeds.

        Raises:
            RemoteError: it keeps failing.
        """
        row = 0
        while True:
            try:
                return attempt()
            except FailedError as failure:
                row += 1
                self.wait_for(failure, row)

    def wait_for(self, failure: FailedError, row: int) -> None:
        """Wait before another attempt.

        Args:
            failure: of the last one.
            row: how many there were in a row.

        Raises:
            RemoteError: no patience is left.
        """
        self.waited += failure.seconds
        most = self._most_retries + 1 if failure.quota else _UNREACHED if failure.unreached else _IN_A_ROW
        pause = max(
            min(2.0 ** (row - 1), _LONGEST_PAUSE) * random.uniform(0.5, 1.0),  # noqa: S311  (no secret)
            failure.retry_after * random.uniform(1.0, 1.1),  # noqa: S311  (no secret)
        )
        if row >= most or self.retries >= self._most_retries or self.waited + pause > self._most_waiting:
            self._give_up_error(failure)
        if not failure.quota and not self.can_pause(pause):
            raise self._timeout_error() from None
        self.retries += 1
        self.pause(pause, failure.what, quota=failure.quota)

    def pause(self, seconds: float, why: str, *, quota: bool = False) -> None:
        """Wait; a second or more is told."""
        self.waited += seconds
        self.spent += 0.0 if quota else seconds
        if self._waiting and seconds >= 1:
            self._waiting(seconds, why)
        time.sleep(seconds)

    def _give_up_error(self, failure: FailedError) -> NoReturn:
        tried = f"{failure.what}, after {self.retries} repetitions and {self.waited:.0f} seconds of waiting"
        if failure.quota:
            hint = "try again later, or ask for a higher quota of the Google Cloud project that the credentials are of"
        else:
            hint = failure.unreached or "try again later"
        raise RemoteError(tried, hint=hint, status=failure.status) from None


def _settle(outcome: Future[Result], request: Callable[[], Result]) -> None:
    try:
        outcome.set_result(request())
    except BaseException as error:
        outcome.set_exception(error)
