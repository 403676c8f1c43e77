"""Logs in to Google as a person, who consents once in a browser.

The credentials, a refresh token and the OAuth client to which it was given, are kept in gspread's
`authorized_user.json`, which nobody else may read. `client` takes them from there if no other credentials are named,
and so does `gspread.oauth`.
"""

from __future__ import annotations

import json
import os
import secrets
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import MissingDependencyError, RemoteError
from ...files import PathLike

SCOPES = [  # all that `client` asks for later; of Drive, only the files that are made with these credentials
    "https://www.googleapis.com/auth/spreadsheets",
    "https://www.googleapis.com/auth/spreadsheets.readonly",
    "https://www.googleapis.com/auth/drive.file",
]
TIMEOUT = 600.0  # seconds to wait for consent

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


def client_file() -> Path:
    """Return the path where gspread looks for the OAuth client."""
    return _config_folder() / "credentials.json"


def user_file() -> Path:
    """Return the path where gspread keeps the credentials of a person."""
    return _config_folder() / "authorized_user.json"


def login_gsheet(
    client: PathLike | None = None,
    *,
    open_browser: bool = True,
    timeout: float = TIMEOUT,
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
    try:
        from google_auth_oauthlib.flow import InstalledAppFlow  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingDependencyError("Google Sheets are reached by gspread: pip install gspread") from error
    flow = InstalledAppFlow.from_client_config(_read_client(client), SCOPES)
    granted = _ask(flow, open_browser, timeout, tell)
    if not granted.refresh_token:
        raise RemoteError("Google gave no lasting permission", hint="log in once more")
    path = user_file()
    _write_private(path, granted.to_json("token"))
    return path


def _config_folder() -> Path:
    from gspread.auth import get_config_dir

    return get_config_dir()


def _read_client(file: PathLike | None) -> dict[str, Any]:
    """Return the OAuth client that a file holds; it is secret, so that no message shows anything of the file."""
    path = client_file() if file is None else Path(os.fsdecode(file))
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


def _ask(flow: Any, open_browser: bool, timeout: float, tell: Callable[[str], object]) -> Any:
    """Return the credentials to which a person consents in a browser.

    Raises:
        RemoteError: the person does not consent, or not in time.
    """
    import requests
    from google_auth_oauthlib.flow import WSGITimeoutError
    from oauthlib.oauth2 import OAuth2Error  # type: ignore[import-untyped]

    hint = "log in once more"
    ask, flow.authorization_url = flow.authorization_url, lambda **options: _tell_steps(ask, tell, options)
    try:
        return flow.run_local_server(
            host="127.0.0.1",
            port=0,
            open_browser=open_browser and _has_browser(),
            authorization_prompt_message="",
            success_message="You may close this window: sheetarray has what it needs.",
            timeout_seconds=timeout,
            prompt="consent",  # else a second login brings no refresh token
        )
    except WSGITimeoutError:
        why = f"nobody has answered in the browser for {timeout:.0f} seconds"
    except OAuth2Error as error:
        why = "Google's page was left without consent" if error.error == "access_denied" else f"{error.error:.80}"
    except Warning:  # oauthlib's, where other scopes were granted than asked for
        why, hint = "not all boxes were ticked", "log in once more, and tick all boxes about Google Sheets"
    except requests.exceptions.RequestException:
        why, hint = "Google's token server does not answer", "is there a connection to the internet?"
    raise RemoteError(f"not logged in: {why}", hint=hint)


def _tell_steps(ask: Callable[..., tuple[str, str]], tell: Callable[[str], object], options: Any) -> tuple[str, str]:
    """Return the URL of the consent page and its state, once people are told what to click.

    Args:
        ask: the flow's own method, which returns the URL and the state.
        tell: called with the text.
        options: for `ask`.
    """
    url, state = ask(**options)
    tell(_STEPS.format(url=url))
    return url, state


def _has_browser() -> bool:
    """Return whether Python finds a browser on this machine."""
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def _write_private(path: Path, text: str) -> None:
    """Write a file that nobody else may read, whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
