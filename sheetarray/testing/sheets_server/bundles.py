"""Several requests in the body of one, as Google's own client bundles them: multipart/mixed, each part a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from email import message_from_bytes
from email.message import Message
from http import HTTPStatus
from typing import NamedTuple

from .errors import FileContent, invalid

MOST = 100  # requests in a bundle
_BOUNDARY = "batch_of_the_emulator"


class BundledRequest(NamedTuple):
    """A request of a bundle.

    Attributes:
        content_id: how its answer refers to it.
        method: of HTTP.
        target: path and query, quoted as they were sent.
        body: its content.
    """

    content_id: str
    method: str
    target: str
    body: bytes


def is_bundle(method: str, path: str) -> bool:
    """Return whether a request holds others: `POST /batch`, or below it for one service."""
    return method == "POST" and (path == "/batch" or path.startswith("/batch/"))


def read_bundle(body: bytes, content_type: str) -> Iterator[BundledRequest]:
    """Yield the requests of a bundle."""
    message = message_from_bytes(f"Content-Type: {content_type}\n\n".encode() + body)
    parts = message.get_payload()
    if not isinstance(parts, list) or not 0 < len(parts) <= MOST:
        raise invalid(f"Failed to parse batch request, error: from 1 to {MOST} parts are expected.")
    for part in parts:
        payload = part.get_payload(decode=True) if isinstance(part, Message) else None
        if not isinstance(part, Message) or not isinstance(payload, bytes):
            raise invalid("Failed to parse batch request, error: a part is no request.")
        head, _, content = payload.replace(b"\r\n", b"\n").lstrip(b"\n").partition(b"\n\n")
        line = head.split(b"\n", 1)[0].decode("latin-1").split(" ")
        if len(line) != 3:
            raise invalid("Failed to parse batch request, error: a part has no request line.")
        yield BundledRequest(str(part["Content-ID"] or ""), line[0], line[1], content)


def write_bundle(answers: Sequence[tuple[str, int, bytes, str]]) -> FileContent:
    """Return the answer to a bundle, of the ids, statuses, contents and media types of its answers."""
    lines: list[bytes] = []
    for content_id, status, content, kind in answers:
        head = f"--{_BOUNDARY}\r\nContent-Type: application/http\r\n"
        if content_id:
            head += f"Content-ID: <response-{content_id.removeprefix('<')}\r\n"
        head += f"\r\nHTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: {kind}\r\n"
        lines += [f"{head}Content-Length: {len(content)}\r\n\r\n".encode(), content, b"\r\n"]
    return FileContent(b"".join([*lines, f"--{_BOUNDARY}--\r\n".encode()]), f"multipart/mixed; boundary={_BOUNDARY}")
