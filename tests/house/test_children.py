"""The limits under which tests run children do stop them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from children import limited, measured, run_limited

pytestmark = measured


def test_a_child_is_measured():
    least = run_limited("pass").mebibytes
    child = run_limited("import sys; print(sys.argv[1:], __name__); a = b'x' * (64 * 2**20)", "x", "y")
    assert child.output == "['x', 'y'] __main__\n"
    assert 0 < child.seconds < 10
    assert 60 <= child.mebibytes - least < 80
    assert least < 192


def test_a_child_that_fails_or_takes_too_much_fails_the_test():
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        run_limited("1 / 0")
    with pytest.raises(AssertionError, match="MiB, of which 256 are allowed"):
        run_limited("a = b'x' * (256 * 2**20)", mebibytes=256)
    with pytest.raises(AssertionError, match=r"s of CPU time, of which 0\.[2-4] are allowed"):
        run_limited("import time\nwhile time.process_time() < 0.5: pass", seconds=0.2)
    with pytest.raises(AssertionError, match="stopped after 1 s of CPU time"):
        run_limited("while True: pass", seconds=0.3)
    with pytest.raises(AssertionError, match=r"or by the system \(-9\)"):
        run_limited("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert run_limited("raise SystemExit").output == ""


def test_a_child_knows_nothing_of_those_before_it():
    run_limited("import sheetarray as sa; sa.known = 1; import os; os.environ['KNOWN'] = '1'")
    code = "import os, sheetarray as sa; print(hasattr(sa, 'known'), 'KNOWN' in os.environ)"
    assert run_limited(code).output == "False False\n"


def test_time_that_a_child_waits_does_not_count():
    assert run_limited("import time; time.sleep(1.5)", seconds=1.2).seconds < 1.2


def test_a_block_is_held_to_its_own_time_and_memory():
    with limited(seconds=10, megabytes=20):
        assert len(bytes(10**7)) == 10**7
    with pytest.raises(AssertionError, match="MB, of which 5"), limited(seconds=10, megabytes=5):
        assert len(bytes(10**7)) == 10**7
    with pytest.raises(AssertionError, match="of CPU time, of which 0"), limited(seconds=0):
        sum(range(10**6))


TESTS = Path(__file__).parents[1]
OWN = {  # whose subject are time-outs
    "test_google_client.py",
    "test_google_faults.py",
}


def test_no_test_looks_at_a_clock():
    for path in sorted(TESTS.rglob("*.py")):
        if "node_modules" in path.parts:
            continue
        text = path.read_text()
        assert not re.search(r"\b(monotonic|perf_counter)\b" if path.name != Path(__file__).name else "a^", text), path
        assert not re.search(r"deadline=[^N]", text.replace("deadline=[", "")), path
        if path.name not in OWN:
            assert not re.search(r"(timeout=|\.wait\()\d", text), f"{path}: children.GIVEN_UP_AFTER is for what hangs"
