"""The JSON object that describes an array: its text, parsed and checked.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/docs/serialization.adoc. The text is measured before it is
parsed: neither its length nor its nesting can harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import FormatError
from ...linear.json_text import parse_json
from .budget import DEEPEST_JSON, MOST_SCHEMA_BYTES, MOST_SCHEMA_PARTS, Budget
from .metadata import Metadata

SIGNATURES = ("awkward0", "awkward")  # the second until version 0.14


@dataclass(frozen=True, slots=True)
class Schema:
    """The outermost object of awkward0's JSON."""

    expression: Any  # the array, as plain JSON
    prefix: str  # stands before the names of the blobs
    metadata: Metadata  # what this package has noted, and awkward0 passes over
    version: str  # of the package that wrote it


def parse_schema(content: object, budget: Budget | None = None) -> Schema:
    """Return the schema of an array, whose values are counted in a budget, if one is given.

    Example:
        >>> schema = parse_schema(b'{"awkward0": "0.15.5", "schema": {"json": null}}')
        >>> schema.expression, schema.prefix, schema.version
        ({'json': None}, '', '0.15.5')
    """
    most = {"most_bytes": MOST_SCHEMA_BYTES, "most_values": MOST_SCHEMA_PARTS, "deepest": DEEPEST_JSON}
    text = _text(content)
    tree = parse_json(text, "a schema", **most)
    if budget is not None:
        budget.note_schema(text)
    if not isinstance(tree, dict) or not any(signature in tree for signature in SIGNATURES):
        raise FormatError(
            "not the schema of an awkward array: it has neither the key awkward0 nor the key awkward",
            hint="the schema is the JSON that was stored under the array's own name",
        )
    if "schema" not in tree:
        raise FormatError("the schema has no expression: the key 'schema' is missing")
    prefix = tree.get("prefix", "")
    if not isinstance(prefix, str):
        raise FormatError("a prefix that is not text", location="prefix")
    version = next(tree[signature] for signature in SIGNATURES if signature in tree)
    metadata = Metadata.from_json(tree.get("metadata"))
    return Schema(tree["schema"], prefix, metadata, version if isinstance(version, str) else "")


def _text(content: object) -> bytes:
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    elif isinstance(content, np.ndarray):
        if content.dtype.kind not in "uiS" or content.dtype.itemsize > 1:
            raise FormatError(f"the schema has the dtype {content.dtype}, not bytes")
        content = content.tobytes() if content.size <= MOST_SCHEMA_BYTES else bytes(MOST_SCHEMA_BYTES + 1)
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise FormatError(f"a schema that is a {type(content).__name__}, not JSON")
    if len(content) > MOST_SCHEMA_BYTES:
        raise FormatError(f"the schema has more than {MOST_SCHEMA_BYTES} bytes")
    return bytes(content)
