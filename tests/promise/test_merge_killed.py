"""A merge that is killed at any of its calls on the target's file leaves the old file whole, or the new one."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest
from children import run_child

import sheetarray as sa

CODE = """
    import os, signal, sys
    import sheetarray as sa

    base, copy, target, number = sys.argv[1:]
    calls = 0

    def killing(function):
        def call(*arguments, **options):
            global calls
            calls += 1
            if calls == int(number):
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)
        return call

    for name in ("open", "write", "fsync", "replace", "rename", "link", "unlink", "fchmod"):
        setattr(os, name, killing(getattr(os, name)))
    sa.merge(base, copy, target=target)
    print(calls)
"""


@pytest.mark.fault("The process is killed at any moment of a merge.", "The old target is whole, or the merged one is.")
@pytest.mark.parametrize("suffix", [".xlsx", ".csv"])
def test_a_merge_killed_at_any_call_leaves_the_old_file_or_the_new_one(tmp_path: Path, suffix: str) -> None:
    old, new = np.arange(50.0), np.arange(50.0) + 1
    base, copy, target = (tmp_path / f"{name}{suffix}" for name in ("base", "copy", "target"))
    sa.write(base, {"t": old})
    sa.write(copy, {"t": new})
    outcomes = set()
    for number in range(1, 60):
        sa.write(target, {"t": old - 1})
        child = run_child(CODE, base, copy, target, str(number))
        assert child.status in (0, -signal.SIGKILL), child.errors
        array = sa.read(target, "t")
        assert array.tolist() in ((old - 1).tolist(), new.tolist())
        outcomes.add((child.status, array[0]))
        if child.status == 0:
            break
    assert (0, 1.0) in outcomes, "the last child was to end"
    assert (-signal.SIGKILL, -1.0) in outcomes, "no child was killed before the exchange"
    sa.write(target, {"t": old})
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in (base, copy, target))
