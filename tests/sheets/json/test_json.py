"""JSON passes the shared suite."""

from __future__ import annotations

from sheetarray.testing.conformance import Conformance


class TestJson(Conformance):
    suffix, format = ".json", "json"


class TestJsonGzip(Conformance):
    every_case = False
    suffix, format = ".json.gz", "json"


class TestJsonZstandard(Conformance):
    every_case = False
    suffix, format = ".json.zst", "json"


class TestInterleaved(Conformance):
    every_case = False
    suffix, format = ".json", "json"
    writing = {"complex": "interleaved"}  # noqa: RUF012
