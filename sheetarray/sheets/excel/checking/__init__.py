"""Checking a workbook: damage and edits, formulas in place of elements, views typed over.

`arrays` tells what became of each array since it was written, and `workbook` lists all findings.
"""
