"""Makes spreadsheets, and shares them with people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ...errors import LimitError, RemoteError
from ...files import PathLike
from .client import DRIVE, http_client
from .requests import SheetsApi, dump_json
from .retries import TIMEOUT, FailedError, RefusedError, Retries

_LONGEST_TITLE = 1000  # characters


def create_gsheet(
    title: str,
    *,
    share: Sequence[str] = (),
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
) -> str:
    """Make a Google spreadsheet, share it, and return its URL.

    Args:
        title: of the spreadsheet; several may have the same one.
        share: e-mail addresses of people and groups who may edit it. Without any, nobody but the account of the
            credentials can open it, which for a service account is no person.
        client: as for `write_gsheet`; with `share`, its credentials need a scope of Drive.
        credentials: as for `write_gsheet`.
        timeout: as for `write_gsheet`.

    Raises:
        LimitError: a title that no spreadsheet can have, or text that is no e-mail address.
        RemoteError: the service cannot be reached, or refuses; the message names the spreadsheet if it was made, or may
            have been.

    Example:
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     url = create_gsheet("readings", share=["me@example.org"], client=server.client())
        ...     server.client().open("readings").url == url
        True
    """
    if not 0 < len(title.strip()) <= len(title) <= _LONGEST_TITLE:
        raise LimitError(f"the title of a spreadsheet has 1 to {_LONGEST_TITLE:,} characters, not {len(title.strip())}")
    people = [share] if isinstance(share, str) else list(share)
    for address in people:
        if "@" not in address.strip("@") or any(character.isspace() for character in address):
            raise LimitError(f"{address!r} is no address to share a spreadsheet with")
    http = http_client(client, credentials, writing=True, sharing=bool(people))
    service = SheetsApi(http, "", Retries(timeout=timeout))
    key = _create(service, title)
    url = f"https://docs.google.com/spreadsheets/d/{key}"
    for address in people:
        body = dump_json({"type": "user", "role": "writer", "emailAddress": address})
        path = f"{DRIVE}/{quote(key, safe='')}/permissions"
        try:
            service.patience.repeat(lambda path=path, body=body: service.send("post", path, body=body))  # type: ignore[misc]
        except (RemoteError, RefusedError) as error:
            raise RemoteError(f"{url} was made, and could not be shared with {address}: {error}") from None
    return url


def _create(service: SheetsApi, title: str) -> str:
    """Make a spreadsheet, and return its key.

    The request is repeated only if it certainly had no effect, since another one might make a second spreadsheet.

    Raises:
        RemoteError: the service refuses, or it is unknown whether the spreadsheet was made.
    """
    failures = 0
    while True:
        try:
            answer = service.send("post", "", body=dump_json({"properties": {"title": title}}))
        except RefusedError as refused:
            raise RemoteError(f"the service refuses: {refused.message}", status=refused.status) from None
        except FailedError as failure:
            if not failure.undone:
                hint = f"look in Drive whether there is a spreadsheet {title!r} before you try again"
                what = f"{failure.what}; the spreadsheet may have been made"
                raise RemoteError(what, hint=hint, status=failure.status) from None
            service.patience.wait_for(failure, failures := failures + 1)
            continue
        if isinstance(key := answer.get("spreadsheetId"), str) and key:
            return key
        raise RemoteError("the answer does not look like one of the Sheets API; the spreadsheet may have been made")
