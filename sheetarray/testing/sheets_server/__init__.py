"""A Google Sheets service to test against: the Sheets API v4 over real HTTP, here, with a state of its own.

`SheetsServer` serves on 127.0.0.1, and nowhere else, for as long as a `with` block lasts. It needs no credentials and
no network, and forgets everything when it ends. `pip install 'sheetarray[testing]'` brings what it needs.

    >>> with SheetsServer() as server:
    ...     key = server.create("readings", sheets=[("Sheet1", 1000, 26)])
    ...     sheet = server.client().open_by_key(key).sheet1        # a real gspread client
    ...     _ = sheet.update([["run", 1.5], ["007", None]], "A1", raw=True)
    ...     print(sheet.get("A1:B2"))
    ...     print(server.cells(key, "Sheet1"), server.requests[-1].status)
    [['run', '1.5'], ['007']]
    [['run', 1.5], ['007']] 200

Under pytest, a fixture is all it takes; code under test gets the client, or the URL:

    @pytest.fixture
    def server():
        with SheetsServer() as server:
            yield server

`server.client()` is what `gspread.service_account()` is for the real service: that line is the only one that changes.
Any other client works with `server.url` in place of `https://sheets.googleapis.com`. From a terminal,
`python -m sheetarray.testing.sheets_server` serves until it is interrupted and prints a URL and a key.

**When things go wrong.** `server.faults` says what fails, how often, and for which requests:

    server.faults.append(Fault(503, method="PUT", times=3))              # a burst of errors
    server.faults.append(Fault("reset-after", path=":batchUpdate"))      # applied, but the answer is lost
    server.faults.append(Fault("empty", applied=True))                   # applied, and answered with `{}`
    server.faults.append(Fault("late", seconds=5))                       # applied when nobody waits any more
    server.faults.append(Fault(429, times=None, retry_after=30))         # until it is cleared

`SheetsServer(quota=(60, 60))` answers with 429 after so many reads and writes in a minute; `server.clock` may be
replaced, so that no test waits for one. `server.forbid(key)` answers with 403. `server.on_request` is called before
each request is looked at, which is the moment to kill a client. `server.requests` holds every request and answer,
bodies included; clear it where memory matters.

**What it does.** `spreadsheets.get` (with `fields`, `ranges`, cells), `create` and `batchUpdate` (all or nothing),
`values.*`, both by ranges and by data filters, `developerMetadata.*`, `sheets.copyTo`. Requests that it does not know,
and details of those it does, are refused with 400 and the words "not supported by the emulator".
Where google-api-python-client is installed, bodies and queries are held against the schemas that it ships, and refused
in the words of the service. The limits are those of the service: 10,000,000 cells, 18,278 columns, 50,000 characters
in a cell (counted in UTF-16), 10 MiB in a request, names of sheets and ranges that differ in more than case.

**How true it is.** All 575 calls of `values.*` in gspread's recordings of the real service that can be played again are
answered the same, key for key and value for value. Errors that are widely quoted have the service's words, others
words of their own. Where no recording and no documentation says, this is what was assumed:

- minus zero comes back as 0; whole numbers are written out in full up to 1e21, with the shortest digits that make the
  double, so that 2**55 reads 36028797018963970;
- a range of one cell is where a block starts, also when it is written `A1:A1`;
- pasted cells that would leave the grid are refused; a range of a request that only ends outside is cut;
- a repeated id of a sheet, a name or developer metadata is refused, and so is a text with half of a surrogate pair;
- a number without a format shows ten significant digits;
- the minute of a quota begins with its first request.

A named range whose cells are deleted is listed no more, but its name stays taken, as at Google.
Formulas are worked out with some 250 functions (`formulas/functions.py`), and come to #NAME? where they use another
one; the arrays that they come to fill the cells beside and below. References follow cells that move. Conditional
formats and banding show in `effectiveFormat`; data validation is kept, and holds nobody who writes by the API, as at
Google; filter views and slicers hide nothing, charts are not drawn, no text makes a column wider. Of Drive there is
what clients need to make, open by title, share and delete spreadsheets; nobody is kept out by a permission.
"""

from __future__ import annotations

from .faults import Fault
from .server import SheetsServer
from .wire import Record

__all__ = ["Fault", "Record", "SheetsServer"]
