"""What of 1.0 is gone leads to something that exists; tests/transcripts/renamed.txt shows what is said."""

from __future__ import annotations

import re

import numpy as np
import pytest
from adapters_deleted import needing
from command_line import run_command

import sheetarray as sa

NAMES = ["adopt", "append_gsheet", "convert_many", "create_gsheet", "from_frame", "to_frame", "view"]


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_for_a_function_of_1_0_exists(name: str) -> None:
    with pytest.raises(AttributeError, match=f"^sheetarray.{name} is gone since 2.0: ") as caught:
        getattr(sa, name)
    assert name not in dir(sa)
    new = re.findall(r"sheetarray\.(\w+)", str(caught.value).partition(": ")[2])
    assert new
    assert [name for name in new if not hasattr(sa, name)] == []


@pytest.mark.parametrize("command", ["adopt", "gsheets", "view"])
def test_what_stands_for_a_command_of_1_0_exists(command: str) -> None:
    done = run_command(command)
    assert done.exit_code == 2
    (new,) = re.findall(r"hint: sheetarray (\w+)", done.output)
    assert run_command(new, "--help").exit_code == 0


@needing("gsheet")
def test_the_way_that_stands_for_append_gsheet_works(sheets_server, tmp_path):
    client, rows = sheets_server.client(), np.array([5.0])
    for url, options in ((f"gsheets://{sheets_server.create()}", {"client": client}), (tmp_path / "x.csv", {})):
        sa.write(url, {"t": np.arange(2.0)}, **options)
        sa.append(url, {"t": rows}, **options)
        assert sa.read(url, "t", **options).tolist() == [0, 1, 5]
