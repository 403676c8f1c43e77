"""The methods of Drive that gspread sends: to make, copy, list, share and delete spreadsheets. There are no folders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .errors import ApiError, Json, unsupported_error
from .spreadsheet import new_id, new_key

if TYPE_CHECKING:
    from .service import Service

Permissions = dict[str, Json]  # by their ids
SPREADSHEET = "application/vnd.google-apps.spreadsheet"
_NAME = re.compile(r"""\bname\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")
_OWNER: Json = {
    "kind": "drive#permission",
    "id": "10000000000000000000",
    "type": "user",
    "role": "owner",
    "emailAddress": "owner@example.org",
    "displayName": "Owner",
}


def answer(service: Service, name: str, params: Json, body: Json) -> Json:
    """Do what a request to Drive asks, and return the answer."""
    if "parents" in body or "parents" in params.get("q", ""):
        raise unsupported_error("A folder")
    if name == "files.list":
        return _list(service, params.get("q", ""))
    if name == "files.create":
        if body.get("mimeType", SPREADSHEET) != SPREADSHEET:
            raise ApiError(400, "The emulator has no files but spreadsheets.")
        made = service.add_spreadsheet(body.get("name") or "Untitled", [("Sheet1", 1000, 26)], new_key())
        return _file(service, made.key)
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
        return _file(service, copied.key)
    if name == "comments.list":
        return {"kind": "drive#commentList", "comments": []}  # the emulator takes none
    permissions = service.permissions.setdefault(key, {_OWNER["id"]: dict(_OWNER)})
    return _answer_permissions(permissions, name, params, body)


def _answer_permissions(permissions: Permissions, name: str, params: Json, body: Json) -> Json:
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
    wanted = params["permissionId"]
    if wanted not in permissions:
        raise ApiError(404, f"Permission not found: {wanted}.")
    if permissions[wanted].get("role") == "owner":
        raise ApiError(403, "The owner of a file cannot be removed.")
    del permissions[wanted]
    return {}


def _list(service: Service, query: str) -> Json:
    """Return the FileList of all spreadsheets, or of those that have the name in a query."""
    match = _NAME.search(query)
    wanted = re.sub(r"\\(.)", r"\1", match[1] or match[2] or "") if match else None
    held = service.spreadsheets.items()
    files = [_file(service, key) for key, spreadsheet in held if wanted is None or spreadsheet.title == wanted]
    return {"kind": "drive#fileList", "incompleteSearch": False, "files": files}


def _file(service: Service, key: str) -> Json:
    """Return the File that Drive answers for a spreadsheet."""
    held = service.spreadsheets[key]
    times = {"createdTime": held.created, "modifiedTime": held.modified}
    return {"kind": "drive#file", "id": key, "name": held.title, "mimeType": SPREADSHEET, **times}
