"""No message, warning or result shows a password or a token of a URL, whatever is wrong with the URL."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

import numpy as np
import pytest

import sheetarray as sa

SECRETS = ("hunter2", "p@ss", "TOKENTOKEN", "TOKENTOKENTOKENTOKENTOKEN")
ADDRESS = "127.0.0.1:9"  # where nobody answers
URLS = (
    f"http://user:hunter2@{ADDRESS}/x.csv?token=TOKENTOKEN",
    f"http://user:p@ss@{ADDRESS}/x.csv",
    f"http://{ADDRESS}/x.csv?api_key=TOKENTOKEN#access_token=TOKENTOKEN",
    f"http://TOKENTOKENTOKENTOKENTOKEN@{ADDRESS}/x.csv",
    f"http://user:hunter2@{ADDRESS}/x.odd?token=TOKENTOKEN",
    f"http://user:hunter2@{ADDRESS}/x.npy.gz.zst?token=TOKENTOKEN",
    f"http://user:hunter2@{ADDRESS}/x",
    f"http://user:hunter2@{ADDRESS}/*.csv",
    f"http://user:hunter2@{ADDRESS}/x.zarr",
    f"simplecache::http://user:hunter2@{ADDRESS}/x.csv",
    f"zip://x.csv::http://user:hunter2@{ADDRESS}/x.zip",
    "http://user:hunter2@127.0.0.1:port/x.csv",
    "nosuch://user:hunter2@host/x.csv",
    "gsheets://abc?token=TOKENTOKEN",
    "gsheets://new?title=a&token=TOKENTOKEN",
    "https://docs.google.com/spreadsheets/d/abc/edit?access_token=TOKENTOKEN",
    "https://docs.google.com/spreadsheets/d/e/2PACX/pub?token=TOKENTOKEN",
)
CALLS: dict[str, Any] = {
    "read": sa.read,
    "scan": sa.scan,
    "check": sa.check,
    "read_columns": sa.read_columns,
    "open_many": sa.open_many,
    "write": lambda url: sa.write(url, {"a": np.arange(3)}),
    "convert": lambda url: sa.convert(url, "never.json"),
    "convert to it": lambda url: sa.convert({}, url),
    "merge": lambda url: sa.merge(url, url),
    "diff": lambda url: sa.diff(url, url),
}


@pytest.mark.parametrize("url", URLS)
def test_nothing_shows_a_secret_of_a_url(url: str) -> None:
    for verb, call in CALLS.items():
        said = what_is_said(call, url)
        assert [secret for secret in SECRETS if secret in said] == [], verb


def what_is_said(call: Any, url: str) -> str:
    """The result of a call, its error and its warnings, as text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(url)
            said = f"{result!r} {list(result)}" if result is not None else ""
        except Exception as error:
            said = f"{error!r} {error} {getattr(error, 'filename', '')} {getattr(error, 'location', '')}"
            said += "".join(traceback.format_exception_only(error))
    return said + " ".join(str(warning.message) for warning in caught)
