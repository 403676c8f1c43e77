"""`SheetsServer`: the emulator behind real HTTP on 127.0.0.1, in a thread of its own."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from .errors import ApiError
from .faults import Fault, Quota
from .formulas import Scalar, evaluator_of
from .listening import HOST, listen
from .schema import MessageSchemas
from .service import Service
from .spreadsheet import CELLS_LIMIT, Spreadsheet, new_key
from .wire import Connection, Record

if TYPE_CHECKING:
    from gspread import Client

PAYLOAD_LIMIT = 10_485_760  # bytes of a body


class SheetsServer:
    """A Google Sheets service on 127.0.0.1, to test against; see the package's docstring.

    Args:
        port: of 127.0.0.1; 0 for any free one.
        cells: the most cells that one spreadsheet may have.
        quota: the most reads and the most writes in a minute; None for no limit.
        payload: the most bytes that the body of a request may have.
        validate: whether requests are held against the service's schemas; None for yes if google-api-python-client,
            which has them, is installed.

    Raises:
        MissingDependencyError: werkzeug is not installed; or `validate` is True, and google-api-python-client is not.

    Attributes:
        url: the URL of the service, without a slash at the end.
        clock: returns the seconds by which the quota counts minutes; `time.monotonic`, unless a test replaces it.

    Example:
        >>> with SheetsServer() as server:
        ...     key = server.create(sheets=[("readings", 100, 4)])
        ...     sheet = server.client().open_by_key(key).worksheet("readings")
        ...     _ = sheet.update([["a", 1.5]], "A1")
        ...     server.cells(key, "readings")
        [['a', 1.5]]
    """

    def __init__(
        self,
        *,
        port: int = 0,
        cells: int = CELLS_LIMIT,
        quota: tuple[int, int] | None = None,
        payload: int = PAYLOAD_LIMIT,
        validate: bool | None = None,
    ) -> None:
        self.clock: Callable[[], float] = time.monotonic
        self._service = Service(limit=cells, schema=MessageSchemas.load(validate))
        self._wire = Connection(self._service, Quota(quota, lambda: self.clock()), payload)
        self._sessions: WeakSet[Any] = WeakSet()  # weakly, so that a client that is garbage closes its connections
        self._server = listen(port, self._wire)
        self.url = f"http://{HOST}:{self._server.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def __enter__(self) -> SheetsServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(quietly=error is not None)

    def close(self, *, quietly: bool = False) -> None:
        """Stop serving.

        Args:
            quietly: whether to say nothing of errors of the emulator.

        Raises:
            RuntimeError: the emulator itself failed at a request.
        """
        self._wire.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        for session in list(self._sessions):
            session.close()
        if self._wire.crashes and not quietly:
            raise RuntimeError("the emulator failed at a request") from self._wire.crashes[0]

    @property
    def validates(self) -> bool:
        """Whether requests are held against the service's schemas."""
        return self._service.schema is not None

    @property
    def requests(self) -> list[Record]:
        """The record of every request so far, oldest first; the list may be cleared."""
        return self._wire.requests

    @requests.setter
    def requests(self, records: list[Record]) -> None:
        self._wire.requests = records

    @property
    def faults(self) -> list[Fault]:
        """The faults that happen on purpose; may be added to and cleared at any time."""
        return self._wire.faults

    @faults.setter
    def faults(self, faults: list[Fault]) -> None:
        self._wire.faults = faults

    @property
    def on_request(self) -> Callable[[Record], object] | None:
        """Called with the record of each request before anything is done about it."""
        return self._wire.on_request

    @on_request.setter
    def on_request(self, call: Callable[[Record], object] | None) -> None:
        self._wire.on_request = call

    def add_user(self, address: str) -> str:
        """Return a token for a user other than the owner, who may edit only the protected ranges that name this user.

        Requests with the header `Authorization: Bearer TOKEN` are this user's; all others are the owner's.
        """
        token = new_key()
        self._service.users[token] = address
        return token

    def client(self, *, user: str | None = None) -> Client:
        """Return a real gspread client whose requests come here; any other address is refused.

        Args:
            user: an address, of one who is not the owner; None is the owner.
        """
        import gspread
        import requests
        from gspread.http_client import HTTPClient

        services = ("drive/v3/", "upload/drive/v2/", "upload/drive/v3/")
        origins = ("https://sheets.googleapis.com/v4/", *(f"https://www.googleapis.com/{name}" for name in services))
        url = self.url

        class Local(HTTPClient):
            def request(self, method: str, endpoint: str, *args: Any, **kwargs: Any) -> requests.Response:
                if not endpoint.startswith(origins):
                    raise ValueError(f"{endpoint} is not served by the emulator")
                return super().request(method, f"{url}/{endpoint.split('/', 3)[3]}", *args, **kwargs)

        session = requests.Session()
        session.trust_env = False
        if user is not None:
            session.headers["Authorization"] = f"Bearer {self.add_user(user)}"
        self._sessions.add(session)
        return gspread.Client(auth=None, session=session, http_client=Local)  # type: ignore[arg-type]

    def create(
        self,
        title: str = "test",
        sheets: Iterable[tuple[str, int, int]] = (("Sheet1", 1000, 26),),
        *,
        key: str | None = None,
    ) -> str:
        """Make a spreadsheet, and return its key.

        Args:
            title: of the spreadsheet.
            sheets: title, number of rows and number of columns of each sheet.
            key: letters, digits, `-` and `_`; None for a random one of the length that Google's have.

        Raises:
            ValueError: no spreadsheet can have these sheets or this key, or another spreadsheet has the key.
        """
        wanted = list(sheets)
        with self._wire.lock:
            if key is not None and not re.fullmatch(r"[\w-]+", key, re.ASCII):
                raise ValueError(f"a key has letters, digits, - and _ only, unlike {key!r}")
            if key in self._service.spreadsheets:
                raise ValueError(f"there is a spreadsheet {key!r} already")
            if not wanted or any(min(rows, columns) < 1 for _, rows, columns in wanted):
                raise ValueError("a spreadsheet has at least one sheet, and each at least one row and one column")
            try:
                return self._service.add_spreadsheet(title, wanted, key).key
            except ApiError as error:
                raise ValueError(error.message) from None

    def cells(self, key: str, sheet: str) -> list[list[Scalar]]:
        """Return the values of a sheet row by row, with None for a blank, and without blanks at the end of each row.

        Raises:
            KeyError: there is no such spreadsheet, or no such sheet.
        """
        with self._wire.lock:
            spreadsheet = self._spreadsheet(key)
            held = spreadsheet.sheet_titled(sheet)
            if held is None:
                raise KeyError(
                    f"there is no sheet {sheet!r}; there are {[other.title for other in spreadsheet.sheets]}"
                )
            evaluator = evaluator_of(spreadsheet)
            grid = evaluator.grid(held)
            columns = [grid.column(index, 0, grid.rows) for index in range(grid.columns)]
            rows = []
            for row in range(max(map(len, columns), default=0)):
                line = [evaluator.value(held, row, index, grid.cell(row, index)) for index in range(grid.columns)]
                while line and line[-1] is None:
                    line.pop()
                rows.append(line)
            return rows

    def snapshot(self, key: str) -> Spreadsheet:
        """Return the whole state of a spreadsheet as it is now; later requests do not change it.

        Raises:
            KeyError: there is none of this key.
        """
        with self._wire.lock:
            return self._spreadsheet(key).copy()

    def _spreadsheet(self, key: str) -> Spreadsheet:
        if key not in self._service.spreadsheets:
            raise KeyError(f"there is no spreadsheet {key!r}; there are {list(self._service.spreadsheets)}")
        return self._service.spreadsheets[key]

    def forbid(self, key: str, *, writes_only: bool = False) -> None:
        """Answer requests for a key, or only those that write, with 403."""
        with self._wire.lock:
            self._service.forbidden[key] = "writes" if writes_only else "all"

    def allow(self, key: str) -> None:
        """Undo `forbid`."""
        with self._wire.lock:
            self._service.forbidden.pop(key, None)
