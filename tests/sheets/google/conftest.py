"""A spreadsheet for each test, and a server where credentials sign in."""

from __future__ import annotations

import base64
import json
import multiprocessing
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from limits import set_limits
from services import ENDPOINT, Book

from sheets_emulator import SheetsServer


@pytest.fixture
def book(server: SheetsServer) -> Book:
    return Book(server)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses, recorded instead of waited for."""
    result: list[float] = []
    monkeypatch.setattr("time.sleep", result.append)
    return result


@pytest.fixture
def staged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is small enough to be written at once."""
    set_limits(monkeypatch, google_batch=0)


@pytest.fixture(params=["at once", "staged"])
def way(request: pytest.FixtureRequest) -> str:
    """Each of the two ways of writing."""
    if request.param == "staged":
        request.getfixturevalue("staged")
    return str(request.param)


@pytest.fixture(scope="session")
def processes() -> Any:
    """Processes that begin with all that they import but `killed_writer`, which is small."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["sheetarray.sheets.google", "gspread", "polars", "pytest"])
    return context


@pytest.fixture(autouse=True)
def _clear_server(request: pytest.FixtureRequest) -> Iterator[None]:
    """Leave no request and no fault to the next test of the service."""
    yield
    if "server" in request.fixturenames:
        server: SheetsServer = request.getfixturevalue("server")
        server.requests.clear()
        server.faults.clear()
        server.on_request = None


class SigningIn(ThreadingHTTPServer):
    """Google, as far as credentials see it: the server of tokens, which signs nobody in.

    Attributes:
        secret: text in refusals that no message may show.
        asked: what each request for a token has said, the claims of a service account's assertion among it.
    """

    secret = "ya29.secret-token-that-nobody-may-see"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Google)
        self.asked = list[dict[str, Any]]()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/token"


class _Google(BaseHTTPRequestHandler):
    server: SigningIn

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        said: dict[str, Any] = {key: values[0] for key, values in form.items()}
        if "assertion" in said:
            claims = said["assertion"].split(".")[1]
            said |= json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
        self.server.asked.append(said)
        self._answer(400, {"error": "invalid_grant", "error_description": self.server.secret})

    def _answer(self, status: int, content: Any) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def google() -> Iterator[SigningIn]:
    with SigningIn() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def private_key() -> str:
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return made.private_bytes(*form).decode()


@pytest.fixture
def account(tmp_path: Path, private_key: str, google: SigningIn) -> Path:
    """The key file of a service account."""
    path = tmp_path / "key.json"
    content = {
        "type": "service_account",
        "project_id": "p",
        "private_key_id": "1",
        "private_key": private_key,
        "client_email": "writer@p.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": google.url,
    }
    path.write_text(json.dumps(content))
    path.chmod(0o600)
    return path


@pytest.fixture
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have no credentials but those that a test names, and no way around the server that it runs."""
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy")
    for name in (ENDPOINT, "GOOGLE_APPLICATION_CREDENTIALS", *proxies):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
