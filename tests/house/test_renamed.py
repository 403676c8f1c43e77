"""What of 1.0 is gone leads to something that exists; tests/transcripts/renamed.txt shows what is said."""

from __future__ import annotations

import re

import numpy as np
from adapters_deleted import needing

import sheetarray as sa
from sheetarray.cli import main
from sheetarray.renamed import COMMANDS, NAMES


def test_what_is_named_for_what_is_gone_exists() -> None:
    assert not [name for name in NAMES if hasattr(sa, name) or name in dir(sa)]
    new = re.findall(r"sheetarray\.(\w+)", " ".join(NAMES.values()))
    assert len(new) >= len(NAMES)
    assert [name for name in new if not hasattr(sa, name)] == []
    assert not COMMANDS.keys() & main.commands.keys()
    assert {*re.findall(r"sheetarray (\w+)", " ".join(COMMANDS.values()))} <= main.commands.keys()


@needing("gsheet")
def test_the_way_that_stands_for_append_gsheet_works(sheets_server, tmp_path):
    assert NAMES["append_gsheet"].startswith("sheetarray.append(url, {'t': rows})")
    client, rows = sheets_server.client(), np.array([5.0])
    for url, options in ((f"gsheets://{sheets_server.create()}", {"client": client}), (tmp_path / "x.csv", {})):
        sa.write(url, {"t": np.arange(2.0)}, **options)
        sa.append(url, {"t": rows}, **options)
        assert sa.read(url, "t", **options).tolist() == [0, 1, 5]
