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
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import quote

from ...errors import RemoteError
from ...files import PathLike
from ...formats.contract import Progress
from ..sheet_choice import SheetChoice
from .address import SheetAddress, parse_address
from .client import SERVICE, http_client, service_account
from .retries import CONNECTION, PROXY_HINT, REPEATED, FailedError, RefusedError, Retries

Answer = dict[str, Any]
Item = TypeVar("Item")
_ODD = "the answer does not look like one of the Sheets API"


class SheetsApi:
    """The Sheets API, for requests to one spreadsheet.

    `address`: of the spreadsheet; its key is empty for a request that makes one. `patience`: the retries and the time
    that all requests share.
    """

    def __init__(self, http: Any, address: SheetAddress, patience: Retries) -> None:
        self.address, self.key, self.patience = address, address.key, patience
        self.now = time.time()  # by the service's own clock, as of its last answer
        self._http = http
        self._connection_hint: str = getattr(http, "connection_hint", CONNECTION)  # what may be the reason of errors

    def get(self, path: str, parse: Callable[[Answer], Item], **params: Any) -> Item:
        """Send a request that only reads, repeat it as needed, and return its answer, parsed by `parse`."""
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
            raise RemoteError("the service's answers lead in a circle of redirects", hint=PROXY_HINT) from None
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
        if status in REPEATED or status > 504:
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
            raise RemoteError(what, hint=PROXY_HINT) from None
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
    """Return an answer, parsed by `parse`; raise an error if it is another page, such as a proxy's."""
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
