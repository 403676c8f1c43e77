"""The reckoning of docs/scale.md: its tables are those that the program prints, and the simulation is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

scale = pytest.importorskip("benchmarks.scale")
PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


def test_the_tables_of_the_page_are_those_of_the_program():
    page = PAGE.read_text(encoding="utf-8")
    assert scale.open_table() in page
    assert scale.workers_table() in page


@pytest.mark.parametrize(
    ("tasks", "seconds", "workers", "schedule", "end"),
    [
        (0, 1, 4, 0, 0),
        (1, 1, 4, 0.5, 1.5),
        (4, 1, 4, 0, 1),
        (5, 1, 4, 0, 2),
        (8, 1, 2, 0, 4),
        (10, 0.1, 100, 1, 10.1),  # the scheduler is the limit
    ],
)
def test_tasks_end_when_they_do(tasks, seconds, workers, schedule, end):
    assert scale.simulate(tasks, seconds, workers, schedule) == pytest.approx(end)


@pytest.mark.parametrize("workers", [3, 64, 1000])
def test_what_is_not_simulated_goes_on_at_the_same_rate(workers):
    exact = scale.simulate(50_000, 0.1, workers, 1e-3)
    assert scale.simulate(50_000, 0.1, workers, 1e-3, most=10_000) == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(("files", "lists"), [(1, 1), (999, 1), (1000, 1), (1001, 2), (10**9, 10**6)])
def test_requests_are_counted(files, lists):
    plan = scale.Plan(files, files_per_block=1000)
    reckoning = scale.reckon(plan)
    assert (reckoning.lists, reckoning.heads, reckoning.reads) == (lists, files, 2 * files)
    assert reckoning.tasks == -(-files // 1000)
    assert scale.reckon(replace(plan, listings=256)).listing == pytest.approx(reckoning.listing / 256)
    assert 0 <= reckoning.idle < 1
