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
import secrets
import stat
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

from ...errors import LimitError, MissingDependencyError, RemoteError, warn_caller
from ...files import PathLike

# Logs in to Google as a person, who consents once in a browser.
#
# The credentials, a refresh token and the OAuth client to which it was given, are kept in gspread's
# `authorized_user.json`, which nobody else may read. `client` takes them from there if no other credentials are
# named, and so does `gspread.oauth`.

SCOPES = [  # all that `client` asks for later; of Drive, only the files that are made with these credentials
    "https://www.googleapis.com/auth/spreadsheets",
    "https://www.googleapis.com/auth/spreadsheets.readonly",
    "https://www.googleapis.com/auth/drive.file",
]
LOGIN_TIMEOUT = 600.0  # seconds to wait for consent

_MOST_BYTES = 100_000  # that are read of the file of an OAuth client
_NO_CLIENT = """\
in https://console.cloud.google.com make a project, enable the Google Sheets API, and under "APIs & Services", \
"Credentials" click "Create credentials", "OAuth client ID", "Desktop app"; download its JSON to that path, or name it \
with --client FILE"""
_STEPS = """\
1. Choose your Google account in the browser; if none opens, open this address:
   {url}
2. Where Google says that it has not verified the app, which is your own: "Continue".
3. Tick all boxes about Google Sheets, and click "Continue"; then come back here."""


def user_file() -> Path:
    """Return the path where gspread keeps the credentials of a person."""
    from gspread.auth import get_config_dir

    return get_config_dir() / "authorized_user.json"


def login_gsheet(
    client: PathLike | None = None,
    *,
    open_browser: bool = True,
    timeout: float = LOGIN_TIMEOUT,
    tell: Callable[[str], object] = print,
) -> Path:
    """Ask a person in a browser for permission to read and write their spreadsheets; return where it is kept.

    Args:
        client: the path of the OAuth client's file, as the Google Cloud console gives it; None takes gspread's,
            `credentials.json` in its folder of settings.
        open_browser: whether a browser is opened; the address is told in any case.
        timeout: seconds to wait for consent.
        tell: called with a text that says what to click.

    Raises:
        RemoteError: there is no such file, or it holds no OAuth client for desktops; the person does not consent, or
            not in time.
        OSError: the file cannot be read, or the credentials cannot be written.
    """
    gspread = _import_gspread()
    config = _read_client(client)
    ask = partial(_ask, open_browser=open_browser, timeout=timeout, tell=tell)
    _, granted = gspread.oauth_from_dict(config, scopes=SCOPES, flow=ask)
    if not json.loads(granted).get("refresh_token"):
        raise RemoteError("Google gave no permission for later calls", hint="log in again")
    path = user_file()
    _write_private(path, granted)  # gspread.oauth would write it for everybody to read
    return path


def _import_gspread() -> Any:
    try:
        import gspread
    except ImportError as error:
        raise MissingDependencyError("Google Sheets are reached by gspread: pip install gspread") from error
    return gspread


def _read_client(file: PathLike | None) -> dict[str, Any]:
    """Return the OAuth client that a file holds; it is secret, so that no message shows anything of the file."""
    path = user_file().with_name("credentials.json") if file is None else Path(os.fsdecode(file))
    try:
        with path.open("rb") as opened:
            content = json.loads(opened.read(_MOST_BYTES))
    except FileNotFoundError:
        raise RemoteError(f"there is no OAuth client in {path}", hint=_NO_CLIENT) from None
    except (ValueError, RecursionError):
        content = None
    if isinstance(content, dict) and content.get("type") == "service_account":
        hint = "pass it as credentials=, or name it in GOOGLE_APPLICATION_CREDENTIALS"
        raise RemoteError(f"{path} is the key of a service account, which needs no login", hint=hint)
    installed = content.get("installed") if isinstance(content, dict) else None
    keys = ("client_id", "client_secret", "auth_uri", "token_uri")
    if not isinstance(installed, dict) or not all(isinstance(installed.get(key), str) for key in keys):
        raise RemoteError(f"{path} holds no OAuth client for desktops", hint=_NO_CLIENT)
    return {"installed": installed}


def _ask(client_config: Any, scopes: Any, *, open_browser: bool, timeout: float, tell: Callable[[str], object]) -> Any:
    """Return the credentials to which a person consents in a browser in time: the flow of `gspread.oauth_from_dict`."""
    import requests
    from google_auth_oauthlib.flow import InstalledAppFlow, WSGITimeoutError  # type: ignore[import-untyped]
    from oauthlib.oauth2 import OAuth2Error  # type: ignore[import-untyped]

    hint = "log in again"
    try:
        webbrowser.get()
    except webbrowser.Error:
        open_browser = False
    flow = InstalledAppFlow.from_client_config(client_config, scopes)
    make_url = flow.authorization_url

    def tell_steps(**options: Any) -> tuple[str, str]:
        url, state = make_url(**options)
        tell(_STEPS.format(url=url))
        return url, state

    flow.authorization_url = tell_steps
    try:
        return flow.run_local_server(
            host="127.0.0.1",
            port=0,
            open_browser=open_browser,
            authorization_prompt_message="",
            success_message="You may close this window: sheetarray has what it needs.",
            timeout_seconds=timeout,
            prompt="consent",  # else a second login brings no refresh token
        )
    except WSGITimeoutError:
        why = f"nobody answered in the browser for {timeout:.0f} seconds"
    except OAuth2Error as error:
        why = "nobody consented on Google's page" if error.error == "access_denied" else f"{error.error:.80}"
    except Warning:  # oauthlib's, where other scopes were granted than asked for
        why, hint = "not all boxes were ticked", "log in again, and tick all boxes about Google Sheets"
    except requests.exceptions.RequestException:
        why, hint = "Google's token server does not answer", "is there a connection to the internet?"
    raise RemoteError(f"not logged in: {why}", hint=hint)


def _write_private(path: Path, text: str) -> None:
    """Write a file that nobody else may read, whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(beside, "x", encoding="utf-8", opener=partial(os.open, mode=0o600)) as opened:
            opened.write(text)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


# The client ---------------------------------------------------------------------------------------------------

ENDPOINT = "SHEETARRAY_SHEETS_ENDPOINT"
SERVICE = "https://sheets.googleapis.com"
DRIVE = "https://www.googleapis.com/drive/v3/files"
TIMEOUT = (20.0, 190.0)  # seconds to connect, and between bytes: the service itself gives up after 180

_ENVIRONMENT = "GOOGLE_APPLICATION_CREDENTIALS"
_SCOPE = "https://www.googleapis.com/auth/spreadsheets"
_DRIVE_SCOPE = "https://www.googleapis.com/auth/drive.file"  # files that were made with it, no others
_ADVICE = (
    "set GOOGLE_APPLICATION_CREDENTIALS to the path of a service account's key file, or pass it as credentials=, or "
    "log in as yourself: sheetarray gsheets login; or run gcloud auth application-default login"
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
        made = _local_client(endpoint) if endpoint else gspread.Client(auth=_credentials(credentials, writing, sharing))
        http = made.http_client
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


# A server on this machine ------------------------------------------------------------------------------------


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


# Credentials -------------------------------------------------------------------------------------------------


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
