"""The limits under which tests run children do stop them."""

from __future__ import annotations

import pytest
from children import measured, run_limited

pytestmark = measured


def test_a_child_is_measured() -> None:
    child = run_limited("import sys; print(sys.argv[1:], __name__); a = b'x' * (64 * 2**20)", "x", "y")
    assert child.output == "['x', 'y'] __main__\n"
    assert 0 < child.seconds < 10
    assert 64 <= child.mebibytes < 256


def test_a_child_that_fails_or_takes_too_much_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        run_limited("1 / 0")
    with pytest.raises(AssertionError, match="MiB, of which 64 are allowed"):
        run_limited("a = b'x' * (100 * 2**20)", mebibytes=64)
    with pytest.raises(AssertionError, match=r"s of CPU time, of which 0.2 are allowed"):
        run_limited("import time\nwhile time.process_time() < 0.5: pass", seconds=0.2)
    with pytest.raises(AssertionError, match="stopped after 1 s of CPU time"):
        run_limited("while True: pass", seconds=0.3)


def test_time_that_a_child_waits_does_not_count() -> None:
    assert run_limited("import time; time.sleep(1.5)", seconds=1.2).seconds < 1.2
