"""Data that tests compare exactly are the same on every processor.

NumPy computes powers, exponentials and sines by loops of the processor, whose last bit differs between processors and
builds of NumPy. IEEE 754 rounds + - * / and the square root correctly everywhere; literals and integers are exact.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("tests", "benchmarks", "docs", "sheetarray/testing", "sheets-emulator")
INEXACT = {
    *("power", "float_power", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logspace", "geomspace"),
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "hypot", "cbrt", "pow"),
}
COMPARED_WITH_NOTHING = {
    "docs/page_pictures.py": "pictures, which people look at",
    "docs/workbooks.py": "pictures, which people look at",
}


def find_inexact(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each operation whose result may differ between processors."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("np", "math"):
            if node.attr in INEXACT:
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and not _is_exact_power(node):
            yield node.lineno, ast.unparse(node)


def _is_exact_power(power: ast.BinOp) -> bool:
    """Return whether a power is one of integers, or of 2.0 by a literal; other names are taken for integers."""
    base, exponent = power.left, power.right
    if isinstance(exponent, ast.UnaryOp):
        exponent = exponent.operand
    if isinstance(exponent, ast.Constant) and isinstance(exponent.value, float):
        return False
    if isinstance(base, ast.Constant) and isinstance(base.value, float):
        return base.value == 2.0 and isinstance(exponent, ast.Constant)
    return True


def test_what_is_compared_exactly_is_computed_exactly():
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    names = [path.relative_to(ROOT).as_posix() for path in paths if not {"node_modules", ".venv"} & {*path.parts}]
    assert len(names) > 200
    inexact = [
        f"{name}:{line}: {text}"
        for name in names
        if name not in COMPARED_WITH_NOTHING
        for line, text in find_inexact(ast.parse((ROOT / name).read_text(encoding="utf-8")))
    ]
    assert not inexact, "use tests/helpers/exact_powers.py, literals or integers:\n" + "\n".join(inexact)


def test_the_search_finds_what_differs_between_processors():
    text = "a = 10.0 ** n; b = x ** 0.5; c = np.exp(x); d = 2.0 ** k; e = 1.5**-2"
    assert len(list(find_inexact(ast.parse(text)))) == 5
    assert list(find_inexact(ast.parse("a = 2**53; b = 2.0**-1074; c = x**2; d = np.sqrt(x); e = 10**n"))) == []
