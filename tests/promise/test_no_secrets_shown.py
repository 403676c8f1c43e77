"""What succeeds shows no secret of a URL either, nor does the message of a library: each result, and each command."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from command_line import run_command
from services import Web, serve_web

import sheetarray as sa

SECRETS = ("hunter2", "TOKENTOKEN")
SIGNED = "X-Amz-Credential=TOKENTOKEN&X-Amz-Signature=TOKENTOKEN&X-Amz-Security-Token=TOKENTOKEN&n=1"


@pytest.fixture
def web() -> Iterator[Web]:
    with serve_web() as served:
        file = io.BytesIO()
        sa.write(file, {"t": np.arange(6.0).reshape(2, 3)}, format="csv")
        served.files = {"a.csv": file.getvalue(), "b.csv": b"version,1.0.0,ndarray\nx"}
        yield served


def signed(web: Web, name: str) -> str:
    return web.url(f"{name}?{SIGNED}").replace("http://", "http://me:hunter2@")


def shown(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text]


@pytest.mark.parametrize(
    "verb",
    [
        lambda url: sa.scan(url),
        lambda url: sa.check(url),
        lambda url: sa.check(url.replace("a.csv", "b.csv")),
        lambda url: sa.diff(url, {"t": np.zeros((2, 3))}),
        lambda url: sa.page(url),
        lambda url: sa.page([url, url]),
        lambda url: sa.open_many([url, url]),
        lambda url: sa.read_dataset(url),
    ],
)
def test_results_show_no_secret(web: Web, verb: Any) -> None:
    result = verb(signed(web, "a.csv"))
    texts = [
        repr(result),
        str(result),
        *(getattr(result, name)() for name in ("_repr_html_",) if hasattr(result, name)),
    ]
    if hasattr(result, "to_dict"):
        texts.append(repr(result.to_dict()))
    if hasattr(result, "variables"):
        texts += [f"{variable.encoding} {variable.attrs} {variable.values}" for variable in result.variables.values()]
    assert shown(" ".join(map(str, texts))) == []


@pytest.mark.parametrize(
    "command",
    [
        "info {a} --json",
        "info {b} --json",
        "check {a} {b} --json",
        "check {b}",
        "show {a}",
        "table {a} --json",
        "diff {a} {b} --json",
        "diff {a} {a} --json",
        "convert {b} never.json",
        "append {a} {b}",
        "accept {a}",
    ],
)
def test_commands_show_no_secret(web: Web, command: str) -> None:
    words = [word.format(a=signed(web, "a.csv"), b=signed(web, "b.csv")) for word in command.split()]
    output = run_command(*words).output
    assert output
    assert shown(output) == []


def test_manifests_hold_no_secret(web: Web, tmp_path: Path) -> None:
    urls = [signed(web, "a.csv"), signed(web, "b.csv")]
    result = sa.convert(urls, str(tmp_path / "{stem}.json"), manifest=tmp_path / "m.sqlite")
    assert (result.done, len(result.failed)) == (1, 1)
    assert shown(repr(result)) == []
    for file in tmp_path.iterdir():
        assert shown(file.read_bytes().decode("latin-1")) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer ya29.TOKENTOKENTOKEN, x", "Authorization: Bearer ***, x"),
        ("'Authorization': 'Basic bWU6aHVudGVyMg=='", "'Authorization': 'Basic ***'"),
        ("the token ya29.a0TOKENTOKENTOKENTOKEN was refused", "the token *** was refused"),
        ("url: /v4/x?key=AIzaTOKENTOKENTOKENTOKENTOKEN (Caused by", "url: /v4/x?key=***"),
        ("AIzaTOKENTOKENTOKENTOKENTOKEN", "***"),
        ("1//0gTOKENTOKENTOKENTOKENTOKEN", "***"),
        ("http://h/x?pwd=hunter2&user=a", "http://h/x?pwd=***&user=a"),
        ("http://h/x?auth=hunter2&author=a", "http://h/x?auth=***&author=a"),
        ("http://h/x?a=1?token=hunter2#b", "http://h/x?a=1?token=***#b"),
        ("Bearer of news, Basic words, eyJ", "Bearer of news, Basic words, eyJ"),
    ],
)
def test_tokens_in_messages_of_libraries_are_not_shown(text: str, expected: str) -> None:
    class Refusing(fsspec.AbstractFileSystem):  # type: ignore[misc]
        protocol = "refusing"
        cachable = False

        def info(self, *_: Any, **__: Any) -> Any:
            raise OSError(text)

        _open = open = info

    fsspec.register_implementation("refusing", Refusing, clobber=True)
    with pytest.raises(OSError, match=re.escape(expected)) as caught:
        sa.read("refusing://host/a.csv")
    assert text == expected or text not in str(caught.value)


def test_a_message_of_the_connection_to_google_is_not_shown() -> None:
    gspread, requests = pytest.importorskip("gspread"), pytest.importorskip("requests")

    class Session:
        def __init__(self) -> None:
            self.headers: dict[str, str] = {}

        def request(self, *_: Any, **__: Any) -> Any:
            raise requests.exceptions.ConnectionError("url: /v4/x?key=TOKENTOKEN (Caused by Bearer TOKENTOKEN)")

    client = gspread.Client(auth=None, session=Session())
    seconds = 1.0  # of its own waits, in which no request is sent again
    with pytest.raises(sa.RemoteError) as caught:
        sa.read("gsheets://1234567890123456789012345", client=client, timeout=seconds)
    assert shown(f"{caught.value!r} {caught.value} {caught.value.__cause__}") == []
