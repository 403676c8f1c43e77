"""The methods of the service, as the paths of their URLs tell them apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

_KEY = r"/v4/spreadsheets/(?P<spreadsheetId>[^/:]+)"
_RANGE = rf"{_KEY}/values/(?P<range>.+)"


@dataclass(frozen=True)
class Method:
    """A method of the service.

    Attributes:
        name: as in the discovery document.
        http: its HTTP method.
        path: a pattern for the path of its URL, still quoted; its groups are parameters.
        prefix: the field of the request in which the service takes the body; messages name fields from there.
        writes: whether it changes something, and counts as a write for the quota.
    """

    name: str
    http: str
    path: str
    prefix: str = ""
    writes: bool = False

    def match(self, http: str, path: str) -> dict[str, str] | None:
        """Return the parameters in the path of a request that calls this method; None if it calls another one."""
        match = re.fullmatch(self.path, path) if http == self.http else None
        return {name: unquote(part) for name, part in match.groupdict().items()} if match else None


_FILES = "/drive/v3/files"
_FILE = rf"{_FILES}/(?P<fileId>[^/:]+)"
_PERMISSION = f"{_FILE}/permissions/(?P<permissionId>[^/]+)"

METHODS = [
    Method("drive.files.create", "POST", _FILES, "", True),
    Method("drive.files.list", "GET", _FILES),
    Method("drive.files.get", "GET", f"{_FILE}/?"),
    Method("drive.files.delete", "DELETE", f"{_FILE}/?", "", True),
    Method("drive.files.update", "PATCH", f"{_FILE}/?", "", True),
    Method("drive.files.copy", "POST", f"{_FILE}/copy", "", True),
    Method("drive.files.export", "GET", f"{_FILE}/export"),
    Method("drive.files.upload", "POST", f"/upload{_FILES}", "", True),
    Method("drive.files.replace", "PUT", "/upload/drive/v2/files/(?P<fileId>[^/:]+)", "", True),
    Method("drive.comments.list", "GET", f"{_FILE}/comments"),
    Method("drive.comments.create", "POST", f"{_FILE}/comments", "", True),
    Method("drive.permissions.create", "POST", f"{_FILE}/permissions", "", True),
    Method("drive.permissions.list", "GET", f"{_FILE}/permissions"),
    Method("drive.permissions.get", "GET", _PERMISSION),
    Method("drive.permissions.update", "PATCH", _PERMISSION, "", True),
    Method("drive.permissions.delete", "DELETE", _PERMISSION, "", True),
    Method("spreadsheets.create", "POST", "/v4/spreadsheets/?", "spreadsheet", True),
    Method("spreadsheets.get", "GET", f"{_KEY}/?"),
    Method("spreadsheets.batchUpdate", "POST", f"{_KEY}/?:batchUpdate", "", True),
    Method("spreadsheets.getByDataFilter", "POST", f"{_KEY}/?:getByDataFilter"),
    Method("spreadsheets.values.batchGetByDataFilter", "POST", f"{_KEY}/values:batchGetByDataFilter"),
    Method("spreadsheets.values.batchUpdateByDataFilter", "POST", f"{_KEY}/values:batchUpdateByDataFilter", "", True),
    Method("spreadsheets.values.batchClearByDataFilter", "POST", f"{_KEY}/values:batchClearByDataFilter", "", True),
    Method("spreadsheets.values.batchGet", "GET", f"{_KEY}/values:batchGet"),
    Method("spreadsheets.values.batchUpdate", "POST", f"{_KEY}/values:batchUpdate", "", True),
    Method("spreadsheets.values.batchClear", "POST", f"{_KEY}/values:batchClear", "", True),
    Method("spreadsheets.values.append", "POST", f"{_RANGE}:append", "data", True),
    Method("spreadsheets.values.clear", "POST", f"{_RANGE}:clear", "", True),
    Method("spreadsheets.values.update", "PUT", _RANGE, "data", True),
    Method("spreadsheets.values.get", "GET", _RANGE),
    Method("spreadsheets.developerMetadata.search", "POST", f"{_KEY}/developerMetadata:search"),
    Method("spreadsheets.developerMetadata.get", "GET", f"{_KEY}/developerMetadata/(?P<metadataId>[^/]+)"),
    Method("spreadsheets.sheets.copyTo", "POST", rf"{_KEY}/sheets/(?P<sheetId>[^/:]+):copyTo", "", True),
]
