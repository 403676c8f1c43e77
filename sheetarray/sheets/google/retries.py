"""Errors of the service, what they mean, and how often a request is repeated."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from numbers import Real
from typing import Any, NoReturn, TypeVar, cast

from ...errors import RemoteError

Result = TypeVar("Result")

REPEATED = (408, 409, 429, 500, 502, 503, 504)  # statuses of HTTP after which another attempt may succeed
CONNECTION = "is there a connection to the internet, and does the proxy work, where HTTPS_PROXY names one?"
PROXY_HINT = "does something on the way, such as a company's proxy, answer instead of the service?"


MOST_RETRIES = 60  # repeated requests in one read or write
MOST_WAITING = 1800.0  # seconds of one read or write that go into pauses and into requests that fail
TIMEOUT = 600.0  # seconds for all requests and pauses of one read or write; waiting for a quota does not count
_MOST_FAILURES = 8  # of one request; those for want of a quota are bounded by MOST_RETRIES alone
_MOST_UNREACHED = 4  # of one request, if there is no connection to the service
_LONGEST_PAUSE = 64.0  # seconds, unless the service asks for a longer one


class ChangedError(Exception):
    """An error for a worksheet that is not the same any more as it was seen: it is looked at again.

    Where the service has refused a request, its message says why; that may have another reason than somebody's change.
    """


class RefusedError(Exception):
    """A request that the service understood and did not carry out, with its HTTP status and the service's message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message
        self.batch: Sequence[dict[str, Any]] = ()  # the requests that were refused; empty for a single one

    @property
    def limit(self) -> int | None:
        """The number of cells that a spreadsheet may have, if more of them were the reason; otherwise None."""
        match = re.search(r"above the limit of ([\d,]+) cells", self.message)
        return int(match[1].replace(",", "")) if match else None

    @property
    def names(self) -> list[str]:
        """The names, in lower case, of the named range that could not be added and of those after it in the batch.

        Empty if the request was refused for another reason.
        """
        match = re.match(r"Invalid requests\[(\d{1,9})\]\.addNamedRange", self.message)
        behind = self.batch[int(match[1]) :] if match else ()
        return [
            request["addNamedRange"]["namedRange"]["name"].lower() for request in behind if "addNamedRange" in request
        ]


@dataclass(eq=False)
class FailedError(Exception):
    """A request that may succeed later."""

    what: str  # what has happened, for messages
    undone: bool = False  # whether the request certainly had no effect; False if nobody knows
    quota: bool = False  # whether it failed because a quota is used up
    unreached: str = ""  # the hint for people, if there was no connection; empty if there was one
    retry_after: float = 0.0  # the seconds that the service asks to wait
    status: int | None = None  # the HTTP status of the answer; None if there was no answer
    seconds: float = 0.0  # the time from sending the request to its failure


