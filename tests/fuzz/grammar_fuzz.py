"""Gives texts made from their grammar, with some tokens changed, to the compiled loops, the plain way and expat.

    make fuzz               1,000,000 texts, after as many mutations of bytes
    make fuzz FUZZ=10000    so many; a second argument of this program draws others

Worksheets, shared strings, tables of OpenDocument and delimited text: both ways give the same, or refuse alike. What
expat refuses is refused, and nothing else as not well-formed. The loops are built with sanitizers.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))


def load_loops(path: Path) -> None:
    """Let the package take a module as its compiled loops."""
    spec = spec_from_file_location("sheetarray._scan", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["sheetarray._scan"] = module


def main(path: Path, texts: int, seed: int) -> None:
    """Try so many texts on a module, and print how many of each kind were read and refused."""
    load_loops(path)
    from text_ways import KINDS, try_text

    from sheetarray import loops

    assert loops.scan is sys.modules["sheetarray._scan"], "the module has other functions than the package asks for"
    counts: Counter[tuple[str, bool]] = Counter()
    for number in range(texts):
        try:
            counts[try_text(random.Random(f"{seed} {number}"), KINDS[number % len(KINDS)])] += 1
        except BaseException:
            print(f"text {number} of seed {seed}", file=sys.stderr)  # noqa: T201
            raise
    for kind in KINDS:
        print(f"{kind}: {counts[kind, True]:,} read, {counts[kind, False]:,} refused")  # noqa: T201
    print(f"{texts:,} texts from grammars, nothing found")  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 20261128)
