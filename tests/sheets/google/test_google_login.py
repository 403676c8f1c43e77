"""Logging in as a person: real HTTP against a server that stands for Google's pages of consent and tokens."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import gspread
import pytest
import requests
from children import GIVEN_UP_AFTER

import sheetarray as sa
from sheetarray.errors import RemoteError

BRIEFLY = 0.05  # seconds
SECRET = "GOCSPX-secret-of-the-client"


@pytest.fixture(autouse=True)
def home(no_environment: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    return tmp_path


@pytest.fixture
def client(google: Any, home: Path) -> Path:
    """The file of an OAuth client, where gspread looks for it."""
    google.outcome = "consent"
    path = home / ".config" / "gspread" / "credentials.json"
    path.parent.mkdir(parents=True)
    installed = {"client_id": "c.apps.googleusercontent.com", "client_secret": SECRET}
    installed |= {"auth_uri": google.url.replace("token", "auth"), "token_uri": google.url}
    path.write_text(json.dumps({"installed": {**installed, "redirect_uris": ["http://localhost"]}}))
    return path


def login(*args: Any, **options: Any) -> Path:
    path: Path = sa.registry.FORMATS["gsheet"].function("login")(*args, **options)
    return path


class Browser:
    """A browser that follows the page of consent back to whoever asks."""

    def open(self, url: str, **_: Any) -> bool:
        threading.Thread(target=requests.get, args=(url,), kwargs={"timeout": GIVEN_UP_AFTER}).start()
        return True


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webbrowser.get", lambda _=None: Browser())


@pytest.mark.usefixtures("browser")
def test_a_login_is_kept_and_used_by_all_and_by_gspread(google: Any, client: Path) -> None:
    lines: list[str] = []
    path = login(tell=lines.append)
    assert path == client.with_name("authorized_user.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 or os.name != "posix"
    (text,) = lines
    assert google.url.replace("token", "auth?") in text
    assert "Tick all boxes" in text
    assert SECRET not in text
    (form,) = google.asked
    assert form["code"] == "4/code"
    assert len(form["code_verifier"]) >= 43  # PKCE
    assert "ya29" not in path.read_text()
    kept = gspread.auth.load_credentials(path)
    assert kept is not None
    assert kept.refresh_token == google.lasting
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["authorized_user.json", "credentials.json"]


@pytest.mark.usefixtures("browser")
@pytest.mark.parametrize(
    ("outcome", "message"),
    [("deny", "nobody consented"), ("untick", "tick all boxes"), ("brief", "no permission for later calls")],
)
def test_without_consent_nothing_is_kept(google: Any, client: Path, outcome: str, message: str) -> None:
    google.outcome = outcome
    with pytest.raises(RemoteError, match=message) as caught:
        login(tell=lambda _: None)
    assert SECRET not in repr(caught.value) + str(vars(caught.value))
    assert not client.with_name("authorized_user.json").exists()


@pytest.mark.usefixtures("client")
def test_nobody_is_waited_for_without_end() -> None:
    with pytest.raises(RemoteError, match="nobody answered"):
        login(open_browser=False, timeout=BRIEFLY, tell=lambda _: None)


def test_a_client_that_is_none_says_what_to_click(home: Path) -> None:
    with pytest.raises(RemoteError, match=r"no OAuth client in .*credentials\.json.*Desktop app.*--client FILE"):
        login()
    path = home / "other.json"
    for content, message in (
        ("{", "no OAuth client for desktops"),
        ("[" * 50_000, "no OAuth client for desktops"),
        ("[]", "no OAuth client for desktops"),
        ('{"web": {}}', "no OAuth client for desktops"),
        (json.dumps({"installed": {"client_id": "c", "client_secret": SECRET}}), "no OAuth client for desktops"),
        ('{"type": "service_account"}', "needs no login"),
    ):
        path.write_text(content)
        with pytest.raises(RemoteError, match=message) as caught:
            login(path)
        assert SECRET not in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="BROWSER names a command on POSIX")
def test_the_command_says_what_to_click(google: Any, client: Path, tmp_path: Path) -> None:
    script = tmp_path / "browser.py"
    script.write_text("import sys, urllib.request\nurllib.request.urlopen(sys.argv[1])\n")
    environment = {"HOME": str(tmp_path), "OAUTHLIB_INSECURE_TRANSPORT": "1", "PATH": ""}
    environment["BROWSER"] = f"{sys.executable} {script} %s &"
    command = [sys.executable, "-W", "error", "-m", "sheetarray", "gsheets", "login", "--client", str(client)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=GIVEN_UP_AFTER)
    assert done.returncode == 0, done.stderr
    assert google.url.replace("token", "auth?") in done.stdout
    assert done.stdout.splitlines()[-1] == f"logged in: {client.with_name('authorized_user.json')}"
