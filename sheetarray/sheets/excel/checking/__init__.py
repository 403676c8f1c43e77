"""Checking a workbook: formulas in place of elements, views typed over, damage and edits."""
