"""Errors, in the shape in which the service answers them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Json = dict[str, Any]

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class ApiError(Exception):
    """A request that is answered with an error.

    Attributes:
        code: the HTTP status.
        message: what a caller reads.
        details: objects with an `@type`, for programs.
        headers: headers of the answer, such as Retry-After.
    """

    def __init__(
        self, code: int, message: str, *, details: list[Json] | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details or []
        self.headers = headers or {}

    def body(self) -> Json:
        """Return the JSON of the answer."""
        error: Json = {"code": self.code, "message": self.message, "status": _STATUS.get(self.code, "UNKNOWN")}
        if self.details:
            error["details"] = self.details
        return {"error": error}


def invalid(message: str) -> ApiError:
    """Return the error 400 for a request that the service does not accept."""
    return ApiError(400, message)


def violation(field: str, description: str) -> ApiError:
    """Return the error 400 for a body that breaks its schema; its details name the field at fault, if there is one."""
    blamed: Json = {"field": field, "description": description} if field else {"description": description}
    return ApiError(
        400,
        description,
        details=[{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [blamed]}],
    )


def unsupported_error(what: str) -> ApiError:
    """Return the error 400 for what the service can do and this emulator cannot; it is never ignored silently."""
    return invalid(f"{what} is not supported by the emulator.")


@contextmanager
def within(prefix: str) -> Iterator[None]:
    """Put a prefix before the message of an error 400 in a `with` block, such as `Invalid requests[2].addSheet`."""
    try:
        yield
    except ApiError as error:
        if error.code == 400:
            error.message = f"{prefix}: {error.message}"
        raise
