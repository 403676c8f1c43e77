"""How Google Sheets are reached: credentials with the least scopes, a server on this machine, no secrets anywhere."""

from __future__ import annotations

import base64
import datetime
import json
import os
import re
import socket
import ssl
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import gspread
import numpy as np
import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from examples import cross
from gspread.http_client import BackOffHTTPClient
from services import ENDPOINT

import sheetarray as sa
from sheetarray import read_gsheet, write_gsheet
from sheetarray.errors import RemoteError, SheetArrayWarning
from sheets_emulator import Fault, SheetsServer

KEY = "1aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789-_abcde"
TOKEN = "ya29.secret-token-that-nobody-may-see"  # also in what the server of tokens answers
SCOPE = "https://www.googleapis.com/auth/spreadsheets"

pytestmark = pytest.mark.usefixtures("no_environment")


# A server on this machine ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "endpoint",
    [
        *("http://example.org", "https://sheets.googleapis.com", "http://10.0.0.1:80"),
        *("http://127.0.0.1.example.org", "x", "http://localhost.example.org", "http://user@127.0.0.1:80"),
        *("ftp://127.0.0.1", "http://", "//127.0.0.1", "http://169.254.169.254", "http://0.0.0.0:80", "http://[::1"),
        *("http://127.0.0.1:99999", "http://127.0.0.1:abc", "http://127.0.0.1:0", "http://127.0.0.1:80/v4"),
        "http://127.0.0.1:80?x",
    ],
)
def test_an_endpoint_that_is_not_on_this_machine_is_refused(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, endpoint)
    with pytest.raises(sa.LimitError, match="this machine"):
        read_gsheet(KEY)


def test_an_endpoint_on_this_machine_needs_no_credentials(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: SheetsServer
) -> None:
    key = server.create()
    for endpoint in (server.url, server.url + "/", server.url.replace("127.0.0.1", "localhost")):
        monkeypatch.setenv(ENDPOINT, endpoint)
        sa.write(f"gsheets://{key}/x", {"x": np.arange(3)})
        assert sa.read(f"gsheets://{key}/x")["x"].tolist() == [0, 1, 2]
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert sa.scan(f"gsheets://{key}/x")["x"].shape == (3,)
    assert not any("uthorization" in str(record) for record in server.requests)


@pytest.mark.usefixtures("pauses")
def test_a_server_on_this_machine_that_is_not_running_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:1")
    with pytest.raises(RemoteError, match="cannot be reached") as caught:
        read_gsheet(KEY)
    assert f"{ENDPOINT} says http://127.0.0.1:1" in str(caught.value)
    assert "internet" not in str(caught.value)


def test_every_verb_takes_any_client_of_gspread(server: SheetsServer) -> None:
    key, client = server.create(), server.client()

    class Mine(BackOffHTTPClient):
        def request(self, method: str, endpoint: str, *args: Any, **options: Any) -> Any:
            url = endpoint.replace("https://sheets.googleapis.com", server.url)
            return super().request(method, url, *args, **options)

    session = client.http_client.session
    for given in (client, client.http_client, gspread.Client(auth=None, session=session, http_client=Mine)):  # type: ignore[arg-type]
        write_gsheet(key, {"x": np.arange(3)}, client=given)
        assert read_gsheet(key, client=given)["x"].tolist() == [0, 1, 2]
        assert list(sa.scan(key, client=given, format="gsheet")) == ["x"]
        assert list(sa.check(key, client=given, format="gsheet")) == []
        with pytest.raises(sa.FormatError, match="exchange format"):
            sa.read_columns(key, sheet="arrays", client=given, format="gsheet")
    assert client.http_client.timeout is None
    with pytest.raises(TypeError, match="client"):
        read_gsheet(KEY, client="me")


@pytest.mark.usefixtures("pauses")
def test_a_timeout_of_the_callers_own_counts(server: SheetsServer) -> None:
    key, client = server.create(), server.client()
    client.set_timeout(0.05)
    server.faults.append(Fault("late", times=None, seconds=0.4))
    with pytest.raises(RemoteError, match="in time"):
        sa.scan(key, client=client, format="gsheet")


# Credentials -------------------------------------------------------------------------------------------------


