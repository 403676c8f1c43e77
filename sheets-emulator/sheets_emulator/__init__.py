"""A Google Sheets service to test against: the Sheets API v4 over real HTTP on 127.0.0.1, with a state of its own.

`SheetsServer` serves for as long as a `with` block lasts. It needs no credentials and no network, and forgets
everything when it ends:

    >>> with SheetsServer() as server:
    ...     key = server.create("readings", sheets=[("Sheet1", 1000, 26)])
    ...     sheet = server.client().open_by_key(key).sheet1        # a real gspread client
    ...     _ = sheet.update([["run", 1.5], ["007", None]], "A1", raw=True)
    ...     print(sheet.get("A1:B2"))
    ...     print(server.cells(key, "Sheet1"), server.requests[-1].status)
    [['run', '1.5'], ['007']]
    [['run', 1.5], ['007']] 200

`server.faults` says what fails, how often, and for which requests:

    server.faults.append(Fault(503, method="PUT", times=3))              # a burst of errors
    server.faults.append(Fault("reset-after", path=":batchUpdate"))      # applied, but the answer is lost
    server.faults.append(Fault("empty", applied=True))                   # applied, and answered with `{}`
    server.faults.append(Fault("late", seconds=5))                       # applied when nobody waits any more
    server.faults.append(Fault(429, times=None, retry_after=30))         # until it is cleared

`SheetsServer(quota=(60, 60))` answers with 429 after so many reads and writes in a minute; `server.clock` may be
replaced, so that no test waits for one. `server.forbid(key)` answers with 403. `server.on_request` is called before
each request is looked at, which is the moment to kill a client. `server.requests` holds every request and answer,
bodies included; clear it where memory matters. README.md says what is modelled.
"""

from __future__ import annotations

from .faults import Fault
from .server import Record, SheetsServer

__version__ = "0.1.0"
__all__ = ["Fault", "Record", "SheetsServer"]
