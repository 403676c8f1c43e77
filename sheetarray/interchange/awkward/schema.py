"""The JSON object that describes an array: its text checked and parsed, its signature, prefix and expression.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/docs/serialization.adoc, "Top level object". The text is
measured before it is parsed: neither its length nor its nesting can harm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import FormatError
from ...json_text import parse_json
from .limits import DEEPEST_JSON, MOST_SCHEMA_BYTES, MOST_SCHEMA_PARTS
from .metadata import Metadata

SIGNATURES = ("awkward0", "awkward")  # the second until version 0.14


@dataclass(frozen=True, slots=True)
class Schema:
    """The outermost object of awkward0's JSON: the expression that makes the array, and where its blobs stand.

    Attributes:
        expression: the array, as plain JSON.
        prefix: stands before the names of the blobs.
        metadata: what this package has noted, and awkward0 passes over.
        version: of the package that wrote it.
    """

    expression: Any
    prefix: str
    metadata: Metadata = field(default_factory=Metadata)
    version: str = ""


def parse_schema(content: object) -> Schema:
    """Return the schema of an array.

    Args:
        content: its JSON, as text, bytes, or an array of bytes.

    Raises:
        FormatError: no JSON, no schema, or one that is too large or nested too deeply.

    Example:
        >>> schema = parse_schema(b'{"awkward0": "0.15.5", "schema": {"json": null}}')
        >>> schema.expression, schema.prefix, schema.version
        ({'json': None}, '', '0.15.5')
    """
    tree = parse_json(
        _text(content),
        "a schema",
        most_bytes=MOST_SCHEMA_BYTES,
        most_values=MOST_SCHEMA_PARTS,
        deepest=DEEPEST_JSON,
    )
    if not isinstance(tree, dict) or not any(signature in tree for signature in SIGNATURES):
        raise FormatError(
            "no schema of an awkward array: neither awkward0 nor awkward is among its keys",
            hint="the schema is the JSON that was stored under the array's own name",
        )
    if "schema" not in tree:
        raise FormatError("the schema has no expression: its key is schema")
    prefix = tree.get("prefix", "")
    if not isinstance(prefix, str):
        raise FormatError("a prefix that is no text", location="prefix")
    version = next(tree[signature] for signature in SIGNATURES if signature in tree)
    metadata = Metadata.from_json(tree.get("metadata"))
    return Schema(tree["schema"], prefix, metadata, version if isinstance(version, str) else "")


def _text(content: object) -> bytes:
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    elif isinstance(content, np.ndarray):
        if content.dtype.kind not in "uiS" or content.dtype.itemsize > 1:
            raise FormatError(f"a schema of the dtype {content.dtype}, not of bytes")
        content = content.tobytes() if content.size <= MOST_SCHEMA_BYTES else bytes(MOST_SCHEMA_BYTES + 1)
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise FormatError(f"a schema that is a {type(content).__name__}, not JSON")
    if len(content) > MOST_SCHEMA_BYTES:
        raise FormatError(f"a schema of more than {MOST_SCHEMA_BYTES} bytes")
    return bytes(content)
