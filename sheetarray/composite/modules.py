"""The protocols of the modules for composites and for labels, and the functions that import these modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, TypeVar

from ..columns import ArrayInfo
from ..errors import Finding, FormatError
from ..header import NoteFinding, warn_of_finding
from ..registry import Composite, Labelling

ArraysByName = dict[str, Any]
InfosByName = Mapping[str, ArrayInfo]
Read = Callable[[Sequence[str] | None], ArraysByName]
Scan = Callable[[], InfosByName]
Anything = TypeVar("Anything")


def raise_error(error: FormatError) -> None:
    """Raise an error: the default of what becomes of an error in a composite."""
    raise error


def ignore_finding(_: object) -> None:
    """Ignore a finding that reading or checking the columns themselves reports."""


class CompositeModule(Protocol):
    """The functions of a composite's module; its *description* is the column that says how others belong together."""

    def spread(self, arrays: Mapping[str, Any], *, limit: int) -> ArraysByName:
        """Return the arrays by name, each composite replaced by its columns and its description."""

    def gather(
        self,
        arrays: Mapping[str, Any],
        *,
        note: NoteFinding = warn_of_finding,
        fail: Callable[[FormatError], None] = raise_error,
    ) -> ArraysByName:
        """Return the arrays by name, the columns of each composite put together."""

    def is_schema(self, name: str, array: Any) -> bool:
        """Return whether reading takes an array for a description, by its name and its beginning."""

    def described_columns(self, name: str, array: Any) -> list[str]:
        """Return the names of the columns that a description names; an empty list if the array is no description."""

    def described_length(self, name: str, array: Any, infos: InfosByName) -> int | None:
        """Return the number of entries of a composite; None if headers alone do not tell."""


class LabelsModule(Protocol):
    """The functions of the module of labels, around the one description of all arrays of a container."""

    def spread(self, arrays: Any, *, limit: int) -> Any:
        """Return the argument of `write` with labels replaced by their description; anything else as it is."""

    def refuse_description(self, array: Any) -> None:
        """Refuse an array of the description's name that reading would take for one."""

    def wants_labels(self) -> bool:
        """Return whether the caller has asked for the labels of what is being read."""

    def parse_labels(self, array: Any, note: NoteFinding, locate: Callable[[FormatError], None]) -> Any | None:
        """Return the labels that a description holds; None if the array is no description, or damaged: it is noted."""

    def report_damage(self, error: FormatError, note: NoteFinding) -> None:
        """Note an error in the cells of the description, or keep it for the caller who asks for labels."""

    def find_renamed(self, arrays: Mapping[str, Any]) -> str | None:
        """Return the name of an array that describes others, and has not the name for it; None if none does."""

    def name_infos(self, infos: InfosByName, labels: Any, note: NoteFinding) -> dict[str, ArrayInfo]:
        """Return the infos of all arrays but the description, with the names of dimensions."""

    def check_labels(self, labels: Any, infos: InfosByName) -> Iterator[Finding]:
        """Yield a finding for each statement of a description that contradicts the arrays."""


def load_module(composite: Composite) -> CompositeModule:
    """Return the functions for composites of a kind."""
    module: Any = import_module(composite.module)
    return module  # type: ignore[no-any-return]


def load_labels(labelling: Labelling) -> LabelsModule:
    """Return the functions for labels."""
    module: Any = import_module(labelling.module)
    return module  # type: ignore[no-any-return]
