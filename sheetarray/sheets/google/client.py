"""The client of gspread through which requests go to the service: the caller's own, or one that is made here.

A client that is made here asks for the smallest scope: `spreadsheets.readonly` to read, `spreadsheets` to write, and
none of Drive. Credentials are those of `credentials=`, else of GOOGLE_APPLICATION_CREDENTIALS, else of a person who has
logged in, else the application's default. Where SHEETARRAY_SHEETS_ENDPOINT names a server on this machine, all requests
go there, and no credentials at all.
"""

from __future__ import annotations

import copy
import json
import os
import re
import stat
from pathlib import Path
from typing import Any, cast

from ...errors import LimitError, MissingDependencyError, RemoteError, warn_caller
from ...files import PathLike


def user_file() -> Path:
    """Return the path where gspread keeps a user's credentials."""
    from gspread.auth import get_config_dir

    return get_config_dir() / "authorized_user.json"


def _import_gspread() -> Any:
    try:
        import gspread
    except ImportError as error:
        raise MissingDependencyError("Google Sheets are reached by gspread: pip install gspread") from error
    return gspread


ENDPOINT = "SHEETARRAY_SHEETS_ENDPOINT"
SERVICE = "https://sheets.googleapis.com"
DRIVE = "https://www.googleapis.com/drive/v3/files"
TIMEOUT = (20.0, 190.0)  # seconds to connect, and between bytes: the service itself gives up after 180

_ENVIRONMENT = "GOOGLE_APPLICATION_CREDENTIALS"
_SCOPE = "https://www.googleapis.com/auth/spreadsheets"
_DRIVE_SCOPE = "https://www.googleapis.com/auth/drive.file"  # files that were made with it, no others
_ADVICE = (
    "set GOOGLE_APPLICATION_CREDENTIALS to the path of a service account's key file, or pass it as credentials=, or "
    "log in as yourself: python -c 'import gspread; gspread.oauth()'; or run gcloud auth application-default login"
)
_LOCAL = re.compile(r"(https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::([1-9]\d{0,4}))?)/?", re.ASCII)
_LONGEST_PATH = 1000
_SECRET = re.compile(  # credentials begin so, or are such words; they are never to be shown
    r"\s*[{\[]|.*\n|-----BEGIN|\s*(?:ya29\.|AIza|GOCSPX-|eyJ|1//?[\w-]{20}|4/[\w-]{20}|MII[\w+/]{30})"
)


def http_client(client: Any, credentials: PathLike | None, *, writing: bool, sharing: bool = False) -> Any:
    """Return a gspread HTTPClient with a timeout; the caller's own client is never changed.

    Raises:
        MissingDependencyError: gspread is not installed.
        RemoteError: no credentials, or none that can be used.
        LimitError: an endpoint that is not on this machine.
        OSError: no such credentials file.
    """
    gspread = _import_gspread()
    if client is None:
        endpoint = os.environ.get(ENDPOINT)
        gspread_client = (
            _local_client(endpoint) if endpoint else gspread.Client(auth=_credentials(credentials, writing, sharing))
        )
        http = gspread_client.http_client
    else:
        http = copy.copy(getattr(client, "http_client", client))
    if not hasattr(http, "request"):
        raise TypeError(f"client is a gspread Client, not {type(client).__name__}")
    if getattr(http, "timeout", None) is None:
        http.timeout = TIMEOUT
    return http


def service_account(http: Any) -> str | None:
    """Return the address of the service account that a client acts for; None where it is no service account."""
    for holder in (getattr(http, "auth", None), getattr(getattr(http, "session", None), "credentials", None)):
        address = getattr(holder, "service_account_email", None)
        if isinstance(address, str) and "@" in address:
            return address
    return None


