"""How requests get to the service: through a client of gspread, the caller's own or one that is made here.

A client that is made here asks for the least: `spreadsheets.readonly` to read, `spreadsheets` to write, and nothing of
Drive. Credentials are those of `credentials=`, else of GOOGLE_APPLICATION_CREDENTIALS, else the application's default.
Where SHEETARRAY_SHEETS_ENDPOINT names a server on this machine, all requests go there, and no credentials at all.
"""

from __future__ import annotations

import copy
import ipaddress
import json
import os
import stat
import warnings
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from ...errors import LimitError, MissingDependencyError, RemoteError, SheetArrayWarning
from ...files import PathLike

ENDPOINT = "SHEETARRAY_SHEETS_ENDPOINT"
SERVICE = "https://sheets.googleapis.com"
TIMEOUT = (20.0, 190.0)  # seconds to connect, and between bytes: the service itself gives up after 180

_ENVIRONMENT = "GOOGLE_APPLICATION_CREDENTIALS"
_SCOPE = "https://www.googleapis.com/auth/spreadsheets"
_ADVICE = (
    "pass credentials= with the path of a service account's key file, or set GOOGLE_APPLICATION_CREDENTIALS, or run "
    "gcloud auth application-default login"
)


def http_client(client: Any, credentials: PathLike | None, *, writing: bool) -> Any:
    """A gspread HTTPClient with a timeout; the caller's own client is never changed.

    Args:
        client: a gspread Client or HTTPClient; None makes one.
        credentials: the path of a key file, where there is no client.
        writing: whether it has to be allowed to write.

    Raises:
        MissingDependencyError: gspread is not installed.
        RemoteError: no credentials, or none that can be used.
        LimitError: an endpoint that is not on this machine.
        OSError: no such credentials file.
    """
    try:
        import gspread
    except ImportError as error:
        raise MissingDependencyError("Google Sheets are reached by gspread: pip install gspread") from error
    if client is None:
        endpoint = os.environ.get(ENDPOINT)
        made = _local(endpoint) if endpoint else gspread.Client(auth=_credentials(credentials, writing))
        http = made.http_client
    else:
        http = copy.copy(getattr(client, "http_client", client))
    if not hasattr(http, "request"):
        raise TypeError(f"client is a gspread Client, not {type(client).__name__}")
    if getattr(http, "timeout", None) is None:
        http.timeout = TIMEOUT
    return http


def account_of(http: Any) -> str | None:
    """The address of the service account that a client acts for; None where it is no service account."""
    for holder in (getattr(http, "auth", None), getattr(getattr(http, "session", None), "credentials", None)):
        address = getattr(holder, "service_account_email", None)
        if isinstance(address, str) and "@" in address:
            return address
    return None


# A server on this machine ------------------------------------------------------------------------------------


def _local(endpoint: str) -> Any:
    import requests
    from gspread import Client
    from gspread.http_client import HTTPClient

    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not _is_loopback(parts.hostname) or parts.username:
        raise LimitError(f"{ENDPOINT} is the address of a server on this machine, such as http://127.0.0.1:8080; "
                         "any other is refused")  # fmt: skip
    base = endpoint.rstrip("/")

    class Local(HTTPClient):
        def request(self, method: str, endpoint: str, *args: Any, **options: Any) -> requests.Response:
            if not endpoint.startswith(f"{SERVICE}/"):
                raise LimitError(f"{ENDPOINT} stands for the Sheets API alone")
            return super().request(method, base + endpoint.removeprefix(SERVICE), *args, **options)

    session = requests.Session()
    session.trust_env = False
    return Client(auth=cast("Any", None), session=session, http_client=Local)


def _is_loopback(host: str | None) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


# Credentials -------------------------------------------------------------------------------------------------


def _credentials(path: PathLike | None, writing: bool) -> Any:
    import google.auth
    from google.auth.exceptions import GoogleAuthError

    scopes = [_SCOPE if writing else f"{_SCOPE}.readonly"]
    found = os.fspath(path) if path is not None else os.environ.get(_ENVIRONMENT)
    try:
        loaded = _from_file(Path(found), scopes) if found else None
        return google.auth.default(scopes=scopes)[0] if loaded is None and path is None else _known(loaded)
    except (GoogleAuthError, ValueError, KeyError, TypeError, AttributeError) as error:
        where = f"the credentials file {found}" if found else "the default credentials"
        what = "cannot be used" if found else "are not set up"
        raise RemoteError(f"{where} {what} ({type(error).__name__})", hint=_ADVICE) from None


def _from_file(path: Path, scopes: list[str]) -> Any:
    from google.oauth2 import credentials, service_account

    text = path.read_text(encoding="utf-8")
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o044:
        warnings.warn(f"{path}: others can read these credentials; chmod 600 it", SheetArrayWarning, stacklevel=2)
    content = json.loads(text)
    kind = content.get("type", "authorized_user")
    if kind == "service_account":
        return service_account.Credentials.from_service_account_info(content, scopes=scopes)  # type: ignore[no-untyped-call]
    if kind == "authorized_user":
        return credentials.Credentials.from_authorized_user_info(content, scopes=scopes)  # type: ignore[no-untyped-call]
    return None


def _known(loaded: Any) -> Any:
    if loaded is None:
        raise ValueError("neither a service account nor an authorized user; the environment variable takes other kinds")
    return loaded
