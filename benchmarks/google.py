"""Google Sheets: the requests that a write and a read of small arrays take, counted by the emulator."""

from __future__ import annotations

import numpy as np

MOST_REQUESTS = {"write": 2, "read": 2, "append": 3}  # of arrays below 1 MB
SETS = {
    "1 array of 1,000 float64": {"x": np.arange(1000) / 7},
    "20 arrays of 1,000 float64": {f"x{place}": np.arange(1000) / 7 for place in range(20)},
    "4 arrays of several kinds": {
        "grid": np.arange(600.0).reshape(20, 30),
        "days": np.arange(200).astype("datetime64[D]"),
        "words": np.array(["a", "b c", ""] * 50),
        "answers": np.arange(100) % 3 == 0,
    },
}


def count_requests() -> dict[str, dict[str, int]]:
    """Return the requests of a write, of a read, and of an append, of each set of arrays."""
    import sheetarray
    from sheetarray.sheets.google import read_gsheet, write_gsheet
    from sheets_emulator import SheetsServer

    counts: dict[str, dict[str, int]] = {}
    with SheetsServer() as server:
        for title, arrays in SETS.items():
            key = server.create(sheets=[("Sheet1", 1000, 26)])
            server.requests.clear()
            write_gsheet(key, arrays, client=server.client())
            written = len(server.requests)
            read = read_gsheet(key, client=server.client())
            assert all(read[name].tobytes() == array.tobytes() for name, array in arrays.items())
            counts[title] = {"write": written, "read": len(server.requests) - written}
            if len({len(array) for array in arrays.values()}) == 1:  # they share rows
                server.requests.clear()
                url = f"https://docs.google.com/spreadsheets/d/{key}"
                rows = {name: array[:10] for name, array in arrays.items()}
                sheetarray.append(url, rows, client=server.client())
                counts[title]["append"] = len(server.requests)
    return counts
