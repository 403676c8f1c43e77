"""Names, options and commands of 1.0 that are gone: the error names the new one, which exists."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from adapters_deleted import needing
from command_line import run_command

import sheetarray as sa
from sheetarray.cli import main
from sheetarray.renamed import COMMANDS, NAMES, OPTIONS


@pytest.mark.parametrize("name", NAMES)
def test_an_old_name_is_an_error_that_names_the_new_one(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"sheetarray\.{name} is gone since 2\.0: .*sheetarray\.\w+") as raised:
        getattr(sa, name)
    assert not hasattr(sa, name)
    assert name not in dir(sa)
    new = re.findall(r"sheetarray\.(\w+)", str(raised.value))[1:]
    assert [each for each in new if not hasattr(sa, each)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_an_old_command_is_status_2_and_names_the_new_one(command: str) -> None:
    result = run_command(command, "run.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
    first, second = result.stderr.splitlines()
    assert command in first
    (new,) = re.findall(r"sheetarray (\w+)", second)
    assert new in main.commands
    assert command not in main.commands


@needing("gsheet")
@pytest.mark.parametrize(
    ("call", "options"),
    [
        (sa.read, {"worksheet": "t"}),
        (sa.scan, {"worksheet": "t"}),
        (sa.check, {"worksheet": "t"}),
        (sa.read_columns, {"worksheet": "t"}),
        (sa.read_gsheet, {"worksheet": "t"}),
        (lambda target, **options: sa.diff(target, target, **options), {"worksheet": "t"}),
        (sa.accept, {"worksheet": "t"}),
        (sa.restore, {"worksheet": "t"}),
        (lambda target, **options: sa.append(target, {"t": [1]}, **options), {"worksheet": "t"}),
        (lambda target, **options: sa.merge(target, target, **options), {"worksheet": "t"}),
        (sa.page, {"worksheet": "t"}),
        (sa.page, {"serve": True}),
        (lambda target, **options: sa.write(target, {"t": [1]}, **options), {"worksheet": "t"}),
        (lambda target, **options: sa.write_table(target, {"t": [1]}, **options), {"worksheet": "t"}),
        (lambda target, **options: sa.write_gsheet(target, {"t": [1]}, **options), {"worksheet": "t"}),
        (lambda target, **options: sa.write(target, iter([{"t": [1]}]), **options), {"append_axis": 0}),
    ],
)
def test_an_old_option_is_an_error_that_names_the_new_one(call: object, options: dict[str, str]) -> None:
    (option,) = options
    with pytest.raises(TypeError, match=f"no option '{option}'.*{re.escape(OPTIONS[option])}"):
        call("gsheets://1aBcDeFgHiJkLmNoPqRsTuVwXyZ", **options)  # type: ignore[operator]


def test_the_layout_that_is_gone_is_an_error_that_names_write_table(tmp_path: Path) -> None:
    for write in (sa.write, sa.write_csv):
        with pytest.raises(TypeError, match=r"layout.*sheetarray\.write_table"):
            write(tmp_path / "t.csv", {"t": np.eye(2)}, layout="grid")  # type: ignore[operator]
    with pytest.raises(ValueError, match='"arrays" or "table", not \'grids\''):
        sa.write(tmp_path / "t.csv", {"t": np.eye(2)}, layout="grids")  # type: ignore[arg-type]
    sa.write(tmp_path / "t.csv", {"t": np.eye(2)})
    result = run_command("convert", tmp_path / "t.csv", tmp_path / "u.csv", "--write", "layout=grid")
    assert (result.exit_code, "write_table" in result.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@needing("gsheet")
@pytest.mark.parametrize("command", ["info", "check", "convert"])
def test_an_old_option_on_the_command_line_is_an_error_that_names_the_new_one(command: str) -> None:
    more = ["o.csv"] if command == "convert" else []
    result = run_command(command, "gsheets://1aBcDeFgHiJkLmNoPqRsTuVwXyZ", *more, "--read", "worksheet=t")
    assert result.exit_code == 2
    assert "it is called sheet" in result.stderr


@pytest.mark.parametrize(
    ("command", "option", "told"),
    [("page", "--serve", "slice= shows"), ("info", "--worksheet", "it is called sheet")],
)
def test_an_option_of_an_old_command_is_an_error_that_names_the_new_one(command: str, option: str, told: str) -> None:
    result = run_command(command, "run.csv", option)
    assert (result.exit_code, result.stdout, told in result.stderr) == (2, "", True)


@needing("gsheet")
def test_the_way_that_stands_for_append_gsheet_works(sheets_server, tmp_path):
    assert NAMES["append_gsheet"].startswith("sheetarray.append(url, {'t': rows})")
    client, rows = sheets_server.client(), np.array([5.0])
    for url, options in ((f"gsheets://{sheets_server.create()}", {"client": client}), (tmp_path / "x.csv", {})):
        sa.write(url, {"t": np.arange(2.0)}, **options)
        sa.append(url, {"t": rows}, **options)
        assert sa.read(url, "t", **options).tolist() == [0, 1, 5]
