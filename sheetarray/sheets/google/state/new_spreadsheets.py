"""Makes spreadsheets, and shares them with people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import quote

from ....errors import FormatError, RemoteError, SheetArrayError, warn_caller
from ..client import DRIVE
from ..requests import Answer, SheetsApi, dump_json
from ..retries import FailedError, RefusedError


@contextmanager
def naming_new(url: str) -> Iterator[None]:
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


def share_with(service: SheetsApi, url: str, people: Sequence[str]) -> None:
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


def create_spreadsheet(service: SheetsApi, title: str) -> str:
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
