"""Many files: `python -m benchmarks.many` opens small objects, and converts files on one and on two processes.

The costs that it prints are those that `benchmarks.scale` reckons with.
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import psutil

import sheetarray as sa


def open_objects(count: int) -> dict[str, Any]:
    """Open small objects in memory, and count what is asked of their file system."""
    system = fsspec.filesystem("memory")
    sa.write("memory://sample.csv", {"t": np.random.default_rng(1).random((20, 8))})
    content = system.cat("/sample.csv")
    sa.open_many("memory://sample.csv")  # whatever is imported first
    asked: list[str] = []
    kind = type(system)
    before = {name: getattr(kind, name) for name in ("cat_file", "info", "ls")}
    result: dict[str, Any] = {"bytes of an object": len(content)}
    for number in (count // 10, count):
        for index in range(number):
            system.pipe(f"/objects{number}/{index:06}.csv", content)
        paths = [f"/objects{number}/{index:06}.csv" for index in range(number)]
        system.cat_ranges(paths, [0] * number, [1] * number)  # at the first read the file system copies each object
        memory, start = _resident(), time.process_time()
        for name, function in before.items():
            setattr(kind, name, _noting(asked, name, function))
        asked.clear()
        dataset = sa.open_many(f"memory://objects{number}/*.csv")
        for name, function in before.items():
            setattr(kind, name, function)
        result[f"{number:,} objects: ms of CPU each"] = 1e3 * (time.process_time() - start) / number
        result[f"{number:,} objects: KiB of memory each"] = (_resident() - memory) / number / 1024
        result[f"{number:,} objects: heads asked for, each"] = asked.count("cat_file") / number
        start = time.process_time()
        tasks = len(dict(dataset["t"].data.dask))
        result[f"{number:,} objects: ms of CPU for the graph, each task"] = 1e3 * (time.process_time() - start) / tasks
        del dataset
    return result


def _noting(asked: list[str], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def note(*arguments: Any, **options: Any) -> Any:
        asked.append(name)
        return function(*arguments, **options)

    return note


def _resident() -> int:
    return int(psutil.Process().memory_info().rss)


def convert_files(count: int) -> dict[str, Any]:
    """Convert files one by one, in processes, and on a cluster that loses its client twice."""
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        rng = np.random.default_rng(2)
        for index in range(count):
            sa.write(folder / "in" / f"{index:06}.csv", {"t": rng.random((200, 8)), "n": np.arange(200)})
        for workers in (1, 2):
            (folder / f"out{workers}").mkdir()
            start = time.perf_counter()
            done = sa.convert(folder / "in" / "*.csv", folder / f"out{workers}" / "{stem}.json", workers=workers)
            assert done.done == count
            result[f"{count:,} files, {workers} processes: ms each"] = 1e3 * (time.perf_counter() - start) / count
        result[f"{count:,} files, 2 processes on a cluster, killed twice: ms each"] = _convert_on_cluster(folder, count)
        texts = [{path.name: path.read_bytes() for path in (folder / f"out{which}").iterdir()} for which in (1, 2, 3)]
        assert texts[0] == texts[1] == texts[2]
    return result


def _convert_on_cluster(folder: Path, count: int) -> float:
    from distributed import Client, LocalCluster

    out = folder / "out3"
    out.mkdir()
    command = [sys.executable, "-m", "sheetarray", "convert", "in/*.csv", "out3/{stem}.json", "--manifest", "m.sqlite"]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            client.gather(client.map(abs, range(100)))
            start = time.perf_counter()
            client.gather(client.map(abs, range(100, 5100)))
            print(f"  a task of dask.distributed: {1e3 * (time.perf_counter() - start) / 5000:.3f} ms")
        start, done = time.perf_counter(), dict[str, int]()
        for share in (0.25, 0.6, 1):
            process = subprocess.Popen([*command, "--scheduler", cluster.scheduler_address], cwd=folder)
            while share < 1 and process.poll() is None and len(os.listdir(out)) < share * count:
                time.sleep(0.02)
            if share < 1:
                process.send_signal(signal.SIGKILL)
            process.wait()
            assert process.returncode == (0 if share == 1 else -signal.SIGKILL)
            times = {path.name: path.stat().st_mtime_ns for path in out.glob("*.json")}
            assert done.items() <= times.items(), "what was done is not written once more"
            with closing(sqlite3.connect(folder / "m.sqlite")) as manifest:
                targets = manifest.execute("SELECT target FROM files WHERE state = 'done'").fetchall()
            done = {name: times[name] for name in (os.path.basename(target) for (target,) in targets)}
            print(f"  {len(done):,} files are done")
        return 1e3 * (time.perf_counter() - start) / count


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many", description=__doc__)
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=2_000)
    options = parser.parse_args()
    for measure, count in ((open_objects, options.objects), (convert_files, options.files)):
        for what, value in measure(count).items() if count else ():
            print(f"  {what}: {value:,.3f}")


if __name__ == "__main__":
    main()
