"""The methods of Drive that clients of Sheets use: to make, copy, list, share and delete spreadsheets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from . import drive_content
from .errors import ApiError, FileContent, Json
from .spreadsheet import new_id, new_key

if TYPE_CHECKING:
    from .service import Service

NOBODY = ""  # the user of a request that has an API key and no token: nobody has signed in
SPREADSHEET = "application/vnd.google-apps.spreadsheet"
_QUOTED = r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')"""
_NAME = re.compile(rf"\b(?:name|title)\s*(=|contains)\s*{_QUOTED}")
_FOLDER = re.compile(rf"\bparents\s+in\s+{_QUOTED}|{_QUOTED}\s+in\s+parents\b")
_TRASHED = re.compile(r"\btrashed\s*=\s*(true|false)")
_ROOT = "root"


_OWNER: Json = {
    "kind": "drive#permission",
    "id": "10000000000000000000",
    "type": "user",
    "role": "owner",
    "emailAddress": "owner@example.org",
    "displayName": "Owner",
}


@dataclass
class DriveEntry:
    """An entry of Drive: all that it keeps of a spreadsheet besides its content.

    Attributes:
        parents: the ids of the folders that it is in; the emulator knows no more of folders.
        trashed: whether it is in the bin.
        permissions: its Permissions, which say with whom it is shared, by their ids.
        comments: its Comments, oldest first.
        created: when it was made: UTC in ISO 8601, to milliseconds.
        modified: when it was last written, in the same form.
    """

    parents: list[str] = field(default_factory=lambda: [_ROOT])
    trashed: bool = False
    permissions: dict[str, Json] = field(default_factory=lambda: {_OWNER["id"]: dict(_OWNER)})
    comments: list[Json] = field(default_factory=list)
    created: str = field(default_factory=lambda: _now())
    modified: str = field(default_factory=lambda: _now())


def answer(service: Service, name: str, params: Json, body: Any) -> Json | FileContent:
    """Do what a request to Drive asks, and return the answer.

    Args:
        service: the service, whose spreadsheets are the files.
        name: of the method, such as "files.copy".
        params: of the path and the query.
        body: JSON; of an upload, its bytes or text.
    """
    if name == "files.list":
        return _list(service, params.get("q", ""))
    if name == "files.create":
        return _create(service, body)
    if name == "files.upload":
        return _create(service, *drive_content.parts_of_upload(body))
    key = params["fileId"]
    spreadsheet = service.spreadsheet(key)
    if name == "files.get":
        return _file(service, key)
    if name == "files.delete":
        del service.spreadsheets[key]
        return {}
    if name == "files.copy":
        copied = spreadsheet.copy()
        copied.key, copied.title = new_key(), body.get("name") or f"Copy of {spreadsheet.title}"
        service.spreadsheets[copied.key] = copied
        _entry(service, copied.key).parents = body.get("parents") or list(_entry(service, key).parents)
        return _file(service, copied.key)
    if name == "files.update":
        return _update(service, key, params, body)
    if name == "files.export":
        return drive_content.export(spreadsheet, params.get("mimeType", ""))
    if name == "files.replace":
        drive_content.put_text(spreadsheet, body, ",")
        return {"kind": "drive#file", "id": key, "title": spreadsheet.title, "mimeType": SPREADSHEET}
    entry = _entry(service, key)
    if name == "comments.list":
        return {"kind": "drive#commentList", "comments": entry.comments}
    if name == "comments.create":
        if not body.get("content"):
            raise ApiError(400, "A comment must have content.")
        entry.comments.append({"kind": "drive#comment", "id": str(new_id()), **body})
        return entry.comments[-1]
    return _permissions(entry.permissions, name, params, body)


