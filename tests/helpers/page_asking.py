"""Asking the server of a page, as a browser or as somebody else would."""

from __future__ import annotations

import http.client
from typing import Any
from urllib.parse import urlsplit

from children import GIVEN_UP_AFTER

from sheetarray.pages import ServedPage


def ask_page(page: ServedPage, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes, Any]:
    """Ask for what stands below the address of a page, or for another path of its server."""
    parts = urlsplit(page.url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=GIVEN_UP_AFTER)
    path = path if path.startswith("/") else parts.path + path
    connection.request(method, path, headers={name.replace("_", "-"): text for name, text in headers.items()})
    response = connection.getresponse()
    answer = response.status, response.read(), response.headers
    connection.close()
    return answer
