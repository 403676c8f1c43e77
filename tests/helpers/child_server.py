"""A process that has imported what programs of tests import, and forks off a child for each: it starts at once.

It uses nothing of what it has imported, so that it has no threads of polars' when it forks. Each line of its input is
an order, each line of its output the exit status of the child that carried the order out.

Run as a program by children.py; with the argument awkward0, by awkward0_real.py.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "sheets-emulator"))  # need not be installed

IMPORTED = ("polars", "pandas", "orjson", "zstandard", "sheetarray.cli", "sheetarray.tables")


def carry_out(order: dict[str, Any]) -> int:
    """Run the program of an order in this process, and return its exit status."""
    for number, path in ((1, order["output"]), (2, order["errors"])):
        os.dup2(os.open(path, os.O_WRONLY), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    resource.setrlimit(resource.RLIMIT_CPU, (order["stopped_after"], order["stopped_after"] + 1))
    sys.argv = ["-c", *order["arguments"]]
    try:
        exec(compile(order["code"], "<child>", "exec"), {"__name__": "__main__"})
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    else:
        return 0
    finally:
        used = resource.getrusage(resource.RUSAGE_SELF)
        with open(order["report"], "w") as report:
            json.dump((used.ru_utime + used.ru_stime, get_peak()), report)


def get_peak() -> int:
    """Return how many KiB of memory this process had at most; 0 where the system is not Linux and does not tell."""
    if not os.path.exists("/proc/self/status"):
        return 0
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def serve() -> None:
    """Fork off a child for each order, one after the other."""
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            status = carry_out(json.loads(line))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)  # noqa: T201  (it is the answer)


if __name__ == "__main__":
    if sys.argv[1:] == ["awkward0"]:  # by the interpreter that has the real awkward0, and nothing of ours
        warnings.simplefilter("ignore")
        import awkward0  # type: ignore[import-not-found]  # noqa: F401  (each child needs it)
    else:
        from sheetarray.formats import FORMATS

        for module in (*IMPORTED, *(row.module for row in FORMATS.values())):
            import_module(module)
    gc.freeze()  # or the first collection of each child copies all of it
    serve()
