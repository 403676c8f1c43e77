"""Requests to the service, through gspread: repeated where that is safe, for a bounded time, with errors of our own.

What may be repeated: whatever only reads, values put into a fixed range, and changes whose effect can be recognised
afterwards.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from ...errors import RemoteError
from .client import SERVICE, connection_hint, service_account
from .retries import FailedError, RefusedError, Retries

Answer = dict[str, Any]

_REPEATED = (408, 409, 429, 500, 502, 503, 504)
_ANSWERED = ("addSheet", "addNamedRange")  # requests of a batch whose replies always hold something
_ODD = "the answer is none of the Sheets API"


class SheetsApi:
    """One spreadsheet, as its requests go out.

    Args:
        http: gspread's HTTP client.
        key: of the spreadsheet.
        patience: shared by all requests.
    """

    def __init__(self, http: Any, key: str, patience: Retries) -> None:
        self.key, self.patience = key, patience
        self._http = http
        self._now: float | None = None

    @property
    def now(self) -> float:
        """The time by the service's own clock, in seconds since 1970, as of its last answer."""
        return time.time() if self._now is None else self._now

    def get(self, path: str, is_answer: Callable[[Answer], bool], **params: Any) -> Answer:
        """Return the answer to a request that only reads, repeated as needed.

        Args:
            path: of the request.
            is_answer: whether what came back is an answer to this request; another one counts as none.
            params: of the query.
        """
        return self.patience.repeat(lambda: _check_answer(self.send("get", path, params=params), is_answer))

    def put_values(self, cells: str, body: bytes, is_answer: Callable[[Answer], bool]) -> Answer:
        """Put values, as they are, into a fixed range; repeated as needed."""
        path, params = f"/values/{quote(cells, safe='')}", {"valueInputOption": "RAW"}
        return self.patience.repeat(lambda: _check_answer(self.send("put", path, params=params, body=body), is_answer))

    def batch_update(
        self, requests: list[Answer], *, shown: Sequence[str] = (), fields: str = "", body: bytes | None = None
    ) -> Answer:
        """Make changes, all or none, once.

        Args:
            requests: the changes.
            shown: ranges of the spreadsheet as it is afterwards, which the answer is to hold.
            fields: which parts of the answer are wanted, where something is shown.
            body: of the request, where it has been made already.

        Raises:
            FailedError: nobody knows whether they were made, unless it says `undone`.
        """
        params = {"fields": fields} if shown else None
        answer = self.send("post", ":batchUpdate", params=params, body=body or batch_body(requests, shown))
        return _check_answer(answer, lambda answer: self._are_replies(answer, requests))

    def _are_replies(self, answer: Answer, requests: list[Answer]) -> bool:
        """Return whether an answer has a reply to each request of a batch, of its kind."""
        replies = answer.get("replies")
        if answer.get("spreadsheetId", self.key) != self.key or not isinstance(replies, list):
            return False
        kinds = [next(iter(request)) for request in requests]
        return len(replies) == len(kinds) and all(
            isinstance(reply, dict) and (set(reply) == {kind} or (not reply and kind not in _ANSWERED))
            for reply, kind in zip(replies, kinds, strict=True)
        )

    def send(
        self, method: str, path: str, *, params: dict[str, Any] | None = None, body: bytes | None = None
    ) -> Answer:
        """Return one request, once.

        Raises:
            FailedError: it may succeed later.
            RefusedError: it is wrong, in this state of the spreadsheet.
            RemoteError: there is no such spreadsheet, or no permission.
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
            hint = "does something on the way, such as a company's proxy, answer in its place?"
            raise RemoteError("the service's answers lead in a circle of redirects", hint=hint) from None
        except (requests.exceptions.RequestException, ValueError, KeyError, TypeError, RecursionError):
            failure = FailedError("the answer was cut off, or is none of the Sheets API")  # gspread's for odd errors
        failure.seconds = time.monotonic() - begun
        raise failure from None

    def _request(self, method: str, path: str, params: dict[str, Any] | None, body: bytes | None) -> Any:
        from gspread.http_client import BackOffHTTPClient, HTTPClient

        url = path if path.startswith("https://") else f"{SERVICE}/v4/spreadsheets/{self.key}{path}".rstrip("/")
        headers = {"Content-Type": "application/json"} if body is not None else None
        if type(self._http).request is BackOffHTTPClient.request:  # its repetitions have no end
            return HTTPClient.request(self._http, method, url, params=params, data=body, headers=headers)
        return self._http.request(method, url, params=params, data=body, headers=headers)

    def _answer(self, response: Any) -> Answer:
        self.patience.retries += len(getattr(response, "history", ()))  # redirects are requests too
        self._note_time(response)
        answer = response.json()
        if not isinstance(answer, dict):
            raise FailedError(_ODD)
        return answer

    def _note_time(self, response: Any) -> None:
        try:
            self._now = parsedate_to_datetime(response.headers["Date"]).timestamp()
        except (KeyError, ValueError, TypeError, IndexError, OverflowError):
            self._now = None

    # What an answer that is no success means -----------------------------------------------------------------

    def _check_response(self, response: Any) -> FailedError:
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
        account = service_account(self._http)
        whom = account or "the account of the credentials"
        if status == 401:
            hint = "they may be expired or withdrawn; make new ones"
            return RemoteError("the service does not accept the credentials", hint=hint, status=status)
        if status == 404:
            hint = f"is the key right, and the spreadsheet shared with {whom}?"
            return RemoteError(f"there is no spreadsheet {self.key}", hint=hint, status=status)
        if "has not been used" in message or "is disabled" in message:
            hint = "enable it for the Google Cloud project that the credentials are of"
            return RemoteError("the Google Sheets API is not enabled", hint=hint, status=status)
        if "scope" in message.lower():
            hint = "make them with the scope https://www.googleapis.com/auth/spreadsheets"
            return RemoteError("the credentials do not cover this (their scopes)", hint=hint, status=status)
        hint = f"share it with {whom}, as an editor where it is to be written"
        return RemoteError(f"no permission for the spreadsheet {self.key}", hint=hint, status=status)

    def _connection_error(self, error: Exception) -> FailedError:
        from requests.exceptions import ConnectTimeout, ProxyError, SSLError

        if isinstance(error, SSLError) and "EOF" not in repr(error):
            hint = "does something on the way, such as a company's proxy, answer in its place?"
            raise RemoteError("the service's certificate or encryption cannot be accepted", hint=hint) from None
        hint = connection_hint(self._http)
        if isinstance(error, ProxyError):
            return FailedError("the proxy cannot be reached, or refuses", undone=True, unreached=hint)
        if isinstance(error, ConnectTimeout) or "NewConnection" in repr(error):
            return FailedError("the service cannot be reached", undone=True, unreached=hint)
        return FailedError("the connection was cut")

    def _credentials_error(self, error: Exception) -> FailedError:
        from google.auth.exceptions import TransportError

        if isinstance(error, TransportError):
            hint = connection_hint(self._http)
            return FailedError("the service that signs in cannot be reached", undone=True, unreached=hint)
        hint = "they may be expired or withdrawn, or the clock of this machine is wrong"
        raise RemoteError(f"the credentials were not accepted ({type(error).__name__})", hint=hint) from None


def batch_body(requests: list[Answer], shown: Sequence[str] = ()) -> bytes:
    """Return the body of a batch of changes, whose answer shows ranges as they are afterwards."""
    body: Answer = {"requests": requests}
    if shown:
        body |= {"includeSpreadsheetInResponse": True, "responseIncludeGridData": True, "responseRanges": list(shown)}
    return dump_json(body)


def _check_answer(answer: Answer, is_answer: Callable[[Answer], bool]) -> Answer:
    """Return an answer that is one to its request.

    Raises:
        FailedError: it is of another kind, such as what a proxy makes up, or the answer to another request.
    """
    try:
        if is_answer(answer):
            return answer
    except (KeyError, ValueError, TypeError, AttributeError):
        pass
    raise FailedError(_ODD)


def dump_json(value: Any) -> bytes:
    """Return compact JSON in UTF-8.

    Raises:
        UnicodeEncodeError: text that is no valid Unicode.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _error_message(response: Any) -> str:
    try:
        return str(response.json()["error"]["message"])[:500]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _retry_after(response: Any) -> float:
    """Return the seconds to wait; 0 where the answer asks for none."""
    text = str(response.headers.get("Retry-After") or "").strip()
    try:
        if re.fullmatch(r"[\d.]+", text):
            return float(text)
        seconds = parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return max(seconds, 0.0)
