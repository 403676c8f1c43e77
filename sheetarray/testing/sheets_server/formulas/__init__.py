"""Formulas: their results (`Evaluator`), and their text after cells that they refer to have moved (`references`)."""

from __future__ import annotations

from .evaluator import Evaluator, evaluator_of
from .formula_formats import number_format_of
from .operands import FormulaError, Scalar

__all__ = ["Evaluator", "FormulaError", "Scalar", "evaluator_of", "number_format_of"]
