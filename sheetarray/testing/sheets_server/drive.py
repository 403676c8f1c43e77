"""A small Drive: spreadsheets made, listed by title, deleted and shared, as far as clients of Sheets ask for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .errors import ApiError, Json
from .spreadsheet import new_id

if TYPE_CHECKING:
    from .service import Service

SPREADSHEET = "application/vnd.google-apps.spreadsheet"
_NAME = re.compile(r"""\bname\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")


def answer(service: Service, name: str, params: Json, body: Json) -> Json:
    """Do what a request to Drive asks."""
    if name == "files.create":
        if body.get("mimeType", SPREADSHEET) != SPREADSHEET:
            raise ApiError(400, "The emulator has no files but spreadsheets.")
        return _file(service, service.new(body.get("name") or "Untitled", [("Sheet1", 1000, 26)]).key)
    if name == "files.list":
        match = _NAME.search(params.get("q", ""))
        wanted = re.sub(r"\\(.)", r"\1", match[1] or match[2] or "") if match else None
        titles = {key: held.title for key, held in service.spreadsheets.items()}
        files = [_file(service, key) for key, title in titles.items() if wanted is None or title == wanted]
        return {"kind": "drive#fileList", "incompleteSearch": False, "files": files}
    key = params["fileId"]
    service.spreadsheet(key)
    if name == "files.get":
        return _file(service, key)
    if name == "files.delete":
        del service.spreadsheets[key]
        return {}
    permissions = service.permissions.setdefault(key, {})
    if name == "permissions.create":
        if body.get("type") not in ("user", "group", "domain", "anyone") or not body.get("role"):
            raise ApiError(400, "The permission type field is required.")
        entry = {"kind": "drive#permission", "id": str(new_id()), **body}
        permissions[entry["id"]] = entry
        return entry
    if name == "permissions.list":
        return {"kind": "drive#permissionList", "permissions": list(permissions.values())}
    if params["permissionId"] not in permissions:
        raise ApiError(404, f"Permission not found: {params['permissionId']}.")
    del permissions[params["permissionId"]]
    return {}


def _file(service: Service, key: str) -> dict[str, Any]:
    times = dict.fromkeys(("createdTime", "modifiedTime"), "2020-01-01T00:00:00.000Z")
    title = service.spreadsheets[key].title
    return {"kind": "drive#file", "id": key, "name": title, "mimeType": SPREADSHEET, **times}
