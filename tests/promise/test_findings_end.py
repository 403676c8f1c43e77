"""`check` ends after 1,000 findings about the arrays of a file, and says so."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from adapters_deleted import needing

import sheetarray as sa

MOST = 1_000


def write_types(path: Path, count: int) -> None:
    path.write_text(json.dumps({f"k{number}": {"__type__": "x"} for number in range(count)}))


def write_members(path: Path, count: int) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(count):
            archive.writestr(f"a{number}.json" if path.suffix == ".awkd" else f"a{number}.npy", "{}")


WRITERS: dict[str, Callable[[Path, int], None]] = {
    ".json": write_types,
    ".awkd": write_members,
    ".npz": write_members,
}


@needing("sciserialize-json")  # which checks .json with types
@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("count", [MOST - 1, MOST, MOST + 1, 3 * MOST])
def test_findings_end_with_one_that_says_so(tmp_path: Path, suffix: str, count: int) -> None:
    path = tmp_path / f"t{suffix}"
    WRITERS[suffix](path, count)
    findings = list(sa.check(path))
    assert len(findings) == min(count, MOST + 1)
    assert (findings[-1].message == "there are at least 1,000 findings, and the rest was not looked at") == (
        count > MOST
    )
    assert all(finding.severity == "error" for finding in findings)
