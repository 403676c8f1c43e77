"""What 10^3 to 10^9 files ask for: requests, time and money, reckoned from unit costs that were measured.

    python -m benchmarks.scale

prints the tables of `docs/scale.md`. Scheduling is simulated task by task, up to a hundred thousand tasks; beyond them
time grows as their number does.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True)
class UnitCosts:
    """What one thing costs: measured by `benchmarks.many`, but for the network and the prices, which are assumptions.

    Seconds, bytes, and dollars.
    """

    open_file: float = 0.48e-3  # CPU, to list, scan and compare a file
    memory_of_file: float = 1_900  # of the process that opens them
    graph_task: float = 0.02e-3  # CPU, to make a task of a graph
    schedule_task: float = 1e-3  # of dask's scheduler; its own documentation says so, and a busy laptop takes 3.5
    convert_file: float = 8e-3  # of one process, for 30 KB of CSV
    latency: float = 0.03  # of a request to an object store
    at_once: int = 128  # requests of one client that are under way: s3fs's limit is of that order
    keys_listed: int = 1_000  # by one request
    list_price: float = 5e-6  # of a request, as object stores take it; writing costs as much
    read_price: float = 0.4e-6
    bandwidth: float = 100e6  # bytes a second, of one worker


COSTS = UnitCosts()


@dataclass(frozen=True)
class Plan:
    """How files are opened and read.

    Attributes:
        files: how many there are.
        size: bytes of each.
        workers: that read them.
        files_per_block: that one task reads.
        listings: that go on at the same time, each of a prefix of its own.
        requests_a_file: to read it: its size and state, and its bytes.
    """

    files: int
    size: int = 100_000
    workers: int = 32
    files_per_block: int = 1
    listings: int = 1
    requests_a_file: int = 2


@dataclass(frozen=True)
class Reckoning:
    """What a plan takes: requests, seconds, bytes of memory, dollars."""

    lists: int
    heads: int
    reads: int
    listing: float
    opening: float
    memory: float
    tasks: int
    computing: float
    idle: float
    price: float


def reckon(plan: Plan, costs: UnitCosts = COSTS) -> Reckoning:
    """Return what a plan takes."""
    lists = ceil(plan.files / costs.keys_listed)
    reads = plan.files * plan.requests_a_file
    waiting = plan.files * costs.latency / costs.at_once
    tasks = ceil(plan.files / plan.files_per_block)
    of_file = plan.requests_a_file * costs.latency + plan.size / costs.bandwidth + costs.convert_file
    computing = simulate(tasks, plan.files_per_block * of_file, plan.workers, costs.schedule_task)
    return Reckoning(
        lists,
        plan.files,
        reads,
        lists * costs.latency / plan.listings,
        max(plan.files * costs.open_file, waiting) + tasks * costs.graph_task,
        plan.files * costs.memory_of_file,
        tasks,
        computing,
        1 - plan.files * of_file / (plan.workers * computing),
        lists * costs.list_price + (plan.files + reads) * costs.read_price,
    )


def simulate(tasks: int, seconds: float, workers: int, schedule: float, most: int = 100_000) -> float:
    """Return when the last of some tasks is done, where one scheduler hands them out one after the other.

    Args:
        tasks: how many there are.
        seconds: that each takes.
        workers: that do them.
        schedule: seconds of the scheduler for each.
        most: tasks that are simulated; beyond them time goes on at the rate of the second half.
    """
    free = [0.0] * workers
    clock = half = end = 0.0
    count = min(tasks, most)
    for number in range(count):
        clock = max(clock, free[0]) + schedule
        heapq.heapreplace(free, clock + seconds)
        end = max(end, clock + seconds)
        half = end if number + 1 == count // 2 else half
    rate = max((end - half) / max(count - count // 2, 1), seconds / workers, schedule)
    return end + (tasks - count) * rate


def open_table() -> str:
    """Return the table of opening and reading small files, one block a file and one block for many."""
    lines = [
        "| files | LIST | GET to open | opened in | memory | to read | 1 file a block | 100 files a block | price |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for power in range(3, 10):
        alone = reckon(Plan(10**power))
        together = reckon(Plan(10**power, files_per_block=100))
        lines.append(
            f"| 10^{power} | {alone.lists:,} | {alone.heads:,} | {_time(alone.listing + alone.opening)} "
            f"| {_size(alone.memory)} | {alone.reads:,} | {_time(alone.computing)} | {_time(together.computing)} "
            f"| {alone.price:,.2f} $ |"
        )
    return "\n".join(lines)


def workers_table() -> str:
    """Return the table of how many workers one scheduler keeps busy."""
    lines = ["| workers | 1 file a block | idle | 100 files a block | idle |", "|---:|---:|---:|---:|---:|"]
    for workers in (2, 8, 32, 128, 512, 2048):
        row = [reckon(Plan(10**6, workers=workers, files_per_block=size)) for size in (1, 100)]
        cells = " | ".join(f"{_time(one.computing)} | {one.idle:.0%}" for one in row)
        lines.append(f"| {workers:,} | {cells} |")
    return "\n".join(lines)


def _time(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.1f} s"


def _size(count: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count / 1e3:,.0f} KB"


if __name__ == "__main__":
    print(open_table(), workers_table(), sep="\n\n")
