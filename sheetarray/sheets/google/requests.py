"""Requests to the service through gspread's HTTP client: what its errors mean, and how often they are repeated.

A request that may succeed later raises a `FailedError`, one that is wrong a `RefusedError`. Requests that only read,
and those that put values into a fixed range, are repeated here, since a second one does no harm. A batch of changes is
sent once: `changes.apply_changes` repeats it after looking whether the changes were made.

The pause before another attempt grows from one second to a minute and is random within bounds, so that many programs do
not come back at once; it is longer where the service asks for that by Retry-After. All requests of one read or write
share one `Retries`.
"""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from numbers import Real
from typing import Any, NoReturn, TypeVar, cast
from urllib.parse import quote

from ...errors import RemoteError
from ...files import PathLike
from ...formats.contract import Progress
from ..sheet_choice import SheetChoice
from .address import SheetAddress, parse_address
from .client import SERVICE, http_client, service_account

Answer = dict[str, Any]
Item = TypeVar("Item")
Result = TypeVar("Result")

_REPEATED = (408, 409, 429, 500, 502, 503, 504)  # statuses of HTTP after which another attempt may succeed
_ODD = "the answer does not look like one of the Sheets API"
_CONNECTION = "is there a connection to the internet, and does the proxy work, where HTTPS_PROXY names one?"
_PROXY_HINT = "does something on the way, such as a company's proxy, answer instead of the service?"

