"""The public API as a text, line by line: `python tests/helpers/public_api.py` writes that of a release."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import sheetarray as sa

RELEASED = Path(__file__).parents[1] / "house" / "public_api.txt"


def describe_api() -> list[str]:
    """Return a line for each public name, each parameter, and each public attribute of a class."""
    lines = []
    for name in sorted(set(sa.__all__) - {"__version__"}):
        thing = getattr(sa, name)
        lines.append(name)
        if inspect.isclass(thing):
            bases = [base.__name__ for base in thing.__mro__[1:-1]]
            lines += [f"{name} is a {base}" for base in bases]
            lines += [f"{name}.{member}" for member in sorted(_members(thing))]
        lines += [f"{name}({line})" for line in _parameters(thing)]
    return lines


def _members(kind: type) -> set[str]:
    ours = [base for base in kind.__mro__ if base.__module__.startswith("sheetarray")]
    members = {member for base in ours for member in {*vars(base), *inspect.get_annotations(base)}}
    return {member for member in members if not member.startswith("_")}


def _parameters(thing: object) -> list[str]:
    try:
        parameters = inspect.signature(thing).parameters.values()  # type: ignore[arg-type]
    except ValueError:
        return []
    return [f"{p.kind.name.lower()} {p.name}{_default(p)}" for p in parameters]


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return ""
    return f"={re.sub(r' at 0x[0-9a-f]+', '', repr(parameter.default))}"


if __name__ == "__main__":
    RELEASED.write_text("\n".join(describe_api()) + "\n", encoding="utf-8")
