"""Writes arrays and tables to worksheets: small ones at once, large ones by a stage; and makes spreadsheets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal
from urllib.parse import quote

from ...columns import Layout, lay_out_sheets
from ...errors import (
    DTypeError,
    FormatError,
    LimitError,
    RemoteError,
    SheetArrayError,
    locating,
    naming_sheet,
    warn_caller,
)
from ...files import PathLike
from ...formats.contract import Progress, ignore_progress
from ...linear.array import LinearArray
from ...linear.named import linear_arrays
from ...renamed import refusing_old_options
from ...tables import lay_out_table
from ..arrays_of_sheets import spread
from ..views.description import View, select_views
from ..workbooks import check_choices, parse_cell
from .address import ALL_COLUMNS, SheetAddress, parse_address, parse_new, worksheet_url
from .at_once import find_change, write_at_once
from .changes import TOO_LARGE, Requests, Swap, apply_changes, change_properties
from .client import DRIVE, http_client
from .plan import FreeCells, WritePlan, check_cells, fresh_plan, plan_for, plan_table
from .requests import (
    TIMEOUT,
    Answer,
    ChangedError,
    FailedError,
    RefusedError,
    Retries,
    SheetsApi,
    dump_json,
    open_service,
)
from .sent_cells import make_chunks
from .spreadsheet_state import MOST_CELLS, MOST_CHARACTERS, State, Writer, fetch_state
from .stage import Stage, copy_requests, describe_stages, new_gid, sheet_requests
from .views import ViewSource, check_wanted, find_views, write_views

# `Write`, one write to some worksheets from its plans to its end: at once, or over a stage.
#
# It is planned and carried out again where somebody else has changed the spreadsheet meanwhile.

_MOST_CONFLICTS = 40  # times that others may change the spreadsheet before the write is given up
_CLEANING = 20.0  # seconds that go at most into removing the stage of a write that has failed

Planner = Callable[..., WritePlan]  # `plan_for` or `plan_table`


@dataclass(slots=True)
class Part:
    """The part of a write that goes to one worksheet."""

    layout: Layout  # the cells
    title: str | None = None  # of the worksheet; None if the target says which one is meant
    make: Planner = plan_for  # returns the plan for a worksheet that exists
    # that have views, and the views of them that are asked for; empty for a table
    arrays: Mapping[str, LinearArray] = field(default_factory=dict)
    views: Mapping[str, View] = field(default_factory=dict)
    dates: bool = True  # whether dates are dates, and not text
    corner: tuple[int, int] | None = None  # row and column of the first cell, if the caller chooses it


class Write:
    """A write of some parts by one batch: planned, carried out, and planned again where somebody else was faster.

    `report`: called with the number of cells written and the number of all cells.
    """

    def __init__(self, service: SheetsApi, parts: Sequence[Part], report: Progress) -> None:
        self.service, self.parts = service, parts
        self.state = State((), (), 0.0)  # of the spreadsheet for which the plans were made
        self.plans: list[WritePlan] = []  # of the parts; once the write is done, those that it has followed
        self.swaps: list[Swap] = []  # of the worksheets, for the last batch; empty before the first one
        self._small = True  # whether one batch may be able to write all cells at once; if not, they need a stage
        self._limit = MOST_CELLS  # of cells in the spreadsheet; less once the service has said so
        self._blocked: set[str] = set()  # names, in lower case, that the service refuses for named ranges
        self._conflicts = 0  # times that others have changed the spreadsheet
        self._others = 0  # cells of worksheets that are not written to
        self._report, self._total = report, sum(part.layout.cell_count for part in parts)
        self._done = 0  # cells put on the stage, and those compared: each cell counts twice

    def run(self) -> None:
        """Write everything; begin again as long as others change the spreadsheet."""
        self.state = fetch_state(self.service)
        with Writer(self.state.now) as writer:
            stage = Stage(self.service, [part.layout for part in self.parts], writer)
            try:
                while not self._advance(stage):
                    self.state = fetch_state(self.service)
            except RemoteError:
                if not self._clean_up(stage):
                    raise
            except BaseException:
                self._clean_up(stage)
                raise

    def _advance(self, stage: Stage) -> bool:
        """Plan the write for the spreadsheet as it was seen, and carry it out, or fill the stage for it.

        It returns whether everything is written; if not, the spreadsheet has to be looked at again.
        """
        try:
            self._plan_parts(stage.gids)
            self._small = self._small and stage.fits_one_batch
            if self._small and all(plan.sheet is None or plan.grid is not None for plan in self.plans):
                self._make_swaps([new_gid() for _ in self.plans])
                if write_at_once(self.service, self.state, self.plans, self.swaps) is None:
                    return True
                # It was taken back; on a stage the service may keep the cells as they are
                self._small, self.swaps = False, []
                return False
            if stage.is_ready(self.state):
                self._commit(stage)
                return True
            self._check_peak(stage)
            self._done = 0
            stage.make(self.state)
            stage.fill(self._count_cells)
        except (FormatError, LimitError) as error:
            # What was in the way may have been written while the worksheet was looked at
            if not self.state.differs(fetch_state(self.service)):
                if isinstance(error, LimitError) and (stages := describe_stages(self.state, stage.gids)):
                    raise LimitError(f"{error}{stages}") from None
                raise
            self._wait()
        except ChangedError:
            self._wait()
        except RefusedError as refused:
            if self._small and (refused.status == TOO_LARGE or "payload" in refused.message):
                self._small = False
            elif not self._learn_from(refused):
                self._wait()
        return False

    def _count_cells(self, cells: int) -> None:
        """Add cells that were sent or compared to the progress, and report it; each counts half of a cell."""
        self._done += cells
        self._report(min(self._done // 2, self._total), self._total)

    def _check_peak(self, stage: Stage) -> None:
        """Refuse the write if the spreadsheet has no room for the stage beside the worksheets; nothing is changed."""
        ours = sum(max(plan.sheet.cells, plan.rows * plan.columns) for plan in self.plans if plan.sheet)
        missing = self._others + stage.cells + ours - self._limit
        if missing > 0:
            raise LimitError(
                f"{missing:,} cells are missing: a write of this size goes to a hidden sheet first, and the "
                f"spreadsheet has no room for it (at most {self._limit:,} cells); delete cells, or write to another "
                "spreadsheet"
            )

    # Deciding ------------------------------------------------------------------------------------------------

    def _plan_parts(self, stage: Sequence[int]) -> None:
        """Make a plan for each part; a ChangedError if somebody changed a worksheet.

        `stage`: the ids of its sheets.
        """
        state, address = self.state, self.service.address
        titles = [part.title or address.title or "" for part in self.parts]
        sheets = [state.select_worksheet(address.gid, title) for title in titles]
        gone = {sheet.gid for sheet in (*state.dead_stages(), *filter(None, sheets))} | set(stage)
        self._others = cells_beside = sum(sheet.cells for sheet in state.worksheets if sheet.gid not in gone)
        blocked = set(self._blocked)
        self.plans = []
        for part, title, sheet in zip(self.parts, titles, sheets, strict=True):
            room = FreeCells(cells_beside, self._limit, blocked)
            if sheet is None:
                plan = fresh_plan(state, title, part.layout, room, part.corner)
            elif sheet.view is None:
                plan = part.make(self.service, state, sheet, part.layout, room, part.corner)
            else:
                raise LimitError(
                    f"the worksheet {sheet.title!r:.80} is a view of {sheet.view.array!r:.80}, and arrays on a view "
                    "are not read: write to another worksheet"
                )
            self.plans.append(plan)
            cells_beside += plan.rows * plan.columns
            blocked |= {name.lower() for name, _, _ in plan.ranges}

    def _wait(self) -> None:
        """Wait for others, longer each time; a RemoteError after too many pauses, or too long ones."""
        self._conflicts += 1
        if self._conflicts > _MOST_CONFLICTS:
            raise RemoteError("others change the spreadsheet again and again", hint="try again later")
        self.service.patience.wait_for_others(self._conflicts)

    def _learn_from(self, refused: RefusedError) -> bool:
        """Keep the limit or the blocked names that a refusal tells, so that the next plan avoids them.

        It returns whether there was something to keep; False if somebody else has changed the spreadsheet, which
        explains the refusal.

        Raises:
            RemoteError: neither is the case, so that another attempt would be refused as well.
        """
        if refused.limit is not None and refused.limit < self._limit:
            self._limit = refused.limit
            return True
        if self.state.differs(fetch_state(self.service)):
            return False
        # The service does not show named ranges whose cells were deleted, but keeps their names. Where there is one,
        # more are likely, so that each refusal blocks one name more than all refusals before it
        names = refused.names
        if names and names[0] not in self._blocked:
            self._blocked.update(names[: 1 + len(self._blocked)])
            return True
        raise RemoteError(f"the service refuses the write: {refused.message}", status=refused.status) from None

    # Carrying out --------------------------------------------------------------------------------------------

    def _make_swaps(self, fresh: Sequence[int]) -> None:
        """Make the swap of each worksheet, given the ids that new ones get."""
        self.swaps = []
        for plan, new in zip(self.plans, fresh, strict=True):
            gid = plan.sheet.gid if plan.sheet else new
            self.swaps.append(Swap(self.state, gid, own=plan.own))

    def _commit(self, stage: Stage) -> None:
        """Put the cells of the stage into the worksheets, by one batch; a stage for a new worksheet becomes it."""
        requests: Requests = []
        self._make_swaps(stage.gids)
        for part, plan, swap, gid in zip(self.parts, self.plans, self.swaps, stage.gids, strict=True):
            shown = change_properties(gid, {"title": plan.title, "hidden": False}, "title,hidden")
            cells = copy_requests(plan, swap.gid, part.layout, gid) if plan.sheet else []
            requests += swap.wrap(sheet_requests(plan, swap.gid, shown, cells), plan.rows, plan.columns)
        requests += stage.removal_requests(self.state, kept=[swap.gid for swap in self.swaps])
        apply_changes(self.service, requests, self.swaps[0].took_effect)
        for plan, swap in zip(self.plans, self.swaps, strict=True):
            difference = find_change(self.service, plan.title, plan.placed_columns, swap) if plan.sheet else None
            if difference is not None:
                raise DTypeError(f"{difference}, though it kept it on the stage: write it again")

    def _clean_up(self, stage: Stage) -> bool:
        """Remove the stage after a failure, if that goes quickly; return whether the write took effect after all."""
        if not stage.attempts and not self.swaps:
            return False
        deadline = time.monotonic() + _CLEANING
        self.service.patience = Retries(most_waiting=8.0, timeout=_CLEANING)
        with suppress(RemoteError, RefusedError):
            for _ in range(3):
                state = fetch_state(self.service)
                if self.swaps and self.swaps[0].took_effect(state):  # one batch makes all changes, or none
                    return True
                if not stage.find(state) or time.monotonic() > deadline:
                    return False
                stage.remove(state)
        return False


# Writes arrays and tables into a spreadsheet, all of them or nothing at all; `write` is the way of one write.

_ANY_KEY = "0" * 44  # instead of the key of a spreadsheet that is yet to be made


@refusing_old_options
def write_gsheet(
    target: Any,
    arrays: Any,
    *,
    sheet: str = "arrays",
    at: str | None = None,
    dates: Literal["real", "text"] = "real",
    views: bool | str | Sequence[str] | Mapping[str, View] = False,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> str:
    """Write arrays into a worksheet of a Google spreadsheet, one column each. All arrays are written, or none.

    An array of the same name is replaced. Other arrays, and cells of your own, stay. Each array gets a named range, so
    `=SUM(temperature)` works. Integers beyond 2^53, -0.0, NaN and infinities are written as text.

    Args:
        target: a URL (`#gid=` chooses the worksheet), `gsheets://KEY/worksheet`, a key, or a gspread Spreadsheet or
            Worksheet. `gsheets://new?title=TITLE` makes a spreadsheet; `&share=me@example.org` lets somebody edit it,
            and may stand several times. By default, only the account of the credentials can open it. If that is a
            service account, no person can.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        sheet: the title of the worksheet, if the target names none. A new worksheet is made if none has this title.
        at: the first cell, such as "D5". Cells that are not empty are never overwritten. None takes free columns.
        dates: "real" writes datetime64 as dates that people can edit, from 1900-03-01 to the end of 9999, down to
            milliseconds. All other dates are ISO text. "text" writes all dates as ISO text.
        views: True, names of arrays, or a `View` for each name. A view is a worksheet `<name> view`, which shows one
            slice of an array of two dimensions or more: a table of formulas, with choosers, colours and a chart.
            Existing views of the same arrays are written again. If a view cannot be written, you get a warning, and
            the arrays stay.
        client: a gspread client; None makes a client.
        credentials: the path of a key file. None searches in the places that `help(sheetarray.sheets.google.client)`
            lists.
        timeout: the seconds after which the call gives up. The time of waiting for a quota does not count.
        progress: a function, called with the number of cells written and the total. If the function has an attribute
            `waiting`, this attribute is called before each pause, with the seconds and the reason.

    Returns:
        The URL of the worksheet.

    Raises:
        DTypeError: the format has no dtype for an array.
        LimitError: the spreadsheet would have more than 10,000,000 cells or 18,278 columns, or a cell more than 50,000
            characters. Nothing was written.
        ValueError: a view is impossible.
        FormatError: a cell where an array has to go is not empty; `.location` is its address. Nothing was changed.
        NotFoundError: no worksheet has the id in the target's URL, or `views` names an array that you do not write.
        RemoteError: the service cannot be reached, refuses, or its quota is used up. The old arrays stay. If a new
            spreadsheet was made, or may have been, the message says so.

    Example:
        >>> import numpy as np
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     key, client = server.create(), server.client()
        ...     url = write_gsheet(key, {"t": np.array([[1.5, 2.5]])}, client=client)
        ...     client.open_by_key(key).worksheet("arrays").col_values(1)[:4]
        ['t', 'version', '1.0.0', 'ndarray']
    """
    part = _lay_out_arrays(arrays, at, dates, views)
    (url,) = _write(target, [part], sheet, client, credentials, timeout, progress)
    return url


def _lay_out_arrays(
    arrays: Any,
    at: str | None,
    dates: str,
    views: bool | str | Sequence[str] | Mapping[str, View],
    title: str | None = None,
) -> Part:
    """Return what a write of arrays puts into one worksheet."""
    corner = None if at is None else parse_cell(at)
    check_choices(dates=(dates, "real", "text"))
    linear = linear_arrays(spread(arrays, limit=MOST_CHARACTERS))
    selected = select_views(views, linear)
    check_wanted(selected, linear)
    room = ALL_COLUMNS - (corner or (0, 0))[1]
    layout, *more = lay_out_sheets(
        linear, max_columns=room, max_characters=MOST_CHARACTERS, aligned=True, serials=dates == "real"
    )
    if more:
        raise LimitError(f"the arrays need more than {room:,} columns, but a worksheet has no more")
    return Part(layout, title, arrays=linear, views=selected, dates=dates == "real", corner=corner)


def write_sheets_gsheet(
    target: Any,
    tables: Mapping[str, Any],
    *,
    plain: bool,
    at: str | None = None,
    dates: Literal["real", "text"] = "real",
    views: bool | str | Sequence[str] | Mapping[str, View] = False,
    if_sheet_exists: Literal["error", "replace"] = "error",
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> dict[str, str]:
    """Write each table to a worksheet of its own: all of them, or nothing at all; return their URLs, by title.

    `tables`: frames, or mappings of names to arrays, by the titles of their worksheets. `plain`: write plain columns,
    as `write_table_gsheet` does.
    """
    address = parse_address(_ANY_KEY if parse_new(target) is not None else target)
    if address.gid is not None or address.title is not None:
        raise ValueError(f"{address.label} is one worksheet, and each table gets its own: give the spreadsheet")
    parts = []
    for title, table in tables.items():
        with naming_sheet(title):
            parse_address(_ANY_KEY, title)
            if plain:
                parts.append(_lay_out_table(table, at, dates, if_sheet_exists, title))
            else:
                parts.append(_lay_out_arrays(table, at, dates, views, title))
            make_chunks(parts[-1].layout)
    urls = _write(target, parts, None, client, credentials, timeout, progress)
    return dict(zip(tables, urls, strict=True))


def write_table_gsheet(
    target: Any,
    table: Any,
    *,
    sheet: str = "table",
    at: str | None = None,
    if_sheet_exists: Literal["error", "replace"] = "error",
    dates: Literal["real", "text"] = "real",
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> str:
    """Write the columns of a table to a worksheet, one row of names above them; see `sheetarray.write_table`.

    With `at` the table may stand beside other cells; otherwise it takes the whole worksheet, which must be blank. With
    `if_sheet_exists="replace"` it takes the place of a table that this package has written to the worksheet.
    """
    part = _lay_out_table(table, at, dates, if_sheet_exists)
    (url,) = _write(target, [part], sheet, client, credentials, timeout, progress)
    return url


def _lay_out_table(table: Any, at: str | None, dates: str, if_sheet_exists: str, title: str | None = None) -> Part:
    """Return what a write of a table puts into one worksheet."""
    corner = None if at is None else parse_cell(at)
    check_choices(if_sheet_exists=(if_sheet_exists, "error", "replace"), dates=(dates, "real", "text"))
    replacing = if_sheet_exists == "replace"
    if replacing and corner is not None:
        raise ValueError("at= puts a table beside other cells, and if_sheet_exists='replace' clears them: give one")
    room = ALL_COLUMNS - (corner or (0, 0))[1]
    layout = lay_out_table(table, max_columns=room, max_characters=MOST_CHARACTERS, serials=dates == "real")
    return Part(layout, title, partial(plan_table, replacing=replacing), corner=corner)


def _write(
    target: Any,
    parts: Sequence[Part],
    sheet: str | None,
    client: Any,
    credentials: PathLike | None,
    timeout: float,
    progress: Progress | None,
) -> list[str]:
    """Write some parts into the spreadsheet that a target means, or into a new one; return the URLs of the sheets."""
    new = parse_new(target)
    parse_address(_ANY_KEY if new else target, sheet)  # an impossible one is refused before anything is made
    check_cells(sum(part.layout.height * len(part.layout.pieces) for part in parts), MOST_CELLS, 0)
    if new is None:
        service = open_service(target, sheet, client, credentials, timeout, progress, writing=True)
        return _write_parts(service, parts, progress)
    for part in parts:
        make_chunks(part.layout)  # whatever no cell can hold is refused, too
    http = http_client(client, credentials, writing=True, sharing=bool(new.share))
    key = _create(SheetsApi(http, SheetAddress("", None, None, new.title), Retries(timeout=timeout)), new.title)
    url = f"https://docs.google.com/spreadsheets/d/{key}"
    with _naming_new(url):
        service = open_service(key, sheet, http, None, timeout, progress, writing=True)
        urls = _write_parts(service, parts, progress)
    _share(service, url, new.share)
    return urls


def _write_parts(service: SheetsApi, parts: Sequence[Part], progress: Progress | None) -> list[str]:
    """Write some parts into a spreadsheet that exists, then their views, and return the URLs of the worksheets."""
    report, cells = progress or ignore_progress, sum(part.layout.cell_count for part in parts)
    report(0, cells)
    with locating(source=service.address.label):
        write = Write(service, parts, report)
        write.run()
        for part, plan, swap in zip(parts, write.plans, write.swaps, strict=True):
            if part.views or find_views(write.state, swap.gid, part.arrays):
                placed = plan.placed_columns
                source = ViewSource.of_write(swap.gid, plan.title, part.arrays, placed, dates=part.dates)
                write_views(service, source, part.views)
    report(cells, cells)
    return [worksheet_url(service.key, swap.gid) for swap in write.swaps]


# Makes spreadsheets, and shares them with people.


@contextmanager
def _naming_new(url: str) -> Iterator[None]:
    """Add to an error that a new spreadsheet stays; a warning says so where the program is interrupted."""
    left = f"the new spreadsheet {url} was made all the same"
    try:
        yield
    except SheetArrayError as error:
        text = f"{error.args[0]}; {left}"
        error.args = (text,)
        if isinstance(error, (FormatError, RemoteError)):
            error.reason = text
        raise
    except BaseException:
        warn_caller(left)
        raise


def _share(service: SheetsApi, url: str, people: Sequence[str]) -> None:
    """Let people edit a spreadsheet that was made and written."""
    for number, address in enumerate(people):
        body = dump_json({"type": "user", "role": "writer", "emailAddress": address})
        path = f"{DRIVE}/{quote(service.key, safe='')}/permissions"
        try:
            service.patience.repeat(lambda path=path, body=body: service.send("post", path, body=body))  # type: ignore[misc]
        except (RemoteError, RefusedError) as error:
            status = getattr(error, "status", None)
            raise RemoteError(
                f"{url} was made and written, and could not be shared with {', '.join(people[number:])}: {error}",
                hint="share it in the browser; sharing needs the scope drive.file, or drive",
                status=status,
            ) from None


def _create(service: SheetsApi, title: str) -> str:
    """Make a spreadsheet, and return its key.

    The request is repeated only if it certainly had no effect, since another one might make a second spreadsheet.

    Raises:
        RemoteError: the service refuses, or it is unknown whether the spreadsheet was made.
    """

    def attempt() -> Answer:
        try:
            return service.send("post", "", body=dump_json({"properties": {"title": title}}))
        except RefusedError as refused:
            raise RemoteError(f"the service refuses: {refused.message}", status=refused.status) from None
        except FailedError as failure:
            if failure.undone:
                raise
            hint = f"look in Drive whether there is a spreadsheet {title!r} before you try again"
            what = f"{failure.what}; the spreadsheet may have been made"
            raise RemoteError(what, hint=hint, status=failure.status) from None

    key = service.patience.repeat(attempt).get("spreadsheetId")
    if isinstance(key, str) and key:
        return key
    raise RemoteError("the answer does not look like one of the Sheets API; the spreadsheet may have been made")