def ask(google: Any, verb: Any = read_gsheet, *args: Any, **options: Any) -> dict[str, Any]:
    """Return what the credentials that a call takes ask for when they sign in."""
    with pytest.raises(RemoteError, match="not accepted"):
        verb(KEY, *args, **options)
    said: dict[str, Any] = google.asked[-1]
    return said


def write_new(_: str, share: str = "", **options: Any) -> None:
    write_gsheet(f"gsheets://new?title=x{'&share=' * bool(share)}{share}", {"x": np.arange(3)}, **options)


@pytest.mark.parametrize(
    ("verb", "options", "scopes"),
    [
        (read_gsheet, {}, f"{SCOPE}.readonly"),
        (sa.scan, {"format": "gsheet"}, f"{SCOPE}.readonly"),
        (write_gsheet, {"arrays": {"x": np.arange(3)}}, SCOPE),
        (write_new, {}, SCOPE),
        (write_new, {"share": "me@example.org"}, f"{SCOPE} https://www.googleapis.com/auth/drive.file"),
    ],
)
def test_each_call_asks_for_the_least_that_it_needs(
    google: Any, account: Path, monkeypatch: pytest.MonkeyPatch, verb: Any, options: dict[str, Any], scopes: str
) -> None:
    assert ask(google, verb, credentials=account, **options)["scope"] == scopes
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))
    assert ask(google, verb, **options)["scope"] == scopes


def test_a_path_comes_before_the_environment_and_that_before_the_default(
    google: Any, account: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.json"
    other.write_text(account.read_text().replace("writer@", "other@"))
    other.chmod(0o600)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(other))
    assert ask(google, credentials=account)["iss"].startswith("writer@")
    assert ask(google)["iss"].startswith("other@")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    default = tmp_path / "none" / "application_default_credentials.json"
    default.parent.mkdir()
    user = {"client_id": "c", "client_secret": "s", "refresh_token": "default"}
    default.write_text(json.dumps(user | {"type": "authorized_user", "quota_project_id": "q"}))
    monkeypatch.setattr("google.oauth2.credentials._GOOGLE_OAUTH2_TOKEN_ENDPOINT", google.url)
    assert ask(google)["refresh_token"] == "default"
    kept = tmp_path / "home" / ".config" / "gspread" / "authorized_user.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps(user | {"refresh_token": "of a login"}))
    kept.chmod(0o600)
    assert ask(google)["refresh_token"] == "of a login"
    kept.write_text(json.dumps(user | {"scopes": [SCOPE]}))
    assert ask(google)["scope"] == SCOPE  # a token of other scopes is refused, even of less


def test_credentials_of_another_cloud_are_taken(google: Any, tmp_path: Path) -> None:
    path, token = tmp_path / "outside.json", tmp_path / "token"
    token.write_text("a token of the other cloud")
    content = {
        "type": "external_account",
        "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": google.url,
        "credential_source": {"file": str(token)},
    }
    path.write_text(json.dumps(content))
    path.chmod(0o600)
    said = ask(google, credentials=path)
    assert (said["subject_token"], said["scope"]) == ("a token of the other cloud", f"{SCOPE}.readonly")
    path.write_text(json.dumps(content | {"credential_source": {"executable": {"command": "x"}}}))
    with pytest.raises(RemoteError, match="not accepted"):  # nothing is run unless the environment allows it
        read_gsheet(KEY, credentials=path)
    path.write_text(json.dumps({"type": "external_account"}))
    with pytest.raises(RemoteError, match="cannot be used"):
        read_gsheet(KEY, credentials=path)


@pytest.mark.skipif(os.name != "posix", reason="modes of files mean something on POSIX only")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o666])
def test_a_credentials_file_that_others_can_read_warns(google: Any, account: Path, mode: int) -> None:
    account.chmod(mode)
    with pytest.warns(SheetArrayWarning, match="other users can read"):
        ask(google, credentials=account)
    account.chmod(0o600)
    ask(google, credentials=account)  # warnings are errors


def secrets_of(account: Path) -> list[str]:
    content = json.loads(account.read_text())
    return [TOKEN, *content["private_key"].splitlines()[1:5]]


def spoken(error: BaseException) -> str:
    """All that a traceback shows of an error, and what its attributes say."""
    return "".join(traceback.format_exception(error)) + repr(error) + str(vars(error))


