"""One test over a table, where a test for each row of it would take longer to begin and to end than to run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from adapters_deleted import ASKED, find_deleted


def each_of(names: str, table: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make one test of a function and a table: it runs every row, and fails with the rows that fail, named.

    Each row has a folder `tmp_path` and a `monkeypatch` of its own; other fixtures are shared by all rows. Two tables,
    one above the other, give all pairs of their rows. A row that is skipped counts as passed unless all are.

    Args:
        names: of the parameters that a row fills, as `pytest.mark.parametrize` takes them.
        table: the rows: values, or tuples of values where there are several names.
    """
    filled = [name.strip() for name in names.split(",")]
    rows = [row if len(filled) > 1 else (row,) for row in table]
    assert rows, "a table without rows"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def run(**fixtures: Any) -> None:
            failed: list[tuple[str, Exception]] = []
            skipped = []
            for number, row in enumerate(rows):
                values = dict(zip(filled, row, strict=True))
                ASKED.clear()
                try:
                    _run_row(test, values, fixtures, number)
                except pytest.skip.Exception as skip:
                    skipped.append(str(skip))
                except (Exception, pytest.fail.Exception) as error:
                    if (name := find_deleted(error)) is not None:
                        skipped.append(f"the adapter of {name} was deleted")
                    else:
                        described = ", ".join(f"{key}={_shorten(value)}" for key, value in values.items())
                        failed.append((described, error))
            ASKED.clear()
            if failed:
                lines = [f"{described}: {type(error).__name__}: {error}" for described, error in failed]
                raise AssertionError(f"{len(failed)} of {len(rows)} rows fail:\n" + "\n".join(lines)) from failed[0][1]
            if len(skipped) == len(rows):
                pytest.skip(skipped[0])

        signature = inspect.signature(test)
        parameters = [value for name, value in signature.parameters.items() if name not in {*filled, "monkeypatch"}]
        missing = set(filled) - set(signature.parameters)
        assert not missing, f"{test.__name__} takes no {missing}"
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # pytest looks there
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(run, name, getattr(test, name))
        run.pytestmark = list(getattr(test, "pytestmark", []))  # type: ignore[attr-defined]
        return run

    return decorate


def _run_row(test: Callable[..., None], values: dict[str, Any], fixtures: dict[str, Any], number: int) -> None:
    """Run a test with the values of a row, in a folder of its own."""
    arguments = {**fixtures, **values}
    with ExitStack() as stack:
        if "tmp_path" in arguments:
            folder: Path = arguments["tmp_path"] / str(number)
            folder.mkdir()
            arguments["tmp_path"] = folder
        if "monkeypatch" in inspect.signature(test).parameters:
            arguments["monkeypatch"] = stack.enter_context(pytest.MonkeyPatch.context())
        test(**arguments)


def _shorten(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python shows
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."
