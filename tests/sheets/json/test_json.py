"""JSON passes the shared suite."""

from __future__ import annotations

from sheetarray.testing.conformance import Conformance


class TestJson(Conformance):
    suffix, format = ".json", "json"


class TestJsonGzip(Conformance):
    suffix, format = ".json.gz", "json"


class TestJsonZstandard(Conformance):
    suffix, format = ".json.zst", "json"


class TestInterleaved(Conformance):
    suffix, format = ".json", "json"
    writing = {"complex": "interleaved"}  # noqa: RUF012