# Errors and repetitions ------------------------------------------------------------------------------------------

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
        return RemoteError(
            f"given up after {self.spent:.0f} seconds, of {self.timeout:g} that timeout= allows",
            hint="pass a longer timeout= for large arrays, or try again later",
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
        """Wait before another attempt, and count it; a RemoteError where either would exceed a bound."""
        self.waited += failure.seconds
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


# Requests --------------------------------------------------------------------------------------------------------


class SheetsApi:
    """The Sheets API, for requests to one spreadsheet.

    `address`: of the spreadsheet; its key is empty for a request that makes one. `patience`: the retries and the time
    that all requests share.
    """

    def __init__(self, http: Any, address: SheetAddress, patience: Retries) -> None:
        self.address, self.key, self.patience = address, address.key, patience
        self.now = time.time()  # by the service's own clock, as of its last answer
        self._http = http
        self._connection_hint: str = getattr(http, "connection_hint", _CONNECTION)  # what may be the reason of errors

    def get(self, path: str, parse: Callable[[Answer], Item], **params: Any) -> Item:
        """Return what `parse` makes of the answer to a request that only reads, repeated as needed."""
        return self.patience.repeat(lambda: _parse_answer(self.send("get", path, params=params), parse))

    def put_values(self, cells: str, body: bytes, parse: Callable[[Answer], object]) -> None:
        """Put values into a range, as they are and without parsing text. Repeated as needed."""
        path, params = f"/values/{quote(cells, safe='')}", {"valueInputOption": "RAW"}
        self.patience.repeat(lambda: _parse_answer(self.send("put", path, params=params, body=body), parse))

    def batch_update(self, body: bytes, *, fields: str = "") -> Answer:
        """Send changes once, and return those `fields` of the answer; the service makes all of them or none.

        A `FailedError` leaves open whether they were made, unless its attribute `undone` is True.
        """
        return self.send("post", ":batchUpdate", params={"fields": fields} if fields else None, body=body)

    def send(
        self, method: str, path: str, *, params: dict[str, Any] | None = None, body: bytes | None = None
    ) -> Answer:
        """Send a request once, and return the answer.

        Raises:
            FailedError: the request may succeed later.
            RefusedError: the service understood the request, and it is wrong in this state of the spreadsheet.
            RemoteError: there is no such spreadsheet, no permission, or no time left.
        """
        import requests
        from google.auth.exceptions import GoogleAuthError
        from gspread.exceptions import APIError

        begun = time.monotonic()
        failure: FailedError
        try:
            return self._answer(self.patience.run(lambda: self._request(method, path, params, body)))
        except FailedError as caught:
            failure = caught
        except APIError as error:
            failure = self._check_response(error.response)
        except requests.exceptions.ConnectionError as error:
            failure = self._connection_error(error)
        except requests.exceptions.Timeout:
            failure = FailedError("the service did not answer in time")
        except GoogleAuthError as error:
            failure = self._credentials_error(error)
        except requests.exceptions.TooManyRedirects:
            raise RemoteError("the service's answers lead in a circle of redirects", hint=_PROXY_HINT) from None
        # gspread raises these as well, where the answer is an error and its JSON is not what it expects
        except (requests.exceptions.RequestException, ValueError, KeyError, TypeError, RecursionError):
            failure = FailedError("the answer was cut off, or does not look like one of the Sheets API")
        failure.seconds = time.monotonic() - begun
        raise failure from None

    def _request(self, method: str, path: str, params: dict[str, Any] | None, body: bytes | None) -> Any:
        """Return the response that gspread's HTTP client gives to a request."""
        from gspread.http_client import BackOffHTTPClient, HTTPClient

        url = path if path.startswith("https://") else f"{SERVICE}/v4/spreadsheets/{self.key}{path}".rstrip("/")
        headers = {"Content-Type": "application/json"} if body is not None else None
        if type(self._http).request is BackOffHTTPClient.request:  # which repeats without end
            return HTTPClient.request(self._http, method, url, params=params, data=body, headers=headers)
        return self._http.request(method, url, params=params, data=body, headers=headers)

    def _answer(self, response: Any) -> Answer:
        """Return the JSON object of a response; a FailedError where it holds something else."""
        self.patience.retries += len(getattr(response, "history", ()))  # redirects are requests too
        self._note_time(response)
        answer = response.json()
        if not isinstance(answer, dict):
            raise FailedError(_ODD)
        return answer

    def _note_time(self, response: Any) -> None:
        """Keep the time that the service's clock showed when it answered."""
        try:
            self.now = parsedate_to_datetime(response.headers["Date"]).timestamp()
        except (KeyError, ValueError, TypeError, IndexError, OverflowError):
            self.now = time.time()

    # What errors mean ----------------------------------------------------------------------------------------

    def _check_response(self, response: Any) -> FailedError:
        """Return the failure that a response with an error means, if another attempt may succeed; or raise an error."""
        self._note_time(response)
        status = int(response.status_code)
        message = _error_message(response)
        if status == 429 or (status == 403 and "quota" in message.lower()):
            what = "the quota of requests is used up"
            return FailedError(what, undone=True, quota=True, retry_after=_retry_after(response), status=status)
        if status in _REPEATED or status > 504:
            what = f"the service is unavailable (HTTP {status})"
            return FailedError(what, retry_after=_retry_after(response), status=status)
        if status in (401, 403, 404):
            raise self._permission_error(status, message) from None
        raise RefusedError(status, message) from None

    def _permission_error(self, status: int, message: str) -> RemoteError:
        """Return the error for a status of 401, 403 or 404, with a hint what to do about it."""
        whom = service_account(self._http) or "the account of the credentials"
        what = f"no permission for the spreadsheet {self.key}"
        hint = f"share it with {whom}, as an editor if it is to be written"
        if status == 401:
            what = "the service does not accept the credentials"
            hint = "the credentials may be expired or withdrawn; make new credentials"
        elif status == 404:
            what = f"there is no spreadsheet {self.key}"
            hint = f"is the key right, and the spreadsheet shared with {whom}?"
        elif "has not been used" in message or "is disabled" in message:
            what = "the Google Sheets API is not enabled"
            hint = "enable it for the Google Cloud project to which the credentials belong"
        elif "scope" in message.lower():
            what = "the scopes of the credentials do not cover this"
            hint = "make credentials with the scope https://www.googleapis.com/auth/spreadsheets"
        return RemoteError(what, hint=hint, status=status)

    def _connection_error(self, error: Exception) -> FailedError:
        """Return the failure that an error of the connection means; a RemoteError where encryption is at fault."""
        from requests.exceptions import ConnectTimeout, ProxyError, SSLError

        if isinstance(error, SSLError) and "EOF" not in repr(error):
            what = "the service's certificate or encryption cannot be accepted"
            raise RemoteError(what, hint=_PROXY_HINT) from None
        if isinstance(error, ProxyError):
            return self._unreached("the proxy cannot be reached, or refuses")
        if isinstance(error, ConnectTimeout) or "NewConnection" in repr(error):
            return self._unreached("the service cannot be reached")
        return FailedError("the connection was cut")

    def _credentials_error(self, error: Exception) -> FailedError:
        """Return the failure to reach the service that signs in; a RemoteError where it refuses the credentials."""
        from google.auth.exceptions import TransportError

        if isinstance(error, TransportError):
            return self._unreached("the service that signs in cannot be reached")
        hint = "the credentials may be expired or withdrawn, or the clock of this machine is wrong"
        raise RemoteError(f"the credentials were not accepted ({type(error).__name__})", hint=hint) from None

    def _unreached(self, what: str) -> FailedError:
        return FailedError(what, undone=True, unreached=self._connection_hint)


def open_service(
    source: Any,
    sheet: SheetChoice,
    client: Any,
    credentials: PathLike | None,
    timeout: float,
    progress: Progress | None = None,
    *,
    writing: bool = False,
) -> SheetsApi:
    """Return the service of the spreadsheet that a source or a target means, through its client or one that is made.

    The attribute `waiting` of `progress`, if it has one, is called with each pause.
    """
    address = parse_address(source, sheet, reads=not writing)
    http = address.http if address.http is not None and client is None else client
    listener = getattr(progress, "waiting", None)
    patience = Retries(listener if callable(listener) else None, timeout=timeout)
    return SheetsApi(http_client(http, credentials, writing=writing), address, patience)


def batch_body(requests: list[Answer], shown: Sequence[str] = ()) -> bytes:
    """Return the body of a batch of changes, whose answer is to show the cells of some ranges after them."""
    body: Answer = {"requests": requests}
    if shown:
        body |= {"includeSpreadsheetInResponse": True, "responseIncludeGridData": True, "responseRanges": list(shown)}
    return dump_json(body)


def pack(sized: Iterable[tuple[Item, int]], room: int) -> Iterator[list[Item]]:
    """Yield things in groups, given each with its size; a group is no larger than `room`, unless it is one thing.

    Example:
        >>> list(pack([("a", 2), ("b", 3), ("c", 9), ("d", 1)], 5))
        [['a', 'b'], ['c'], ['d']]
    """
    group: list[Item] = []
    left = room
    for item, size in sized:
        if group and size > left:
            yield group
            group, left = [], room
        group.append(item)
        left -= size
    if group:
        yield group


def _parse_answer(answer: Answer, parse: Callable[[Answer], Item]) -> Item:
    """Return what `parse` makes of an answer; raise an error if it is another page, such as a proxy's."""
    try:
        return parse(answer)
    except (KeyError, ValueError, TypeError, AttributeError):
        raise FailedError(_ODD) from None


def dump_json(value: Any) -> bytes:
    """Return compact JSON in UTF-8; a UnicodeEncodeError for text that is not valid Unicode."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _error_message(response: Any) -> str:
    """Return at most 500 characters of the service's own message; an empty text where the response has none."""
    try:
        return str(response.json()["error"]["message"])[:500]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _retry_after(response: Any) -> float:
    """Return the seconds that a response asks to wait; 0 if it does not ask."""
    text = str(response.headers.get("Retry-After") or "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        return float(text)
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
