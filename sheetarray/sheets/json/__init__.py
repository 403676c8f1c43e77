"""JSON of flat lists, a name for each or a list of them: the functions of the adapter."""

from __future__ import annotations

from .adapter import accept_json, check_json, iter_elements_json, keeps_json, read_json, scan_json, write_json

__all__ = ["accept_json", "check_json", "iter_elements_json", "keeps_json", "read_json", "scan_json", "write_json"]
