"""What a page holds, taken out of its HTML and decoded again, without a browser."""

from __future__ import annotations

import base64
import json
import zlib
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import numpy as np


class PageReader(HTMLParser):
    """The manifest, the blobs, the policy and all else that stands in a page.

    Attributes:
        scripts: texts of `script` elements, by id; that of the program has none.
        tags: every element with its attributes.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: dict[str, str] = {}
        self.styles: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._within: tuple[str, str] | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._within = (tag, dict(attrs).get("id") or "program")

    def handle_endtag(self, tag: str) -> None:
        self._within = None

    def handle_data(self, data: str) -> None:
        if self._within and self._within[0] == "script":
            self.scripts[self._within[1]] = self.scripts.get(self._within[1], "") + data
        elif self._within and self._within[0] == "style":
            self.styles.append(data)

    @property
    def manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads(self.scripts["manifest"])
        return manifest

    @property
    def policy(self) -> str:
        policies = [attrs["content"] for tag, attrs in self.tags if tag == "meta" and "http-equiv" in attrs]
        assert len(policies) == 1
        return str(policies[0])

    def blob(self, number: int) -> bytes:
        return zlib.decompress(base64.b64decode(self.scripts[f"blob-{number}"], validate=True))

    def elements(self, entry: dict[str, Any]) -> list[Any]:
        """Return the elements of an entry: numbers as NumPy has them, text as it is."""
        buffers = [self.blob(number) for number in entry["blobs"]]
        if entry["layout"] != "text":
            return list(np.frombuffer(buffers[0], "<" + entry["layout"]))
        ends = np.cumsum([0, *np.frombuffer(buffers[0], "<u4")])
        return [buffers[1][2 * start : 2 * end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(ends)]

    def entry(self, name: str) -> dict[str, Any]:
        (entry,) = [entry for entry in self.manifest["entries"] if entry["name"] == name and entry["listed"]]
        return dict(entry)