class Retries:
    """The repeated requests and the pauses of one read or write, counted and bounded.

    `waiting`: called with the seconds of each pause, and the reason. `most_waiting`: the most seconds that go into
    pauses and into requests that fail. `timeout`: the most seconds for requests and pauses together, without pauses for
    a quota.
    """

    def __init__(
        self,
        waiting: Callable[[float, str], None] | None = None,
        *,
        most_waiting: float = MOST_WAITING,
        timeout: float = TIMEOUT,
    ) -> None:
        if not isinstance(cast("object", timeout), Real) or not timeout > 0:
            raise ValueError(f"timeout is a number of seconds above 0, not {timeout!r:.80}")
        self.retries = 0  # repeated requests until now
        self.waited = 0.0  # seconds until now that count for `most_waiting`
        self.spent = 0.0  # seconds until now that count for `timeout`
        self.timeout = timeout
        self._waiting, self._most_waiting = waiting, most_waiting
        self._failure: FailedError | None = None  # the last one

    def run(self, request: Callable[[], Result]) -> Result:
        """Run a request and return its result, within the time that is left.

        It runs in a thread of its own, which is abandoned when the time is over. The timeout of a connection would not
        do: an answer of which one byte comes each second never reaches it.
        """
        begun, left = time.monotonic(), self.timeout - self.spent
        outcome: Future[Result] = Future()
        if left > 0:
            threading.Thread(target=_settle, args=(outcome, request), daemon=True).start()
        try:
            return outcome.result(min(max(left, 0), threading.TIMEOUT_MAX))
        except FutureTimeoutError:
            if outcome.done():  # the request itself has raised this error
                raise
            raise self._timeout_error() from None
        finally:
            self.spent += time.monotonic() - begun

    def _can_pause(self, seconds: float) -> bool:
        """Return whether a pause of some seconds leaves time for a request after it."""
        return self.spent + seconds < self.timeout

    def _timeout_error(self) -> RemoteError:
        failure = self._failure
        what = "" if failure is None else f"{failure.what}; "
        return RemoteError(
            f"{what}given up after {self.spent:.0f} seconds, of {self.timeout:g} that timeout= allows",
            hint=(failure and failure.unreached) or "pass a longer timeout= for large arrays, or try again later",
        )

    def repeat(self, attempt: Callable[[], Result]) -> Result:
        """Return the result of a function, called until it raises no `FailedError`; a RemoteError after too many."""
        failures = 0
        while True:
            try:
                return attempt()
            except FailedError as failure:
                failures += 1
                self.wait_for(failure, failures)

    def wait_for(self, failure: FailedError, failures: int) -> None:
        """Wait before another attempt, and count it. Raise a RemoteError after too many attempts or too long a wait."""
        self.waited += failure.seconds
        self._failure = failure
        most = _MOST_UNREACHED if failure.unreached else _MOST_FAILURES
        most = MOST_RETRIES + 1 if failure.quota else most
        pause = max(
            min(2.0 ** (failures - 1), _LONGEST_PAUSE) * random.uniform(0.5, 1.0),  # noqa: S311  (no secret)
            failure.retry_after * random.uniform(1.0, 1.1),  # noqa: S311  (no secret)
        )
        if failures >= most or self.retries >= MOST_RETRIES or self.waited + pause > self._most_waiting:
            self._give_up_error(failure)
        if not failure.quota and not self._can_pause(pause):
            raise self._timeout_error() from None
        self.retries += 1
        self._pause(pause, failure.what, quota=failure.quota)

    def wait_for_others(self, conflicts: int) -> None:
        """Wait for others who write, longer each time; a RemoteError if there is no time left."""
        seconds = min(0.1 * 2.0**conflicts, 2.0) * random.uniform(0.5, 1.0)  # noqa: S311  (no secret)
        why = "others change the spreadsheet"
        if not self._can_pause(seconds) or self.waited + seconds > self._most_waiting:
            raise RemoteError(f"{why}; given up after {self.waited:.0f} seconds", hint="try again later")
        self._pause(seconds, why)

    def attempts(self, count: int) -> Iterator[int]:
        """Yield the numbers of attempts that fail since others write, with pauses between."""
        for number in range(count):
            if number:
                self.wait_for_others(number)
            yield number

    def change_unchanged(self, change: Callable[[], Result], count: int, hint: str) -> Result:
        """Call a function that changes the spreadsheet, again if another program was faster, and return its result.

        `count`: how often it is called; then a RemoteError is raised. `hint`: what people can do then.
        """
        message = ""
        for _ in self.attempts(count):
            try:
                return change()
            except (ChangedError, RefusedError) as changed:
                message = str(changed) or "the worksheet changes"
        raise RemoteError(f"other programs keep changing the spreadsheet: {message:.200}", hint=hint)

    def _pause(self, seconds: float, why: str, *, quota: bool = False) -> None:
        """Wait some seconds; a pause of a second or more is reported to `waiting`, with the reason."""
        self.waited += seconds
        self.spent += 0.0 if quota else seconds
        if self._waiting and seconds >= 1:
            self._waiting(seconds, why)
        time.sleep(seconds)

    def _give_up_error(self, failure: FailedError) -> NoReturn:
        tried = f"{failure.what}, after {self.retries} repetitions and {self.waited:.0f} seconds of waiting"
        if failure.quota:
            hint = "try again later, or ask for a higher quota of the credentials' Google Cloud project"
        else:
            hint = failure.unreached or "try again later"
        raise RemoteError(tried, hint=hint, status=failure.status) from None


def _settle(outcome: Future[Result], request: Callable[[], Result]) -> None:
    """Run a request, and put its result or its error into a future."""
    try:
        outcome.set_result(request())
    except BaseException as error:
        outcome.set_exception(error)
