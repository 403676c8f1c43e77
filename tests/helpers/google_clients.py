"""Google's own client of Python, and others that rest on it, sent to the emulator."""

from __future__ import annotations

from typing import Any

import httplib2

from sheetarray.testing.sheets_server import SheetsServer


class EmulatedHttp(httplib2.Http):
    """Sends what is meant for Google to the emulator, and nothing else anywhere."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    def request(self, uri: str, *arguments: Any, **options: Any) -> Any:
        for service in ("https://sheets.googleapis.com", "https://www.googleapis.com"):
            uri = uri.replace(service, self._url)
        assert uri.startswith(self._url)
        return super().request(uri, *arguments, **options)


def service(server: SheetsServer, name: str, version: str) -> Any:
    """Google's own client of one of its services."""
    from googleapiclient.discovery import build

    return build(name, version, http=EmulatedHttp(server.url), static_discovery=True)