def without(content: dict[str, Any], key: str) -> str:
    return json.dumps({other: value for other, value in content.items() if other != key})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text.replace(":", ";"), "JSONDecodeError"),
        (lambda text: f"[{text}]", "AttributeError"),
        (lambda _: "5", "TypeError"),
        (lambda text: text[:-40], "JSONDecodeError"),
        (lambda _: "", "JSONDecodeError"),
        (lambda text: without(json.loads(text), "private_key"), "MalformedError"),
        (
            lambda text: json.dumps({**json.loads(text), "type": "external"}),
            "neither a service account's key nor a user",
        ),
        (lambda text: json.dumps({**json.loads(text), "private_key": TOKEN}), "InvalidData|ValueError|MalformedError"),
        (lambda _: json.dumps({"installed": {"client_id": "c", "client_secret": TOKEN}}), "is an OAuth client"),
        (lambda _: json.dumps({"web": {"client_id": "c", "client_secret": TOKEN}}), "is an OAuth client"),
    ],
)
def test_damaged_credentials_are_an_error_without_their_content(
    account: Path, damage: Callable[[str], str], message: str
) -> None:
    known = secrets_of(account)
    account.write_text(damage(account.read_text()))
    with pytest.raises(RemoteError, match=rf"key\.json .*{message}") as caught:
        read_gsheet(KEY, credentials=account)
    assert not [secret for secret in known if secret in spoken(caught.value)]
    assert "GOOGLE_APPLICATION_CREDENTIALS" in str(caught.value)


def test_a_missing_credentials_file_is_the_systems_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "absent.json"
    with pytest.raises(FileNotFoundError, match=r"credentials cannot be read.*absent\.json"):
        read_gsheet(KEY, credentials=path)
    with pytest.raises(OSError, match="credentials cannot be read"):  # and no others are taken instead
        read_gsheet(KEY, credentials="")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    with pytest.raises(FileNotFoundError, match=r"credentials cannot be read.*absent\.json"):
        read_gsheet(KEY)


TOKENS = ["1//0gAbCdEfGhIjKlMnOpQrStUvWxYz-1234567890", "1/AbCdEfGhIjKlMnOpQrStUvWxYz_12345", "eyJhbGciOi.x.y"]
TOKENS += [TOKEN, "4/0AbCdEfGhIjKlMnOpQrStUv"]


