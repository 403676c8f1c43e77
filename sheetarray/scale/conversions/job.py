"""A job: the source, the target and the options of one of many conversions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...files import PathLike


@dataclass(frozen=True)
class Job:
    """One conversion."""

    number: int  # of the source, counted from 0; it stays the same in a manifest
    source: PathLike  # an absolute path, or a remote file with the state that it had when it was listed
    target: PathLike  # an absolute path, or a remote file
    # that of a source on this machine when it was listed; None for a remote file
    version: tuple[Any, ...] | None = None
    names: Sequence[str] | None = None  # of the arrays; None for all
    options: Mapping[str, Any] = field(default_factory=dict)  # for `convert`
    notes: bool = False  # whether warnings are part of the outcome
    label: str = ""  # of the source, in a manifest and in messages
    etag: str | None = None  # a text that differs for each version of the source; None if it has none
    # a text that differs for each version of the target: that of the version that is there now; None for a remote one
    before: str | None = None
