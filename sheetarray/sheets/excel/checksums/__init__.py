"""Checksums of an array: made when it is written, compared with the elements of today.

`hashes` makes a number of each element, `record` adds them up and stores the sums, `stored` finds those of each array
of a workbook, and `verdict` compares an array with them. docs/checksums.md explains what they tell.
"""