@pytest.mark.parametrize(
    ("form", "place"),
    cross(
        ["JSON", "JSON in a line", "base64", "key", *TOKENS], ["argument", "bytes", "environment"], "JSON", *TOKENS[:1]
    ),
)
def test_credentials_in_place_of_a_path_are_not_shown(
    account: Path, form: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = account.read_text()
    given = {
        "JSON": json.dumps(json.loads(text), indent=2),
        "JSON in a line": text,
        "base64": base64.b64encode(text.encode()).decode(),
        "key": json.loads(text)["private_key"],
    }.get(form, form)
    argument: Any = {"argument": given, "bytes": given.encode(), "environment": None}[place]
    if place == "environment":
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", given)
    with pytest.raises(RemoteError, match="is the path of a file") as caught:
        read_gsheet(KEY, credentials=argument)
    assert not [secret for secret in [*secrets_of(account), given[:40]] if secret in spoken(caught.value)]


def test_no_credentials_at_all_say_how_to_get_some() -> None:
    with pytest.raises(RemoteError, match="not set up") as caught:
        read_gsheet(KEY)
    assert "service account" in str(caught.value)
    assert "gcloud" in str(caught.value)


def test_credentials_that_google_refuses_are_an_error_without_their_content(google: Any, account: Path) -> None:
    with pytest.raises(RemoteError, match="not accepted") as caught:
        read_gsheet(KEY, credentials=account)
    assert google.asked
    assert not [secret for secret in secrets_of(account) if secret in spoken(caught.value)]


def test_nobody_to_sign_in_with_is_given_up_soon(account: Path, pauses: list[float]) -> None:
    account.write_text(re.sub(r"http://[^/]*/token", "http://127.0.0.1:1/token", account.read_text()))
    with pytest.raises(RemoteError, match="signs in cannot be reached") as caught:
        read_gsheet(KEY, credentials=account)
    assert sum(pauses) < 60
    assert not [secret for secret in secrets_of(account) if secret in spoken(caught.value)]


# Connections -------------------------------------------------------------------------------------------------


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """Somebody who takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as result:
        yield result


def calls(server: socket.socket, answer: Callable[[socket.socket], object]) -> list[int]:
    """Answer all connections from now on; one entry for each."""
    taken: list[int] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                taken.append(1)
                with connection, suppress(OSError):
                    answer(connection)

    threading.Thread(target=serve, daemon=True).start()
    return taken


@pytest.fixture
def self_signed(tmp_path: Path, private_key: str) -> Path:
    """A certificate that nobody trusts, and its key."""
    key = serialization.load_pem_private_key(private_key.encode(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + datetime.timedelta(days=1))
    path = tmp_path / "certificate.pem"
    pem = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    path.write_bytes(pem + private_key.encode())
    return path


def test_a_certificate_that_is_not_trusted_ends_it_at_once(
    listening: socket.socket, self_signed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed)
    taken = calls(listening, lambda connection: context.wrap_socket(connection, server_side=True).close())
    monkeypatch.setenv(ENDPOINT, f"https://localhost:{listening.getsockname()[1]}")
    with pytest.raises(RemoteError, match="certificate"):
        read_gsheet(KEY)
    assert len(taken) == 1


@pytest.mark.fault("A connection is cut during the TLS handshake.", "The request is repeated.")
def test_a_connection_that_is_cut_while_it_is_made_safe_is_tried_again(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    taken = calls(listening, lambda connection: connection.recv(1))
    monkeypatch.setenv(ENDPOINT, f"https://localhost:{listening.getsockname()[1]}")
    with pytest.raises(RemoteError, match="was cut"):
        read_gsheet(KEY)
    assert len(taken) == len(pauses) + 1 >= 4


@pytest.mark.usefixtures("pauses")
def test_a_proxy_that_refuses_is_named_and_its_password_is_not(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    taken = calls(listening, lambda connection: (connection.recv(10_000), connection.sendall(refusal)))
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:{TOKEN}@127.0.0.1:{listening.getsockname()[1]}")
    client = gspread.Client(auth=None, session=requests.Session())  # type: ignore[arg-type]
    with pytest.raises(RemoteError, match="proxy cannot be reached, or refuses") as caught:
        read_gsheet(KEY, client=client)
    assert taken
    assert "HTTPS_PROXY" in str(caught.value)
    assert TOKEN not in spoken(caught.value)


# Refusals ----------------------------------------------------------------------------------------------------

REFUSALS = {"credentials": 401, "permission": 403, "no spreadsheet": 404, "refuses": 400, "refuses, too large": 413}
REFUSALS |= {"quota": 429, "unavailable": 503, "unavailable, a conflict": 409, "unavailable, unknown": 599}


@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize(("said", "verb"), cross(REFUSALS, [*"01234"], "permission"))
def test_what_the_service_refuses_is_said_with_advice_and_without_secrets(
    account: Path, said: str, server: SheetsServer, verb: str
) -> None:
    status, message = REFUSALS[said], said.partition(",")[0]
    key, client = server.create(), server.client()
    client.http_client.auth = gspread.service_account(account).http_client.auth
    client.http_client.session.headers["Authorization"] = f"Bearer {TOKEN}"
    server.faults.append(Fault(status, times=None))
    with pytest.raises(RemoteError, match=message) as caught:
        VERBS[int(verb)](key, client=client)
    assert caught.value.status == status
    assert not [secret for secret in secrets_of(account) if secret in spoken(caught.value)]
    assert (status in (403, 404)) == ("writer@p.iam.gserviceaccount.com" in str(caught.value))
    assert caught.value.hint or message == "refuses"


# What a call to Google Sheets costs at most, whatever answers -------------------------------------------------

PAUSE = 0.01  # seconds between two bytes
VERBS: list[Any] = [
    read_gsheet,
    partial(sa.scan, format="gsheet"),
    partial(sa.read_columns, format="gsheet"),
    lambda *args, **more: list(sa.check(*args, **more, format="gsheet")),
    lambda *args, **more: write_gsheet(*args, {"x": np.arange(3)}, **more),
]


class Odd(BaseHTTPRequestHandler):
    """Answers every request in one odd way."""

    server: Any

    def do_GET(self) -> None:
        self.server.taken.append(self.path)
        self.answer(*self.server.way)

    do_POST = do_PUT = do_GET  # noqa: N815

    def answer(self, status: int, body: bytes | None) -> None:
        """`body`: None is a byte now and then, without end."""
        self.send_response(status)
        self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/{len(self.server.taken)}")
        self.send_header("Content-Length", str(1_000_000 if body is None else len(body)))
        self.end_headers()
        self.wfile.write(body or b"")
        while body is None and not self.server.closing.wait(PAUSE):
            self.wfile.write(b" ")
            self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Odd) as server:
        odd: Any = server
        odd.taken, odd.closing = [], threading.Event()
        odd.handle_error = lambda *_: None
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{server.server_port}")
        yield odd
        odd.closing.set()
        server.shutdown()
        thread.join()


DISABLED = "Google Sheets API has not been used in project 1 before or it is disabled."
SWITCHED_OFF = json.dumps({"error": {"code": 403, "message": DISABLED}}).encode()
ODD_ANSWERS: dict[str, tuple[int, bytes | None, str, int]] = {  # status, body, what is said, requests at most
    "slow": (200, None, r"given up after .* timeout= allows", 1),  # a byte now and then
    "redirects": (302, b"", "circle of redirects", 31),
    "deep": (200, b"[" * 200_000, "the answer", 10),
    "deep error": (400, b'{"error":' * 200_000, "refuses|the answer", 10),
    "switched off": (403, SWITCHED_OFF, "API is not enabled", 1),
}


@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize(("way", "verb"), cross(ODD_ANSWERS, [*"01234"], "slow"))
def test_odd_answers_end_it_in_time(odd: Any, verb: str, way: str) -> None:
    status, body, message, most = ODD_ANSWERS[way]
    odd.way = status, body
    with pytest.raises(RemoteError, match=message):
        VERBS[int(verb)](KEY, timeout=0.2 if body is None else 600)
    assert len(odd.taken) <= most


@pytest.mark.usefixtures("pauses")
def test_the_error_of_a_timeout_says_what_failed_last(server: SheetsServer) -> None:
    server.faults.append(Fault(500, times=None))
    with pytest.raises(RemoteError, match=r"\(HTTP 500\); given up after .* timeout= allows"):
        read_gsheet(server.create(), timeout=0.3, client=server.client())


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), "x", [1], b"60"])
def test_a_timeout_is_a_time(timeout: Any) -> None:
    with pytest.raises(ValueError, match="timeout"):
        read_gsheet(KEY, timeout=timeout, client=SheetsServer)


@pytest.mark.parametrize("timeout", [float("inf"), 1e10])
def test_a_timeout_may_be_longer_than_any_wait(server: SheetsServer, timeout: float) -> None:
    with pytest.raises(sa.FormatError, match="no array"):
        read_gsheet(server.create(), timeout=timeout, client=server.client())


def test_a_quota_is_no_part_of_the_timeout_and_other_waiting_is(pauses: list[float], server: SheetsServer) -> None:
    key, client = server.create(), server.client()
    server.faults.append(Fault("quota", retry_after=500, times=2))
    write_gsheet(key, {"x": np.arange(3)}, client=client, timeout=60)
    assert sum(pauses) >= 1000
    pauses.clear()
    server.faults.append(Fault(503, retry_after=25, times=3))
    with pytest.raises(RemoteError, match="timeout="):
        write_gsheet(key, {"x": np.arange(4)}, client=client, timeout=60)
    assert 50 <= sum(pauses) <= 60
    server.faults.clear()
    assert read_gsheet(key, client=client)["x"].tolist() == [0, 1, 2]


@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize(("seconds", "tries"), [(10, 2), (60, 1)])
def test_a_pause_that_would_outlast_the_time_is_not_taken(seconds: float, tries: int, server: SheetsServer) -> None:
    key, client = server.create(), server.client()
    server.requests.clear()
    server.faults.append(Fault(503, retry_after=seconds))
    server.faults.append(Fault(503, retry_after=60, times=None))
    with pytest.raises(RemoteError, match="timeout="):
        read_gsheet(key, client=client, timeout=60)
    assert len(server.requests) == tries
