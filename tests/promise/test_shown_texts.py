"""What people see holds no control character and no bidirectional mark of a file: reprs, errors, warnings, commands."""

from __future__ import annotations

import html
import io
import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run_command

import sheetarray as sa
from sheetarray.errors import escape_controls

STEERING = ["\x1b[2J", "\x9b31m", "\u202eevil", "\u2066x", "\x00", "\n", "\u2028", "\x7f", "\r", "\x07", "\ufeff"]
NAME = "a\x1b[2J\x9b31m\u202eb\u2066\u2028c"
TEXT = "v\x1b]0;t\x07\x9b\u202e\u2067\u2029w"
FILE = "run\x1b[2J\x9b\u202e\u2066.csv"


def is_plain(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / FILE
    sa.write(path, {NAME: np.array([TEXT, "x"]), "t": np.arange(4.0)})
    return path


@pytest.mark.parametrize("text", STEERING, ids=repr)
def test_what_could_steer_a_terminal_is_written_out(text: str) -> None:
    escaped = escape_controls(f"a{text}b")
    assert escaped.isprintable()
    assert escaped.encode().decode("unicode_escape") == f"a{text}b"
    assert escape_controls(escaped) == escaped
    assert escape_controls("naïve 東京 שלום") == "naïve 東京 שלום"


@pytest.mark.parametrize(
    "make",
    [
        lambda text: sa.FormatError(text, location=text, element=text, source=text, hint=text),
        lambda text: sa.NotFoundError(text),
        lambda text: sa.RemoteError(text, hint=text),
        sa.DTypeError,
        sa.LimitError,
        sa.MissingDependencyError,
        sa.SheetArrayError,
        lambda text: sa.Finding("error", text, text, text, array=text),
    ],
)
def test_errors_and_findings_are_plain(make: Any) -> None:
    for text in STEERING:
        said = make(f"a{text}b")
        assert str(said).isprintable()
        assert repr(said).isprintable()
        assert (said.message if isinstance(said, sa.Finding) else said.args[0]) == f"a{text}b"  # as it is, for programs


def test_reprs_of_results_are_plain_in_a_terminal_and_in_a_notebook(path: Path) -> None:
    damaged = path.with_name(f"other{FILE}")
    damaged.write_bytes(path.read_bytes().replace(b"2.0", f'"{TEXT}"'.encode()))
    copies = [path.with_name(f"{number}{FILE}") for number in range(2)]
    for number, copy in enumerate(copies):
        copy.write_bytes(path.read_bytes().replace(b"3.0", f"{number + 7}.5".encode()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        merged = sa.merge(path, *copies)
        results = [sa.scan(path), sa.check(damaged), sa.page(path), merged]
    assert len(merged.conflicts) == 1
    for result in results:
        assert is_plain(repr(result)), repr(result)
        assert is_plain(str(result))
        shown = result._repr_html_()
        assert is_plain(html.unescape(shown)) or "srcdoc" in shown
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    with pytest.raises(sa.FormatError) as caught:
        sa.read(damaged)
    assert str(caught.value).isprintable()
    with pytest.raises(sa.NotFoundError) as absent:
        sa.read(path, ["no\x1b"])
    assert str(absent.value).isprintable()


@pytest.mark.parametrize("text", ["[0]", f"{NAME}[9]", f"{NAME}x[0]", f"{NAME}=1"])
def test_errors_of_slices_are_plain(text: str) -> None:
    with pytest.raises((ValueError, sa.NotFoundError)) as caught:
        sa.page({NAME: np.zeros(2), "b": np.zeros(2)}, slice=text)
    assert str(caught.value).isprintable()


def test_warnings_are_plain(path: Path) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        sa.read_columns(io.StringIO(f"{NAME},{NAME}\n1,2\n"), format="csv")
        sa.write(io.BytesIO(), {"a\u202e": np.array([1.5], "f8")}, format="csv", decimal=",", delimiter=";")
    assert said
    assert all(str(warning.message).isprintable() for warning in said)


COMMANDS: list[tuple[str, ...]] = [
    ("info", "{}"),
    ("info", "{}", "--json"),
    ("show", "{}", NAME),
    ("show", "{}", NAME, "--json"),
    ("show", "{}", "absent\x1b"),
    ("show", "{}", "t", "--slice", "\x1b[9]"),
    ("check", "{}"),
    ("check", "{}", "--json"),
    ("check", "{damaged}"),
    ("check", "{damaged}", "--json"),
    ("diff", "{}", "{damaged}"),
    ("diff", "{}", "{changed}"),
    ("diff", "{}", "{changed}", "--json"),
    ("merge", "{}", "{changed}", "{again}"),
    ("merge", "{}", "{changed}", "{again}", "--json"),
    ("convert", "{}", "{out}"),
    ("convert", "{}", "{out}", "--json"),
    ("table", "{table}"),
    ("table", "{table}", "--json"),
    ("table", "{table}", "-o", "{out}"),
    ("page", "{}", "-o", "{html}"),
    ("page", "{}", "-o", "{html}", "--json"),
    ("page", "{}", "--slice", "\x1b\u202e[0]", "-o", "{html}"),
    ("accept", "{}"),
    ("accept", "{}", "--json"),
    ("export", "{table}", "{out}"),
    ("restore", "{}", "{out}"),
    ("info", "{absent}"),
    ("\x1b[2Jinfo", "{}"),
    ("info", "--\u202eoption", "{}"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.filterwarnings("ignore")
def test_commands_print_nothing_that_steers_a_terminal(words: tuple[str, ...], path: Path, tmp_path: Path) -> None:
    files = {"": path}
    for name in ("damaged", "changed", "again", "table", "out", "absent"):
        files[name] = path.with_name(f"{name}{FILE}")
    files["html"] = path.with_name("page\x1b\u202e.html")
    content = path.read_bytes()
    files["damaged"].write_bytes(content.replace(b"2.0", f'"{TEXT}"'.encode()))
    files["changed"].write_bytes(content.replace(b"3.0", b"7.5"))
    files["again"].write_bytes(content.replace(b"3.0", b"8.5").replace(b"\nx", "\n\x9b\u202ey".encode()))
    header = NAME.replace("\u2028", "")
    files["table"].write_text(f"{header},n\n{TEXT},1\nx,2\n", encoding="utf-8")
    result = run_command(*(re.sub(r"^\{(\w*)\}$", lambda match: str(files[match[1]]), word) for word in words))
    for said in (result.stdout, result.stderr):
        assert is_plain(said), said
    assert result.stdout or result.stderr
    if "--json" in words and result.stdout:
        json.loads(result.stdout)


@pytest.mark.parametrize("text", [*STEERING, "\ud800", "\U000e0001", "naïve 東京", "👩\u200d🔬"], ids=repr)
def test_json_of_a_command_is_plain_and_parses_to_the_same(text: str, tmp_path: Path) -> None:
    if text in ("\ud800", "\x00"):
        pytest.skip("no text of a CSV file")
    path = tmp_path / "run.csv"
    value = f"a{text}b"
    sa.write(path, {"name": np.array([value])})
    result = run_command("show", path, "name", "--json")
    assert is_plain(result.stdout)
    assert json.loads(result.stdout)["values"] == sa.read(path)["name"].tolist() == [value]


def test_titles_of_files_on_a_page_are_plain(path: Path) -> None:
    from browser import PageReader

    manifest = PageReader(sa.page(path).html).manifest
    assert manifest["files"] == [escape_controls(FILE)]
    assert next(entry["name"] for entry in manifest["entries"]) == NAME  # isolated where it is shown