def _permissions(permissions: dict[str, Json], name: str, params: Json, body: Json) -> Json:
    """Do what a method `permissions.*` asks with the permissions of a file, and return the answer."""
    if name == "permissions.create":
        if body.get("type") not in ("user", "group", "domain", "anyone") or not body.get("role"):
            raise ApiError(400, "The permission type field is required.")
        address = body.get("emailAddress")
        known = next((held for held in permissions.values() if address and held.get("emailAddress") == address), None)
        if known is not None and known.get("role") == "owner":
            return known
        entry = {"kind": "drive#permission", "id": known["id"] if known else str(new_id()), **body}
        permissions[entry["id"]] = entry
        return entry
    if name == "permissions.list":
        listed = sorted(permissions.values(), key=lambda held: held.get("role") == "owner")  # the owner comes last
        return {"kind": "drive#permissionList", "permissions": listed}
    if params["permissionId"] not in permissions:
        raise ApiError(404, f"Permission not found: {params['permissionId']}.")
    if name == "permissions.delete" and permissions[params["permissionId"]].get("role") == "owner":
        raise ApiError(403, "The owner of a file cannot be removed.")
    if name == "permissions.delete":
        del permissions[params["permissionId"]]
        return {}
    if name == "permissions.update":
        changed: Json = {part: body[part] for part in ("role", "pendingOwner", "expirationTime") if part in body}
        if changed.get("role") == "owner":
            for held in permissions.values():
                held |= {"role": "writer"} if held.get("role") == "owner" else {}
        permissions[params["permissionId"]] |= changed
    return permissions[params["permissionId"]]


def _create(service: Service, body: Json, text: str | None = None, between: str = ",") -> Json:
    """Make a spreadsheet, blank or of text with a separator (`between`), and return its File."""
    if body.get("mimeType", SPREADSHEET) != SPREADSHEET:
        raise ApiError(400, "The emulator has no files but spreadsheets.")
    spreadsheet = service.add_spreadsheet(body.get("name") or "Untitled", [("Sheet1", 1000, 26)])
    if text is not None:
        drive_content.put_text(spreadsheet, text, between)
    _entry(service, spreadsheet.key).parents = body.get("parents") or [_ROOT]
    return _file(service, spreadsheet.key)


def _update(service: Service, key: str, params: Json, body: Json) -> Json:
    """Change the name and the folders of a spreadsheet, or bin it, and return its File."""
    entry = _entry(service, key)
    service.spreadsheets[key].title = body.get("name") or service.spreadsheets[key].title
    entry.trashed = bool(body.get("trashed", entry.trashed))
    gone = params.get("removeParents", "").split(",")
    entry.parents = [folder for folder in entry.parents if folder not in gone]
    entry.parents += [folder for folder in params.get("addParents", "").split(",") if folder]
    return _file(service, key)


def _list(service: Service, query: str) -> Json:
    """Return the FileList of the spreadsheets that match a query by name, folder and whether they are in the bin."""
    title, folder, trashed = _NAME.search(query), _FOLDER.search(query), _TRASHED.search(query)
    wanted = re.sub(r"\\(.)", r"\1", title[2] or title[3] or "") if title else ""
    parent = next(filter(None, folder.groups()), "") if folder else ""
    files = []
    for key, held in service.spreadsheets.items():
        entry = _entry(service, key)
        named = held.title == wanted if title and title[1] == "=" else wanted.casefold() in held.title.casefold()
        shown = entry.trashed == (trashed[1] == "true") if trashed else True
        if named and shown and (not folder or parent in entry.parents):
            files.append(_file(service, key))
    return {"kind": "drive#fileList", "incompleteSearch": False, "files": files}


def refuse_nobody(service: Service, params: Json, *, writes: bool) -> None:
    """Refuse a request with an API key only if it writes, or reads a spreadsheet that is not shared with everyone."""
    if writes:
        expected = "Expected OAuth2 access token or other authentication credentials that assert a principal."
        raise ApiError(401, f"API keys are not supported by this API. {expected}")
    key = params.get("spreadsheetId") or params.get("fileId") or ""
    shared = key in service.entries and service.entries[key].permissions.values()
    if key in service.spreadsheets and not any(permission.get("type") == "anyone" for permission in shared or ()):
        raise ApiError(403, "The caller does not have permission")


def note_change(service: Service, params: Json) -> None:
    """Note that the spreadsheet which a request names was written just now."""
    if (key := params.get("spreadsheetId") or params.get("fileId")) in service.spreadsheets:
        _entry(service, key).modified = _now()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _entry(service: Service, key: str) -> DriveEntry:
    return service.entries.setdefault(key, DriveEntry())


def _file(service: Service, key: str) -> dict[str, Any]:
    """Return the File that Drive answers for a spreadsheet."""
    title, entry = service.spreadsheets[key].title, _entry(service, key)
    times = {"createdTime": entry.created, "modifiedTime": entry.modified}
    whole = {"kind": "drive#file", "id": key, "name": title, "mimeType": SPREADSHEET, **times}
    return whole | {"parents": entry.parents, "trashed": entry.trashed}