def _local_client(endpoint: str) -> Any:
    import requests
    from gspread import Client
    from gspread.http_client import HTTPClient

    match = _LOCAL.fullmatch(endpoint)
    if not match or int(match[2] or 80) > 65535:
        raise LimitError(
            f"{ENDPOINT} is the address of a server on this machine, such as http://127.0.0.1:8080; "
            "any other is refused"
        )
    base = match[1]

    class Local(HTTPClient):
        connection_hint = f"is the server running? {ENDPOINT} says {base}"

        def request(self, method: str, endpoint: str, *args: Any, **options: Any) -> requests.Response:
            if not endpoint.startswith((f"{SERVICE}/", f"{DRIVE}/")):
                raise LimitError(f"{ENDPOINT} replaces only the Sheets API, and sharing")
            return super().request(method, f"{base}/{endpoint.split('/', 3)[3]}", *args, **options)

    session = requests.Session()
    session.trust_env = False
    return Client(auth=cast("Any", None), session=session, http_client=Local)


def _credentials(path: PathLike | None, writing: bool, sharing: bool) -> Any:
    import google.auth
    from google.auth.exceptions import GoogleAuthError

    scopes = [_SCOPE if writing else f"{_SCOPE}.readonly", *([_DRIVE_SCOPE] if sharing else ())]
    file = os.fsdecode(path) if path is not None else os.environ.get(_ENVIRONMENT) or None
    if file is not None and (len(file) > _LONGEST_PATH or _SECRET.match(file)):
        which = _ENVIRONMENT if path is None else "credentials="
        raise RemoteError(
            f"{which} is the path of a file with credentials, not the credentials themselves", hint=_ADVICE
        )
    if file is None and (user := user_file()).is_file():
        file = str(user)
    why = "neither a service account's key nor a user's credentials"
    try:
        loaded = None if file is None else _from_file(Path(file), scopes)
        if loaded is not None:
            return loaded
        if path is None:  # google.auth may know the kind of a file that the environment names
            return google.auth.default(scopes=scopes)[0]
    except (GoogleAuthError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = type(error).__name__
    where, what = (
        (f"the credentials file {file}", "cannot be used") if file else ("the default credentials", "are not set up")
    )
    raise RemoteError(f"{where} {what} ({why})", hint=_ADVICE)


def _from_file(path: Path, scopes: list[str]) -> Any:
    """Return credentials from a file; None for a file of another kind."""
    import gspread

    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise type(error)(error.errno, f"the credentials cannot be read: {error.strerror}", str(path)) from None
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o044:
        warn_caller(f"{path}: other users can read these credentials; run chmod 600 on the file")
    content = json.loads(text)
    if "installed" in content or "web" in content:
        what = "is an OAuth client, which is not enough to log in"
        raise RemoteError(f"the credentials file {path} {what}", hint=_ADVICE)
    kind = content.get("type", "authorized_user")
    if kind == "service_account":
        return gspread.service_account_from_dict(content, scopes=scopes).http_client.auth
    if kind == "authorized_user":
        granted = content.get("scopes")
        if isinstance(granted, list) and not set(scopes) <= set(granted):
            scopes = granted  # a token of other scopes is refused, even of less
        return gspread.oauth_from_dict(None, content, scopes=scopes)[0].http_client.auth
    return _from_outside(content, scopes) if kind == "external_account" else None


def _from_outside(content: dict[str, Any], scopes: list[str]) -> Any:
    """Return credentials of another cloud, which Google exchanges for its own (workload identity federation)."""
    from google.auth import aws, identity_pool, pluggable

    source = content.get("credential_source") or {}
    if content.get("subject_token_type") == "urn:ietf:params:aws:token-type:aws4_request":
        return aws.Credentials.from_info(content, scopes=scopes)  # type: ignore[no-untyped-call]
    if isinstance(source, dict) and "executable" in source:
        return pluggable.Credentials.from_info(content, scopes=scopes)  # type: ignore[no-untyped-call]
    return identity_pool.Credentials.from_info(content, scopes=scopes)  # type: ignore[no-untyped-call]
